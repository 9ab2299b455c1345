//! `GET /v1/catalog/{source}/{name}/history`: who changed what of a tool, and when its source
//! defined it otherwise. Its calls are on the record (`GET /v1/record`).

use serde_json::{Value, json};
use toolcrib_config::{LogLevel, Overlay};

use super::overlay_answer::time;
use crate::config::history::{HistoryAct, HistoryEntry, HistoryFile, REMEMBERED};
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::telemetry::log;

const DEFAULT_PAGE: usize = 20;
pub(crate) const LARGEST_PAGE: usize = 200;
const DAY: u64 = 86_400;

pub(crate) fn of_tool(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let start = asked.query.number("offset", 0);
        let limit = asked.query.number("limit", DEFAULT_PAGE);
        let file = asked.gateway.overlay.history();
        let overlay = asked.gateway.overlay.served()?.map(|served| served.overlay);
        let is_kept = file.is_some();
        let read = move || file.as_ref().map(HistoryFile::read).transpose();
        let entries = tokio::task::spawn_blocking(read).await;
        let entries = entries.map_err(|error| {
            HttpProblem::new(ProblemKind::Broken, format!("it broke off: {error}"))
        })?;
        let entries = entries
            .map_err(|error| HttpProblem::new(ProblemKind::Unavailable, format!("{error:#}")))?;
        let mut entries = entries.unwrap_or_default();
        add_older(&mut entries, &overlay.unwrap_or_default());
        if let [source, name] = asked.segments.as_slice() {
            entries.retain(|entry| entry.is_of(source, name));
        }
        // Those of one second stand in the order in which they came.
        entries.reverse();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
        let page = entries.iter().skip(start).take(limit);
        Ok(reply(&json!({
            "kept": is_kept,
            "days": REMEMBERED / DAY,
            "total": entries.len(),
            "entries": page.map(told).collect::<Vec<_>>(),
        })))
    })
}

/// Changes that hold and were made before there was a history.
fn add_older(entries: &mut Vec<HistoryEntry>, overlay: &Overlay) {
    let is_known = |entries: &[HistoryEntry], row: u64, at: u64| {
        entries.iter().any(|entry| {
            let change = entry.change.as_ref();
            entry.act == HistoryAct::Changed
                && entry.at == at
                && change.is_some_and(|own| own.row == row)
        })
    };
    let rows = overlay.rows.iter().filter(|row| !is_known(entries, row.id, row.at));
    let older: Vec<_> = rows.map(HistoryEntry::changed).collect();
    entries.splice(..0, older);
}

fn told(entry: &HistoryEntry) -> Value {
    let change = entry.change.as_ref().map(|change| {
        json!({
            "row": change.row,
            "path": change.path,
            "value": change.value,
            "is_cut": change.is_cut,
            "until": change.until.map(time),
        })
    });
    let definition = entry
        .definition
        .as_ref()
        .map(|own| json!({ "fingerprint": own.fingerprint, "before": own.before }));
    json!({
        "at": time(entry.at),
        "act": entry.act,
        "by": entry.by,
        "why": entry.why,
        "change": change,
        "definition": definition,
    })
}

/// Notes what has happened. It has happened, whether that can be noted or not: who reads the log is
/// told where something is missing.
pub(crate) fn note(file: &HistoryFile, entries: Vec<HistoryEntry>) {
    if let Err(error) = file.add(entries) {
        missing(&format!("{error:#}"));
    }
}

pub(super) fn missing(cause: &str) {
    let fields = json!({ "message": "the history of the tools lacks a change", "cause": cause });
    log::line(LogLevel::Warn, "history", fields);
}
