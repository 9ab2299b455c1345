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

const REMEMBERED: usize = 10_000;

#[derive(Default)]
pub(super) struct Rows {
    running: HashMap<CallKey, Row, RandomState>,
    ended: VecDeque<Row>,
}

impl Rows {
    pub(super) fn plan(&mut self, call: Planned<'_>) {
        let row = Row {
            key: call.key,
            call_id: call.call_id.to_owned(),
            caller: Arc::clone(call.caller),
            tool: Arc::clone(call.tool),
            fingerprint: call.fingerprint,
            ending: None,
        };
        self.running.insert(call.key, row);
    }

    pub(super) fn finish(&mut self, key: CallKey, ending: Ending) {
        if let Some(row) = self.running.remove(&key) {
            if self.ended.len() == REMEMBERED {
                self.ended.pop_front();
            }
            self.ended.push_back(Row { ending: Some(ending), ..row });
        }
    }

    pub(super) fn all(&self) -> Vec<Row> {
        let mut rows: Vec<_> = self.ended.iter().chain(self.running.values()).cloned().collect();
        rows.sort_by_key(|row| row.key);
        rows
    }
}
