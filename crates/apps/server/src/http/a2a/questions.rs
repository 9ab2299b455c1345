//! What a task waits for, and what its client says to it.

use std::time::SystemTime;

use serde_json::{Map, Value, json};
use toolcrib_a2a_client::protocol::message::AgentMessage;
use toolcrib_a2a_client::protocol::part::{MessagePart, PartContent};
use toolcrib_a2a_client::protocol::state::TaskState;
use toolcrib_a2a_client::protocol::task::TaskStatus;
use toolcrib_a2a_server::verdict;
use toolcrib_core::{Decision, ParkedCall, RunStage, TicketId};

use super::feed::{says, timestamp};
use crate::http::agents::live::live_run::{LiveRun, LiveState, seconds};
use crate::http::state::GatewayState;

/// The calls that a run waits for; `None`: it waits for none, or somebody decided about one and it
/// does not know yet.
pub(super) async fn open(
    gateway: &GatewayState,
    live: &LiveRun,
    run: &LiveState,
) -> Option<Vec<ParkedCall>> {
    if run.stage != RunStage::Waiting || run.tickets.is_empty() {
        return None;
    }
    let mut open = Vec::new();
    for ticket in &run.tickets {
        // Of one that cannot be read now nothing can be said, and the run waits as it did.
        let parked = gateway.live.crib().ticket(&live.meta.caller, ticket).await;
        if let Ok(parked) = parked {
            open.push(parked?);
        }
    }
    Some(open)
}

/// How far a run has come, with its events from this one on alone: there may be thousands, and each
/// wakes whoever looks.
pub(super) fn news(live: &LiveRun, from: usize) -> LiveState {
    let now = live.state.borrow();
    let events = now.events.get(from..).unwrap_or_default().to_vec();
    LiveState { events, stage: now.stage, tickets: now.tickets.clone(), changed: now.changed }
}

/// A task that waits, with what is asked.
pub(super) fn status(
    ids: (&str, &str),
    sequence: u64,
    open: &[ParkedCall],
    since: u64,
) -> TaskStatus {
    let mut parts = vec![MessagePart::text(words(open))];
    parts.extend(open.iter().map(|parked| MessagePart {
        media: Some("application/json".to_owned()),
        ..MessagePart::new(PartContent::Data(asked(parked)))
    }));
    TaskStatus {
        state: TaskState::InputRequired,
        message: Some(says(ids, sequence, parts)),
        timestamp: Some(timestamp(since)),
    }
}

fn words(open: &[ParkedCall]) -> String {
    let lines = open.iter().map(|parked| {
        if let Some(message) = question(parked) {
            return message.to_owned();
        }
        let arguments = parked.arguments.clone().into_value();
        format!("May `{}` run with {arguments}? ({})", parked.tool, parked.reason)
    });
    let lines: Vec<_> = lines.collect();
    let how = match open {
        [only] if only.question.is_none() => "Answer `yes` or `no`.",
        [_] => "Answer in words, or with data.",
        _ => "Answer each with data: its `ticket`, and `approved` or `answer`.",
    };
    format!("{}\n\n{how}", lines.join("\n"))
}

fn question(parked: &ParkedCall) -> Option<&str> {
    parked.question.as_ref()?.get("message").and_then(Value::as_str)
}

/// The same as data.
fn asked(parked: &ParkedCall) -> Value {
    let until = SystemTime::now().checked_add(parked.lifetime).map(seconds);
    let mut asked = json!({
        "ticket": parked.ticket, "tool": parked.tool,
        "arguments": parked.arguments.clone().into_value(),
        "reason": parked.reason, "expiresAt": until.map(timestamp),
    });
    if let (Some(question), Value::Object(fields)) = (&parked.question, &mut asked) {
        let field = |key: &str| question.get(key).cloned().unwrap_or_default();
        fields.insert("question".to_owned(), field("message"));
        fields.insert("answerSchema".to_owned(), field("requestedSchema"));
    }
    asked
}

/// What a message says to the calls that wait; else why it decides nothing.
pub(super) fn decisions(
    open: &[ParkedCall],
    message: &AgentMessage,
) -> Result<Vec<(TicketId, Decision)>, String> {
    let mut decided: Vec<(TicketId, Decision)> = Vec::new();
    for part in &message.parts {
        let PartContent::Data(data) = &part.content else { continue };
        let Some(fields) = data.as_object() else {
            return Err("an answer as data must be an object".to_owned());
        };
        let parked = meant(open, fields)?;
        if decided.iter().any(|(ticket, _)| *ticket == parked.ticket) {
            return Err(format!("`{}` has two answers: nothing was decided", parked.ticket));
        }
        decided.push((parked.ticket.clone(), of_data(parked, fields)?));
    }
    if !decided.is_empty() {
        return Ok(decided);
    }
    let [only] = open else { return Err(unclear(open)) };
    let said = message.words().unwrap_or_default();
    Ok(vec![(only.ticket.clone(), of_words(only, said)?)])
}

/// The call that an answer names, or the only one there is.
fn meant<'a>(
    open: &'a [ParkedCall],
    fields: &Map<String, Value>,
) -> Result<&'a ParkedCall, String> {
    let found = match (fields.get("ticket").and_then(Value::as_str), open) {
        (Some(ticket), _) => open.iter().find(|parked| parked.ticket.as_str() == ticket),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    found.ok_or_else(|| unclear(open))
}

fn unclear(open: &[ParkedCall]) -> String {
    let tickets: Vec<_> = open.iter().map(|parked| format!("`{}`", parked.ticket)).collect();
    format!(
        "Say which call is meant: data with its `ticket`, one of [{}], and `approved` or `answer`. \
         Nothing was decided.",
        tickets.join(", ")
    )
}

fn of_data(parked: &ParkedCall, fields: &Map<String, Value>) -> Result<Decision, String> {
    let reason = fields.get("reason").and_then(Value::as_str);
    match (fields.get("approved").and_then(Value::as_bool), &parked.question) {
        (Some(false), _) => Ok(denied(reason.unwrap_or("a person said no"))),
        (Some(true), None) => Ok(Decision::Approve),
        (None, None) => Err("`approved` must be true or false: nothing was decided.".to_owned()),
        (_, Some(_)) => {
            let answer = fields.get("answer").filter(|answer| answer.is_object()).cloned();
            let content = answer.ok_or(
                "`answer` must be an object with the fields that are asked for: nothing was \
                 answered.",
            )?;
            Ok(Decision::Answer { content })
        }
    }
}

fn of_words(parked: &ParkedCall, said: String) -> Result<Decision, String> {
    let Some(question) = &parked.question else {
        return match verdict(&said) {
            Some(true) => Ok(Decision::Approve),
            Some(false) => Ok(denied("a person said no")),
            None => Err(format!(
                "This is neither a yes nor a no to `{}`: answer `yes` or `no`, or with the data \
                 {{\"approved\": true}}. Nothing was decided.",
                parked.tool
            )),
        };
    };
    let fields = question.pointer("/requestedSchema/properties").and_then(Value::as_object);
    let mut fields = fields.into_iter().flatten();
    let only = fields.next().filter(|_| fields.next().is_none());
    let only = only.filter(|(_, schema)| schema.get("type").is_none_or(|kind| kind == "string"));
    match only {
        Some((name, _)) if !said.is_empty() => {
            let content = Value::Object(Map::from_iter([(name.clone(), Value::from(said))]));
            Ok(Decision::Answer { content })
        }
        _ => {
            let message = "The task asks for several things: answer with the data {\"answer\": \
                           {...}}, with the fields of `answerSchema`. Nothing was answered.";
            Err(message.to_owned())
        }
    }
}

fn denied(reason: &str) -> Decision {
    Decision::Deny { reason: reason.to_owned() }
}
