//! What a client that has no token yet may know of us: who gives tokens (RFC 9728), and what can
//! be asked.

use toolcrib_auth::ProtectedResource;

use super::problem::{HttpProblem, ProblemKind};
use super::reply::{json as reply, json_bytes};
use super::request::GatewayRequest;
use super::route::ReplyFuture;

pub(crate) fn answer(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let resource = match asked.segments.first() {
            Some(profile) => ProtectedResource::Profile(profile),
            None if asked.uri.path().ends_with("/mcp") => ProtectedResource::Mcp,
            None => ProtectedResource::Whole,
        };
        let metadata = asked.gateway.guard.access().metadata(resource);
        metadata.map(|metadata| reply(&metadata)).ok_or_else(|| {
            let detail = "no issuer is accepted here: `toolcrib token` makes tokens and keys";
            HttpProblem::new(ProblemKind::UnknownRoute, detail)
        })
    })
}

/// The document of OpenAPI: the same for everybody.
pub(crate) fn document(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move { Ok(json_bytes(asked.gateway.document.clone())) })
}
