//! `/v1/sources`: how the sources are doing, for the operator.

use serde_json::json;
use toolcrib::SourceId;

use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// A body with nothing in it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyBody {}

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let crib = asked.gateway.live.crib();
        let catalog = crib.catalog();
        let kept_out = |tool: &toolcrib::QuarantinedTool| {
            json!({
                "tool": tool.spec.name,
                "source": tool.spec.origin.source,
                "fingerprint": tool.fingerprint,
                "reason": tool.reason.to_string(),
            })
        };
        Ok(reply(&json!({
            "sources": crib.sources(),
            "quarantined": catalog.quarantined().iter().map(kept_out).collect::<Vec<_>>(),
        })))
    })
}

pub(crate) fn reload(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let EmptyBody {} = asked.json()?;
        let crib = asked.gateway.live.crib();
        let id = asked.segment();
        let loaded = crib.reload(&SourceId::new(id)).await;
        let state = crib.sources().into_iter().find(|source| source.id.as_str() == id);
        let (Some(loaded), Some(state)) = (loaded, state) else {
            let detail = "`/v1/sources` lists those of the configuration";
            return Err(HttpProblem::new(ProblemKind::UnknownSource, detail));
        };
        Ok(reply(&json!({ "loaded": loaded, "source": state })))
    })
}
