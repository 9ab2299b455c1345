//! What a client that has no token yet may know of us (RFC 9728).

use toolcrib::auth::Resource;

use super::problem::{Kind, Problem};
use super::reply::json as reply;
use super::request::Asked;
use super::route::Answered;

pub(crate) fn answer(asked: Asked) -> Answered {
    Box::pin(async move {
        let resource = match asked.segments.first() {
            Some(profile) => Resource::Profile(profile),
            None if asked.uri.path().ends_with("/mcp") => Resource::Mcp,
            None => Resource::Whole,
        };
        let metadata = asked.house.guard.access().metadata(resource);
        metadata.map(|metadata| reply(&metadata)).ok_or_else(|| {
            let detail = "no issuer is accepted here: `toolcrib token` makes tokens and keys";
            Problem::new(Kind::UnknownRoute, detail)
        })
    })
}
