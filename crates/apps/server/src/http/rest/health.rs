//! `/healthz` and `/readyz`: a word or a sentence, and nothing of what is within.

use std::sync::atomic::Ordering;

use http::StatusCode;
use serde_json::{Value, json};

use crate::http::routes::reply::{json as reply, status};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::http::state::GatewayState;

/// Told to anybody: it names no file and no cause.
const UNRECORDED: &str = "the record of calls cannot be written now: what may change something is \
                          refused until it can";

const UNAUDITED: &str = "the record of decisions cannot be written now: what may change something \
                         is refused until it can";

pub(crate) fn alive(_asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async { Ok(reply(&json!({ "status": "ok" }))) })
}

pub(crate) fn ready(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        Ok(match unready(&asked.gateway) {
            None => reply(&json!({ "status": "ready" })),
            Some(why) => status(StatusCode::SERVICE_UNAVAILABLE, &why),
        })
    })
}

/// Why calls cannot be taken now, if they cannot.
pub(crate) fn unready(gateway: &GatewayState) -> Option<Value> {
    if gateway.leaves.is_cancelled() || gateway.stop.is_cancelled() {
        return Some(json!({ "status": "stopping" }));
    }
    if !gateway.started.load(Ordering::Relaxed) {
        return Some(json!({ "status": "starting" }));
    }
    if gateway.store.as_ref().is_some_and(|store| store.works().is_err()) {
        return Some(json!({ "status": "unrecorded", "detail": UNRECORDED }));
    }
    if gateway.telemetry.audit.as_ref().is_some_and(|audit| !audit.lets_act()) {
        return Some(json!({ "status": "unaudited", "detail": UNAUDITED }));
    }
    gateway.is_full().then(|| json!({ "status": "full" }))
}
