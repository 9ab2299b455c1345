//! `GET /v1/sources/{id}/stderr`: what the program of a source wrote to its standard error.

use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib_config::SourceHandle;
use toolcrib_mcp::StderrLine;

use super::unknown;
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::secrets;

/// Letters of a line that are told. More of it was looked through for secrets, so that none is cut
/// in two and told in part.
const LONGEST: usize = 2_000;

pub(crate) fn follow(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let id = asked.segment();
        let is_there =
            asked.gateway.live.crib().sources().iter().any(|state| state.id.as_str() == id);
        if !is_there {
            return Err(unknown());
        }
        let output = match asked.gateway.live.source(id) {
            Some(SourceHandle::Mcp(server)) => server.output(asked.query.get("after")),
            Some(SourceHandle::Api(_) | SourceHandle::Agent(_) | SourceHandle::Desk(_)) | None => {
                None
            }
        };
        let Some(output) = output else {
            return Ok(reply(&json!({ "program": null, "lines": [], "next": null })));
        };
        Ok(reply(&json!({
            "program": output.program,
            "lines": output.lines.iter().map(line).collect::<Vec<_>>(),
            "next": output.next,
        })))
    })
}

fn line(line: &StderrLine) -> Value {
    let masked = secrets::masked(&line.text);
    let text: String = masked.chars().take(LONGEST).collect();
    json!({
        "number": line.number,
        "at": time(line.at),
        "text": text,
        "is_cut": masked.chars().nth(LONGEST).is_some(),
    })
}

/// As RFC 3339 writes it.
fn time(time: SystemTime) -> Option<String> {
    Timestamp::try_from(time).ok().map(|time| time.to_string())
}
