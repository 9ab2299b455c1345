//! A message: it begins a task, or answers what one asks.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::RunStage;
use toolcrib::a2a::protocol::message::AgentMessage;
use toolcrib::a2a::protocol::part::{MessagePart, PartContent};
use toolcrib::a2a_server::{A2aFault, A2aFaultKind, SendOptions};

use super::refusal::{Refusal, takes_on};
use super::room::AgentRoom;
use super::stream::TaskStream;
use super::wire::AnswerWire;
use super::{questions, tasks, tool_call, view};
use crate::http::agents::live::live_run::LiveRun;
use crate::http::agents::live::recovery;
use crate::http::agents::responses::{not_begun, order};
use crate::http::agents::runs::silent;
use crate::http::rest::tickets;
use crate::http::routes::reply::HttpReply;
use crate::http::routes::request::GatewayRequest;
use crate::http::state::GatewayState;

pub(super) async fn send(
    asked: &GatewayRequest,
    room: &AgentRoom,
    message: &AgentMessage,
    options: SendOptions,
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let AgentRoom::Agent { name, .. } = room else {
        return tool_call::send(asked, room, message, options, wire).await;
    };
    takes_on(message)?;
    let gateway = &asked.gateway;
    let live = match &message.task {
        None => begin(asked, name, message).await?,
        Some(task) => match answer(asked, name, task, message).await? {
            AnsweredTask::GoesOn(live) => live,
            AnsweredTask::StillAsks(live, note) => {
                let told = view::now(gateway, &live).await.noted(&note).event(options.history);
                return Ok(wire.once(&told, options.is_streamed));
            }
        },
    };
    if options.is_streamed {
        let first = view::now(gateway, &live).await;
        let stream = TaskStream::new(asked, live, wire, first.sequence).ends_at_pause();
        return Ok(stream.reply(first.event(options.history)));
    }
    if options.waits {
        rests(gateway, &live).await;
    }
    let view = view::now(gateway, &live).await;
    Ok(wire.event(&view.event(options.history)))
}

/// What a message to a task came to.
enum AnsweredTask {
    GoesOn(Arc<LiveRun>),
    /// It decides nothing; the text says why not.
    StillAsks(Arc<LiveRun>, String),
}

async fn begin(
    asked: &GatewayRequest,
    agent: &str,
    message: &AgentMessage,
) -> Result<Arc<LiveRun>, Refusal> {
    let parts: Vec<_> = message.parts.iter().map(input).collect();
    let mut request = json!({
        "model": agent, "background": true, "a2a": view::kept(message),
        "input": [{ "type": "message", "role": "user", "content": parts }],
    });
    if let (Some(context), Value::Object(fields)) = (&message.context, &mut request) {
        fields.insert("conversation".to_owned(), context.as_str().into());
    }
    let ordered = order(asked, &request, None).await??;
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
    let decisions = match questions::decisions(&open, message) {
        Ok(decisions) => decisions,
        Err(note) => return Ok(AnsweredTask::StillAsks(live, note)),
    };
    for (ticket, decision) in decisions {
        tickets::decide_own(asked, &ticket, decision).await?;
    }
    recovery::take_up(&asked.gateway, task).await.map_err(silent)?;
    Ok(AnsweredTask::GoesOn(live))
}

/// Waits until a task has ended or waits for somebody, or until the server stops and another one goes
/// on with it.
pub(super) async fn rests(gateway: &GatewayState, live: &LiveRun) {
    let mut changes = live.state.subscribe();
    loop {
        changes.mark_unchanged();
        let state = questions::news(live, usize::MAX);
        if state.stage == RunStage::Ended || questions::open(gateway, live, &state).await.is_some()
        {
            return;
        }
        tokio::select! {
            // It cannot be dropped before: it is held here.
            _ = changes.changed() => {}
            () = live.goes_on_elsewhere() => return,
        }
    }
}
