//! The calls that run now and those that ended just now, of all callers: for the operator.

pub(crate) mod source_figures;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use foldhash::fast::RandomState;
use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib_core::{
    CallDecided, CallFinished, CallKey, Caller, Progress, SourceId, ToolName, ToolOutcome, ToolSpec,
};

use super::metrics::outcome;
use source_figures::{EndedCall, SourceFigures, of_calls};

/// Ended calls that are kept.
const MOST: usize = 1000;
/// Letters of a name or a message that are kept.
const LONGEST: usize = 128;

#[derive(Default)]
pub(crate) struct RecentCalls(Mutex<RecentCallsState>);

#[derive(Default)]
struct RecentCallsState {
    running: HashMap<CallKey, ActiveCall, RandomState>,
    ended: VecDeque<RecentCall>,
    /// The number of the last that ended.
    last: u64,
}

struct ActiveCall {
    spec: Arc<ToolSpec>,
    caller: Arc<Caller>,
    since: Instant,
    progress: Option<Value>,
}

/// A call that ended.
#[derive(Clone)]
pub(crate) struct RecentCall {
    number: u64,
    key: CallKey,
    tool: CalledName,
    source: Option<SourceId>,
    caller: Arc<Caller>,
    outcome: &'static str,
    is_failed: bool,
    at: SystemTime,
    /// From the decision to the end.
    pub(crate) took: Duration,
    waited: Duration,
    ran: Duration,
    attempts: u32,
}

/// The name that was called: that of a tool, or what a model made of it.
#[derive(Clone)]
enum CalledName {
    Tool(ToolName),
    As(String),
}

impl RecentCalls {
    fn state(&self) -> MutexGuard<'_, RecentCallsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begins(&self, call: &CallDecided<'_>, since: Instant) {
        let running = ActiveCall {
            spec: Arc::clone(call.tool.spec),
            caller: Arc::clone(call.caller),
            since,
            progress: None,
        };
        self.state().running.insert(call.key, running);
    }

    /// Gives whose call it is, if it runs.
    pub(super) fn progress(&self, key: CallKey, progress: &Progress) -> Option<Arc<Caller>> {
        let mut state = self.state();
        let running = state.running.get_mut(&key)?;
        running.progress = Some(progress_json(progress));
        Some(Arc::clone(&running.caller))
    }

    pub(super) fn ends(&self, call: &CallFinished<'_>) -> RecentCall {
        let mut state = self.state();
        let began = state.running.remove(&call.key);
        let took = began.map_or(Duration::ZERO, |running| running.since.elapsed());
        state.last += 1;
        let ended = RecentCall {
            number: state.last,
            key: call.key,
            tool: CalledName::of(call),
            source: call.tool.map(|tool| tool.spec.origin.source.clone()),
            caller: Arc::clone(call.caller),
            outcome: outcome(call.outcome),
            is_failed: matches!(call.outcome, ToolOutcome::Failed(_)),
            at: SystemTime::now(),
            took,
            waited: call.waited,
            ran: call.ran,
            attempts: call.attempts,
        };
        if state.ended.len() >= MOST {
            state.ended.pop_front();
        }
        state.ended.push_back(ended.clone());
        ended
    }

    /// How many calls run now, by source.
    pub(crate) fn running(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for running in self.state().running.values() {
            *counts.entry(running.spec.origin.source.to_string()).or_default() += 1;
        }
        counts
    }

    /// How the calls that are kept went, by source.
    pub(crate) fn of_sources(&self) -> BTreeMap<SourceId, SourceFigures> {
        let state = self.state();
        let ended = state.ended.iter().filter_map(|call| {
            let ran = (call.attempts > 0).then_some(call.ran);
            let source = call.source.as_ref()?;
            Some(EndedCall { source, at: call.at, is_failed: call.is_failed, ran })
        });
        of_calls(ended, SystemTime::now())
    }

    /// What runs, the oldest first; what ended after the number `after`, the oldest first and
    /// `limit` at the most; and the number to ask with the next time.
    pub(crate) fn page(&self, after: Option<u64>, limit: usize) -> Value {
        let state = self.state();
        // Who followed another process begins anew.
        let after = after.filter(|after| *after <= state.last);
        let mut running: Vec<_> = state.running.iter().collect();
        running.sort_by_key(|(key, _)| **key);
        let running: Vec<_> = running.iter().map(|(key, one)| one.to_json(**key)).collect();
        let fresh = state.ended.iter().filter(|ended| after.is_none_or(|last| ended.number > last));
        let all: Vec<_> = fresh.collect();
        let skipped = match after {
            // Who follows takes up where it stopped; who looks wants the newest.
            Some(_) => 0,
            None => all.len().saturating_sub(limit),
        };
        let page: Vec<_> = all.into_iter().skip(skipped).take(limit).collect();
        let next = page.last().map_or(after.unwrap_or(state.last), |ended| ended.number);
        let calls: Vec<_> = page.into_iter().map(RecentCall::to_json).collect();
        json!({ "running": running, "calls": calls, "next": next })
    }
}

impl CalledName {
    fn of(call: &CallFinished<'_>) -> Self {
        match call.tool {
            Some(tool) if tool.spec.name.as_str() == call.name => {
                Self::Tool(tool.spec.name.clone())
            }
            _ => Self::As(cut(call.name)),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Tool(name) => name.as_str(),
            Self::As(name) => name,
        }
    }
}

/// How far a call is, as it is told.
pub(super) fn progress_json(progress: &Progress) -> Value {
    let Progress { done, total, message } = progress;
    json!({ "done": done, "total": total, "message": message.as_deref().map(cut) })
}

/// The beginning of a text that somebody else wrote.
pub(crate) fn cut(text: &str) -> String {
    cut_to(text, LONGEST)
}

pub(super) fn cut_to(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl ActiveCall {
    fn to_json(&self, key: CallKey) -> Value {
        json!({
            "key": key,
            "tool": self.spec.name,
            "source": self.spec.origin.source,
            "effect": self.spec.effect.as_str(),
            "tenant": self.caller.tenant,
            "caller": self.caller.subject,
            "took_us": microseconds(self.since.elapsed()),
            "progress": self.progress,
        })
    }
}

impl RecentCall {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "number": self.number,
            "key": self.key,
            "tool": self.tool.as_str(),
            "source": self.source,
            "tenant": self.caller.tenant,
            "caller": self.caller.subject,
            "outcome": self.outcome,
            "ended": Timestamp::try_from(self.at).ok().map(|at| at.to_string()),
            "took_us": microseconds(self.took),
            "waited_us": microseconds(self.waited),
            "ran_us": microseconds(self.ran),
            "attempts": self.attempts,
        })
    }
}
