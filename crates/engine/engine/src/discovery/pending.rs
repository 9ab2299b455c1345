//! `get_pending`, `execute_pending`, `clear_pending`: the calls that wait under a ticket, as a
//! model may handle them.
//!
//! A model does not say yes to its own call. Only where the configuration says that it may pass on
//! what a person told it does `execute_pending` run anything; elsewhere it says who has to decide.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_core::{
    Arguments, BatchOptions, CallContext, Caller, Content, Decision, ErrorKind, ParkedCall,
    Redemption, Run, TicketId, ToolError, ToolOutcome,
};
use toolcrib_json::invisible::exact_json;

use super::discover::content;
use super::meta_tools::factory::MetaToolFactory;
use super::meta_tools::names::MetaToolNames;
use super::settings::Approver;

/// Bytes of the arguments of a call that are shown.
const LONGEST: usize = 1_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PendingArguments {
    ticket: Option<String>,
    reason: Option<String>,
}

pub(super) fn input(of_clear: bool) -> Value {
    let mut properties = json!({
        "ticket": {
            "type": "string", "description": "Which; may be left out where only one waits.",
        },
    });
    if let (true, Value::Object(properties)) = (of_clear, &mut properties) {
        properties.insert("reason".to_owned(), json!({ "type": "string" }));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

pub(super) fn nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

pub(super) const LISTS: &str =
    "Lists the calls that wait for the user's yes, with what each of them would do.";
pub(super) const CLEARS: &str = "Takes a waiting call back: it will not run.";
pub(super) const EXECUTES: &str = "Runs a waiting call. Only after the user has said yes to exactly \
                                   this call; the silence of the user is no yes.";

pub(super) async fn list(
    factory: &MetaToolFactory,
    context: &CallContext,
) -> Result<Content, ToolError> {
    let open = open(factory, context.caller()).await?;
    if open.is_empty() {
        return Ok(content("No call waits.".to_owned(), json!({ "pending": [] })));
    }
    let lines: Vec<_> = open.iter().map(line).collect();
    let structured: Vec<_> = open
        .iter()
        .map(|parked| {
            json!({
                "ticket": parked.ticket,
                "tool": parked.tool,
                "source": parked.source,
                "arguments": parked.arguments.clone().into_value(),
                "reason": parked.reason,
                "tenant": parked.caller.tenant,
                "subject": parked.caller.subject,
                "profile": parked.profile,
                "expires_in_seconds": parked.lifetime.as_secs(),
            })
        })
        .collect();
    Ok(content(lines.join("\n"), json!({ "pending": structured })))
}

/// What would be done and by what, who asked for it, and until when it can be decided. The words
/// of the tool itself, where it has some, open the reason. It ends without a period: more may
/// follow.
fn line(parked: &ParkedCall) -> String {
    let ParkedCall { ticket, tool, source, reason, caller, .. } = parked;
    let arguments = parked.arguments.clone().into_value().to_string();
    let arguments = exact_json(&arguments);
    let end = arguments.floor_char_boundary(LONGEST);
    let (shown, more) = arguments.split_at_checked(end).unwrap_or((&arguments, ""));
    let more = if more.is_empty() { "" } else { " […]" };
    let (by, left) = (of(caller, parked.profile.as_deref()), left(parked.lifetime));
    format!(
        "- `{ticket}`: {reason}\n  It is the call {tool}({shown}{more}) of the source `{source}`, asked \
         for by {by}; it expires in {left}"
    )
}

fn of(caller: &Caller, profile: Option<&str>) -> String {
    let profile = profile.map(|profile| format!(" under the profile `{profile}`"));
    let Caller { tenant, subject, .. } = caller;
    format!("`{subject}` of the tenant `{tenant}`{}", profile.unwrap_or_default())
}

/// In one unit, rounded down so that nobody comes too late.
fn left(lifetime: Duration) -> String {
    match lifetime.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// Those of this caller that this view of the crib made.
async fn open(factory: &MetaToolFactory, caller: &Caller) -> Result<Vec<ParkedCall>, ToolError> {
    let executor = factory.executor();
    let open = executor.tickets(caller).await.map_err(|error| {
        let told = "the waiting calls cannot be looked up now: try again later";
        ToolError::new(ErrorKind::Unavailable, told).because(error)
    })?;
    let profile = executor.profile();
    Ok(open.into_iter().filter(|parked| parked.profile.as_deref() == profile).collect())
}

/// Runs or refuses one.
pub(super) async fn decide(
    (factory, confirm, names): (Arc<MetaToolFactory>, Approver, Arc<MetaToolNames>),
    arguments: Arguments,
    context: CallContext,
    approves: bool,
) -> ToolOutcome {
    let which: PendingArguments = match arguments.read() {
        Ok(which) => which,
        Err(error) => return ToolOutcome::Failed(error),
    };
    let open = match open(&factory, context.caller()).await {
        Ok(open) => open,
        Err(error) => return ToolOutcome::Failed(error),
    };
    let ticket = match (&which.ticket, open.as_slice()) {
        (Some(ticket), _) => TicketId::claimed(ticket.trim()),
        (None, [one]) => one.ticket.clone(),
        (None, []) => return ToolOutcome::Failed(ToolError::told("no call waits")),
        (None, several) => {
            let lines: Vec<_> = several.iter().map(line).collect();
            let told = format!("several calls wait; say which `ticket`:\n{}", lines.join("\n"));
            return ToolOutcome::Failed(ToolError::told(told));
        }
    };
    let what = open.iter().find(|parked| parked.ticket == ticket).map(line);
    // Of what was so when the plan was made and what is so now, the stricter holds.
    if approves && (confirm == Approver::Person || factory.confirm() == Approver::Person) {
        return ToolOutcome::Denied { reason: a_person(&ticket, what.as_deref(), &names) };
    }
    let decision = if approves {
        Decision::Approve
    } else {
        let reason = which.reason.filter(|reason| !reason.trim().is_empty());
        Decision::Deny { reason: reason.unwrap_or_else(|| "it was taken back".to_owned()) }
    };
    redeem(&factory, context.caller().clone(), (ticket, what), decision).await
}

async fn redeem(
    factory: &MetaToolFactory,
    caller: Caller,
    (ticket, what): (TicketId, Option<String>),
    decision: Decision,
) -> ToolOutcome {
    let refused = matches!(decision, Decision::Deny { .. });
    let run = Run::default();
    let (caller, ticket) = (&caller, &ticket);
    let options = BatchOptions { missing: Some(factory.missing()), ..BatchOptions::default() };
    let redemption = Redemption { caller, ticket, decision, run: &run, options };
    match factory.executor().redeem(&factory.catalog(caller), redemption).await {
        Ok(_) if refused => {
            let what = what.map(|what| format!("\n{what}")).unwrap_or_default();
            let told = format!("The call was taken back: it will not run.{what}");
            ToolOutcome::Done(Content::text(told))
        }
        Ok(response) => response.outcome,
        Err(error) => ToolOutcome::Failed(ToolError::told(error.to_string())),
    }
}

fn a_person(ticket: &TicketId, what: Option<&str>, names: &MetaToolNames) -> String {
    let what = what.map(|what| format!(". What waits:\n{what}")).unwrap_or_default();
    format!(
        "a person has to say yes, and not by way of a model: ask the user to decide (at the program \
         they use, by `toolcrib tickets approve {ticket}`, or by `POST /v1/tickets/{ticket}`). `{}` takes \
         the call back{what}",
        names.clear
    )
}
