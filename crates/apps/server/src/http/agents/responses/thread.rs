//! The thread of a request: what it names of earlier runs, and what it brings.

mod room;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use toolcrib_agent::{RunEvent, SavedRun, ThreadItem};
use toolcrib_core::{Caller, LedgerError, Reference, RunStage, RunSummary, StoredRun};

use super::super::api_error::ApiError;
use super::super::input;
use super::super::live::live_run::{ConversationNote, OpenCall, StoredRequest, is_edit};
use super::super::live::thread_hold::ThreadHold;
use super::super::live::{LiveRuns, is_seen};
use super::super::output::{response_id, response_of};
use super::approvals::{self, ApprovalAnswer};
use super::open_calls::{look, open_calls};
use crate::http::rest::records::listing::noted;
use crate::http::routes::request::GatewayRequest;
use room::ConversationSize;

/// How the ids of conversations begin that are made by `POST /v1/conversations`.
pub(super) const CONVERSATION: &str = "conv_";

/// Answers that are looked through for an item that is no answer's.
const MOST_SEARCHED: usize = 20;

/// What a request says of its thread.
pub(super) struct RequestThread {
    /// Of the run that is to begin.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) previous: Option<String>,
    pub(super) items: Vec<ThreadItem>,
    /// The items that the request brought.
    pub(super) input: Vec<Value>,
    /// What its thread cited before.
    pub(super) sources: Vec<Reference>,
    /// Calls of its thread that wait for a person.
    pub(super) open: Vec<OpenCall>,
    /// What the request says to calls that were put to whoever asks.
    pub(super) approvals: Vec<ApprovalAnswer>,
    /// Items of the thread before those of this request.
    pub(super) before: usize,
    /// The events of the run before.
    pub(super) shown: Vec<RunEvent>,
    pub(super) conversation: Option<ConversationNote>,
    /// Nobody else adds to the conversation until the run is written down.
    pub(super) hold: Option<ThreadHold>,
}

/// A thread as its last run or edit left it.
#[derive(Default)]
pub(super) struct LastEntry {
    pub(super) run: Option<String>,
    pub(super) items: Vec<ThreadItem>,
    /// What the thread cited, in the order of its numbers.
    sources: Vec<Reference>,
    /// Of whoever drove the last run; an edit passes it on.
    pub(super) state: Option<String>,
    pub(super) conversation: Option<ConversationNote>,
    /// What an edit did; `None`: the last was a run.
    pub(super) edit: Option<StoredRequest>,
    pub(super) size: ConversationSize,
}

impl RequestThread {
    pub(super) async fn read(
        asked: &GatewayRequest,
        body: &Value,
        own: Option<&LiveRuns>,
        id: String,
    ) -> Result<Self, ApiError> {
        let (kept, caller) = (&asked.gateway.runs, &*asked.caller);
        let conversation = conversation(body);
        let named = body.get("previous_response_id").and_then(Value::as_str);
        check(body, conversation.is_some(), named.is_some())?;
        let hold = conversation.map(|thread| held(kept, caller, thread)).transpose()?;
        let (runs, last) = match (named, conversation) {
            (Some(named), _) => {
                let run = run_id(named).ok_or_else(|| missing_previous(named))?;
                let runs = who_knows(own, kept, caller, run).await?;
                (runs, ended(runs, caller, run, named).await?)
            }
            (None, Some(thread)) => (kept, last_of(kept, caller, thread).await?),
            (None, None) => (kept, LastEntry::default()),
        };
        let given = body.get("input").cloned().unwrap_or_default();
        let references = input::references(&given);
        let mut found = named_items(kept, caller, &references).await?;
        if let Some(own) = own {
            found.extend(named_items(own, caller, &references).await?);
        }
        let said = input::items(&given, &last.items, &found)?;
        if conversation.is_some() {
            last.size.takes(&said)?;
        }
        let previous = last.run;
        let shown = shown(runs, caller, previous.as_deref()).await?;
        let (mut open, shown) = shown.unwrap_or_default();
        let approvals = approvals::answers(&given, &found, &shown)?;
        open.retain(|call| !approvals.iter().any(|answer| *answer.ticket() == call.ticket));
        let (told, open) = look(&asked.gateway, caller, open).await;
        let (mut items, sources) = (last.items, last.sources);
        items.extend(told);
        let before = items.len();
        items.extend(said);
        let name = conversation.map_or_else(|| format!("thread_{id}"), str::to_owned);
        let input = brought(given, &id);
        let conversation = last.conversation;
        Ok(Self {
            id,
            name,
            previous,
            items,
            input,
            sources,
            open,
            approvals,
            before,
            shown,
            conversation,
            hold,
        })
    }
}

/// Whether what a request says of its thread fits together.
fn check(body: &Value, is_conversation: bool, goes_on: bool) -> Result<(), ApiError> {
    let is = |key: &str| body.get(key).and_then(Value::as_bool);
    if is("background") == Some(true) && is("store") == Some(false) {
        let message = "what works in the background is kept: leave `store` out";
        return Err(ApiError::invalid("store", message));
    }
    if is_conversation && goes_on {
        let message = "say `previous_response_id` or `conversation`, not both";
        return Err(ApiError::invalid("conversation", message));
    }
    if is_conversation && is("store") == Some(false) {
        let message = "what is said in a conversation is kept: leave `store` out";
        return Err(ApiError::invalid("store", message));
    }
    Ok(())
}

/// The right to add to a conversation, for one at a time.
pub(super) fn held(runs: &LiveRuns, caller: &Caller, thread: &str) -> Result<ThreadHold, ApiError> {
    runs.hold(caller, thread).ok_or_else(ApiError::held)
}

/// The runs among which this one is: those of whoever asks, else those of the server.
async fn who_knows<'a>(
    own: Option<&'a LiveRuns>,
    kept: &'a LiveRuns,
    caller: &Caller,
    run: &str,
) -> Result<&'a LiveRuns, ApiError> {
    let Some(own) = own else { return Ok(kept) };
    let known = own.find(run, caller).await.map_err(|error| unreadable(&error))?;
    Ok(if known.is_some() { own } else { kept })
}

/// The calls that waited when a run had ended, and the events of that run.
async fn shown(
    runs: &LiveRuns,
    caller: &Caller,
    previous: Option<&str>,
) -> Result<Option<(Vec<OpenCall>, Vec<RunEvent>)>, ApiError> {
    let Some(previous) = previous else { return Ok(None) };
    let live = runs.find(previous, caller).await.map_err(|error| unreadable(&error))?;
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

/// The items of a request, each with an id; those that are only named are elsewhere.
fn brought(given: Value, run: &str) -> Vec<Value> {
    let items = match given {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        text @ (Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            vec![json!({ "type": "message", "role": "user", "content": text })]
        }
    };
    items.into_iter().enumerate().map(|(index, item)| whole_item(item, run, index)).collect()
}

/// An item as it is given back: with an id, and its content in parts.
pub(super) fn whole_item(mut item: Value, run: &str, index: usize) -> Value {
    let Value::Object(fields) = &mut item else { return item };
    let kind = fields.entry("type").or_insert_with(|| "message".into()).clone();
    let kind = kind.as_str().unwrap_or_default();
    let (prefix, has_status) = match kind {
        "item_reference" => return item,
        "message" => ("msg", true),
        "function_call" => ("fc", true),
        "function_call_output" => ("fco", true),
        _ => ("item", false),
    };
    let is_nameless = fields.get("id").is_none_or(|id| id.as_str().is_none_or(str::is_empty));
    if is_nameless {
        fields.insert("id".to_owned(), format!("{prefix}_{run}_in{index}").into());
    }
    if has_status {
        fields.entry("status").or_insert_with(|| "completed".into());
    }
    let part = if fields.get("role").is_some_and(|role| role == "assistant") {
        |text: Value| json!([{ "type": "output_text", "text": text, "annotations": [] }])
    } else {
        |text: Value| json!([{ "type": "input_text", "text": text }])
    };
    if let Some(content @ Value::String(_)) = fields.get_mut("content") {
        let parts = part(content.take());
        *content = parts;
    }
    item
}

/// The thread of a run that has ended.
async fn ended(
    runs: &LiveRuns,
    caller: &Caller,
    run: &str,
    shown: &str,
) -> Result<LastEntry, ApiError> {
    let stored = stored(runs, caller, run).await?.ok_or_else(|| missing_previous(shown))?;
    if stored.summary.stage != RunStage::Ended {
        let message = format!("`{shown}` is not over yet: wait for it, or cancel it");
        return Err(ApiError::invalid("previous_response_id", message));
    }
    // It goes on beside its conversation, and not in it.
    let (items, sources) = (items_of(&stored)?, sources_of(&stored)?);
    Ok(LastEntry { run: Some(run.to_owned()), items, sources, ..LastEntry::default() })
}

/// The thread of a run, as far as it is written down.
pub(in crate::http::agents) async fn before(
    runs: &LiveRuns,
    caller: &Caller,
    run: &str,
) -> Result<Vec<ThreadItem>, ApiError> {
    let stored = stored(runs, caller, run).await?;
    items_of(&stored.ok_or_else(|| missing(&response_id(run)))?)
}

async fn stored(
    runs: &LiveRuns,
    caller: &Caller,
    run: &str,
) -> Result<Option<StoredRun>, ApiError> {
    let stored = runs.ledger.load(run).await.map_err(|error| unreadable(&error))?;
    Ok(stored.filter(|stored| {
        let RunSummary { agent, profile, .. } = &stored.summary;
        stored.summary.caller.is(caller) && is_seen(caller, agent, profile.as_deref())
    }))
}

fn items_of(stored: &StoredRun) -> Result<Vec<ThreadItem>, ApiError> {
    let items = stored.items.iter().map(|item| serde_json::from_str(item));
    items.collect::<Result<_, _>>().map_err(|error| unreadable(&LedgerError::new(error)))
}

/// What a thread cited. Before its first run there is no state.
fn sources_of(stored: &StoredRun) -> Result<Vec<Reference>, ApiError> {
    let state: Option<SavedRun> = serde_json::from_str(&stored.state)
        .map_err(|error| unreadable(&LedgerError::new(error)))?;
    Ok(state.map(|state| state.sources()).unwrap_or_default())
}

/// A conversation as it stands; one of which there is nothing yet begins, unless its name is one that
/// only we give.
pub(super) async fn last_of(
    runs: &LiveRuns,
    caller: &Caller,
    thread: &str,
) -> Result<LastEntry, ApiError> {
    let told = |error: LedgerError| unreadable(&error);
    let all = runs.ledger.thread(caller, thread).await.map_err(told)?;
    let Some(last) = all.last() else {
        if thread.starts_with(CONVERSATION) {
            return Err(missing_conversation(thread));
        }
        return Ok(LastEntry::default());
    };
    if !all.iter().all(|run| is_seen(caller, &run.agent, run.profile.as_deref())) {
        return Err(missing_conversation(thread));
    }
    if last.stage != RunStage::Ended {
        return Err(ApiError::busy(&last.id));
    }
    let stored = stored(runs, caller, &last.id).await?;
    let stored = stored.ok_or_else(|| missing_conversation(thread))?;
    let request: StoredRequest =
        serde_json::from_str(&stored.request).map_err(|error| told(LedgerError::new(error)))?;
    Ok(LastEntry {
        run: Some(last.id.clone()),
        size: ConversationSize {
            entries: all.len(),
            items: stored.items.len(),
            bytes: stored.items.iter().map(String::len).sum(),
        },
        items: items_of(&stored)?,
        sources: sources_of(&stored)?,
        conversation: request.conversation.as_ref().map(ConversationNote::head),
        edit: is_edit(&last.agent).then_some(request),
        state: Some(stored.state),
    })
}

/// Items of earlier answers of this caller, and of what those were asked, by their ids.
pub(super) async fn named_items(
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

/// There is nothing to go on from.
fn missing_previous(id: &str) -> ApiError {
    missing(id).about("previous_response_id")
}

pub(super) fn missing_conversation(id: &str) -> ApiError {
    let id: String = id.chars().take(80).collect();
    let message = format!("none of your conversations is `{id}`: it was deleted, or never made");
    ApiError::not_found("conversation_not_found", message).about("conversation")
}

/// What is said where the record of runs cannot be read.
pub(in crate::http::agents) fn unreadable(error: &LedgerError) -> ApiError {
    noted(error.clone());
    ApiError::unavailable("the runs cannot be read now: ask again later")
}
