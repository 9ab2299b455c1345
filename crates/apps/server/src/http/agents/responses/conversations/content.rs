//! What stands in a conversation, out of its runs and edits.

use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{LedgerError, RunStage, RunSummary};

use super::super::super::api_error::ApiError;
use super::super::super::live::is_seen;
use super::super::super::live::live_run::{ConversationNote, LiveRun, is_edit};
use super::super::super::output::response_of;
use super::super::thread::{missing_conversation, unreadable, whole_item};
use crate::http::routes::request::GatewayRequest;

pub(super) struct Conversation {
    pub(super) id: String,
    /// What the next edit says of it.
    pub(super) note: ConversationNote,
    /// Oldest first, of all that has ended.
    pub(super) items: Vec<Value>,
    /// Its runs and edits, oldest first.
    entries: Vec<String>,
}

impl Conversation {
    /// One of this caller's, unless a part of it was said under a profile that the token may not use.
    pub(super) async fn read(asked: &GatewayRequest, id: &str) -> Result<Self, ApiError> {
        let told = |error: LedgerError| unreadable(&error);
        let (runs, caller) = (&asked.gateway.runs, &*asked.caller);
        let all = runs.ledger.thread(caller, id).await.map_err(told)?;
        let sees = |run: &RunSummary| is_seen(caller, &run.agent, run.profile.as_deref());
        if all.is_empty() || !all.iter().all(sees) {
            return Err(missing_conversation(id));
        }
        let mut live = Vec::new();
        for run in &all {
            // One may be pruned meanwhile.
            live.extend(runs.find(&run.id, caller).await.map_err(told)?);
        }
        let mut notes = live.iter().filter_map(|live| live.meta.request.conversation.as_ref());
        let note = notes.next_back().map_or_else(
            || ConversationNote {
                created: live.first().map_or(0, |first| first.meta.created),
                ..ConversationNote::default()
            },
            ConversationNote::head,
        );
        Ok(Self {
            id: id.to_owned(),
            note,
            items: items(&live),
            entries: all.into_iter().map(|run| run.id).collect(),
        })
    }

    /// Removes all of it, the newest first, so that what is left after a failure is what it was.
    pub(super) async fn forget(&self, asked: &GatewayRequest) -> Result<(), ApiError> {
        for entry in self.entries.iter().rev() {
            let forgotten = asked.gateway.runs.ledger.forget(&asked.caller, entry).await;
            forgotten.map_err(|error| unreadable(&error))?;
        }
        Ok(())
    }
}

fn items(entries: &[Arc<LiveRun>]) -> Vec<Value> {
    let mut items: Vec<(&str, Value)> = Vec::new();
    for live in entries.iter().filter(|live| live.stage() == RunStage::Ended) {
        let (id, request) = (live.meta.id.as_str(), &live.meta.request);
        if let Some(note) = &request.conversation {
            let is_gone = |entry: &str, item: &Value| {
                let id = item.get("id").and_then(Value::as_str);
                note.replaces.as_deref() == Some(entry)
                    || id.is_some_and(|id| note.deleted.iter().any(|deleted| deleted == id))
            };
            items.retain(|(entry, item)| !is_gone(entry, item));
        }
        let brought = request.input.iter().cloned().enumerate();
        let brought = brought.map(|(index, item)| whole_item(item, id, index));
        // What was only named stands where it was said.
        let brought =
            brought.filter(|item| item.get("type").is_none_or(|kind| kind != "item_reference"));
        items.extend(brought.map(|item| (id, item)));
        if !is_edit(&live.meta.agent)
            && let Some(Value::Array(output)) = response_of(live).get_mut("output").map(Value::take)
        {
            items.extend(output.into_iter().map(|item| (id, item)));
        }
    }
    items.into_iter().map(|(_, item)| item).collect()
}
