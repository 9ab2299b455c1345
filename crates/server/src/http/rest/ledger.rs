//! `GET /v1/calls`: what runs, and what is recorded of the calls of this caller.

use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib::store::{CallRecord, Cursor, Filter, StoreError};

use super::calls::over;
use crate::http::asked::Asked;
use crate::http::problem::{Kind, Problem};
use crate::http::reply::json as reply;
use crate::http::routes::Answered;

const DEFAULT_PAGE: usize = 50;
pub(crate) const LARGEST_PAGE: usize = 500;

pub(crate) fn list(asked: Asked) -> Answered {
    Box::pin(async move {
        let query = &asked.query;
        let limit = query.number("limit", DEFAULT_PAGE);
        let cursor: Option<Cursor> = query
            .get("cursor")
            .filter(|cursor| !cursor.is_empty())
            .map(serde_json::from_str)
            .transpose()
            .map_err(|_| {
                let detail = "the cursor is none of this list: begin without one";
                Problem::new(Kind::UnknownCursor, detail)
            })?;
        let mut answer = json!({ "running": asked.house.running.of(&asked.caller), "calls": [] });
        let (Some(store), Value::Object(fields)) = (&asked.house.store, &mut answer) else {
            return Ok(reply(&answer));
        };
        let word = |name: &str| query.get(name).map(ToOwned::to_owned);
        let filter = Filter { tool: word("tool"), source: word("source"), ..Filter::default() };
        let page = store.calls(&asked.caller, filter, cursor, limit).await.map_err(silent)?;
        fields.insert("calls".into(), page.calls.iter().map(shown).collect());
        if let Some(next) = page.next {
            fields.insert("cursor".into(), json!(next).to_string().into());
        }
        Ok(reply(&answer))
    })
}

/// A batch that runs, by the name it was given; a call of the record, by its key.
pub(crate) fn show(asked: Asked) -> Answered {
    Box::pin(async move {
        if let Some(batch) = asked.house.running.get(asked.segment(), &asked.caller) {
            return Ok(reply(&batch));
        }
        let store = asked.house.store.as_ref().ok_or_else(over)?;
        let call = store.call(&asked.caller, asked.segment()).await.map_err(silent)?;
        Ok(reply(&shown(&call.ok_or_else(over)?)))
    })
}

fn shown(call: &CallRecord) -> Value {
    json!({
        "key": call.key,
        "id": call.call_id,
        "tool": call.tool,
        "source": call.source,
        "effect": call.effect,
        "fingerprint": call.fingerprint,
        "arguments": call.arguments,
        "planned": time(call.planned),
        "ended": call.ended.map(time),
        "ending": call.ending,
        "interrupted": call.interrupted,
        "attempts": call.attempts,
        "resolved": call.resolved.map(time),
    })
}

/// As RFC 3339 writes it.
fn time(time: SystemTime) -> Option<String> {
    Timestamp::try_from(time).ok().map(|time| time.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "the form that `map_err` takes")]
fn silent(error: StoreError) -> Problem {
    Problem::new(Kind::Unavailable, error.to_string())
}
