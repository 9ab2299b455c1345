//! `toolcrib run`: the calls of a model's message, answered as a host would.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use toolcrib::{Response, ToolOutcome};

use super::End;
use super::arguments::{DialectName, RequestWords};
use super::interrupt::interruptible;
use super::output::Output;
use super::room::{Room, dialect};
use crate::config;

pub(super) fn run(
    room: &Room,
    output: &Output,
    name: DialectName,
    words: &RequestWords,
) -> Result<End> {
    let text = config::standard_input()?;
    let reply: Value = serde_json::from_str(&text)
        .context("standard input is no JSON: send a model's message or a list of calls")?;
    let plan = room.plan(words)?;
    output.warn(plan.warnings());
    let dialect = dialect(name, false);
    if let Some(problem) = dialect.not_a_reply(&reply) {
        return Err(problem.into());
    }
    let calls = dialect.calls(&plan, &reply);
    if calls.is_empty() {
        output.note("the message calls no tool");
    }
    let finished = interruptible(|options| room.crib.run_with(&plan, calls, options))?;
    let Some(report) = finished.answer else { return Ok(End::Interrupted) };
    if output.json {
        output.value(&json!({
            "messages": dialect.results(&report),
            "responses": report.responses.iter().map(Response::to_json).collect::<Vec<_>>(),
        }))?;
    } else {
        for response in &report.responses {
            let (id, outcome) = (&response.id, response.outcome.as_str());
            output.heading(&format!("{id} {} {outcome}", response.name))?;
            output.indented(&response.text())?;
        }
    }
    let waiting = |response: &&Response| matches!(response.outcome, ToolOutcome::Pending(_));
    let waiting = report.responses.iter().filter(waiting).count();
    if waiting > 0 {
        output.note(&format!(
            "calls that wait for approval: {waiting}. They did not run, and their tickets end with \
             this command; `toolcrib call` asks or takes `--yes`"
        ));
    }
    Ok(if finished.interrupted { End::Interrupted } else { end_of(&report.responses) })
}

/// The exit of several calls: a failure counts most, then a refusal, then a wait.
pub(super) fn end_of<'a>(responses: impl IntoIterator<Item = &'a Response>) -> End {
    let ends = responses.into_iter().map(|response| match response.outcome {
        ToolOutcome::Done(_) => (0, End::Done),
        ToolOutcome::Pending(_) => (1, End::Waiting),
        ToolOutcome::Denied { .. } => (2, End::Denied),
        ToolOutcome::Failed(_) => (3, End::Failed),
    });
    ends.max_by_key(|(weight, _)| *weight).map_or(End::Done, |(_, end)| end)
}
