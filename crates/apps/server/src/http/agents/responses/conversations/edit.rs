//! What is done to a conversation beside its runs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use toolcrib_agent::ThreadItem;
use toolcrib_core::{LedgerError, RunStage, RunStep};
use uuid::Uuid;

use super::super::super::api_error::ApiError;
use super::super::super::input;
use super::super::super::live::driver::NotBegun;
use super::super::super::live::live_run::{ConversationNote, RunMeta, StoredRequest, seconds};
use super::super::open_calls::open_calls;
use super::super::request::not_begun;
use super::super::thread::{LastEntry, named_items, unreadable, whole_item};
use crate::http::routes::request::GatewayRequest;

pub(super) struct ConversationEdit {
    id: String,
    note: ConversationNote,
    /// Items that it adds.
    input: Vec<Value>,
    /// The whole thread afterwards, as a model is given it.
    items: Vec<ThreadItem>,
}

impl ConversationEdit {
    pub(super) fn new(note: ConversationNote) -> Self {
        let id = Uuid::new_v4().simple().to_string();
        Self { id, note, input: Vec::new(), items: Vec::new() }
    }

    /// Leaves the thread as it is.
    pub(super) fn keep(&mut self, last: &LastEntry) {
        self.items.clone_from(&last.items);
    }

    /// Adds items behind those that are there, and gives them as they stand there.
    pub(super) async fn add(
        &mut self,
        asked: &GatewayRequest,
        last: &LastEntry,
        given: &[Value],
    ) -> Result<Vec<Value>, ApiError> {
        let given = Value::from(given);
        let references = input::references(&given);
        let found = named_items(&asked.gateway.runs, &asked.caller, &references).await?;
        let said = input::items(&given, &last.items, &found)?;
        last.size.takes(&said)?;
        let given = given.as_array().cloned().unwrap_or_default();
        let whole = given.into_iter().enumerate().map(|(index, item)| {
            let named = item.get("id").and_then(Value::as_str).and_then(|id| found.get(id));
            whole_item(named.cloned().unwrap_or(item), &self.id, index)
        });
        self.input = whole.collect();
        self.keep(last);
        self.items.extend(said);
        Ok(self.input.clone())
    }

    /// Takes an item out; `all`: those that were there.
    pub(super) fn delete(&mut self, id: &str, all: &[Value]) -> Result<(), ApiError> {
        let left = all.iter().filter(|item| item.get("id").is_none_or(|own| own != id));
        self.items = thread_of(&left.cloned().collect::<Vec<_>>())?;
        self.note.deleted.push(id.to_owned());
        Ok(())
    }

    /// Writes it down behind what was there. An edit right before it is taken into it, so that there
    /// are no more of them than there are runs.
    pub(super) async fn write(
        mut self,
        asked: &GatewayRequest,
        conversation: &str,
        last: LastEntry,
    ) -> Result<(), ApiError> {
        let runs = &asked.gateway.runs;
        let mut open = Vec::new();
        if let Some(previous) = &last.run {
            let live =
                runs.find(previous, &asked.caller).await.map_err(|error| unreadable(&error))?;
            open = live.map_or(open, |live| open_calls(&live.meta, &live.state.borrow().events));
        }
        let replaced = last.edit.map(|before| self.take_in(before, last.run.as_deref())).is_some();
        let items = self.items.iter().map(serde_json::to_string).collect::<Result<_, _>>();
        let items = items.map_err(|error| unreadable(&LedgerError::new(error)))?;
        let request = StoredRequest {
            input: self.input,
            open,
            conversation: Some(self.note),
            ..StoredRequest::default()
        };
        let edit = RunMeta {
            id: self.id,
            caller: Arc::clone(&asked.caller),
            thread: conversation.to_owned(),
            previous: last.run.clone(),
            parent: None,
            // It is known by this.
            agent: String::new(),
            profile: None,
            created: seconds(SystemTime::now()),
            request,
        };
        let step = RunStep {
            number: 0,
            stage: RunStage::Ended,
            tickets: Vec::new(),
            state: last.state.unwrap_or_else(|| "null".to_owned()),
            items_from: 0,
            items,
            events: Vec::new(),
        };
        let written = runs.ledger.create(edit.written(), step).await;
        written.map_err(|error| not_begun(&NotBegun::Ledger(error)))?;
        if let Some(before) = last.run.filter(|_| replaced) {
            // What it did stands in the new one; while both are there, that one counts.
            let forgotten = runs.ledger.forget(&asked.caller, &before).await;
            forgotten.map_err(|error| unreadable(&error))?;
        }
        Ok(())
    }

    fn take_in(&mut self, before: StoredRequest, run: Option<&str>) {
        let mut deleted = std::mem::take(&mut self.note.deleted);
        let is = |item: &Value, deleted: &String| item.get("id").is_some_and(|id| id == deleted);
        let (gone, mut input): (Vec<_>, Vec<_>) =
            before.input.into_iter().partition(|item| deleted.iter().any(|id| is(item, id)));
        // What it added itself has not to be looked for in what was before it.
        deleted.retain(|id| !gone.iter().any(|item| is(item, id)));
        self.note.deleted = deleted;
        input.append(&mut self.input);
        self.input = input;
        let older = before.conversation.unwrap_or_default().deleted;
        self.note.deleted.splice(0..0, older);
        self.note.replaces = run.map(str::to_owned);
    }
}

/// What a model is given of these items. It takes no answer without its call, and no call without its
/// answer that others follow.
fn thread_of(items: &[Value]) -> Result<Vec<ThreadItem>, ApiError> {
    fn word<'a>(item: &'a Value, key: &str) -> &'a str {
        item.get(key).and_then(Value::as_str).unwrap_or_default()
    }
    let ids = |kind: &str| -> HashSet<&str> {
        let of_kind = items.iter().filter(|item| word(item, "type") == kind);
        of_kind.map(|item| word(item, "call_id")).collect()
    };
    let (called, answered) = (ids("function_call"), ids("function_call_output"));
    let last = items.iter().rposition(|item| word(item, "type") != "function_call");
    let is_whole = |(index, item): &(usize, &Value)| match word(item, "type") {
        "function_call" => answered.contains(word(item, "call_id")) || Some(*index) > last,
        "function_call_output" => called.contains(word(item, "call_id")),
        _ => true,
    };
    let whole = items.iter().enumerate().filter(is_whole).map(|(_, item)| item.clone());
    input::items(&whole.collect(), &[], &HashMap::new())
}
