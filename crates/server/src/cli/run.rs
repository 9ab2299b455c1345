//! `toolcrib run`: the calls of a model's message, answered as a host would.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use toolcrib::{BatchOptions, Response, ToolOutcome};

use super::End;
use super::arguments::{DialectName, RequestWords};
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
    for warning in plan.warnings() {
        output.note(&format!("warning: {warning}"));
    }
    let dialect = dialect(name, false);
    let calls = dialect.calls(&plan, &reply);
    let (interrupted, report) =
        interruptible(|options| room.crib.run_with(&plan, calls, options))?;
    if output.json {
        output.value(&json!({
            "messages": dialect.results(&report),
            "responses": report.responses.iter().map(Response::to_json).collect::<Vec<_>>(),
        }))?;
    } else {
        let row = |response: &Response| {
            let outcome = response.outcome.as_str().to_owned();
            [response.id.clone(), response.name.clone(), outcome, response.text()]
        };
        output.table(["ID", "TOOL", "OUTCOME", "TEXT"], report.responses.iter().map(row))?;
    }
    Ok(if interrupted { End::Interrupted } else { end_of(&report.responses) })
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

/// Runs until the end, or until the person at the terminal has had enough: then what has not
/// started does not start, and everything is still answered.
pub(super) fn interruptible<T, F: Future<Output = T>>(
    work: impl FnOnce(BatchOptions) -> F,
) -> Result<(bool, T)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let options = BatchOptions::default();
        let cancel = options.cancel.clone();
        let mut working = std::pin::pin!(work(options));
        tokio::select! {
            biased;
            done = &mut working => Ok((false, done)),
            heard = tokio::signal::ctrl_c() => {
                heard?;
                cancel.cancel();
                Ok((true, working.await))
            }
        }
    })
}
