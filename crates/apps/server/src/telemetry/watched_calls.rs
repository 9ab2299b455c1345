//! What the page shows of a call beside its record: how long it waited, for its turn and for people,
//! and for a while what it was called with and what it gave.
//!
//! All of it is in memory, for the operator alone, bounded, and only from the first sign-in on: whom
//! nobody watches pays nothing. Secrets are taken out before anything is kept.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use toolcrib_core::{
    Call, CallDecided, CallFinished, Caller, LookupFinished, ParkedCall, QuestionEvent,
    QuestionStage, Response, Ruling, SourceId, TicketId, ToolName, ToolOutcome,
};

use super::recent_calls::cut_to;
use crate::secrets;

/// Calls that are known, and of one tenant.
const MOST: usize = 2_000;
const MOST_OF_TENANT: usize = 500;
/// Bytes of arguments and results together, and letters of one of them.
const MOST_BYTES: usize = 16 << 20;
const LONGEST: usize = 64 * 1024;
/// Fields that are told to be other, and letters of one of them.
const MOST_TOLD: usize = 50;
const LONGEST_TOLD: usize = 1_000;
/// Calls of which it is known when they began to wait for a person.
const MOST_PARKED: usize = 2_000;

#[derive(Default)]
pub(crate) struct WatchedCalls {
    is_watched: AtomicBool,
    /// How long arguments and results are kept; not set: not at all.
    keep: OnceLock<Duration>,
    state: Mutex<WatchedState>,
}

#[derive(Default)]
struct WatchedState {
    /// The oldest first.
    calls: VecDeque<WatchedCall>,
    bytes: usize,
    parked: HashMap<TicketId, SystemTime>,
}

struct WatchedCall {
    key: String,
    caller: Arc<Caller>,
    tool: ToolName,
    source: SourceId,
    /// A person said yes to it.
    is_approved: bool,
    decided: SystemTime,
    /// Since when it had waited for a person then.
    parked: Option<SystemTime>,
    /// For its turn.
    waited: Duration,
    /// What it asked people while it ran: from when to when.
    questions: Vec<(SystemTime, Option<SystemTime>)>,
    /// When it was looked up whether it took effect, and whether it did.
    lookups: Vec<(SystemTime, LookupFinished)>,
    values: Option<KeptValues>,
}

/// What a call was about.
struct KeptValues {
    until: Instant,
    arguments: String,
    outcome: Option<&'static str>,
    result: String,
}

impl KeptValues {
    fn bytes(&self) -> usize {
        self.arguments.len() + self.result.len()
    }
}

impl WatchedCalls {
    /// How long arguments and results are kept from the first sign-in on.
    pub(crate) fn keep_for(&self, keep: Duration) {
        if !keep.is_zero() {
            // It is said once, at the start.
            let _ = self.keep.set(keep);
        }
    }

    /// Whether arguments and results are kept.
    pub(crate) fn keeps(&self) -> bool {
        self.keep.get().is_some()
    }

    /// Somebody looks on.
    pub(crate) fn begin(&self) {
        self.is_watched.store(true, Ordering::Relaxed);
    }

    pub(super) fn decided(&self, call: &CallDecided<'_>) {
        if !self.is_watched.load(Ordering::Relaxed) {
            return;
        }
        let values = self.keep.get().map(|keep| KeptValues {
            until: Instant::now() + *keep,
            arguments: shown(Value::Object(call.arguments.fields().clone())),
            outcome: None,
            result: String::new(),
        });
        let mut state = self.state();
        let parked = call.ticket.filter(|_| call.decider.is_some());
        let parked = parked.and_then(|ticket| state.parked.remove(ticket));
        state.add(WatchedCall {
            key: call.key.to_string(),
            caller: Arc::clone(call.caller),
            tool: call.tool.spec.name.clone(),
            source: call.tool.spec.origin.source.clone(),
            is_approved: call.decider.is_some() && matches!(call.ruling, Ruling::Allowed),
            decided: SystemTime::now(),
            parked,
            waited: Duration::ZERO,
            questions: Vec::new(),
            lookups: Vec::new(),
            values,
        });
    }

    pub(super) fn ended(&self, call: &CallFinished<'_>) {
        if !self.is_watched.load(Ordering::Relaxed) {
            return;
        }
        if let ToolOutcome::Pending(pending) = call.outcome {
            let mut state = self.state();
            if state.parked.len() < MOST_PARKED {
                state.parked.insert(pending.ticket.clone(), SystemTime::now());
            }
        }
        let result = self.keep.get().map(|_| {
            let response = Response::of_call(Call::default(), call.outcome.clone());
            shown(Value::String(response.text()))
        });
        let key = call.key.to_string();
        let mut state = self.state();
        let Some(known) = state.calls.iter_mut().rev().find(|known| known.key == key) else {
            return;
        };
        known.waited = call.waited;
        if let (Some(values), Some(result)) = (&mut known.values, result) {
            values.outcome = Some(call.outcome.as_str());
            values.result = result;
            let more = values.result.len();
            state.bytes += more;
        }
        state.tidy();
    }

    pub(super) fn questioned(&self, question: &QuestionEvent<'_>) {
        if !self.is_watched.load(Ordering::Relaxed) {
            return;
        }
        let key = question.key.to_string();
        let mut state = self.state();
        let Some(known) = state.calls.iter_mut().rev().find(|known| known.key == key) else {
            return;
        };
        match (question.stage, known.questions.last_mut()) {
            (QuestionStage::Asked, _) => known.questions.push((SystemTime::now(), None)),
            (_, Some((_, end @ None))) => *end = Some(SystemTime::now()),
            (_, _) => {}
        }
    }

    pub(super) fn looked_up(&self, lookup: LookupFinished) {
        if !self.is_watched.load(Ordering::Relaxed) {
            return;
        }
        let (key, now) = (lookup.key.to_string(), SystemTime::now());
        let mut state = self.state();
        if let Some(known) = state.calls.iter_mut().rev().find(|known| known.key == key) {
            known.lookups.push((now.checked_sub(lookup.took).unwrap_or(now), lookup));
        }
    }

    /// The phases of a call after its tries: when it was looked up whether it took effect.
    pub(crate) fn lookups(&self, key: &str) -> Vec<Value> {
        let state = self.state();
        let known = state.calls.iter().rev().find(|known| known.key == key);
        let lookups = known.map_or(&[][..], |known| &known.lookups);
        let phases = lookups.iter().map(|(from, lookup)| {
            let ended = match lookup.took_effect {
                Some(true) => "succeeded",
                Some(false) => "not_executed",
                None => "unknown",
            };
            phase("verify", Some(ended), *from, from.checked_add(lookup.took))
        });
        phases.collect()
    }

    /// The phases of a call before and beside its tries, as far as they are known.
    pub(crate) fn phases(&self, key: &str) -> Vec<Value> {
        let state = self.state();
        let Some(known) = state.calls.iter().rev().find(|known| known.key == key) else {
            return Vec::new();
        };
        let mut phases = Vec::new();
        if let Some(parked) = known.parked {
            phases.push(phase("asked", None, parked, Some(known.decided)));
        }
        if known.waited >= Duration::from_millis(1) {
            let end = known.decided.checked_add(known.waited);
            phases.push(phase("waits", None, known.decided, end));
        }
        let asked = |(from, to): &(SystemTime, _)| phase("asked", None, *from, *to);
        phases.extend(known.questions.iter().map(asked));
        phases
    }

    /// What a call was called with and what it gave, if that is still kept.
    pub(crate) fn values(&self, key: &str) -> Value {
        let mut state = self.state();
        state.tidy();
        let known = state.calls.iter().rev().find(|known| known.key == key);
        known.and_then(|known| known.values.as_ref()).map_or(Value::Null, |values| {
            json!({
                "arguments": values.arguments,
                "outcome": values.outcome,
                "result": values.outcome.map(|_| &values.result),
                "seconds_left": values.until.saturating_duration_since(Instant::now()).as_secs(),
            })
        })
    }

    /// What is other in a call that waits than in the last one of its caller and tool that a person
    /// said yes to, field by field; null where none of these is kept.
    pub(crate) fn unlike_approved(&self, parked: &ParkedCall) -> Value {
        let now = shown(Value::Object(parked.arguments.fields().clone()));
        let mut state = self.state();
        state.tidy();
        let mut approved = state.calls.iter().rev().filter(|known| {
            known.is_approved
                && known.caller.is(&parked.caller)
                && known.tool == parked.tool
                && known.source == parked.source
        });
        let Some(known) = approved.next() else { return Value::Null };
        let Some(values) = &known.values else { return Value::Null };
        let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
        // What was cut is no JSON any more.
        let (Some(before), Some(after)) = (read(&values.arguments), read(&now)) else {
            return Value::Null;
        };
        let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
        let other = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
        let told =
            |value: Option<&Value>| value.map(|value| cut_to(&value.to_string(), LONGEST_TOLD));
        let differs: Vec<_> = other
            .take(MOST_TOLD)
            .map(|name| {
                json!({ "name": name, "before": told(before.get(name)), "after": told(after.get(name)) })
            })
            .collect();
        let at = millis(known.decided.duration_since(UNIX_EPOCH).unwrap_or_default());
        json!({ "at_ms": at, "differs": differs })
    }

    fn state(&self) -> MutexGuard<'_, WatchedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchedState {
    fn add(&mut self, call: WatchedCall) {
        let of_tenant = |known: &WatchedCall| known.caller.tenant == call.caller.tenant;
        if self.calls.len() >= MOST_OF_TENANT
            && self.calls.iter().filter(|known| of_tenant(known)).count() >= MOST_OF_TENANT
            && let Some(oldest) = self.calls.iter().position(of_tenant)
        {
            self.remove(oldest);
        }
        self.bytes += call.values.as_ref().map_or(0, KeptValues::bytes);
        self.calls.push_back(call);
        self.tidy();
    }

    fn remove(&mut self, at: usize) {
        let gone = self.calls.remove(at);
        let bytes = gone.and_then(|gone| gone.values).map_or(0, |values| values.bytes());
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Forgets what is too much, and what calls were about whose time is up.
    fn tidy(&mut self) {
        let now = Instant::now();
        for call in &mut self.calls {
            // Later ones are kept for longer.
            if call.values.as_ref().is_some_and(|values| values.until > now) {
                break;
            }
            let bytes = call.values.take().map_or(0, |values| values.bytes());
            self.bytes = self.bytes.saturating_sub(bytes);
        }
        while self.calls.len() > MOST || self.bytes > MOST_BYTES {
            self.remove(0);
        }
        if self.parked.len() >= MOST_PARKED
            && let Some(oldest) = self.parked.iter().min_by_key(|(_, at)| **at)
        {
            let oldest = oldest.0.clone();
            self.parked.remove(&oldest);
        }
    }
}

/// `ended`: how it ended, if that is told.
fn phase(kind: &str, ended: Option<&str>, from: SystemTime, to: Option<SystemTime>) -> Value {
    let took = to.map(|to| millis(to.duration_since(from).unwrap_or_default()));
    let at = millis(from.duration_since(UNIX_EPOCH).unwrap_or_default());
    json!({ "kind": kind, "at_ms": at, "took_ms": took, "try": null, "ended": ended })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A text of it without secrets, and no longer than is shown. What is cut could not be found any more.
fn shown(mut value: Value) -> String {
    secrets::mask(&mut value);
    let text = if let Value::String(text) = value { text } else { value.to_string() };
    if text.len() <= LONGEST { text } else { cut_to(&text, LONGEST) + "…" }
}
