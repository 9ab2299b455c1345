//! `toolcrib run`: the calls of a model's message, answered as a host would.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, Call, Decision, Plan, Redemption, Report, Response, Run, ToolOutcome,
};

use crate::cli::CommandExit;
use crate::cli::args::{DialectName, RequestArgs};
use crate::cli::context::{CommandContext, dialect};
use crate::cli::output::Output;
use crate::cli::signals::interruptible;
use crate::config;

pub(crate) fn run(
    context: &CommandContext,
    output: &Output,
    name: DialectName,
    words: &RequestArgs,
    yes: bool,
) -> Result<CommandExit> {
    let text = config::standard_input()?;
    let reply: Value = serde_json::from_str(&text)
        .context("standard input is no JSON: send a model's message or a list of calls")?;
    let dialect = dialect(name, false);
    let plan = context.plan(words, Some(&*dialect))?;
    output.warn(plan.warnings());
    let calls = dialect.calls(&plan, &reply)?;
    if calls.is_empty() {
        output.note("the message calls no tool");
    }
    let finished = interruptible(&context.runtime, (output, None), |options| {
        answer(context, &plan, calls, (options, yes))
    })?;
    let Some(report) = finished.answer.transpose()? else { return Ok(CommandExit::Interrupted) };
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
             this command; `--yes` approves them beforehand"
        ));
    }
    Ok(if finished.interrupted { CommandExit::Interrupted } else { end_of(&report.responses) })
}

/// Runs the calls and, if they are approved beforehand, those that would have waited.
async fn answer(
    context: &CommandContext,
    plan: &Plan,
    calls: Vec<Call>,
    (options, yes): (BatchOptions, bool),
) -> Result<Report> {
    let mut report = context.crib.run_with(plan, calls, options.clone()).await;
    let pending = |response: &Response| {
        let ToolOutcome::Pending(pending) = &response.outcome else { return None };
        yes.then(|| pending.ticket.clone())
    };
    let tickets: Vec<_> = report.responses.iter().filter_map(pending).collect();
    for ticket in &tickets {
        let redemption = Redemption {
            caller: &context.caller,
            ticket,
            decision: Decision::Approve,
            run: &Run::default(),
            options: options.clone(),
        };
        report.settle(context.crib.redeem(redemption).await?);
    }
    Ok(report)
}

/// The exit of several calls: a failure counts most, then a refusal, then a wait.
pub(crate) fn end_of<'a>(responses: impl IntoIterator<Item = &'a Response>) -> CommandExit {
    let ends = responses.into_iter().map(|response| match response.outcome {
        ToolOutcome::Done(_) => (0, CommandExit::Done),
        ToolOutcome::Pending(_) => (1, CommandExit::Waiting),
        ToolOutcome::Denied { .. } => (2, CommandExit::Denied),
        ToolOutcome::Failed(_) => (3, CommandExit::Failed),
    });
    ends.max_by_key(|(weight, _)| *weight).map_or(CommandExit::Done, |(_, end)| end)
}
