//! One row for each call that passed the gate.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use tokio::time::Instant;
use toolcrib_core::{
    Attempt, CallKey, Caller, Effect, Ending, EndingReport, Fingerprint, PlannedCall, ToolSpec,
    UncertainCall,
};

/// What is remembered of a call.
#[derive(Debug, Clone)]
pub struct CallRow {
    pub key: CallKey,
    pub call_id: String,
    pub caller: Arc<Caller>,
    pub tool: Arc<ToolSpec>,
    pub fingerprint: Fingerprint,
    /// SHA-256 of the arguments; of a call that only reads nobody asks for it.
    pub arguments: Option<Fingerprint>,
    /// `None` while it runs.
    pub ending: Option<Ending>,
    pub attempts: Vec<Attempt>,
}

impl CallRow {
    pub(super) fn of(call: PlannedCall<'_>) -> Self {
        Self {
            key: call.key,
            call_id: call.call_id.to_owned(),
            caller: Arc::clone(call.caller),
            tool: Arc::clone(call.tool),
            fingerprint: call.fingerprint,
            arguments: (call.tool.effect != Effect::Read).then(|| call.arguments.digest()),
            ending: None,
            attempts: Vec::new(),
        }
    }
}

const REMEMBERED: usize = 10_000;

#[derive(Default)]
pub(super) struct CallRows {
    running: HashMap<CallKey, CallRow, RandomState>,
    ended: VecDeque<CallRow>,
    /// Calls whose outcome nobody knew, and since when, oldest first: also those that took effect
    /// after all, which their callers were not told.
    unknown: VecDeque<(Instant, CallRow)>,
}

impl CallRows {
    pub(super) fn plan(&mut self, row: CallRow) {
        self.running.insert(row.key, row);
    }

    /// Gives the row that had to make room, so that it is dropped outside the lock.
    pub(super) fn finish(&mut self, key: CallKey, finish: EndingReport) -> Option<CallRow> {
        let row = self.running.remove(&key)?;
        let row = CallRow { ending: Some(finish.ending), attempts: finish.attempts, ..row };
        if finish.ending == Ending::Unknown {
            if self.unknown.len() == REMEMBERED {
                self.unknown.pop_front();
            }
            self.unknown.push_back((Instant::now(), row.clone()));
        }
        let forgotten = if self.ended.len() == REMEMBERED { self.ended.pop_front() } else { None };
        self.ended.push_back(row);
        forgotten
    }

    pub(super) fn resolve(&mut self, key: CallKey, ending: Ending) {
        let is_it = |row: &CallRow| row.key == key && row.ending == Some(Ending::Unknown);
        // What is said first holds.
        let Some(at) = self.unknown.iter().position(|(_, row)| is_it(row)) else { return };
        if ending == Ending::Succeeded {
            self.unknown.iter_mut().skip(at).take(1).for_each(|(_, row)| row.ending = Some(ending));
        } else {
            self.unknown.remove(at);
        }
        if let Some(row) = self.ended.iter_mut().rev().find(|row| is_it(row)) {
            row.ending = Some(ending);
        }
    }

    pub(super) fn unknown_like(
        &self,
        call: PlannedCall<'_>,
        window: Duration,
    ) -> Option<UncertainCall> {
        let mut recent = self.unknown.iter().rev().take_while(|(at, _)| at.elapsed() < window);
        let first = recent.next()?;
        let arguments = Some(call.arguments.digest());
        let like = |row: &CallRow| {
            row.caller.is(call.caller)
                && row.tool.name == call.tool.name
                && row.tool.origin.source == call.tool.origin.source
                && row.arguments == arguments
        };
        let all = std::iter::once(first).chain(recent).map(|(_, row)| row);
        let alike = all.filter(|row| like(row));
        UncertainCall::weightiest(
            alike.map(|row| UncertainCall::new(row.key.to_string(), &row.attempts)),
        )
    }

    pub(super) fn all(&self) -> Vec<CallRow> {
        let mut rows: Vec<_> = self.ended.iter().chain(self.running.values()).cloned().collect();
        rows.sort_by_key(|row| row.key);
        rows
    }
}
