//! `/healthz` and `/readyz`: a word or a sentence, and nothing of what is within.

pub(crate) mod cluster;

use std::sync::atomic::Ordering;
use std::time::Duration;

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

const BEHIND: &str = "runs of agents have waited for more than a minute for a server or a worker \
                      that has room: start more of them";

/// How long a run may be ready before that is told.
const LONG: Duration = Duration::from_mins(1);

pub(crate) fn alive(_asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async { Ok(reply(&json!({ "status": "ok" }))) })
}

pub(crate) fn ready(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        Ok(match unready(&asked.gateway) {
            None => reply(&ready_with(&asked.gateway)),
            Some(why) => status(StatusCode::SERVICE_UNAVAILABLE, &why),
        })
    })
}

/// Whether runs of agents have waited long for a server or a worker that has room. That is no
/// reason to send calls elsewhere.
fn behind(gateway: &GatewayState) -> Option<&'static str> {
    let age = gateway.runs.oldest_ready()?;
    (age > LONG).then_some(BEHIND)
}

/// What is not as it should be among the replicas is told by its names alone, and keeps nobody from
/// taking calls: all of them would be turned away at once.
fn ready_with(gateway: &GatewayState) -> Value {
    let mut ready = json!({ "status": "ready" });
    if let Some(detail) = behind(gateway) {
        ready["detail"] = detail.into();
    }
    let seen = gateway.fleet.last();
    let findings = seen.iter().flat_map(|seen| &seen.findings).map(|one| one.kind.word());
    let findings: Vec<_> = findings.collect();
    if !findings.is_empty() {
        ready["findings"] = findings.into();
    }
    ready
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
