//! One row for each call that passed the gate.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use foldhash::fast::RandomState;
use toolcrib_core::{CallKey, Caller, Ending, Fingerprint, Planned, ToolSpec};

/// What is remembered of a call.
#[derive(Debug, Clone)]
pub struct Row {
    pub key: CallKey,
    pub call_id: String,
    pub caller: Arc<Caller>,
    pub tool: Arc<ToolSpec>,
    pub fingerprint: Fingerprint,
    /// `None` while it runs.
    pub ending: Option<Ending>,
}

impl Row {
    pub(super) fn of(call: Planned<'_>) -> Self {
        Self {
            key: call.key,
            call_id: call.call_id.to_owned(),
            caller: Arc::clone(call.caller),
            tool: Arc::clone(call.tool),
            fingerprint: call.fingerprint,
            ending: None,
        }
    }
}

const REMEMBERED: usize = 10_000;

#[derive(Default)]
pub(super) struct Rows {
    running: HashMap<CallKey, Row, RandomState>,
    ended: VecDeque<Row>,
}

impl Rows {
    pub(super) fn plan(&mut self, row: Row) {
        self.running.insert(row.key, row);
    }

    /// Gives the row that had to make room, so that it is dropped outside the lock.
    pub(super) fn finish(&mut self, key: CallKey, ending: Ending) -> Option<Row> {
        let row = self.running.remove(&key)?;
        let forgotten = if self.ended.len() == REMEMBERED { self.ended.pop_front() } else { None };
        self.ended.push_back(Row { ending: Some(ending), ..row });
        forgotten
    }

    pub(super) fn all(&self) -> Vec<Row> {
        let mut rows: Vec<_> = self.ended.iter().chain(self.running.values()).cloned().collect();
        rows.sort_by_key(|row| row.key);
        rows
    }
}
