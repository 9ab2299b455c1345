//! A message: it begins a task, or answers what one asks.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolcrib_a2a_client::protocol::message::AgentMessage;
use toolcrib_a2a_client::protocol::metadata::forced::FORCE;
use toolcrib_a2a_client::protocol::part::{MessagePart, PartContent};
use toolcrib_a2a_client::protocol::wire::WireForm;
use toolcrib_a2a_server::{A2aFault, A2aFaultKind, PushConfig, SendOptions};
use toolcrib_core::{Caller, RunStage};
use uuid::Uuid;

use super::refusal::{Refusal, takes_on};
use super::room::AgentRoom;
use super::stream::TaskStream;
use super::view::TaskView;
use super::wire::AnswerWire;
use super::{push, questions, tasks, tool_call, view};
use crate::http::agents::live::live_run::LiveRun;
use crate::http::agents::live::thread_hold::ThreadHold;
use crate::http::agents::live::{LiveRuns, recovery};
use crate::http::agents::responses::{not_begun, order_as};
use crate::http::agents::runs::silent;
use crate::http::rest::tickets;
use crate::http::routes::reply::HttpReply;
use crate::http::routes::request::GatewayRequest;
use crate::http::state::GatewayState;

/// How often, and after which pause, it is looked whether a message that came twice has begun.
const LOOKS: usize = 250;
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub(super) async fn send(
    asked: &GatewayRequest,
    room: &AgentRoom,
    (message, told): (&AgentMessage, Option<PushConfig>),
    options: SendOptions,
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    // Before anything begins.
    told.iter().try_for_each(|config| push::check(asked, room, config))?;
    let AgentRoom::Agent { name, .. } = room else {
        return tool_call::send(asked, room, message, options, wire).await;
    };
    takes_on(message)?;
    let gateway = &asked.gateway;
    let (live, known) = match &message.task {
        None => begin(asked, name, message).await?,
        Some(task) => match answer(asked, name, task, message).await? {
            AnsweredTask::GoesOn(live) => {
                let known = view::now(gateway, &live).await.sequence;
                (live, known)
            }
            AnsweredTask::StillAsks(live, note) => {
                let now = view::now(gateway, &live).await;
                push::keep_said(asked, &live, told, now.sequence).await?;
                let said = now.noted(&note).event(options.history);
                return Ok(wire.once(&said, options.is_streamed));
            }
        },
    };
    push::keep_said(asked, &live, told, known).await?;
    if options.is_streamed {
        let first = view::now(gateway, &live).await;
        let stream = TaskStream::new(asked, live, wire, first.sequence).ends_at_pause();
        return Ok(stream.reply(first.event(options.history)));
    }
    let view =
        if options.waits { at_rest(gateway, &live).await } else { view::now(gateway, &live).await };
    Ok(wire.event(&view.event(options.history)))
}

/// What a message to a task came to.
enum AnsweredTask {
    GoesOn(Arc<LiveRun>),
    /// It decides nothing; the text says why not.
    StillAsks(Arc<LiveRun>, String),
}

/// Begins a task, or finds the one that the same message began: whoever lost the answer sends it
/// again. Its id follows from the message, so that this holds over a restart too. Gives the sequence
/// that it has come to.
async fn begin(
    asked: &GatewayRequest,
    agent: &str,
    message: &AgentMessage,
) -> Result<(Arc<LiveRun>, u64), Refusal> {
    if message.id.is_empty() {
        let id = Uuid::new_v4().simple().to_string();
        return Ok((order(asked, agent, message, id).await?, 0));
    }
    let id = task_id(asked, agent, message);
    let runs = &asked.gateway.runs;
    let _alone = alone(runs, &asked.caller, &id).await?;
    match runs.follow(&id, &asked.caller).await.map_err(silent)? {
        Some(begun) => {
            let known = view::now(&asked.gateway, &begun).await.sequence;
            Ok((begun, known))
        }
        None => Ok((order(asked, agent, message, id).await?, 0)),
    }
}

/// Waits until nobody else begins this task.
async fn alone(runs: &LiveRuns, caller: &Caller, id: &str) -> Result<ThreadHold, Refusal> {
    for _ in 0..LOOKS {
        if let Some(hold) = runs.hold(caller, &format!("message/{id}")) {
            return Ok(hold);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let message = "the same message begins a task just now: send it again later";
    Err(A2aFault::new(A2aFaultKind::TooMany, message).into())
}

/// The same for the same message of one caller to one agent. What it says is in it: some clients
/// number their messages from 1 in each of their lives.
fn task_id(asked: &GatewayRequest, agent: &str, message: &AgentMessage) -> String {
    let Caller { tenant, subject, .. } = &*asked.caller;
    let said = message.write(WireForm::Current);
    let whole = json!([tenant, subject, agent, said]).to_string();
    let digest = Sha256::digest(whole.as_bytes());
    digest.iter().take(16).fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

async fn order(
    asked: &GatewayRequest,
    agent: &str,
    message: &AgentMessage,
    id: String,
) -> Result<Arc<LiveRun>, Refusal> {
    let parts: Vec<_> = message.parts.iter().map(input).collect();
    let mut request = json!({
        "model": agent, "background": true, "a2a": view::kept(message),
        "input": [{ "type": "message", "role": "user", "content": parts }],
    });
    if let (Some(context), Value::Object(fields)) = (&message.context, &mut request) {
        fields.insert("conversation".to_owned(), context.as_str().into());
    }
    let forced = message.forced().map_err(A2aFault::params)?;
    let ordered = order_as(asked, &request, None, id).await??;
    let ordered = ordered.forcing(&forced, &format!("message.metadata.{FORCE}"))?;
    let live = ordered.begin(asked, &request, None).await;
    live.map_err(|error| not_begun(&error).into())
}

/// A part as an agent reads it. A file that has an address is fetched by nobody here.
fn input(part: &MessagePart) -> Value {
    let text = |text: String| json!({ "type": "input_text", "text": text });
    let media = part.media.as_deref().unwrap_or("application/octet-stream");
    let is_image = media.starts_with("image/");
    match &part.content {
        PartContent::Text(said) => text(said.clone()),
        PartContent::Bytes(bytes) if is_image => {
            json!({ "type": "input_image", "image_url": format!("data:{media};base64,{bytes}") })
        }
        PartContent::Bytes(bytes) => {
            let name = part.name.as_deref().unwrap_or("file");
            let data = format!("data:{media};base64,{bytes}");
            json!({ "type": "input_file", "filename": name, "file_data": data })
        }
        PartContent::Address(url) if is_image => json!({ "type": "input_image", "image_url": url }),
        PartContent::Address(url) => {
            text(format!("{}: {url}", part.name.as_deref().unwrap_or("A file")))
        }
        PartContent::Data(data) | PartContent::Unknown(data) => text(data.to_string()),
    }
}

/// Says something to a task that waits.
async fn answer(
    asked: &GatewayRequest,
    agent: &str,
    task: &str,
    message: &AgentMessage,
) -> Result<AnsweredTask, Refusal> {
    let live = tasks::find(asked, agent, task).await?;
    if message.context.as_ref().is_some_and(|context| *context != live.meta.thread) {
        let message = "`message.contextId` is not that of the task: leave it out";
        return Err(A2aFault::params(message).telling("field", "message.contextId").into());
    }
    let state = questions::news(&live, usize::MAX);
    let refused =
        |message: &str| Err(A2aFault::new(A2aFaultKind::UnsupportedOperation, message).into());
    if state.stage == RunStage::Ended {
        return refused(
            "the task has ended: send the message without `taskId`, with the `contextId` of the \
             task to go on with what was said",
        );
    }
    let Some(open) = questions::open(&asked.gateway, &live, &state).await else {
        return refused("the task works and asks nothing now: wait for it, or cancel it");
    };
    let question = view::now(&asked.gateway, &live).await.message().cloned();
    let said = [question, Some(message.clone())].into_iter().flatten();
    let said = said.map(|said| view::of_task(&live.meta, said));
    let decisions = match questions::decisions(&open, message) {
        Ok(decisions) => decisions,
        Err(note) => {
            view::history::add(&asked.gateway, task, said).await.map_err(silent)?;
            return Ok(AnsweredTask::StillAsks(live, note));
        }
    };
    for (ticket, decision) in decisions {
        tickets::decide_own(asked, &ticket, decision).await?;
    }
    view::history::add(&asked.gateway, task, said).await.map_err(silent)?;
    recovery::take_up(&asked.gateway, task).await.map_err(silent)?;
    Ok(AnsweredTask::GoesOn(live))
}

/// A task when it has ended or waits for somebody, or as it is when the server stops and another one
/// goes on with it.
pub(super) async fn at_rest(gateway: &GatewayState, live: &LiveRun) -> TaskView {
    let mut changes = live.state.subscribe();
    loop {
        changes.mark_unchanged();
        let state = questions::news(live, usize::MAX);
        if state.stage == RunStage::Ended || questions::open(gateway, live, &state).await.is_some()
        {
            let view = view::now(gateway, live).await;
            // A decision may have set it going between the two looks.
            if view.state().is_terminal() || view.state().is_interrupted() {
                return view;
            }
        }
        tokio::select! {
            // It cannot be dropped before: it is held here.
            _ = changes.changed() => {}
            () = live.goes_on_elsewhere() => return view::now(gateway, live).await,
        }
    }
}
