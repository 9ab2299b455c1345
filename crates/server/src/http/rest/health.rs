//! `/healthz` and `/readyz`: two words, and nothing of what is within.

use std::sync::atomic::Ordering;

use http::StatusCode;
use serde_json::json;

use crate::http::asked::Asked;
use crate::http::reply::{json as reply, status};
use crate::http::routes::Answered;

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
        if house.is_full() {
            return Ok(status(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "full" })));
        }
        Ok(reply(&json!({ "status": "ready" })))
    })
}
