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
/// What stands in the place of a line with a part of a secret.
const MASK: &str = "[secret]";

pub(crate) fn follow(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let id = asked.segment();
        let is_there =
            asked.gateway.live.crib().sources().iter().any(|state| state.id.as_str() == id);
        if !is_there {
            return Err(unknown());
        }
        let outputs = match asked.gateway.live.source(id) {
            Some(SourceHandle::Mcp(server)) => {
                server.output(asked.query.get("after")).zip(server.output(None))
            }
            Some(SourceHandle::Api(_) | SourceHandle::Agent(_) | SourceHandle::Desk(_)) | None => {
                None
            }
        };
        let Some((output, whole)) = outputs else {
            return Ok(reply(&json!({ "program": null, "lines": [], "next": null })));
        };
        // A secret of several lines may have begun before those that are told.
        let around = if whole.program == output.program { &whole.lines } else { &output.lines };
        let masked = masked_lines(around);
        let lines = output.lines.iter().map(|line| {
            let known = around.iter().zip(&masked).find(|(other, _)| other.number == line.number);
            told(line, known.map_or(MASK, |(_, text)| text))
        });
        Ok(reply(&json!({
            "program": output.program,
            "lines": lines.collect::<Vec<_>>(),
            "next": output.next,
        })))
    })
}

/// The lines without secrets; those among which one of several lines stands are masked whole.
fn masked_lines(lines: &[StderrLine]) -> Vec<String> {
    let mut alone: Vec<String> =
        lines.iter().map(|line| secrets::masked(&line.text).into_owned()).collect();
    let texts: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
    let texts = texts.join("\n");
    let whole = secrets::masked(&texts);
    let pieces: Vec<_> = whole.split('\n').collect();
    let same = |(one, other): &(&String, &&str)| one == other;
    let before = alone.iter().zip(&pieces).take_while(same).count();
    let behind = alone.iter().rev().zip(pieces.iter().rev()).take_while(same).count();
    let end = alone.len().saturating_sub(behind);
    if let Some(between) = alone.get_mut(before..end) {
        between.fill(MASK.to_owned());
    }
    alone
}

fn told(line: &StderrLine, masked: &str) -> Value {
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
