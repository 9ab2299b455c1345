//! `/v1/runs` and `/v1/threads`: runs that go on by themselves, whoever looks.

pub(crate) mod events;
mod view;

use std::sync::Arc;

use http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_agent::{Cassette, SavedRun, ThreadItem};
use toolcrib_auth::is_operator;
use toolcrib_core::{LedgerError, RunStage, RunSummary};

use super::live::is_seen;
use super::live::live_run::{LiveRun, StoredRequest, is_edit};
use super::live::recovery;
use super::responses::{before, end, not_begun, order};
use crate::http::rest::records::listing::noted;
use crate::http::rest::sources::EmptyBody;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

pub(crate) const LARGEST_PAGE: usize = 100;
const DEFAULT_PAGE: usize = 20;
/// Tools that a request chooses or leaves out.
const MOST_NAMES: usize = 1024;
/// Runs of a page that are told with a title: each of them is read for it.
const MOST_TITLES: usize = 25;

/// What a run is to do.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Run")]
pub(crate) struct RunBody {
    /// The agent; `assistant` if not set, or the only one there is.
    agent: Option<String>,
    /// What is asked: a text, or items as `/v1/responses` takes them.
    input: Value,
    /// A thread that it goes on with, or that begins with it. It has one run at a time.
    thread: Option<String>,
    /// A run that it goes on from, on a thread of its own.
    previous: Option<String>,
    /// What is said to the agent beside its instructions.
    instructions: Option<String>,
    /// Tools that it has to call first.
    #[schemars(length(max = 1024))]
    choices: Vec<String>,
    /// Tools that it does without, as do those that work for it.
    #[schemars(length(max = 1024))]
    disabled: Vec<String>,
    /// Whether the answer is the events of the run.
    stream: bool,
    /// Whether the answer comes when the run has ended, or waits for a person.
    wait: bool,
}

/// What a run is told by whoever began it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RunInput")]
pub(crate) struct InputBody {
    /// A text, or items as `/v1/responses` takes them.
    input: Value,
    /// Whether the answer is the events of the run.
    stream: bool,
    /// Whether the answer comes when the run has ended, or waits for a person.
    wait: bool,
}

pub(crate) fn create(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: RunBody = asked.json()?;
        begin(&asked, body).await
    })
}

async fn begin(asked: &GatewayRequest, body: RunBody) -> Result<HttpReply, HttpProblem> {
    for (name, names) in [("choices", &body.choices), ("disabled", &body.disabled)] {
        if names.len() > MOST_NAMES {
            let detail = format!("`{name}` may name {MOST_NAMES} tools, and has {}", names.len());
            return Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
        }
    }
    let agents = asked.gateway.agents.all();
    let only = agents.first().filter(|_| agents.len() == 1);
    let usual = only.map_or("assistant", |agent| agent.settings.name.as_str());
    let name = body.agent.as_deref().unwrap_or(usual);
    if !agents.iter().any(|agent| agent.settings.name == name) {
        let detail = format!("there is no agent `{name}`: `GET /v1/models` lists them");
        return Err(HttpProblem::new(ProblemKind::UnknownAgent, detail));
    }
    let mut request = json!({
        "model": name, "input": body.input, "background": true,
    });
    if let Value::Object(fields) = &mut request {
        let previous = body.previous.map(|run| format!("resp_{run}"));
        for (key, value) in [
            ("conversation", body.thread),
            ("previous_response_id", previous),
            ("instructions", body.instructions),
        ] {
            fields.extend(value.map(|value| (key.to_owned(), value.into())));
        }
    }
    let ordered = order(asked, &request, None).await?;
    let ordered = ordered
        .and_then(|ordered| ordered.without(&body.disabled).forcing(&body.choices, "choices"));
    let ordered = ordered.map_err(|error| error.problem(ProblemKind::UnknownRun))?;
    let live = ordered.begin(asked, &request, None).await;
    let live = live.map_err(|error| not_begun(&error).problem(ProblemKind::UnknownRun))?;
    told(asked, live, body.stream, body.wait).await
}

/// What is told of a run that goes on.
async fn told(
    asked: &GatewayRequest,
    live: Arc<LiveRun>,
    streams: bool,
    waits: bool,
) -> Result<HttpReply, HttpProblem> {
    if streams {
        return Ok(events::stream(live, 0, is_operator(&asked.caller)));
    }
    if waits {
        live.paused().await;
    }
    let is_over = live.stage() == RunStage::Ended;
    let status = if is_over { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok(reply::status(status, &view::run(&live)))
}

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let cursor = asked.query.get("cursor").filter(|cursor| !cursor.is_empty());
        let before = cursor.map(str::parse).transpose().map_err(|_| {
            let detail = "the cursor is none of this list: begin without one";
            HttpProblem::new(ProblemKind::UnknownCursor, detail)
        })?;
        let limit = asked.query.number("limit", DEFAULT_PAGE);
        let page = asked.gateway.runs.ledger.list(&asked.caller, before, limit).await;
        let page = page.map_err(silent)?;
        let caller = &*asked.caller;
        let runs = page.iter().filter(|run| !is_edit(&run.agent));
        let runs = runs.filter(|run| is_seen(caller, &run.agent, run.profile.as_deref()));
        let mut rows = Vec::new();
        let mut titles = if asked.query.get("titles") == Some("true") { MOST_TITLES } else { 0 };
        for run in runs {
            let mut row = view::summary(run);
            // Those that work for another one were asked by a model.
            if titles > 0 && run.parent.is_none() {
                titles -= 1;
                let title = title(&asked, &run.id).await?;
                if let Value::Object(fields) = &mut row {
                    fields.insert("title".to_owned(), title.into());
                }
            }
            rows.push(row);
        }
        let mut answer = json!({ "runs": rows });
        if let (Some(last), Value::Object(fields)) =
            (page.last().filter(|_| page.len() == limit), &mut answer)
        {
            fields.insert("cursor".to_owned(), last.number.to_string().into());
        }
        Ok(reply::json(&answer))
    })
}

/// How what a run was asked begins.
async fn title(asked: &GatewayRequest, run: &str) -> Result<String, HttpProblem> {
    let stored = asked.gateway.runs.ledger.load(run).await.map_err(silent)?;
    // One that was forgotten just now has none.
    let Some(stored) = stored else { return Ok(String::new()) };
    let request = serde_json::from_str::<StoredRequest>(&stored.request);
    let request = request.map_err(|error| silent(LedgerError::new(error)))?;
    Ok(view::title(&request.input))
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let live = asked.gateway.runs.find(asked.segment(), &asked.caller).await;
        let live = known(&asked, live)?;
        let mut run = view::run(&live);
        if let Value::Object(fields) = &mut run {
            fields.insert("input".to_owned(), json!(live.meta.request.input));
        }
        if asked.query.get("debug") == Some("true")
            && let Value::Object(fields) = &mut run
        {
            fields.insert("debug".to_owned(), debug(&asked, &live).await?);
        }
        Ok(reply::json(&run))
    })
}

/// What was asked of the model, as far as it is written down. What lies behind a fault is the
/// operator's.
async fn debug(asked: &GatewayRequest, live: &LiveRun) -> Result<Value, HttpProblem> {
    let stored = asked.gateway.runs.ledger.load(&live.meta.id).await.map_err(silent)?;
    let Some(stored) = stored else { return Ok(json!([])) };
    let state = serde_json::from_str::<SavedRun>(&stored.state);
    let state = state.map_err(|error| silent(LedgerError::new(error)))?;
    let mut requests = state.requests().to_vec();
    if !is_operator(&asked.caller) {
        for request in &mut requests {
            if let Some(fault) = &mut request.fault {
                fault.detail = None;
            }
        }
    }
    Ok(json!(requests))
}

pub(crate) fn events(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let live = followed(&asked).await?;
        let last = asked.headers.get("last-event-id").and_then(|last| last.to_str().ok());
        let last = last.or_else(|| asked.query.get("after"));
        let last = last.and_then(|last| last.parse::<usize>().ok());
        let from = last.map_or(0, |last| last.saturating_add(1));
        Ok(events::stream(live, from, is_operator(&asked.caller)))
    })
}

/// A run of whomever as one file, which `toolcrib runs replay` plays. It has what is the operator's:
/// the details of faults.
pub(crate) fn record(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let runs = &asked.gateway.runs;
        let cassette = Cassette::load(&*runs.ledger, asked.segment()).await.map_err(silent)?;
        let cassette = cassette.ok_or_else(|| unknown(&asked))?;
        Ok(reply::json_bytes(cassette.to_json().into()))
    })
}

pub(crate) fn cancel(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let EmptyBody {} = asked.json()?;
        let live = followed(&asked).await?;
        end(&asked, &live).await.map_err(silent)?;
        Ok(reply::json(&view::run(&live)))
    })
}

/// Goes on with the thread of a run that has ended.
pub(crate) fn input(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let InputBody { input, stream, wait } = asked.json()?;
        let live = followed(&asked).await?;
        ended(&live)?;
        go_on(&asked, &live, input, (stream, wait)).await
    })
}

/// Takes up a run that nobody drives; one that ended before its model had answered goes on.
pub(crate) fn resume(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let EmptyBody {} = asked.json()?;
        let live = followed(&asked).await?;
        if live.stage() != RunStage::Ended {
            recovery::take_up(&asked.gateway, &live.meta.id).await.map_err(silent)?;
            return told(&asked, live, false, false).await;
        }
        if view::is_done(&live) {
            let detail = "the run has done what was asked: `input` goes on with its thread";
            return Err(HttpProblem::new(ProblemKind::RunBusy, detail));
        }
        go_on(&asked, &live, Value::Null, (false, false)).await
    })
}

async fn go_on(
    asked: &GatewayRequest,
    live: &LiveRun,
    input: Value,
    (stream, wait): (bool, bool),
) -> Result<HttpReply, HttpProblem> {
    let body = RunBody {
        agent: Some(live.meta.agent.clone()),
        input,
        thread: Some(live.meta.thread.clone()),
        previous: None,
        instructions: live.meta.request.instructions.clone(),
        choices: Vec::new(),
        // What the user left out stays out.
        disabled: live.meta.request.choice.disabled.clone(),
        stream,
        wait,
    };
    begin(asked, body).await
}

/// A thread with its runs.
pub(crate) fn thread(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let (runs, thread) = (&asked.gateway.runs, asked.segment());
        let all = runs.ledger.thread(&asked.caller, thread).await.map_err(silent)?;
        let sees = |run: &RunSummary| is_seen(&asked.caller, &run.agent, run.profile.as_deref());
        let Some(last) = all.last().filter(|_| all.iter().all(sees)) else {
            let detail = "none of your runs has this thread";
            return Err(HttpProblem::new(ProblemKind::UnknownRun, detail));
        };
        let items: Vec<ThreadItem> = before(runs, &asked.caller, &last.id)
            .await
            .map_err(|error| error.problem(ProblemKind::UnknownRun))?;
        let items: Vec<_> = items.iter().map(view::item).collect();
        let all = all.iter().filter(|run| !is_edit(&run.agent));
        let all: Vec<_> = all.map(view::summary).collect();
        Ok(reply::json(&json!({ "id": thread, "runs": all, "items": items })))
    })
}

async fn followed(asked: &GatewayRequest) -> Result<Arc<LiveRun>, HttpProblem> {
    let live = asked.gateway.runs.follow(asked.segment(), &asked.caller).await;
    let live = known(asked, live)?;
    match &live.meta.parent {
        Some(parent) if live.stage() != RunStage::Ended => {
            let detail = format!("the run `{parent}` drives this one: ask there");
            Err(HttpProblem::new(ProblemKind::RunBusy, detail))
        }
        _ => Ok(live),
    }
}

fn known(
    asked: &GatewayRequest,
    live: Result<Option<Arc<LiveRun>>, LedgerError>,
) -> Result<Arc<LiveRun>, HttpProblem> {
    let live = live.map_err(silent)?;
    live.filter(|live| !is_edit(&live.meta.agent)).ok_or_else(|| unknown(asked))
}

fn unknown(asked: &GatewayRequest) -> HttpProblem {
    let id: String = asked.segment().chars().take(80).collect();
    let detail = format!("none of your runs is `{id}`: `GET /v1/runs` lists them");
    HttpProblem::new(ProblemKind::UnknownRun, detail)
}

fn ended(live: &LiveRun) -> Result<(), HttpProblem> {
    if live.stage() == RunStage::Ended {
        return Ok(());
    }
    let detail = "the run has not ended: wait for it, decide about its tickets, or cancel it";
    Err(HttpProblem::new(ProblemKind::RunBusy, detail))
}

pub(in crate::http) fn silent(error: LedgerError) -> HttpProblem {
    noted(error);
    HttpProblem::new(ProblemKind::Unavailable, "the runs cannot be read now: ask again later")
}
