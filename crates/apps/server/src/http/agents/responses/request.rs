//! What a request for an answer asks: its thread, out of what it brings and what it names.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib::agent::{RunEvent, RunOrder, SavedRun, ThreadItem};
use toolcrib::{Caller, LedgerError, NewRun, Reference, RunLedgerError, RunStage, StoredRun};
use uuid::Uuid;

use super::super::api_error::ApiError;
use super::super::chosen::{agent_within, check_names};
use super::super::input;
use super::super::live::LiveRuns;
use super::super::live::driver::NotBegun;
use super::super::live::live_run::{DecidedCall, OpenCall, RunMeta, StoredRequest, seconds};
use super::super::output::{response_id, response_of};
use super::approvals::{self, ApprovalAnswer};
use super::open_calls::{look, open_calls};
use crate::http::rest::records::listing::noted;
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::request::GatewayRequest;
use crate::http::state::GatewayState;

/// Answers that are looked through for an item that is no answer's.
const MOST_SEARCHED: usize = 20;

/// A run that is to begin.
pub(in crate::http::agents) struct OrderedRun {
    pub(in crate::http::agents) order: RunOrder,
    id: String,
    thread: String,
    previous: Option<String>,
    profile: Option<String>,
    instructions: Option<String>,
    max_tokens: Option<u32>,
    /// The items that the request brought.
    input: Vec<Value>,
    /// Calls of its thread that wait for a person.
    open: Vec<OpenCall>,
    /// What the request says to calls that were put to whoever asks.
    approvals: Vec<ApprovalAnswer>,
    /// What came of that.
    decided: Vec<DecidedCall>,
    /// It ends where calls wait for a person: whoever asks is that person.
    asks_caller: bool,
    /// Items of the thread before those of this request.
    before: usize,
    /// The events of the run before.
    shown: Vec<RunEvent>,
}

pub(in crate::http::agents) async fn order(
    asked: &GatewayRequest,
    body: &Value,
) -> Result<Result<OrderedRun, ApiError>, HttpProblem> {
    let is = |key: &str| body.get(key).and_then(Value::as_bool);
    let is_durable = is("background") == Some(true);
    let read = match read(asked, body).await {
        Ok(read) => read,
        Err(error) => return Ok(Err(error)),
    };
    let word = |key: &str| body.get(key).and_then(Value::as_str);
    let instructions = word("instructions");
    let most = body.get("max_output_tokens").and_then(Value::as_u64);
    let most = most.and_then(|most| u32::try_from(most).ok());
    let (agent, servers) = match agent_within(asked, word("model"), instructions, most, body)? {
        Ok(within) => within,
        Err(error) => return Ok(Err(error)),
    };
    let asks_caller = servers.ask_caller();
    let caller_tools = match input::caller_tools(body) {
        Ok(tools) => tools,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = check_names(&agent, &asked.caller, &caller_tools) {
        return Ok(Err(error));
    }
    let agents = asked.gateway.agents.all();
    let registered = agents.iter().find(|registered| registered.settings.name == agent.name);
    let profile = registered.and_then(|registered| registered.profile()).map(str::to_owned);
    let caller = Arc::clone(&asked.caller);
    let (thread, sources) = (read.items, read.sources);
    Ok(Ok(OrderedRun {
        order: RunOrder {
            agent,
            caller,
            thread,
            sources,
            caller_tools,
            waits_for_people: is_durable || asks_caller,
        },
        id: read.id,
        thread: read.thread,
        previous: read.previous,
        profile,
        instructions: instructions.map(str::to_owned),
        max_tokens: most,
        input: read.input,
        open: read.open,
        approvals: read.approvals,
        decided: Vec::new(),
        asks_caller,
        before: read.before,
        shown: read.shown,
    }))
}

impl OrderedRun {
    /// Decides as the request says, so that the thread tells what came of it. Nothing of the request
    /// can be wrong any more.
    pub(in crate::http::agents) async fn decided(
        mut self,
        asked: &GatewayRequest,
    ) -> Result<Result<Self, ApiError>, HttpProblem> {
        let answers = std::mem::take(&mut self.approvals);
        match approvals::decide(asked, answers, self.profile.as_deref()).await? {
            Ok(decided) => {
                let thread = &mut self.order.thread;
                approvals::tell(thread, self.before, &decided, &self.shown);
                self.decided = decided;
                Ok(Ok(self))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// What runs, what is known of it, and how it is written down, if it is.
    pub(in crate::http::agents) fn parts(
        self,
        body: &Value,
    ) -> (RunOrder, RunMeta, Option<NewRun>) {
        let is = |key: &str| body.get(key).and_then(Value::as_bool);
        let mut given = body.clone();
        if let Value::Object(fields) = &mut given {
            fields.remove("input");
        }
        // What a client says to servers is nobody else's to read.
        let tools = given.get_mut("tools").and_then(Value::as_array_mut);
        for tool in tools.into_iter().flatten().filter_map(Value::as_object_mut) {
            tool.retain(|key, _| !["authorization", "headers"].contains(&key.as_str()));
        }
        let names = self.order.caller_tools.iter().map(|tool| tool.name.clone()).collect();
        let request = StoredRequest {
            is_durable: is("background") == Some(true),
            instructions: self.instructions,
            max_tokens: self.max_tokens,
            body: given,
            input: self.input,
            caller_tools: names,
            open: self.open,
            asks_caller: self.asks_caller,
            decided: self.decided,
        };
        let meta = RunMeta {
            id: self.id,
            caller: Arc::clone(&self.order.caller),
            thread: self.thread,
            previous: self.previous,
            agent: self.order.agent.name.clone(),
            profile: self.profile,
            created: seconds(std::time::SystemTime::now()),
            request,
        };
        let new = (is("store") != Some(false)).then(|| meta.written());
        (self.order, meta, new)
    }
}

/// What a request says of its thread.
struct ReadRequest {
    id: String,
    thread: String,
    previous: Option<String>,
    items: Vec<ThreadItem>,
    /// What its thread cited before.
    sources: Vec<Reference>,
    /// The items that the request brought.
    input: Vec<Value>,
    /// Calls of its thread that wait for a person.
    open: Vec<OpenCall>,
    approvals: Vec<ApprovalAnswer>,
    before: usize,
    shown: Vec<RunEvent>,
}

async fn read(asked: &GatewayRequest, body: &Value) -> Result<ReadRequest, ApiError> {
    let (runs, caller) = (&asked.gateway.runs, &*asked.caller);
    let is = |key: &str| body.get(key).and_then(Value::as_bool);
    if is("background") == Some(true) && is("store") == Some(false) {
        let message = "what works in the background is kept: leave `store` out";
        return Err(ApiError::invalid("store", message));
    }
    let id = Uuid::new_v4().simple().to_string();
    let conversation = conversation(body);
    let named = body.get("previous_response_id").and_then(Value::as_str);
    if conversation.is_some() && named.is_some() {
        let message = "say `previous_response_id` or `conversation`, not both";
        return Err(ApiError::invalid("conversation", message));
    }
    let (previous, before) = match (named, conversation) {
        (Some(named), _) => {
            let run = run_id(named).ok_or_else(|| missing(named))?;
            (Some(run.to_owned()), ended(runs, caller, run, named).await?)
        }
        (None, Some(thread)) => last_of(runs, caller, thread).await?,
        (None, None) => (None, StoredThread::default()),
    };
    let given = body.get("input").cloned().unwrap_or_default();
    let found = named_items(runs, caller, &input::references(&given)).await?;
    let StoredThread { mut items, sources } = before;
    let goes_on = !items.is_empty();
    let said = input::items(&given, goes_on, &found)?;
    let shown = shown(&asked.gateway, caller, previous.as_deref()).await?;
    let (mut open, shown) = shown.unwrap_or_default();
    let approvals = approvals::answers(&given, &found, &shown)?;
    open.retain(|call| !approvals.iter().any(|answer| *answer.ticket() == call.ticket));
    let (told, open) = look(&asked.gateway, caller, open).await;
    items.extend(told);
    let before = items.len();
    items.extend(said);
    let thread = conversation.map_or_else(|| format!("thread_{id}"), str::to_owned);
    let input = brought(given, &id);
    Ok(ReadRequest { id, thread, previous, items, sources, input, open, approvals, before, shown })
}

/// The calls that waited when a run had ended, and the events of that run.
async fn shown(
    gateway: &GatewayState,
    caller: &Caller,
    previous: Option<&str>,
) -> Result<Option<(Vec<OpenCall>, Vec<RunEvent>)>, ApiError> {
    let Some(previous) = previous else { return Ok(None) };
    let live = gateway.runs.find(previous, caller).await.map_err(|error| unreadable(&error))?;
    Ok(live.map(|live| {
        let events = live.state.borrow().events.clone();
        (open_calls(&live.meta, &events), events)
    }))
}

/// The thread that a request names as its conversation.
fn conversation(body: &Value) -> Option<&str> {
    let said = body.get("conversation")?;
    let id = said.as_str().or_else(|| said.get("id").and_then(Value::as_str))?;
    Some(id).filter(|id| !id.is_empty())
}

/// The items of a request, each with an id.
fn brought(given: Value, run: &str) -> Vec<Value> {
    if let Value::Array(items) = given {
        return items;
    }
    if given.is_null() {
        return Vec::new();
    }
    vec![json!({
        "type": "message", "id": format!("msg_{run}_in"), "role": "user", "status": "completed",
        "content": [{ "type": "input_text", "text": given }],
    })]
}

/// What a run left to those that go on with its thread.
#[derive(Default)]
struct StoredThread {
    items: Vec<ThreadItem>,
    /// In the order of their numbers.
    sources: Vec<Reference>,
}

impl StoredThread {
    fn of(stored: &StoredRun) -> Result<Self, ApiError> {
        let state = serde_json::from_str::<SavedRun>(&stored.state);
        let state = state.map_err(|error| unreadable(&LedgerError::new(error)))?;
        Ok(Self { items: items_of(stored)?, sources: state.sources() })
    }
}

/// The thread of a run that has ended.
async fn ended(
    runs: &LiveRuns,
    caller: &Caller,
    run: &str,
    shown: &str,
) -> Result<StoredThread, ApiError> {
    let stored = stored(runs, caller, run).await?;
    if stored.summary.stage != RunStage::Ended {
        let message = format!("`{shown}` is not over yet: wait for it, or cancel it");
        return Err(ApiError::invalid("previous_response_id", message));
    }
    StoredThread::of(&stored)
}

/// The thread of a run, as far as it is written down.
pub(in crate::http::agents) async fn before(
    runs: &LiveRuns,
    caller: &Caller,
    run: &str,
) -> Result<Vec<ThreadItem>, ApiError> {
    items_of(&stored(runs, caller, run).await?)
}

async fn stored(runs: &LiveRuns, caller: &Caller, run: &str) -> Result<StoredRun, ApiError> {
    let stored = runs.ledger.load(run).await.map_err(|error| unreadable(&error))?;
    let stored = stored.filter(|stored| stored.summary.caller.is(caller));
    stored.ok_or_else(|| missing(&response_id(run)))
}

fn items_of(stored: &StoredRun) -> Result<Vec<ThreadItem>, ApiError> {
    let items = stored.items.iter().map(|item| serde_json::from_str(item));
    items.collect::<Result<_, _>>().map_err(|error| unreadable(&LedgerError::new(error)))
}

/// The last run of a conversation and its thread; one of which there is none yet begins.
async fn last_of(
    runs: &LiveRuns,
    caller: &Caller,
    thread: &str,
) -> Result<(Option<String>, StoredThread), ApiError> {
    let all = runs.ledger.thread(caller, thread).await.map_err(|error| unreadable(&error))?;
    match all.last() {
        None => Ok((None, StoredThread::default())),
        Some(last) if last.stage != RunStage::Ended => Err(ApiError::busy(&last.id)),
        Some(last) => {
            let before = StoredThread::of(&stored(runs, caller, &last.id).await?)?;
            Ok((Some(last.id.clone()), before))
        }
    }
}

/// Items of earlier answers of this caller, and of what those were asked, by their ids.
async fn named_items(
    runs: &LiveRuns,
    caller: &Caller,
    wanted: &HashSet<String>,
) -> Result<HashMap<String, Value>, ApiError> {
    let mut found = HashMap::new();
    let told = |error: LedgerError| unreadable(&error);
    let of_run = |id: &String| id.split('_').nth(1).map(str::to_owned);
    let named: HashSet<String> = wanted.iter().filter_map(of_run).collect();
    for run in named.iter().take(MOST_SEARCHED) {
        if let Some(live) = runs.find(run, caller).await.map_err(told)? {
            take(&live.meta.request.input, &response_of(&live), wanted, &mut found);
        }
    }
    if found.len() < wanted.len() {
        for run in runs.ledger.list(caller, None, MOST_SEARCHED).await.map_err(told)? {
            if let Some(live) = runs.find(&run.id, caller).await.map_err(told)? {
                take(&live.meta.request.input, &response_of(&live), wanted, &mut found);
            }
        }
    }
    Ok(found)
}

fn take(
    input: &[Value],
    response: &Value,
    wanted: &HashSet<String>,
    found: &mut HashMap<String, Value>,
) {
    let output = response.get("output").and_then(Value::as_array);
    for item in output.into_iter().flatten().chain(input) {
        let id = item.get("id").and_then(Value::as_str).filter(|id| wanted.contains(*id));
        if let Some(id) = id {
            found.entry(id.to_owned()).or_insert_with(|| item.clone());
        }
    }
}

/// The run that an id of this API stands for.
pub(in crate::http::agents) fn run_id(id: &str) -> Option<&str> {
    id.strip_prefix("resp_")
}

pub(in crate::http::agents) fn missing(id: &str) -> ApiError {
    let run = run_id(id).unwrap_or(id);
    let message = format!("no run `{run}` is there: it was not stored, or is forgotten");
    ApiError::not_found("previous_response_not_found", message)
}

/// What is said where the record of runs cannot be read.
pub(in crate::http::agents) fn unreadable(error: &LedgerError) -> ApiError {
    noted(error.clone());
    ApiError::unavailable("the runs cannot be read now: ask again later")
}

/// Why a run did not begin.
pub(in crate::http::agents) fn not_begun(error: &NotBegun) -> ApiError {
    match error {
        NotBegun::TooMany(most) => {
            ApiError::too_many(format!("{most} runs of yours are worked on: wait for one"))
        }
        NotBegun::Ledger(RunLedgerError::Busy { run }) => ApiError::busy(run),
        NotBegun::Ledger(RunLedgerError::Moved) => {
            ApiError::unavailable("the run cannot be written down now")
        }
        NotBegun::Ledger(RunLedgerError::Ledger(error)) => unreadable(error),
    }
}
