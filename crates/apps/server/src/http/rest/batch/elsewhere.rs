//! A batch that another replica runs.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, header};

use super::active_batches::KIND;
use crate::http::forward::edge::Forwarded;
use crate::http::forward::envelope::traceparent;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::HttpReply;
use crate::http::routes::request::{GatewayRequest, RequestArrival};

/// Seconds after which a client asks again.
const SOON: HeaderValue = HeaderValue::from_static("1");

/// Has the replica that the name of a batch says answer. `None`: it says none, or one that is over.
pub(crate) async fn answer(asked: &GatewayRequest) -> Result<Option<HttpReply>, HttpProblem> {
    let Some(forwards) = asked.gateway.replicas.forwards.as_ref() else { return Ok(None) };
    let named = asked.segment().strip_prefix(KIND).and_then(|rest| rest.split_once('_'));
    let Some((home, _)) = named.filter(|_| asked.arrival == RequestArrival::Client) else {
        return Ok(None);
    };
    if !forwards.is_other(home) {
        return Ok(None);
    }
    let forwarded = Forwarded {
        caller: Arc::clone(&asked.caller),
        method: asked.method.clone(),
        path: asked.uri.path().to_owned(),
        headers: asked.headers.clone(),
        body: Bytes::new(),
        trace: traceparent(asked.trace),
    };
    if let Some(reply) = forwards.forward(home, &forwarded).await {
        return Ok(Some(reply));
    }
    if forwards.is_over(home).await {
        return Ok(None);
    }
    let detail = "the replica that has it does not answer now: ask again";
    Err(HttpProblem::new(ProblemKind::Unavailable, detail).with(header::RETRY_AFTER, SOON))
}
