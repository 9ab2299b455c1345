//! Counts of calls and requests. The number of their labels is bounded: tools have names that
//! somebody else chose.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::fast::RandomState;
use toolcrib_core::{CallFinished, ErrorKind, SourceId, ToolName, ToolOutcome};

use super::family::{DurationHistogram, MetricFamily, MetricValue};
use super::operations::OperationMetrics;

/// Tools that are counted each by itself; the rest is counted together.
const MOST_TOOLS: usize = 1000;
const MOST_SOURCES: usize = 200;
/// Who stands for the rest.
const OTHER: &str = "(other)";
/// The tool of a call that named none.
const NONE: &str = "(none)";

#[derive(Default)]
pub(crate) struct ServerMetrics {
    calls: Mutex<CallMetrics>,
    requests: Mutex<BTreeMap<(&'static str, &'static str, u16), u64>>,
    durations: Mutex<DurationHistogram>,
    pub(crate) operations: OperationMetrics,
    under_way: AtomicU64,
}

#[derive(Default)]
struct CallMetrics {
    by_tool: HashMap<(ToolName, SourceId), BTreeMap<&'static str, u64>, RandomState>,
    /// Of tools beyond those, and of calls that named no tool.
    others: BTreeMap<(&'static str, &'static str), u64>,
    by_source: HashMap<SourceId, SourceMetrics, RandomState>,
    /// Of sources beyond those.
    rest: SourceMetrics,
    waited: DurationHistogram,
}

/// Of calls that were sent to a source.
#[derive(Default)]
struct SourceMetrics {
    ran: DurationHistogram,
    unknown: u64,
}

/// One word for how a call ended: the kind of the failure where it failed.
pub(crate) fn outcome(outcome: &ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Failed(error) => error.kind.as_str(),
        ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => {
            outcome.as_str()
        }
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ServerMetrics {
    pub(super) fn ended(&self, call: &CallFinished<'_>) {
        let word = outcome(call.outcome);
        let mut calls = held(&self.calls);
        let Some(tool) = call.tool else {
            *calls.others.entry((NONE, word)).or_default() += 1;
            return;
        };
        let source = &tool.spec.origin.source;
        let key = (tool.spec.name.clone(), source.clone());
        if calls.by_tool.len() < MOST_TOOLS || calls.by_tool.contains_key(&key) {
            *calls.by_tool.entry(key).or_default().entry(word).or_default() += 1;
        } else {
            *calls.others.entry((OTHER, word)).or_default() += 1;
        }
        if call.attempts == 0 {
            return;
        }
        calls.waited.add(call.waited.as_secs_f64());
        let fits = calls.by_source.len() < MOST_SOURCES || calls.by_source.contains_key(source);
        let of_source =
            if fits { calls.by_source.entry(source.clone()).or_default() } else { &mut calls.rest };
        of_source.ran.add(call.ran.as_secs_f64());
        if matches!(call.outcome, ToolOutcome::Failed(error) if error.kind == ErrorKind::UnknownOutcome)
        {
            of_source.unknown += 1;
        }
    }

    /// A request that is under way until this is dropped.
    pub(crate) fn request(&self) -> InFlightGuard<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(self)
    }

    /// A request was answered. `route` is the row of the table, `(none)` without one.
    pub(crate) fn answered(
        &self,
        (method, route): (&'static str, &'static str),
        status: u16,
        took: Duration,
    ) {
        *held(&self.requests).entry((route, method, status)).or_default() += 1;
        held(&self.durations).add(took.as_secs_f64());
    }

    pub(crate) fn families(&self) -> Vec<MetricFamily> {
        let mut families = held(&self.calls).families();
        let mut requests =
            MetricFamily::counter("toolcrib.requests", "Requests by route and status.");
        for ((route, method, status), count) in &*held(&self.requests) {
            let status = status.to_string();
            let labels = [("route", *route), ("method", *method), ("status", status.as_str())];
            requests.push(&labels, MetricValue::Count(*count));
        }
        let about = "How long requests took to the head of their answer.";
        let mut took = MetricFamily::histogram("toolcrib.request.duration", about);
        took.push(&[], MetricValue::Spread(held(&self.durations).clone()));
        let under_way = self.under_way.load(Ordering::Relaxed);
        let gauge = MetricFamily::gauge("toolcrib.requests.in_flight", "Requests under way.");
        families.extend([requests, took, gauge.count(&[], under_way)]);
        families.extend(self.operations.families());
        families
    }
}

impl CallMetrics {
    fn families(&self) -> Vec<MetricFamily> {
        let mut calls =
            MetricFamily::counter("toolcrib.calls", "Calls by tool, source and outcome.");
        let mut rows: Vec<_> = self.by_tool.iter().collect();
        rows.sort_by_key(|((tool, _), _)| tool.as_str());
        for ((tool, source), outcomes) in rows {
            for (outcome, count) in outcomes {
                let labels =
                    [("tool", tool.as_str()), ("source", source.as_str()), ("outcome", *outcome)];
                calls.push(&labels, MetricValue::Count(*count));
            }
        }
        for ((tool, outcome), count) in &self.others {
            let labels = [("tool", *tool), ("source", ""), ("outcome", *outcome)];
            calls.push(&labels, MetricValue::Count(*count));
        }
        let mut ran = MetricFamily::histogram("toolcrib.call.duration", "How long calls ran.");
        let about = "Calls of which nobody can say how they ended.";
        let mut unknown = MetricFamily::counter("toolcrib.calls.unknown", about);
        let mut rows: Vec<_> =
            self.by_source.iter().map(|(source, own)| (source.as_str(), own)).collect();
        rows.sort_by_key(|(source, _)| *source);
        let rest = (self.rest.ran != DurationHistogram::default()).then_some((OTHER, &self.rest));
        for (source, own) in rows.into_iter().chain(rest) {
            let labels = [("source", source)];
            ran.push(&labels, MetricValue::Spread(own.ran.clone()));
            unknown.push(&labels, MetricValue::Count(own.unknown));
        }
        let about = "How long calls waited for those before them and for a place.";
        let mut waited = MetricFamily::histogram("toolcrib.call.queue", about);
        waited.push(&[], MetricValue::Spread(self.waited.clone()));
        vec![calls, ran, waited, unknown]
    }
}

pub(crate) struct InFlightGuard<'a>(&'a ServerMetrics);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}
