//! `toolcrib call`: one call by hand, with a person asked where the policy wants it.

use anyhow::{Context, Result};
use toolcrib_core::{
    BatchOptions, Call, Decision, PendingTicket, Plan, RawArguments, Redemption, Response, Run,
    ToolOutcome,
};

use super::run::end_of;
use crate::cli::CommandExit;
use crate::cli::context::CommandContext;
use crate::cli::output::{Output, escaped};
use crate::cli::signals::interruptible;
use crate::config;

pub(crate) fn call(
    context: &CommandContext,
    output: &Output,
    name: &str,
    arguments: Option<&str>,
    yes: bool,
) -> Result<CommandExit> {
    let arguments = match arguments {
        None => RawArguments::Absent,
        Some("-") => RawArguments::Text(config::standard_input()?),
        Some(text) => RawArguments::Text(text.to_owned()),
    };
    let plan = context.plain_plan()?;
    let call = Call::new("call_1", name, arguments);
    let runner = CallRunner { context, output, yes };
    let finished = interruptible(&context.runtime, (output, Some(name)), |options| {
        runner.answer(&plan, call, options)
    })?;
    let Some(response) = finished.answer.transpose()? else { return Ok(CommandExit::Interrupted) };
    if output.json {
        output.value(&response.to_json())?;
    } else {
        match &response.outcome {
            ToolOutcome::Done(_) => output.text(&response.text())?,
            ToolOutcome::Pending(_) if finished.interrupted => {
                output.note(&format!("\n`{name}` did not run: you interrupted it"));
            }
            ToolOutcome::Pending(pending) => {
                output.note(&format!(
                    "`{name}` did not run: a person has to be asked, and nobody is there. \
                     `--yes` approves the call beforehand"
                ));
                if is_undeclared(context, name) {
                    output.note(&format!("It is asked about because {}", pending.reason));
                }
            }
            ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => output.note(&response.text()),
        }
    }
    Ok(if finished.interrupted { CommandExit::Interrupted } else { end_of([&response]) })
}

/// Whether a person is asked for want of a word of the tool.
fn is_undeclared(context: &CommandContext, name: &str) -> bool {
    context.crib.catalog().get(name).is_some_and(|tool| tool.spec.origin.undeclared)
}

/// Where a call is made and, if need be, approved.
struct CallRunner<'a> {
    context: &'a CommandContext,
    output: &'a Output,
    yes: bool,
}

impl CallRunner<'_> {
    /// A ticket lives as long as this process, so it is redeemed here or never.
    async fn answer(&self, plan: &Plan, call: Call, options: BatchOptions) -> Result<Response> {
        let crib = &self.context.crib;
        let later = options.clone();
        let report = crib.run_with(plan, vec![call], options).await;
        let response = report.responses.into_iter().next().context("the call has no answer")?;
        let ToolOutcome::Pending(pending) = &response.outcome else { return Ok(response) };
        let decision = if self.yes {
            Some(Decision::Approve)
        } else {
            later
                .cancel
                .run_until_cancelled(self.ask(&response.name, pending))
                .await
                .transpose()?
                .flatten()
        };
        let Some(decision) = decision else { return Ok(response) };
        let redemption = Redemption {
            caller: &self.context.caller,
            ticket: &pending.ticket,
            decision,
            run: &Run::default(),
            options: later,
        };
        Ok(crib.redeem(redemption).await?)
    }

    /// Shows the person what would run, which is the stored call and not what was typed; `None`
    /// if nobody is there.
    async fn ask(&self, name: &str, pending: &PendingTicket) -> Result<Option<Decision>> {
        if !config::person_is_there() {
            return Ok(None);
        }
        let open = self.context.crib.tickets(&self.context.caller).await?;
        let parked = open.into_iter().find(|parked| parked.ticket == pending.ticket);
        let arguments = parked.context("the call is not kept")?.arguments.into_value();
        config::forget_typed();
        self.output.note(&format!("approval needed: {}", pending.reason));
        let arguments = arguments.to_string();
        self.output.prompt(&format!("Run `{name}` with {}? [y/N]", escaped(&arguments)));
        let answer = tokio::task::spawn_blocking(config::line).await;
        self.output.answered();
        let answer = answer??;
        let reason = "the person at the terminal said no".to_owned();
        Ok(Some(match answer.trim() {
            "y" | "Y" | "yes" => Decision::Approve,
            _ => Decision::Deny { reason },
        }))
    }
}
