//! AG-UI 1.0: a run as a user interface of that protocol asks for it and reads it.
//!
//! The client keeps the thread and sends all of it each time. What waits for a person ends the
//! stream with an interrupt; the next request brings the answer, and the same run goes on.

mod children;
mod interrupts;
mod stream;
mod thread;
mod writer;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use toolcrib_agent::model::CallChoice;
use toolcrib_agent::{RunEvent, RunOrder};
use toolcrib_core::{RunLedgerError, RunStage};
use uuid::Uuid;

use super::api_error::ApiError;
use super::chosen::{agent_of, check_names};
use super::live::driver::{NotBegun, RunPlace};
use super::live::live_run::{LiveRun, RunMeta, StoredRequest, seconds};
use super::live::{driver, recovery};
use super::responses::not_begun;
use super::runs::silent;
use crate::http::rest::tickets;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::HttpReply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use children::AguiTree;
use interrupts::{ResumeEntry, decision, entries, waiting};
use stream::AguiStream;

/// Letters of an id that a client gives.
const LONGEST_ID: usize = 256;

pub(crate) fn run(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        let thread = format!("agui_{}", id(&body, "threadId")?);
        id(&body, "runId")?;
        let resume = body.get("resume").filter(|resume| {
            !resume.is_null() && resume.as_array().is_none_or(|entries| !entries.is_empty())
        });
        match resume {
            None => begin(&asked, &body, thread).await,
            Some(resume) => go_on(&asked, &body, &thread, resume).await,
        }
    })
}

fn id<'a>(body: &'a Value, key: &str) -> Result<&'a str, HttpProblem> {
    let id = body.get(key).and_then(Value::as_str);
    let id = id.filter(|id| (1..=LONGEST_ID).contains(&id.len()));
    id.ok_or_else(|| {
        let detail = format!("`{key}` must be a text of 1 to {LONGEST_ID} bytes");
        HttpProblem::new(ProblemKind::InvalidBody, detail)
    })
}

/// The agent that is named beside the thread, or the only one there is for this caller.
fn agent_name(asked: &GatewayRequest, body: &Value) -> Result<String, HttpProblem> {
    if let Some(named) = body.pointer("/forwardedProps/agent").filter(|named| !named.is_null()) {
        let named = named.as_str().map(str::to_owned);
        return named.ok_or_else(|| {
            HttpProblem::new(ProblemKind::InvalidBody, "`forwardedProps.agent` must be a text")
        });
    }
    let agents = asked.gateway.agents.all();
    let seen = agents.iter().filter(|agent| asked.permit(agent.profile()).is_ok());
    let names: Vec<_> = seen.map(|agent| agent.settings.name.clone()).collect();
    match names.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(HttpProblem::new(ProblemKind::UnknownAgent, "there is no agent for you here")),
        several => {
            let detail = format!(
                "say which agent is asked, as `forwardedProps.agent`: one of [{}]",
                several.join(", ")
            );
            Err(HttpProblem::new(ProblemKind::InvalidBody, detail))
        }
    }
}

async fn begin(
    asked: &GatewayRequest,
    body: &Value,
    thread: String,
) -> Result<HttpReply, HttpProblem> {
    let told = |error: ApiError| error.problem(ProblemKind::UnknownRun);
    // What else adds to the thread has read all of it, and is not to find it changed.
    let hold = asked.gateway.runs.hold(&asked.caller, &thread);
    let hold = hold.ok_or_else(|| told(ApiError::held()))?;
    let name = agent_name(asked, body)?;
    let agent = agent_of(asked, Some(&name), None, None)?.map_err(told)?;
    let caller_tools = thread::tools(body).map_err(told)?;
    check_names(&agent, &asked.caller, &caller_tools).map_err(told)?;
    let items = thread::items(body).map_err(told)?;
    let agents = asked.gateway.agents.all();
    let registered = agents.iter().find(|registered| registered.settings.name == name);
    let request = StoredRequest {
        caller_tools: caller_tools.iter().map(|tool| tool.name.clone()).collect(),
        ..StoredRequest::default()
    };
    let meta = RunMeta {
        id: Uuid::new_v4().simple().to_string(),
        caller: Arc::clone(&asked.caller),
        thread,
        // The request has the whole thread.
        previous: None,
        parent: None,
        agent: name,
        profile: registered.and_then(|registered| registered.profile()).map(str::to_owned),
        created: seconds(SystemTime::now()),
        request,
    };
    let caller = Arc::clone(&asked.caller);
    let (thread, sources) = (items, Vec::new());
    let order = RunOrder {
        agent,
        caller,
        thread,
        sources,
        caller_tools,
        choice: CallChoice::Free,
        waits_for_people: true,
    };
    let live = driver::begin(&asked.gateway, order, meta, RunPlace::Ledger(Some(hold))).await;
    let live = live.map_err(|error| match &error {
        NotBegun::Ledger(RunLedgerError::Busy { run }) => {
            let detail = format!(
                "the thread has the run `{run}`, which has not ended: answer its interrupts in \
                 `resume`, or `POST /v1/runs/{run}/cancel`"
            );
            HttpProblem::new(ProblemKind::RunBusy, detail)
        }
        NotBegun::TooMany(_) | NotBegun::Ledger(_) => told(not_begun(&error)),
    })?;
    let writer = AguiTree::new(&live.meta, body);
    Ok(reply(asked, body, live, writer, 0))
}

fn reply(
    asked: &GatewayRequest,
    body: &Value,
    live: Arc<LiveRun>,
    writer: AguiTree,
    heard: usize,
) -> HttpReply {
    let begun = writer.begin(body);
    AguiStream { gateway: Arc::clone(&asked.gateway), live, writer, heard }.reply(begun)
}

/// Decides about what the last run of a thread waits for, and goes on with it.
async fn go_on(
    asked: &GatewayRequest,
    body: &Value,
    thread: &str,
    resume: &Value,
) -> Result<HttpReply, HttpProblem> {
    let live = last_of(asked, thread).await?;
    let (entries, told) = {
        let now = live.state.borrow();
        let entries = entries(resume, &now)?;
        let told = paused_at(&now.events, &entries);
        (entries, now.events.get(..told).unwrap_or_default().to_vec())
    };
    let mut decisions = Vec::new();
    for entry in &entries {
        if let Some(decision) = decision(asked, entry).await? {
            decisions.push((&entry.ticket, decision));
        }
    }
    for (ticket, decision) in decisions {
        tickets::decide_own(asked, ticket, decision).await?;
    }
    if live.stage() != RunStage::Ended {
        recovery::take_up(&asked.gateway, &live.meta.id).await.map_err(silent)?;
    }
    let mut writer = AguiTree::new(&live.meta, body);
    writer.recall(&told, results(body));
    Ok(reply(asked, body, live, writer, told.len()))
}

/// The last run of a thread of this caller.
async fn last_of(asked: &GatewayRequest, thread: &str) -> Result<Arc<LiveRun>, HttpProblem> {
    let runs = &asked.gateway.runs;
    let all = runs.ledger.thread(&asked.caller, thread).await.map_err(silent)?;
    let live = match all.last() {
        None => None,
        Some(last) => runs.follow(&last.id, &asked.caller).await.map_err(silent)?,
    };
    live.ok_or_else(|| {
        let detail = "none of your runs has this `threadId`: send it without `resume`";
        HttpProblem::new(ProblemKind::UnknownRun, detail)
    })
}

/// How many events had been told when the run paused for these.
fn paused_at(events: &[RunEvent], entries: &[ResumeEntry]) -> usize {
    let is_answered = |event: &RunEvent| {
        waiting(event)
            .is_some_and(|ticket| entries.iter().any(|entry| entry.ticket.as_str() == ticket))
    };
    let last = events.iter().rposition(is_answered).map_or(0, |last| last + 1);
    let others = events.iter().skip(last).take_while(|event| waiting(event).is_some());
    last + others.count()
}

/// The calls whose results the client has.
fn results(body: &Value) -> HashSet<String> {
    let messages = body.get("messages").and_then(Value::as_array);
    let calls = messages.into_iter().flatten().filter_map(|message| message.get("toolCallId"));
    calls.filter_map(Value::as_str).map(str::to_owned).collect()
}
