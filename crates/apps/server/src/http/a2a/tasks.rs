//! Tasks that are there: looked at, listed, cancelled, listened to.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::json;
use toolcrib_a2a_server::{A2aFault, A2aFaultKind, TaskQuery};
use toolcrib_core::{RunStage, RunSummary};

use super::refusal::{Refusal, ended};
use super::room::AgentRoom;
use super::stream::TaskStream;
use super::wire::AnswerWire;
use super::{tool_call, view};
use crate::http::agents::live::is_seen;
use crate::http::agents::live::live_run::{LiveRun, is_edit};
use crate::http::agents::responses::end;
use crate::http::agents::runs::silent;
use crate::http::routes::reply::HttpReply;
use crate::http::routes::request::GatewayRequest;

/// Runs of a caller that a list looks at.
const MOST_LOOKED_AT: usize = 1_000;

/// A task of this caller, of this agent.
pub(super) async fn find(
    asked: &GatewayRequest,
    agent: &str,
    task: &str,
) -> Result<Arc<LiveRun>, Refusal> {
    let live = asked.gateway.runs.follow(task, &asked.caller).await.map_err(silent)?;
    // One that works for another is a part of that one's task.
    let live = live.filter(|live| {
        let meta = &live.meta;
        meta.agent == agent && meta.parent.is_none() && !is_edit(&meta.agent)
    });
    live.ok_or_else(|| A2aFault::no_task(task).telling("taskId", task).into())
}

pub(super) async fn get(
    asked: &GatewayRequest,
    room: &AgentRoom,
    task: &str,
    history: Option<u64>,
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let AgentRoom::Agent { name, .. } = room else {
        return Ok(wire.task(&tool_call::task(asked, room, task).await?));
    };
    let live = find(asked, name, task).await?;
    Ok(wire.task(&view::now(&asked.gateway, &live).await.task(history, true)))
}

pub(super) async fn cancel(
    asked: &GatewayRequest,
    room: &AgentRoom,
    task: &str,
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let AgentRoom::Agent { name, .. } = room else {
        return Ok(wire.task(&tool_call::cancel(asked, room, task).await?));
    };
    let live = find(asked, name, task).await?;
    if live.stage() == RunStage::Ended {
        return Err(ended(A2aFaultKind::TaskNotCancelable).into());
    }
    end(asked, &live).await.map_err(silent)?;
    Ok(wire.task(&view::now(&asked.gateway, &live).await.task(None, true)))
}

pub(super) async fn subscribe(
    asked: &GatewayRequest,
    room: &AgentRoom,
    task: &str,
    after: Option<u64>,
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let AgentRoom::Agent { name, .. } = room else {
        tool_call::task(asked, room, task).await?;
        let message = "a call that waits tells nothing until it is answered: `GetTask` looks at it";
        return Err(A2aFault::new(A2aFaultKind::UnsupportedOperation, message).into());
    };
    let live = find(asked, name, task).await?;
    // Who lost the end of a stream gets the rest of it, though the task has ended meanwhile.
    if live.stage() == RunStage::Ended && after.is_none() {
        return Err(ended(A2aFaultKind::UnsupportedOperation).into());
    }
    let first = match after {
        Some(after) => view::at(&asked.gateway, &live, after).await,
        None => view::now(&asked.gateway, &live).await,
    };
    let stream = TaskStream::new(asked, live, wire, first.sequence);
    Ok(stream.reply(first.event(None)))
}

/// The tasks of this caller with this agent, those that began last first.
pub(super) async fn list(
    asked: &GatewayRequest,
    room: &AgentRoom,
    query: &TaskQuery,
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let AgentRoom::Agent { name, .. } = room else {
        let tasks = tool_call::list(asked, room, query).await?;
        let (count, size) = (tasks.len(), query.page_size);
        return Ok(wire.answer(&json!({
            "tasks": wire.tasks(&tasks), "nextPageToken": "", "pageSize": size, "totalSize": count,
        })));
    };
    let before = query.token.as_deref().map(str::parse::<u64>).transpose().map_err(|_| {
        let message = "`pageToken` is none of this list: begin without one";
        A2aFault::params(message).telling("field", "pageToken")
    })?;
    let found = matching(asked, name, query).await?;
    let mut matches = Vec::new();
    for run in found {
        let live = asked.gateway.runs.find(&run.id, &asked.caller).await.map_err(silent)?;
        let Some(live) = live else { continue };
        // Where no state is asked for, a page looks at its own tasks alone.
        let is_wanted = match query.state {
            None => true,
            Some(state) => view::now(&asked.gateway, &live).await.state() == state,
        };
        if is_wanted {
            matches.push((run.number, live));
        }
    }
    let total = matches.len();
    let mut rest = matches.into_iter().filter(|(number, _)| before.is_none_or(|it| *number < it));
    let size = usize::try_from(query.page_size).unwrap_or(usize::MAX);
    let page: Vec<_> = rest.by_ref().take(size).collect();
    let next = rest.next().and_then(|_| page.last().map(|(number, _)| number.to_string()));
    let mut tasks = Vec::new();
    for (_, live) in &page {
        let view = view::now(&asked.gateway, live).await;
        tasks.push(view.task(query.history.or(Some(0)), query.with_artifacts));
    }
    Ok(wire.answer(&json!({
        "tasks": wire.tasks(&tasks), "nextPageToken": next.unwrap_or_default(),
        "pageSize": query.page_size, "totalSize": total,
    })))
}

/// Runs that a list is about, by what stands beside them.
async fn matching(
    asked: &GatewayRequest,
    agent: &str,
    query: &TaskQuery,
) -> Result<Vec<RunSummary>, Refusal> {
    let since = query.changed_since.as_deref().map(moment).transpose()?;
    let runs = asked.gateway.runs.ledger.list(&asked.caller, None, MOST_LOOKED_AT).await;
    let runs = runs.map_err(silent)?.into_iter();
    Ok(runs
        .filter(|run| run.agent == agent && run.parent.is_none())
        .filter(|run| is_seen(&asked.caller, &run.agent, run.profile.as_deref()))
        .filter(|run| query.context.as_ref().is_none_or(|context| *context == run.thread))
        .filter(|run| since.is_none_or(|since| run.changed >= since))
        .collect())
}

fn moment(text: &str) -> Result<SystemTime, A2aFault> {
    let read = text.parse::<Timestamp>().ok().and_then(|at| u64::try_from(at.as_second()).ok());
    let read = read.and_then(|at| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(at)));
    read.ok_or_else(|| {
        let message = "`statusTimestampAfter` must be a moment as RFC 3339 has it";
        A2aFault::params(message).telling("field", "statusTimestampAfter")
    })
}
