//! `/healthz` and `/readyz`: a word or a sentence, and nothing of what is within.

use std::sync::atomic::Ordering;

use http::StatusCode;
use serde_json::json;

use crate::http::asked::Asked;
use crate::http::reply::{json as reply, status};
use crate::http::routes::Answered;

/// Told to anybody: it names no file and no cause.
const UNRECORDED: &str = "the record of calls cannot be written now: what may change something is \
                          refused until it can";

pub(crate) fn alive(_asked: Asked) -> Answered {
    Box::pin(async { Ok(reply(&json!({ "status": "ok" }))) })
}

pub(crate) fn ready(asked: Asked) -> Answered {
    Box::pin(async move {
        let house = &asked.house;
        if house.stop.is_cancelled() {
            return Ok(status(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "stopping" })));
        }
        if !house.started.load(Ordering::Relaxed) {
            return Ok(status(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "starting" })));
        }
        if house.store.as_ref().is_some_and(|store| store.works().is_err()) {
            let told = json!({ "status": "unrecorded", "detail": UNRECORDED });
            return Ok(status(StatusCode::SERVICE_UNAVAILABLE, &told));
        }
        if house.is_full() {
            return Ok(status(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "full" })));
        }
        Ok(reply(&json!({ "status": "ready" })))
    })
}
