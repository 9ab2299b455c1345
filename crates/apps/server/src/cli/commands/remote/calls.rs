//! `toolcrib calls`: what all callers of a running server and of each `toolcrib mcp` of this user
//! do, and what their records hold of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use http::Method;
use jiff::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use toolcrib_store::{CallState, KnownEnd};

use crate::cli::CommandExit;
use crate::cli::args::{CallCommand, CallsArgs, GlobalArgs};
use crate::cli::control::local_servers::{ControlTarget, LocalServers, of_process};
use crate::cli::output::Output;

/// A call that runs longer is told of while it runs.
const LONG: u64 = 2_000_000;

pub(crate) fn calls(
    global: &GlobalArgs,
    output: &Output,
    words: &CallsArgs,
) -> Result<CommandExit> {
    let everywhere = LocalServers::open(global, &words.remote)?;
    if let Some(CallCommand::Resolve { key, ending }) = &words.command {
        return resolve(&everywhere, output, (key, ending));
    }
    if !words.state.is_empty() {
        return recorded(&everywhere, output, words);
    }
    if words.follow {
        return follow(&everywhere, output, words.limit);
    }
    let path = format!("/v1/activity?limit={}", words.limit);
    let seen =
        everywhere.each(output, &async |place: &ControlTarget| seen_at(place, &path).await)?;
    let seen = joined(seen, ("ended", false), words.limit);
    if output.json {
        output.value(&seen)?;
        return Ok(CommandExit::Done);
    }
    let running = items(&seen, "running").map(|call| row(call, &running(call)));
    let rows = items(&seen, "calls").map(|call| row(call, text(call, "outcome")));
    output.table(HEADINGS, rows.chain(running))?;
    Ok(CommandExit::Done)
}

/// What one place says, each call with where that is.
async fn seen_at(place: &ControlTarget, path: &str) -> Result<Value> {
    let mut seen = place.server.ask(Method::GET, path, None).await?;
    for key in ["running", "calls"] {
        let calls = seen.get_mut(key).and_then(Value::as_array_mut);
        calls.into_iter().flatten().for_each(|call| place.mark(call));
    }
    Ok(seen)
}

/// What several say as if one did, in the order that each of them has: by this moment, and whether
/// the newest comes first. What one says alone stays as it is.
fn joined(mut seen: Vec<Value>, (by, newest_first): (&str, bool), limit: u16) -> Value {
    if seen.len() == 1 {
        return seen.remove(0);
    }
    let moment = |call: &Value| text(call, by).parse::<Timestamp>().ok();
    let all = |key: &str| seen.iter().flat_map(|seen| items(seen, key).cloned()).collect();
    let (mut calls, running): (Vec<Value>, Vec<Value>) = (all("calls"), all("running"));
    calls.sort_by_key(moment);
    calls.drain(..calls.len().saturating_sub(limit.into()));
    if newest_first {
        calls.reverse();
    }
    json!({ "running": running, "calls": calls })
}

fn follow(everywhere: &LocalServers, output: &Output, limit: u16) -> Result<CommandExit> {
    // Where to go on at each place.
    let nexts: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let look = async |place: &ControlTarget| {
        let base = place.server.base();
        let next = locked(&nexts).get(base).copied();
        let path = match next {
            Some(next) => format!("/v1/activity?after={next}&limit=500"),
            None => format!("/v1/activity?limit={limit}"),
        };
        let seen = seen_at(place, &path).await?;
        if let Some(next) = seen.get("next").and_then(Value::as_u64) {
            locked(&nexts).insert(base.to_owned(), next);
        }
        Ok(seen)
    };
    let mut beats = 0_u32;
    everywhere.follow(output, &look, |all| {
        for seen in &all {
            tell(output, seen)?;
            if beats.is_multiple_of(4) && output.is_watched() {
                for call in items(seen, "running").filter(|call| took(call) > LONG) {
                    output.note(&format!("{} {}", text(call, "tool"), running(call)));
                }
            }
        }
        beats = beats.wrapping_add(1);
        Ok(())
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is wrong where no place has the call.
const ABSENT: &str = "no record has a call of this key, here or at the server: \
                      `toolcrib calls --state outcome_unknown,interrupted` shows those that it \
                      can be said of";

fn resolve(
    everywhere: &LocalServers,
    output: &Output,
    (key, ending): (&str, &str),
) -> Result<CommandExit> {
    let path = format!("/v1/record/{}", utf8_percent_encode(key, NON_ALPHANUMERIC));
    let call = everywhere.decide(&path, &json!({ "ending": ending }), ABSENT)?;
    if output.json {
        output.value(&call)?;
    } else {
        output.table(OF_RECORD, [of_record(&call)])?;
    }
    Ok(CommandExit::Done)
}

const OF_RECORD: [&str; 6] = ["BEGAN", "TOOL", "SOURCE", "CALLER", "OUTCOME", "TOOK"];

/// The calls of the record in these states, which may be those of a process before.
fn recorded(everywhere: &LocalServers, output: &Output, words: &CallsArgs) -> Result<CommandExit> {
    let (states, limit) = (words.state.join(","), words.limit);
    let path = format!("/v1/record?state={states}&limit={limit}");
    let seen =
        everywhere.each(output, &async |place: &ControlTarget| seen_at(place, &path).await)?;
    // A page that is full may be the last one.
    let is_cut = seen.iter().any(|seen| seen.get("cursor").is_some());
    let seen = joined(seen, ("planned", true), limit);
    if output.json {
        output.value(&seen)?;
        return Ok(CommandExit::Done);
    }
    let mut rows: Vec<_> = items(&seen, "calls").map(of_record).collect();
    // As everywhere: the newest last.
    rows.reverse();
    let found = rows.len();
    output.table(OF_RECORD, rows)?;
    to_resolve(output, &seen)?;
    if is_cut {
        let more = "`--limit` shows up to 500, and `GET /v1/record` the rest";
        output.note(&format!("these are the newest {found}, and there may be more: {more}"));
    }
    Ok(CommandExit::Done)
}

/// The keys of those that a person may know more of. In a table of their own, as a terminal would
/// break them beside all the rest.
fn to_resolve(output: &Output, seen: &Value) -> Result<()> {
    let unknown = [CallState::OutcomeUnknown, CallState::Interrupted].map(CallState::as_str);
    let mut rows: Vec<_> = items(seen, "calls")
        .filter(|call| unknown.contains(&text(call, "state")))
        .map(|call| {
            let [key, began, tool] = ["key", "planned", "tool"].map(|key| text(call, key));
            [key.to_owned(), second(began), tool.to_owned()]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    rows.reverse();
    output.text("")?;
    output.table(["KEY", "BEGAN", "TOOL"], rows)?;
    let words = KnownEnd::WORDS.join("|");
    output.note(&format!("once you know how one ended: `toolcrib calls resolve KEY {words}`"));
    Ok(())
}

fn of_record(call: &Value) -> [String; 6] {
    let moment = |key: &str| text(call, key).parse::<Timestamp>().ok();
    let lasted = match (moment("planned"), moment("ended")) {
        // When it ended nobody saw.
        _ if call.get("interrupted").and_then(Value::as_bool) == Some(true) => None,
        (Some(began), Some(ended)) => Duration::try_from(ended.duration_since(began)).ok(),
        (None, _) | (_, None) => None,
    };
    let kind = call.pointer("/ending/kind").and_then(Value::as_str);
    let outcome = match kind {
        Some(kind) => format!("{}: {kind}", text(call, "state")),
        None => text(call, "state").to_owned(),
    };
    let by = |key: &str, did: &str| match call.get(key).filter(|by| by.is_object()) {
        Some(by) => format!(", {did} by {}/{}", text(by, "tenant"), text(by, "subject")),
        None => String::new(),
    };
    let outcome = [outcome, by("decided_by", "approved"), by("resolved_by", "resolved")].concat();
    let lasted = match lasted {
        // The record keeps milliseconds.
        Some(Duration::ZERO) => "under 1ms".to_owned(),
        Some(lasted) => format!("{lasted:.1?}"),
        None => String::new(),
    };
    let [tool, source] = ["tool", "source"].map(|key| text(call, key).to_owned());
    [second(text(call, "planned")), tool, source, caller(call), outcome, lasted]
}

const HEADINGS: [&str; 6] = ["ENDED", "TOOL", "SOURCE", "CALLER", "OUTCOME", "TOOK"];

/// The calls that ended, one line each.
fn tell(output: &Output, seen: &Value) -> Result<()> {
    for call in items(seen, "calls") {
        if output.json {
            output.line(call)?;
        } else {
            output.text(row(call, text(call, "outcome")).join("  ").trim_end())?;
        }
    }
    Ok(())
}

fn items<'a>(seen: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    seen.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(call: &'a Value, key: &str) -> &'a str {
    call.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn took(call: &Value) -> u64 {
    call.get("took_us").and_then(Value::as_u64).unwrap_or_default()
}

fn row(call: &Value, outcome: &str) -> [String; 6] {
    let ended = second(text(call, "ended"));
    let duration = format!("{:.1?}", Duration::from_micros(took(call)));
    let (tool, source) = (text(call, "tool").to_owned(), text(call, "source").to_owned());
    [ended, tool, source, caller(call), outcome.to_owned(), duration]
}

fn caller(call: &Value) -> String {
    let at = of_process(call).map(|process| format!(" at {process}")).unwrap_or_default();
    format!("{}/{}{at}", text(call, "tenant"), text(call, "caller"))
}

/// A time without the part of its second.
fn second(time: &str) -> String {
    time.split('.').next().unwrap_or_default().to_owned()
}

/// How far a call is.
fn running(call: &Value) -> String {
    let seconds = took(call) / 1_000_000;
    let progress = call.get("progress").filter(|progress| progress.is_object());
    let Some(progress) = progress else { return format!("runs since {seconds} s") };
    let number = |key: &str| progress.get(key).and_then(Value::as_f64);
    let of = number("total").map(|total| format!(" of {total}")).unwrap_or_default();
    let done = number("done").unwrap_or_default();
    let message = progress.get("message").and_then(Value::as_str).unwrap_or_default();
    format!("runs since {seconds} s: {done}{of} {message}").trim_end().to_owned()
}
