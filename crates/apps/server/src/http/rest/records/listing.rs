//! `GET /v1/calls`: what runs, and what is recorded of the calls of this caller; and `/v1/record`,
//! the same record of all callers.

use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib_auth::is_operator;
use toolcrib_config::LogLevel;
use toolcrib_store::{CallCursor, CallFilter, CallPage, CallRecord, CallState, Store};

use crate::http::rest::calls::over;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::{GatewayRequest, QueryValues};
use crate::http::routes::route::ReplyFuture;
use crate::http::state::GatewayState;
use crate::telemetry::log;

const DEFAULT_PAGE: usize = 50;
pub(crate) const LARGEST_PAGE: usize = 500;

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let wanted = RecordQuery::of(&asked.query)?;
        let mut answer = json!({ "running": asked.gateway.running.of(&asked.caller), "calls": [] });
        if let Some(store) = &asked.gateway.store {
            let RecordQuery { filter, after, limit } = wanted;
            let page = store
                .calls(&asked.caller, filter, after, limit)
                .await
                .map_err(|error| silent(&asked, error))?;
            put(&mut answer, &page, |call| phased(&asked.gateway, call, shown(call)));
        }
        Ok(reply(&answer))
    })
}

/// The recorded calls of all callers.
pub(crate) fn list_all(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let RecordQuery { filter, after, limit } = RecordQuery::of(&asked.query)?;
        let page = record(&asked)?
            .calls_of_all(filter, after, limit)
            .await
            .map_err(|error| silent(&asked, error))?;
        let mut answer = json!({});
        put(&mut answer, &page, |call| phased(&asked.gateway, call, shown_whole(call)));
        Ok(reply(&answer))
    })
}

/// The record of all callers. No record is not an empty one: whoever looks for what was interrupted
/// would go away.
pub(crate) fn record(asked: &GatewayRequest) -> Result<&Store, HttpProblem> {
    asked.gateway.store.as_ref().ok_or_else(|| {
        let detail = "no record is kept: name a file for it under `[store]`";
        HttpProblem::new(ProblemKind::Unavailable, detail)
    })
}

/// A call as the operator sees it.
pub(crate) fn shown_whole(call: &CallRecord) -> Value {
    let mut row = shown(call);
    if let Value::Object(fields) = &mut row {
        fields.insert("tenant".into(), call.tenant.clone().into());
        fields.insert("caller".into(), call.subject.clone().into());
        // Not for the caller of the call, who may be of another tenant.
        fields.insert("decided_by".into(), json!(call.decided_by));
        fields.insert("resolved_by".into(), json!(call.resolved_by));
    }
    row
}

/// One call of whomever, with what it was about as long as that is kept.
pub(crate) fn show_any(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let call = record(&asked)?.call_of_any(asked.segment()).await;
        let call = call.map_err(|error| silent(&asked, error))?.ok_or_else(|| {
            let detail = "the record has no call with this key";
            HttpProblem::new(ProblemKind::UnknownCall, detail)
        })?;
        let mut row = phased(&asked.gateway, &call, shown_whole(&call));
        if let Value::Object(fields) = &mut row {
            fields.insert("kept".into(), asked.gateway.telemetry.watched.values(&call.key));
        }
        Ok(reply(&row))
    })
}

/// A row with what its call did, one after the other: what it waited for, its tries, and the pauses
/// between these.
pub(super) fn phased(gateway: &GatewayState, call: &CallRecord, mut row: Value) -> Value {
    let mut phases = gateway.telemetry.watched.phases(&call.key);
    let mut last: Option<u64> = None;
    for (number, attempt) in call.attempts.iter().flatten().enumerate() {
        let (at, took) = (attempt.at, attempt.took);
        if let Some(pause) = last.and_then(|last| at.checked_sub(last)).filter(|pause| *pause > 0) {
            phases.push(json!({
                "kind": "pause", "at_ms": at - pause, "took_ms": pause, "try": null, "ended": null,
            }));
        }
        phases.push(json!({
            "kind": "try", "at_ms": at, "took_ms": took, "try": number + 1, "ended": attempt.ended,
        }));
        last = at.checked_add(took);
    }
    phases.extend(gateway.telemetry.watched.lookups(&call.key));
    if let Value::Object(fields) = &mut row {
        fields.insert("phases".into(), phases.into());
    }
    row
}

/// Which page of which calls.
pub(super) struct RecordQuery {
    pub(super) filter: CallFilter,
    pub(super) after: Option<CallCursor>,
    limit: usize,
}

impl RecordQuery {
    pub(super) fn of(query: &QueryValues) -> Result<Self, HttpProblem> {
        let cursor = query.get("cursor").filter(|cursor| !cursor.is_empty());
        let after = cursor.map(serde_json::from_str).transpose().map_err(|_| {
            let detail = "the cursor is none of this list: begin without one";
            HttpProblem::new(ProblemKind::UnknownCursor, detail)
        })?;
        let word = |name: &str| query.get(name).map(ToOwned::to_owned);
        let states = query.words("state").filter_map(CallState::of_word).collect();
        let since = query.get("since").map(str::parse::<Timestamp>).transpose().map_err(|_| {
            let detail = "`since` is no time as RFC 3339 writes it: `2026-07-01T12:00:00Z`, say";
            HttpProblem::new(ProblemKind::InvalidQuery, detail)
        })?;
        let filter = CallFilter {
            tool: word("tool"),
            source: word("source"),
            caller: word("caller"),
            batch: word("batch"),
            states,
            since: since.map(SystemTime::from),
        };
        Ok(Self { filter, after, limit: query.number("limit", DEFAULT_PAGE) })
    }
}

/// Puts a page into an answer.
fn put(answer: &mut Value, page: &CallPage, shown: impl Fn(&CallRecord) -> Value) {
    let Value::Object(fields) = answer else { return };
    fields.insert("calls".into(), page.calls.iter().map(shown).collect());
    if let Some(next) = page.next {
        fields.insert("cursor".into(), json!(next).to_string().into());
    }
}

/// A batch that runs, by the name it was given; a call of the record, by its key.
pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        if let Some(batch) = asked.gateway.running.get(asked.segment(), &asked.caller) {
            return Ok(reply(&batch));
        }
        let store = asked.gateway.store.as_ref().ok_or_else(over)?;
        let call = store
            .call(&asked.caller, asked.segment())
            .await
            .map_err(|error| silent(&asked, error))?;
        let call = call.ok_or_else(over)?;
        Ok(reply(&phased(&asked.gateway, &call, shown(&call))))
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
        "state": call.state(),
        "interrupted": call.interrupted,
        "attempts": call.attempts,
        "resolved": call.resolved.map(time),
    })
}

/// As RFC 3339 writes it.
pub(super) fn time(time: SystemTime) -> Option<String> {
    Timestamp::try_from(time).ok().map(|time| time.to_string())
}

/// Why the record does not answer is for the operator, as it names files of this machine.
pub(crate) fn silent(asked: &GatewayRequest, error: impl Into<anyhow::Error>) -> HttpProblem {
    let cause = noted(error);
    let detail = "the record of calls cannot be read now: ask again later".to_owned();
    HttpProblem::new(
        ProblemKind::Unavailable,
        if is_operator(&asked.caller) { cause } else { detail },
    )
}

/// Puts into the log why the record does not answer, and gives it in words.
pub(crate) fn noted(error: impl Into<anyhow::Error>) -> String {
    let cause = format!("{:#}", error.into());
    let fields = json!({ "message": "the record does not answer", "cause": cause });
    log::line(LogLevel::Warn, "store", fields);
    cause
}
