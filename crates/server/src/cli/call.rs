//! `toolcrib call`: one call by hand, with a person asked where the policy wants it.

use std::io::{BufRead, IsTerminal, stdin};

use anyhow::Result;
use toolcrib::{Call, Decision, Pending, RawArguments, Response, Run, ToolOutcome};

use super::End;
use super::output::Output;
use super::room::Room;
use super::run::{end_of, interruptible};
use crate::config;

pub(super) fn call(
    room: &Room,
    output: &Output,
    name: &str,
    arguments: Option<String>,
    yes: bool,
) -> Result<End> {
    let arguments = match arguments.as_deref() {
        None => RawArguments::Absent,
        Some("-") => RawArguments::Text(config::standard_input()?),
        Some(text) => RawArguments::Text(text.to_owned()),
    };
    let shown = match &arguments {
        RawArguments::Text(text) => text.trim().to_owned(),
        RawArguments::Absent | RawArguments::Value(_) => String::new(),
    };
    let plan = room.plain_plan()?;
    let calls = vec![Call::new("call_1", name, arguments)];
    let (interrupted, mut responses) = interruptible(|options| async {
        room.crib.run_with(&plan, calls, options).await.responses
    })?;
    let Some(mut response) = responses.pop() else { return Ok(End::Failed) };
    if let ToolOutcome::Pending(pending) = &response.outcome
        && (yes || asked(name, &shown, pending, output)?)
    {
        response = approve(room, &pending.ticket.clone())?;
    }
    if output.json {
        output.value(&response.to_json())?;
    } else if response.outcome.is_done() {
        output.text(&response.text())?;
    } else {
        output.note(&response.text());
    }
    Ok(if interrupted { End::Interrupted } else { end_of([&response]) })
}

/// Asks the person at the terminal; where there is none, nobody has said yes.
fn asked(name: &str, arguments: &str, pending: &Pending, output: &Output) -> Result<bool> {
    if !stdin().is_terminal() {
        output.note("nobody is there to ask: `--yes` approves the call beforehand");
        return Ok(false);
    }
    let arguments = arguments.escape_debug();
    output.note(&format!("Run `{name}` with {arguments}? {} [y/N]", pending.reason));
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn approve(room: &Room, ticket: &toolcrib::TicketId) -> Result<Response> {
    let (_, response) = interruptible(|_| async {
        room.crib.decide(&room.caller, &Run::default(), ticket, Decision::Approve).await
    })?;
    Ok(response?)
}
