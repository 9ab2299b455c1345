//! `toolcrib calls`: what all callers of a running server do.

use std::time::Duration;

use anyhow::Result;
use http::Method;
use serde_json::Value;

use super::End;
use super::arguments::{CallsWords, Global};
use super::output::Output;
use super::remote::Remote;

/// A call that runs longer is told of while it runs.
const LONG: u64 = 2_000_000;

pub(super) fn calls(global: &Global, output: &Output, words: &CallsWords) -> Result<End> {
    let remote = Remote::open(global, &words.remote)?;
    let seen = remote.ask(Method::GET, &format!("/v1/activity?limit={}", words.limit), None)?;
    if !words.follow {
        if output.json {
            output.value(&seen)?;
        } else {
            let running = items(&seen, "running").map(|call| row(call, &running(call)));
            let rows = items(&seen, "calls").map(|call| row(call, text(call, "outcome")));
            output.table(HEADINGS, rows.chain(running))?;
        }
        return Ok(End::Done);
    }
    let mut next = seen.get("next").and_then(Value::as_u64).unwrap_or_default();
    tell(output, &seen)?;
    let mut beats = 0_u32;
    remote.follow(|| {
        let seen =
            remote.ask(Method::GET, &format!("/v1/activity?after={next}&limit=500"), None)?;
        next = seen.get("next").and_then(Value::as_u64).unwrap_or(next);
        tell(output, &seen)?;
        beats = beats.wrapping_add(1);
        if beats.is_multiple_of(4) && output.is_watched() {
            for call in items(&seen, "running").filter(|call| took(call) > LONG) {
                output.note(&format!("{} {}", text(call, "tool"), running(call)));
            }
        }
        Ok(())
    })
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
    let caller = format!("{}/{}", text(call, "tenant"), text(call, "caller"));
    let ended = text(call, "ended").split('.').next().unwrap_or_default().to_owned();
    let duration = format!("{:.1?}", Duration::from_micros(took(call)));
    let (tool, source) = (text(call, "tool").to_owned(), text(call, "source").to_owned());
    [ended, tool, source, caller, outcome.to_owned(), duration]
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
