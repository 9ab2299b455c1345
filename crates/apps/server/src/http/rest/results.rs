//! `/v1/results/{handle}`: a result that was too large for a model, in pieces.

use serde_json::json;
use toolcrib_core::{ContentPath, ResultHandle};

use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

const DEFAULT_PIECE: usize = 64 * 1024;
pub(crate) const LARGEST_PIECE: usize = 1024 * 1024;

pub(crate) fn read(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let handle = ResultHandle(asked.segment().to_owned());
        let kept = asked.gateway.live.crib().result(&asked.caller, &handle).await;
        let content = kept.ok_or_else(|| {
            HttpProblem::new(ProblemKind::UnknownResult, "it may be too old, or another caller's")
        })?;
        let query = &asked.query;
        let limit = query.number("limit", DEFAULT_PIECE);
        let offset = query.number("offset", 0);
        let part = query.get("part").map(|_| query.number("part", 0));
        let place = ContentPath::of(part, query.get("path"));
        let excerpt = content.excerpt(offset, limit, &place).ok_or_else(|| {
            HttpProblem::new(ProblemKind::UnknownResult, "the result has nothing there")
        })?;
        Ok(reply(&json!({
            "handle": handle,
            "text": excerpt.text,
            "offset": excerpt.offset,
            "total": excerpt.total,
            "next": excerpt.next,
        })))
    })
}
