//! A run as its caller sees it.

use serde_json::{Value, json};
use toolcrib_agent::{RunEvent, StopReason, ThreadItem};
use toolcrib_core::{RunStage, RunSummary};

use super::super::live::live_run::{LiveRun, seconds};

/// Words of a title, and letters.
const MOST_WORDS: usize = 40;
const LONGEST_TITLE: usize = 120;

pub(super) fn summary(run: &RunSummary) -> Value {
    json!({
        "id": run.id, "object": "run", "agent": run.agent, "profile": run.profile,
        "thread": run.thread, "previous": run.previous, "parent": run.parent,
        "state": run.stage.as_str(),
        "tickets": run.tickets, "created_at": seconds(run.created),
        "changed_at": seconds(run.changed),
    })
}

/// How what was asked begins, on one line.
pub(super) fn title(input: &[Value]) -> String {
    let is_said = |item: &&Value| item.get("role").is_some_and(|role| role == "user");
    let content = input.iter().find(is_said).and_then(|item| item.get("content"));
    let parts = match content {
        Some(Value::Array(parts)) => parts.as_slice(),
        Some(text) => std::slice::from_ref(text),
        None => &[],
    };
    let text = |part: &Value| part.get("text").unwrap_or(part).as_str().map(str::to_owned);
    let said = parts.iter().find_map(text).unwrap_or_default();
    let words = said.split_whitespace().take(MOST_WORDS).collect::<Vec<_>>().join(" ");
    words.chars().take(LONGEST_TITLE).collect()
}

/// The same with what came of it.
pub(super) fn run(live: &LiveRun) -> Value {
    let (meta, state) = (&live.meta, live.state.borrow());
    let mut run = json!({
        "id": meta.id, "object": "run", "agent": meta.agent, "profile": meta.profile,
        "thread": meta.thread, "previous": meta.previous, "parent": meta.parent,
        "state": state.stage.as_str(),
        "tickets": state.tickets, "created_at": meta.created, "changed_at": state.changed,
    });
    let mut turns = 0;
    let mut children = Vec::new();
    let mut more = Vec::new();
    for event in &state.events {
        match event {
            RunEvent::TurnStarted { turn } => turns = *turn,
            RunEvent::Usage { usage } => more.push(("usage", json!(usage))),
            RunEvent::Ended { end, .. } => {
                more.push(("stop", json!(end.stop)));
                more.push(("text", json!(end.text)));
                if !end.calls.is_empty() {
                    more.push(("calls", json!(end.calls)));
                }
                if !end.checks.is_empty() {
                    more.push(("checks", json!(end.checks)));
                }
                if !end.references.is_empty() {
                    more.push(("references", json!(end.references)));
                }
                if let Some(fault) = &end.fault {
                    let error = json!({ "kind": fault.kind, "message": fault.message });
                    more.push(("error", error));
                }
            }
            RunEvent::Text { .. }
            | RunEvent::Reasoning { .. }
            | RunEvent::Retracted { .. }
            | RunEvent::Calls { .. }
            | RunEvent::CallDone { .. }
            | RunEvent::Progress { .. }
            | RunEvent::Notice { .. }
            | RunEvent::Compacted { .. }
            | RunEvent::Checked { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::Child { .. } => {}
            RunEvent::ChildStarted { path, run, agent, .. } => {
                let child = json!({ "run": run, "agent": agent, "path": path });
                if !children.contains(&child) {
                    children.push(child);
                }
            }
        }
    }
    if !children.is_empty() {
        more.push(("children", children.into()));
    }
    more.push(("turns", turns.into()));
    more.push(("events", state.events.len().into()));
    if let Value::Object(fields) = &mut run {
        fields.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
    run
}

/// Whether it has ended because its model had no more to do.
pub(super) fn is_done(live: &LiveRun) -> bool {
    let state = live.state.borrow();
    let end = state.events.iter().rev().find_map(|event| {
        if let RunEvent::Ended { end, .. } = event { Some(end.stop) } else { None }
    });
    let is_whole = matches!(
        end,
        Some(
            StopReason::Done
                | StopReason::HandedOver
                | StopReason::CallerCalls
                | StopReason::Withheld
        )
    );
    state.stage == RunStage::Ended && is_whole
}

/// An item of a thread, without what only its API reads.
pub(super) fn item(item: &ThreadItem) -> Value {
    let mut told = json!(item);
    if let Value::Object(fields) = &mut told {
        fields.remove("echo");
    }
    told
}
