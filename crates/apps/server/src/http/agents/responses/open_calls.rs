//! Calls of a thread that were told to wait for a person, and what became of them since.
//!
//! A run that waits for nobody ends with the word that its calls wait. Whoever decides later, the
//! next turn of the thread is told of it, once.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use toolcrib_agent::{CallOutcome, RunEvent, ThreadItem};
use toolcrib_core::{Caller, LedgerError, TicketId, ToolOutcome};

use super::super::live::live_run::{OpenCall, RunMeta};
use crate::http::state::GatewayState;

/// How long the ends of calls are waited for that somebody said yes to, all together.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longer than any call runs.
const LONGEST_CALL: Duration = Duration::from_hours(24);
/// Calls of a thread that are looked after at the most: the newest.
const MOST: usize = 64;

/// The calls that wait when a run has ended: those that waited before it, and its own.
pub(super) fn open_calls(run: &RunMeta, events: &[RunEvent]) -> Vec<OpenCall> {
    let mut own: Vec<(&str, Option<OpenCall>)> = Vec::new();
    for event in events {
        let RunEvent::CallDone { response } = event else { continue };
        let ticket = response.more.get("ticket").and_then(Value::as_str);
        let ticket = ticket.filter(|_| response.outcome == CallOutcome::Pending);
        let open = ticket.map(|ticket| OpenCall {
            ticket: TicketId::claimed(ticket),
            tool: response.name.clone(),
            profile: run.profile.clone(),
        });
        // What is told of a call later counts.
        own.retain(|(id, _)| *id != response.id);
        own.push((&response.id, open));
    }
    let before = run.request.open.iter().cloned();
    let mut all: Vec<_> = before.chain(own.into_iter().filter_map(|(_, open)| open)).collect();
    // Equal calls wait under one ticket.
    let mut seen = HashSet::new();
    all.retain(|call| seen.insert(call.ticket.clone()));
    all.split_off(all.len().saturating_sub(MOST))
}

/// What the model is told of calls that wait no more, and those that still do.
pub(super) async fn look(
    gateway: &GatewayState,
    caller: &Caller,
    open: Vec<OpenCall>,
) -> (Vec<ThreadItem>, Vec<OpenCall>) {
    let (mut told, mut still) = (Vec::new(), Vec::new());
    let until = Instant::now() + PATIENCE;
    for call in open {
        match timeout_at(until, became(gateway, caller, &call)).await {
            Ok(Ok(Some(end))) => told.push(ThreadItem::user(note(&call, &end))),
            // What runs still, or cannot be read now, is told later.
            Ok(Ok(None) | Err(_)) | Err(_) => still.push(call),
        }
    }
    (told, still)
}

/// What became of a call; `None`: it waits.
async fn became(
    gateway: &GatewayState,
    caller: &Caller,
    call: &OpenCall,
) -> Result<Option<String>, LedgerError> {
    let view = call.profile.as_deref().map(|profile| gateway.live.view(profile));
    let Some(crib) = view.unwrap_or_else(|| Some(gateway.live.crib().clone())) else {
        return Ok(Some("The profile that it was made under is gone; it cannot run.".to_owned()));
    };
    if crib.ticket(caller, &call.ticket).await?.is_some() {
        return Ok(None);
    }
    let end = crib.redeemed(caller, &call.ticket, LONGEST_CALL).await?;
    Ok(match end {
        // It runs, and asks something.
        Some(end) if matches!(end.outcome, ToolOutcome::Pending(_)) => None,
        Some(end) => Some(format!("What came of it: {}", end.text())),
        None => Some(
            "No decision about it and no result is on record: look whether it took effect before \
             it is made again."
                .to_owned(),
        ),
    })
}

fn note(call: &OpenCall, end: &str) -> String {
    let OpenCall { ticket, tool, .. } = call;
    format!(
        "(A note of the server, not of the user: the call of `{tool}` that waited under the ticket \
         `{ticket}` waits no more. {end})"
    )
}
