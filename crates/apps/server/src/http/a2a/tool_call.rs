//! A place without a model: a message that names a tool is that call.
//!
//! A call that is answered at once is answered with a message. One that waits for somebody is a
//! task, which has the name of its ticket.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::channel;
use tokio_util::sync::CancellationToken;
use toolcrib_a2a_client::protocol::event::AgentEvent;
use toolcrib_a2a_client::protocol::message::{AgentMessage, MessageRole};
use toolcrib_a2a_client::protocol::part::{MessagePart, PartContent};
use toolcrib_a2a_client::protocol::state::TaskState;
use toolcrib_a2a_client::protocol::task::{AgentTask, TaskArtifact, TaskStatus};
use toolcrib_a2a_server::{A2aFault, A2aFaultKind, SendOptions, ServedEvent, TaskQuery};
use toolcrib_core::{
    BatchOptions, Call, Decision, ParkedCall, Plan, PlanRequest, Response, TicketId, ToolOutcome,
};
use toolcrib_json::schema::signature;
use uuid::Uuid;

use super::feed::timestamp;
use super::questions;
use super::refusal::{Refusal, ended, takes_on};
use super::room::AgentRoom;
use super::wire::AnswerWire;
use crate::http::agents::live::live_run::seconds;
use crate::http::rest::records::listing;
use crate::http::rest::tickets;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;

/// Tools that an answer lists.
const MOST_LISTED: usize = 100;
/// A line that says nothing, so that nobody on the way takes a quiet call for a dead one.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How the record tells a call that was cancelled here from one that somebody refused.
const CANCELLED: &str = "the task was cancelled";

/// A call that a message names.
struct NamedCall {
    tool: String,
    arguments: Value,
}

pub(super) async fn send(
    asked: &GatewayRequest,
    room: &AgentRoom,
    message: &AgentMessage,
    options: SendOptions,
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    takes_on(message)?;
    if let Some(task) = &message.task {
        let told = answer(asked, room, task, message).await?;
        return Ok(wire.once(&told, options.is_streamed));
    }
    let crib = asked.crib(room.profile())?;
    let plan = crib.plan(&asked.caller, PlanRequest::default());
    let plan =
        plan.map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()))?;
    let Some(named) = named(message)? else {
        return Ok(wire.once(&menu(&plan, message), options.is_streamed));
    };
    let call = Call::new("call_1".to_owned(), named.tool, Some(named.arguments).into());
    let calls = vec![call];
    let cancel = CancellationToken::new();
    let listing = asked.gateway.running.list(&asked.caller, &calls, cancel.clone());
    let batch = BatchOptions {
        cancel,
        trace: Some(asked.trace),
        trace_state: asked.trace_state.clone(),
        hops: message.hops(),
        ..BatchOptions::default()
    };
    let context = message.context.clone();
    let running = async move {
        let report = crib.run_with(&plan, calls, batch).await;
        drop(listing);
        report.responses.into_iter().next().map(|response| of_response(&response, context))
    };
    if !options.is_streamed {
        let told = running.await.ok_or_else(lost)?;
        return Ok(wire.event(&told));
    }
    Ok(streamed(running, wire.clone()))
}

fn lost() -> A2aFault {
    A2aFault::new(A2aFaultKind::Internal, "nobody answered the call: this must not happen")
}

fn streamed(
    running: impl Future<Output = Option<ServedEvent>> + Send + 'static,
    wire: AnswerWire,
) -> HttpReply {
    let (sender, waiting) = channel(1);
    tokio::spawn(async move {
        // A call that began is not lost with whoever listens.
        let mut running = tokio::spawn(running);
        loop {
            tokio::select! {
                told = &mut running => {
                    if let Ok(Some(told)) = told {
                        let _ = sender.send(wire.line(&told)).await;
                    }
                    return;
                }
                () = tokio::time::sleep(HEARTBEAT) => {
                    if sender.send(Bytes::from_static(b": waiting\n\n")).await.is_err() {
                        return;
                    }
                }
            }
        }
    });
    reply::events(waiting, None)
}

/// The call that a message names; `None`: it names none.
fn named(message: &AgentMessage) -> Result<Option<NamedCall>, A2aFault> {
    let data = message.parts.iter().filter_map(|part| match &part.content {
        PartContent::Data(Value::Object(fields)) => Some(fields),
        PartContent::Data(_)
        | PartContent::Text(_)
        | PartContent::Bytes(_)
        | PartContent::Address(_)
        | PartContent::Unknown(_) => None,
    });
    let mut calls = data.filter(|fields| fields.contains_key("tool"));
    let Some(fields) = calls.next() else { return Ok(None) };
    if calls.next().is_some() {
        return Err(A2aFault::params(
            "a message names one call: send another message for the next",
        ));
    }
    let tool = fields.get("tool").and_then(Value::as_str);
    let tool = tool.ok_or_else(|| A2aFault::params("`tool` must be the name of a tool"))?;
    let arguments = fields.get("arguments").cloned();
    let arguments = arguments.filter(|it| !it.is_null()).unwrap_or_else(|| json!({}));
    if !arguments.is_object() {
        return Err(A2aFault::params("`arguments` must be an object"));
    }
    Ok(Some(NamedCall { tool: tool.to_owned(), arguments }))
}

/// What can be asked here.
fn menu(plan: &Plan, message: &AgentMessage) -> ServedEvent {
    let tools: Vec<_> = plan
        .tools()
        .take(MOST_LISTED)
        .map(|tool| {
            let spec = &tool.listed.spec;
            json!({
                "tool": spec.name, "about": spec.summary,
                "signature": signature(spec.name.as_str(), &spec.input.value()),
            })
        })
        .collect();
    let words = "There is no model here, which would read words. Send the data \
                 {\"tool\": NAME, \"arguments\": {...}}, with one of these tools.";
    let parts = vec![MessagePart::text(words), data(json!({ "tools": tools }))];
    message_of(parts, message.context.clone(), "asked")
}

fn data(value: Value) -> MessagePart {
    let media = Some("application/json".to_owned());
    MessagePart { media, ..MessagePart::new(PartContent::Data(value)) }
}

fn message_of(parts: Vec<MessagePart>, context: Option<String>, outcome: &str) -> ServedEvent {
    let message = AgentMessage {
        id: Uuid::new_v4().simple().to_string(),
        role: MessageRole::Agent,
        parts,
        context,
        task: None,
        metadata: Some(json!({ "outcome": outcome })),
    };
    ServedEvent { event: AgentEvent::Message(message), sequence: 1 }
}

/// What came of a call that was made just now.
fn of_response(response: &Response, context: Option<String>) -> ServedEvent {
    if let ToolOutcome::Pending(pending) = &response.outcome {
        let id = pending.ticket.as_str();
        let context = context.unwrap_or_else(|| id.to_owned());
        let mut words = vec![MessagePart::text(format!(
            "{} Answer `yes` or `no`, or as `GetTask` tells.",
            pending.reason
        ))];
        words.extend(pending.question.as_deref().cloned().map(data));
        let message = super::feed::says((id, &context), 1, words);
        let status = TaskStatus {
            state: TaskState::InputRequired,
            message: Some(message),
            timestamp: Some(timestamp(seconds(SystemTime::now()))),
        };
        let task = bare(id, &context, status);
        return ServedEvent { event: AgentEvent::Task(task), sequence: 1 };
    }
    let outcome = response.outcome.as_str();
    message_of(content(response), context, outcome)
}

/// Words and data of a response.
fn content(response: &Response) -> Vec<MessagePart> {
    let mut parts = vec![MessagePart::text(response.text())];
    let structured = response.content().and_then(|content| content.structured.clone());
    parts.extend(structured.map(data));
    parts
}

fn bare(id: &str, context: &str, status: TaskStatus) -> AgentTask {
    AgentTask {
        id: id.to_owned(),
        context: Some(context.to_owned()),
        status,
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: Some(Value::Object(Map::new())),
    }
}

/// A call that waits, or one that waited.
pub(super) async fn task(
    asked: &GatewayRequest,
    room: &AgentRoom,
    id: &str,
) -> Result<AgentTask, Refusal> {
    let ticket = TicketId::claimed(id);
    if let Some(parked) = waiting(asked, room, &ticket).await? {
        return Ok(waits(&parked));
    }
    let crib = asked.crib(room.profile())?;
    let recorded = crib.redeemed(&asked.caller, &ticket, Duration::ZERO).await.ok().flatten();
    recorded.map(|it| past(id, &it)).ok_or_else(|| A2aFault::no_task(id).into())
}

/// The call, if it waits under a ticket of this caller and of this profile.
async fn waiting(
    asked: &GatewayRequest,
    room: &AgentRoom,
    ticket: &TicketId,
) -> Result<Option<ParkedCall>, Refusal> {
    let parked = asked.gateway.live.crib().ticket(&asked.caller, ticket).await;
    let parked = parked.map_err(|error| listing::silent(asked, error))?;
    Ok(parked.filter(|parked| parked.profile.as_deref() == room.profile()))
}

fn waits(parked: &ParkedCall) -> AgentTask {
    let id = parked.ticket.as_str();
    let now = seconds(SystemTime::now());
    bare(id, id, questions::status((id, id), 1, std::slice::from_ref(parked), now))
}

/// A call that somebody decided about.
fn past(id: &str, response: &Response) -> AgentTask {
    let state = match &response.outcome {
        ToolOutcome::Done(_) => TaskState::Completed,
        ToolOutcome::Failed(_) => TaskState::Failed,
        ToolOutcome::Denied { reason } if reason.contains(CANCELLED) => TaskState::Canceled,
        ToolOutcome::Denied { .. } => TaskState::Rejected,
        ToolOutcome::Pending(_) => TaskState::Working,
    };
    let is_done = state == TaskState::Completed;
    let parts = content(response);
    let message = (!is_done).then(|| super::feed::says((id, id), 2, parts.clone()));
    let mut task = bare(id, id, TaskStatus { state, message, timestamp: None });
    if is_done {
        task.artifacts.push(TaskArtifact {
            id: "result".to_owned(),
            name: Some(response.name.clone()),
            description: None,
            parts,
            index: None,
            metadata: None,
        });
    }
    task
}

/// Says something to a call that waits.
async fn answer(
    asked: &GatewayRequest,
    room: &AgentRoom,
    id: &str,
    message: &AgentMessage,
) -> Result<ServedEvent, Refusal> {
    let ticket = TicketId::claimed(id);
    let Some(parked) = waiting(asked, room, &ticket).await? else {
        task(asked, room, id).await?;
        return Err(ended(A2aFaultKind::UnsupportedOperation).into());
    };
    let mut told = waits(&parked);
    match questions::decisions(std::slice::from_ref(&parked), message) {
        Ok(decisions) => {
            for (ticket, decision) in decisions {
                told = decided(asked, room, &ticket, decision).await?;
            }
        }
        Err(note) => {
            if let Some(asks) = &mut told.status.message {
                asks.parts.insert(0, MessagePart::text(note));
            }
        }
    }
    Ok(ServedEvent { event: AgentEvent::Task(told), sequence: 2 })
}

async fn decided(
    asked: &GatewayRequest,
    room: &AgentRoom,
    ticket: &TicketId,
    decision: Decision,
) -> Result<AgentTask, Refusal> {
    let (_, response) = tickets::decide_once(asked, ticket, decision, room.profile()).await?;
    let response = response.ok_or_else(|| A2aFault::no_task(ticket.as_str()))?;
    // It may ask once more, under another ticket.
    if let AgentEvent::Task(task) = of_response(&response, None).event {
        return Ok(task);
    }
    Ok(past(ticket.as_str(), &response))
}

/// Refuses a call that waits.
pub(super) async fn cancel(
    asked: &GatewayRequest,
    room: &AgentRoom,
    id: &str,
) -> Result<AgentTask, Refusal> {
    let ticket = TicketId::claimed(id);
    if waiting(asked, room, &ticket).await?.is_none() {
        task(asked, room, id).await?;
        return Err(ended(A2aFaultKind::TaskNotCancelable).into());
    }
    let decision = Decision::Deny { reason: CANCELLED.to_owned() };
    decided(asked, room, &ticket, decision).await
}

/// The calls of this caller that wait here.
pub(super) async fn list(
    asked: &GatewayRequest,
    room: &AgentRoom,
    query: &TaskQuery,
) -> Result<Vec<AgentTask>, Refusal> {
    let open = asked.gateway.live.crib().tickets(&asked.caller).await;
    let open = open.map_err(|error| listing::silent(asked, error))?;
    let is_here = |parked: &&ParkedCall| parked.profile.as_deref() == room.profile();
    let tasks = open.iter().filter(is_here).map(waits);
    let tasks = tasks.filter(|task| {
        let is_of = query.context.as_ref().is_none_or(|it| Some(it) == task.context.as_ref());
        is_of && query.state.is_none_or(|state| state == task.status.state)
    });
    let size = usize::try_from(query.page_size).unwrap_or(usize::MAX);
    Ok(tasks.take(size).collect())
}
