//! A tool that its server runs as a task alone, as 2025-11-25 has it: the task is begun, watched
//! until it ends or asks something, and its result fetched. Whoever calls the tool sees one call.

use std::time::Duration;

use rmcp::model::{ClientRequest, CustomRequest};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use toolcrib_core::{CallContext, Progress};

use super::outgoing::OutgoingRequest;
use super::params::RequestParams;
use super::reply::ServerReply;
use super::task_words::RELATED;
use crate::client::connection::server_info::McpServerInfo;
use crate::client::connection::{McpConnection, UpstreamTimeouts};
use crate::client::fault::{INVALID_PARAMS, METHOD_NOT_FOUND, McpFault};
use crate::client::settings::McpTimeouts;
use crate::protocol::text::{clean, cut};

/// How often a task is asked about whose server does not say how often it wants that.
const USUAL: Duration = Duration::from_millis(500);
/// Whatever it says: so that nobody is flooded, and an end is not missed for long.
const BOUNDS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(10));
/// Longest text that a task says of itself, in characters.
const LONGEST_REPORT: usize = 1_000;
/// How long the server may take to hear that nobody wants the task any more.
const LAST_WORD: Duration = Duration::from_secs(5);
/// Whether the server runs calls as tasks: what a tool says of them counts only then.
pub(crate) fn are_there(facts: &McpServerInfo) -> bool {
    let tasks = facts.said.capabilities.get("tasks");
    let calls = tasks.and_then(|tasks| tasks.pointer("/requests/tools/call"));
    calls.is_some() && !facts.is_modern
}

/// Begins the task of a call and gives what it ends with.
pub(crate) async fn run(
    connection: &McpConnection,
    asked: &OutgoingRequest,
    context: &CallContext,
    timeouts: McpTimeouts,
) -> Result<ServerReply, McpFault> {
    let soon = UpstreamTimeouts::of_call(timeouts);
    let mut params = asked.params.clone();
    let keep = u64::try_from(timeouts.longest_call.as_millis()).unwrap_or(u64::MAX);
    params.extend(Map::from_iter([("task".to_owned(), json!({ "ttl": keep }))]));
    let begun = connection.request(&asked.method, &params, Some(context), &soon).await?;
    let ServerReply::Fields(mut begun) = begun else { return Ok(begun) };
    // It may have run the call at once all the same.
    let Some(Value::Object(task)) = begun.remove("task") else {
        return Ok(ServerReply::Fields(begun));
    };
    let id = ServerTask::name(&task)?;
    let mut unended = ServerTaskGuard { connection, id: Some(id.clone()) };
    // What it asks between two looks is of this call, and of no other that runs.
    let _followed = connection.calls.follow(&id, context);
    let task = ServerTask::of(&task)?;
    let ended = fetch(connection, task, context, soon).await;
    if matches!(ended, Ok(_) | Err(McpFault::Refused { .. })) {
        unended.id = None;
    }
    ended
}

/// Waits for the end of a task and fetches what came of it.
async fn fetch(
    connection: &McpConnection,
    mut task: ServerTask,
    context: &CallContext,
    soon: UpstreamTimeouts,
) -> Result<ServerReply, McpFault> {
    let named = RequestParams::from(Map::from_iter([("taskId".to_owned(), json!(task.id))]));
    let (last, until, whole) = soon.until;
    let mut heard = None;
    let mut reports = 0.0;
    while task.status == ServerTaskStatus::Working {
        if task.said.is_some() && task.said != heard {
            heard.clone_from(&task.said);
            reports += 1.0;
            context.progress(Progress { done: reports, total: None, message: task.said });
        }
        tokio::select! {
            () = sleep(task.pause) => {}
            () = context.cancelled() => return Err(McpFault::Cancelled),
        }
        if Instant::now() >= until {
            return Err(McpFault::TooLong(last, whole));
        }
        let asked = connection.request("tasks/get", &named, Some(context), &soon).await;
        let asked = asked.map_err(|fault| since_begun(fault, |_| true))?;
        task = ServerTask::of(&asked.fields()?)?;
    }
    if task.status == ServerTaskStatus::Cancelled {
        // It may go on all the same, and nobody tells how far it came.
        let said = task.said.map(|said| format!(": {said}")).unwrap_or_default();
        return Err(McpFault::broken(format!("it cancelled the task of the call{said}")));
    }
    // What a task asks it asks by now, and goes on after; it may be long silent until it ends.
    let long = UpstreamTimeouts { idle: (last, whole), until: soon.until, subject: None };
    let waits = if task.status == ServerTaskStatus::Asking { long } else { soon };
    let result = connection.request("tasks/result", &named, Some(context), &waits).await;
    // Other codes are those that the call itself was answered with.
    let is_about_task = |code| matches!(code, INVALID_PARAMS | METHOD_NOT_FOUND);
    let mut result = result.map_err(|fault| since_begun(fault, is_about_task))?.fields()?;
    if let Some(Value::Object(meta)) = result.get_mut("_meta") {
        meta.shift_remove(RELATED);
        if meta.is_empty() {
            result.shift_remove("_meta");
        }
    }
    Ok(ServerReply::Fields(result))
}

/// What is wrong with a request about a task: whether or not it left, the call did, and nothing of
/// it may be taken for unsent or refused. `is_about_task`: a refusal with this code tells nothing
/// of the call.
fn since_begun(fault: McpFault, is_about_task: impl Fn(i32) -> bool) -> McpFault {
    match fault {
        McpFault::Unreachable { .. } | McpFault::Http { .. } | McpFault::Unauthorized { .. } => {
            McpFault::broken(format!("while the task of the call ran, {}", fault.words()))
        }
        McpFault::Withdrawn | McpFault::Busy(_) => McpFault::Cancelled,
        McpFault::Refused { code, .. } if is_about_task(code) => {
            McpFault::Unreadable("it does not say how the task of the call is doing")
        }
        McpFault::Broken { .. }
        | McpFault::TooLong(..)
        | McpFault::Cancelled
        | McpFault::Moved
        | McpFault::Refused { .. }
        | McpFault::Unreadable(_) => fault,
    }
}

/// What a server says of a task.
struct ServerTask {
    id: String,
    status: ServerTaskStatus,
    said: Option<String>,
    /// How long it wants to be left alone.
    pause: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerTaskStatus {
    Working,
    Asking,
    /// Well or not, as its result says.
    Ended,
    Cancelled,
}

impl ServerTask {
    fn name(fields: &Map<String, Value>) -> Result<String, McpFault> {
        let name = fields.get("taskId").and_then(Value::as_str);
        name.map(str::to_owned).ok_or(McpFault::Unreadable("its task has no name"))
    }

    fn of(fields: &Map<String, Value>) -> Result<Self, McpFault> {
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        let id = Self::name(fields)?;
        let status = match text("status") {
            Some("working") => ServerTaskStatus::Working,
            Some("input_required") => ServerTaskStatus::Asking,
            Some("completed" | "failed") => ServerTaskStatus::Ended,
            Some("cancelled") => ServerTaskStatus::Cancelled,
            _ => return Err(McpFault::Unreadable("nobody knows how its task is doing")),
        };
        let said = text("statusMessage").map(|said| cut(&clean(said), LONGEST_REPORT));
        let pause = fields.get("pollInterval").and_then(Value::as_u64);
        let pause = pause.map_or(USUAL, Duration::from_millis).clamp(BOUNDS.0, BOUNDS.1);
        Ok(Self { id, status, said, pause })
    }
}

/// A task that nobody has seen the end of. Dropped, it is given up, and the server is told so.
struct ServerTaskGuard<'a> {
    connection: &'a McpConnection,
    /// `None`: there is nothing to give up.
    id: Option<String>,
}

impl Drop for ServerTaskGuard<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let peer = self.connection.peer.clone();
        runtime.spawn(async move {
            let request = CustomRequest::new("tasks/cancel", Some(json!({ "taskId": id })));
            // Whether it was in time, nobody asks any more.
            let _ =
                timeout(LAST_WORD, peer.send_request(ClientRequest::CustomRequest(request))).await;
        });
    }
}
