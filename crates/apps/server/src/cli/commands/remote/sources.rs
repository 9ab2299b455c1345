//! `toolcrib sources`: how the sources of a running server are doing.

use anyhow::Result;
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, SourceCommand, SourcesArgs};
use crate::cli::control::client::BlockingClient;
use crate::cli::output::Output;

pub(crate) fn sources(
    global: &GlobalArgs,
    output: &Output,
    words: &SourcesArgs,
) -> Result<CommandExit> {
    let remote = BlockingClient::open(global, &words.remote)?;
    if let Some(SourceCommand::Reload { source }) = &words.command {
        let path = format!("/v1/sources/{}/reload", utf8_percent_encode(source, NON_ALPHANUMERIC));
        let answer = remote.ask(Method::POST, &path, Some(&json!({})))?;
        let state = answer.get("source").cloned().unwrap_or_default();
        if output.json {
            output.value(&answer)?;
        } else {
            output.table(HEADINGS, [row(&state)])?;
        }
        let loaded = answer.get("loaded").and_then(Value::as_bool).unwrap_or_default();
        return Ok(if loaded { CommandExit::Done } else { CommandExit::Failed });
    }
    let first = remote.ask(Method::GET, SOURCES, None)?;
    if !words.follow {
        if output.json {
            output.value(&first)?;
        } else {
            output.table(HEADINGS, items(&first).map(row))?;
            for tool in first.get("quarantined").and_then(Value::as_array).into_iter().flatten() {
                let (name, reason) = (text(tool, "tool"), text(tool, "reason"));
                output
                    .note(&format!("`{name}` of `{}` is kept out: {reason}", text(tool, "source")));
            }
        }
        return Ok(CommandExit::Done);
    }
    let mut before = Vec::new();
    remote.follow(SOURCES.to_owned(), |seen| {
        let now: Vec<_> = items(seen).map(known).collect();
        for state in now.iter().filter(|state| !before.contains(*state)) {
            if output.json {
                output.line(state)?;
            } else {
                output.text(row(state).join("  ").trim_end())?;
            }
        }
        before = now;
        Ok(SOURCES.to_owned())
    })
}

const SOURCES: &str = "/v1/sources";
const HEADINGS: [&str; 5] = ["SOURCE", "STATE", "TOOLS", "AGE", "ERROR"];

fn items(answer: &Value) -> impl Iterator<Item = &Value> {
    answer.get("sources").and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// What of a state counts as a change; figures of its calls are none.
const COUNTS: [&str; 6] = ["id", "tools", "stale", "age_seconds", "error", "unhidden"];

/// What counts as a change: an age grows by itself.
fn known(state: &Value) -> Value {
    let mut state = state.clone();
    if let Value::Object(fields) = &mut state {
        fields.retain(|name, _| COUNTS.contains(&name.as_str()));
        if fields.get("age_seconds").is_some_and(Value::is_u64) {
            fields.insert("age_seconds".to_owned(), json!(0));
        }
    }
    state
}

fn row(state: &Value) -> [String; 5] {
    let age = state.get("age_seconds").and_then(Value::as_u64);
    let is_stale = state.get("stale").and_then(Value::as_bool).unwrap_or_default();
    let word = match (state.get("error").and_then(Value::as_str), age) {
        (Some(_), _) if is_stale => "stale",
        (Some(_), _) => "FAILED",
        (None, Some(_)) => "ready",
        (None, None) => "starting",
    };
    let tools = state.get("tools").and_then(Value::as_u64).unwrap_or_default();
    let age = age.map(|age| format!("{age} s")).unwrap_or_default();
    let error = text(state, "error").to_owned();
    [text(state, "id").to_owned(), word.to_owned(), tools.to_string(), age, error]
}
