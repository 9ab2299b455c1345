//! The rows of tasks: what another process tells of one whose own is gone.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ErrorData;
use serde_json::{Value, json};
use tokio::time::timeout;
use toolcrib_core::{Caller, LONGEST_STATE, TaskLedger, TaskRecord};

use super::task::McpTask;

/// How long the record is waited for, which may have fallen silent.
const PATIENCE: Duration = Duration::from_secs(3);
/// A task that has not ended may take longer than one stays that has.
const UNENDED: Duration = Duration::from_hours(24);

const CUT_OFF: &str = "the server in which it ran was cut off, and what came of it is not known: it \
                       may have taken effect, so look before it is made again";
const TOO_LARGE: &str =
    "it ended, and its result was too large to outlive the server in which it ran";

#[derive(Clone)]
pub(crate) struct TaskRows {
    ledger: Option<Arc<dyn TaskLedger>>,
    life: Duration,
}

impl TaskRows {
    pub(crate) fn new(ledger: Option<Arc<dyn TaskLedger>>, life: Duration) -> Self {
        Self { ledger, life }
    }

    /// Writes how far a task has come. One that cannot be written ends with its process.
    pub(super) async fn keep(&self, task: &McpTask) {
        let Some(ledger) = &self.ledger else { return };
        let (caller, profile) = task.owner();
        let (state, has_ended) = task.outcome();
        let mut text = state.to_string();
        if text.len() > LONGEST_STATE {
            text = failed(state, TOO_LARGE).to_string();
        }
        let record = TaskRecord {
            name: task.id().to_owned(),
            caller: Caller::new(&*caller.tenant, &*caller.subject),
            profile: profile.map(ToOwned::to_owned),
            state: text,
            has_ended,
        };
        let life = if has_ended { self.life } else { self.life.max(UNENDED) };
        let _ = timeout(PATIENCE, ledger.put_task(record, life)).await;
    }

    /// What is on record of a task, if it is this caller's. `Err`: the record does not answer.
    async fn find(
        &self,
        id: &str,
        caller: &Caller,
        profile: Option<&str>,
    ) -> Result<Option<TaskRecord>, ()> {
        let Some(ledger) = &self.ledger else { return Ok(None) };
        let found = timeout(PATIENCE, ledger.find_task(id)).await.map_err(drop)?.map_err(drop)?;
        let is_theirs =
            |task: &TaskRecord| task.caller.is(caller) && task.profile.as_deref() == profile;
        Ok(found.filter(is_theirs))
    }

    /// What a client is told of a task whose process is gone. `Ok(None)`: there is no such task.
    pub(crate) async fn told(
        &self,
        id: &str,
        (caller, profile): (&Caller, Option<&str>),
    ) -> Result<Option<Value>, ()> {
        let Some(found) = self.find(id, caller, profile).await? else { return Ok(None) };
        let state: Value = serde_json::from_str(&found.state).unwrap_or_default();
        Ok(Some(if found.has_ended { state } else { failed(state, CUT_OFF) }))
    }

    /// What it is told while that process may live, and does not answer: how it ended, if it did.
    pub(crate) async fn ended(
        &self,
        id: &str,
        (caller, profile): (&Caller, Option<&str>),
    ) -> Option<Value> {
        let found = self.find(id, caller, profile).await.ok()??;
        serde_json::from_str(&found.state).ok().filter(|_| found.has_ended)
    }
}

/// The same task as one that failed.
fn failed(mut state: Value, why: &'static str) -> Value {
    if let Value::Object(fields) = &mut state {
        for field in ["result", "inputRequests"] {
            fields.shift_remove(field);
        }
        fields.insert("status".to_owned(), json!("failed"));
        fields.insert("statusMessage".to_owned(), json!(why));
        fields.insert("error".to_owned(), json!(ErrorData::internal_error(why, None)));
    }
    state
}
