//! The calls of a run that wait for a person, as interrupts; and what a person says to them.

use std::collections::HashSet;
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib_agent::RunEvent;
use toolcrib_core::{Caller, Decision, ParkedCall, TicketId};

use super::super::live::live_run::{LiveState, seconds};
use super::super::runs::silent;
use super::children::AguiTree;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::request::GatewayRequest;
use crate::http::state::GatewayState;

/// What waits under the tickets of a run; `None`: something was decided that the run does not know
/// of yet, so that it goes on.
pub(super) async fn open(
    gateway: &GatewayState,
    caller: &Caller,
    tickets: &[TicketId],
    writer: &AguiTree,
) -> Option<Vec<Value>> {
    let mut open = Vec::new();
    for ticket in tickets {
        let parked = gateway.live.crib().ticket(caller, ticket).await;
        let call = writer.call_of(ticket.as_str());
        match parked {
            Ok(Some(parked)) => open.push(interrupt(&parked, call)),
            Ok(None) => return None,
            // That it waits is all that is known now.
            Err(_) => open.push(json!({ "id": ticket, "reason": "tool_approval" })),
        }
    }
    (!open.is_empty()).then_some(open)
}

fn interrupt(parked: &ParkedCall, call: Option<&str>) -> Value {
    let until = SystemTime::now().checked_add(parked.lifetime).map(seconds);
    let until = until.and_then(|until| i64::try_from(until).ok());
    let until = until.and_then(|until| Timestamp::from_second(until).ok());
    let (reason, message, schema) = match &parked.question {
        None => {
            let arguments = parked.arguments.clone().into_value();
            let message = format!("`{}` {arguments}: {}", parked.tool, parked.reason);
            let schema = json!({
                "type": "object", "required": ["approved"],
                "properties": {
                    "approved": { "type": "boolean" }, "reason": { "type": "string" },
                },
            });
            ("tool_approval", Value::from(message), schema)
        }
        Some(question) => {
            let field = |key: &str| question.get(key).cloned().unwrap_or_default();
            ("input_required", field("message"), field("requestedSchema"))
        }
    };
    let mut told = json!({ "id": parked.ticket, "reason": reason });
    if let Value::Object(fields) = &mut told {
        let more = [
            ("message", Some(message).filter(Value::is_string)),
            ("toolCallId", call.map(Value::from)),
            ("responseSchema", Some(schema).filter(Value::is_object)),
            ("expiresAt", until.map(|until| until.to_string().into())),
        ];
        let more = more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        fields.extend(more);
    }
    told
}

/// An answer to an interrupt.
pub(super) struct ResumeEntry {
    pub(super) ticket: TicketId,
    /// What a person filled in; `None`: they refused.
    payload: Option<Value>,
    at: String,
}

/// The answers that a request brings, to interrupts of this run.
pub(super) fn entries(resume: &Value, run: &LiveState) -> Result<Vec<ResumeEntry>, HttpProblem> {
    let Value::Array(resume) = resume else {
        return Err(invalid("`resume` must be a list of answers to interrupts".to_owned()));
    };
    let asked: HashSet<&str> = run.events.iter().filter_map(waiting).collect();
    let mut seen = HashSet::new();
    let mut entries = Vec::new();
    for (index, entry) in resume.iter().enumerate() {
        let at = format!("resume[{index}]");
        let word = |key: &str| entry.get(key).and_then(Value::as_str);
        let id = word("interruptId").filter(|id| asked.contains(id)).ok_or_else(|| {
            invalid(format!("`{at}.interruptId` is no interrupt of the last run of this thread"))
        })?;
        if !seen.insert(id) {
            return Err(invalid(format!("`{at}.interruptId` has an answer already")));
        }
        let payload = match word("status") {
            Some("cancelled") => None,
            Some("resolved") => Some(entry.get("payload").cloned().unwrap_or_default()),
            _ => {
                let detail = format!("`{at}.status` must be `resolved` or `cancelled`");
                return Err(invalid(detail));
            }
        };
        entries.push(ResumeEntry { ticket: TicketId::claimed(id), payload, at });
    }
    Ok(entries)
}

/// The ticket that an event says the run waits for.
pub(super) fn waiting(event: &RunEvent) -> Option<&str> {
    event.waiting().map(|call| call.ticket.as_str())
}

/// What is to be decided; `None`: somebody decided already, or nobody did in time.
pub(super) async fn decision(
    asked: &GatewayRequest,
    entry: &ResumeEntry,
) -> Result<Option<Decision>, HttpProblem> {
    let parked = asked.gateway.live.crib().ticket(&asked.caller, &entry.ticket).await;
    let parked = parked.map_err(silent)?;
    let Some(parked) = parked else { return Ok(None) };
    let denied = |reason: Option<&Value>| {
        let reason = reason.and_then(Value::as_str).unwrap_or("a person said no").to_owned();
        Decision::Deny { reason }
    };
    let at = &entry.at;
    let Some(payload) = &entry.payload else { return Ok(Some(denied(None))) };
    if parked.question.is_some() {
        if !payload.is_object() {
            let detail = format!("`{at}.payload` must have the fields that were asked for");
            return Err(invalid(detail));
        }
        return Ok(Some(Decision::Answer { content: payload.clone() }));
    }
    match payload.get("approved").and_then(Value::as_bool) {
        Some(true) => Ok(Some(Decision::Approve)),
        Some(false) => Ok(Some(denied(payload.get("reason")))),
        None => Err(invalid(format!("`{at}.payload.approved` must be true or false"))),
    }
}

fn invalid(detail: String) -> HttpProblem {
    HttpProblem::new(ProblemKind::InvalidBody, detail)
}
