//! What somebody else does for a call: a request on its way to a server or an API.
//!
//! A source begins a span for each request that it sends, also for one that it repeats, and
//! tells the other side the place of the span in the trace, not that of the call. What runs
//! within the process has none.

use std::borrow::Cow;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use tokio::time::Instant;

use super::observer::{Observer, OutboundFinished, SpanAttribute};
use crate::call::CallKey;
use crate::call::name::SourceId;
use crate::call::trace::Trace;
use crate::outcome::ErrorKind;

/// A request that is under way. Dropped before it [ended](OutboundSpan::ends), it was given up.
///
/// Where nobody records the trace it is nothing, and what describes it is not asked for.
pub struct OutboundSpan {
    trace: Option<Trace>,
    record: Option<Box<OutboundRecord>>,
}

impl OutboundSpan {
    /// One that nobody records.
    pub(crate) fn untold(trace: Option<Trace>) -> Self {
        Self { trace, record: None }
    }

    /// `trace`: its own place; `name`: what is asked for, without anything that an argument says.
    pub(crate) fn begin(
        observer: Arc<dyn Observer>,
        of: OutboundOwner,
        trace: Trace,
        name: String,
    ) -> Self {
        let record =
            OutboundRecord { observer, of, began: Instant::now(), name, notes: Vec::new(), trace };
        Self { trace: Some(trace), record: Some(Box::new(record)) }
    }

    /// Where it stands in a trace, for the other side; `None`: nobody traces.
    pub fn trace(&self) -> Option<Trace> {
        self.trace
    }

    /// Adds what is known of it: nothing of arguments or results, and no secret.
    pub fn notes<N: IntoIterator<Item = SpanAttribute>>(&mut self, notes: impl FnOnce() -> N) {
        if let Some(record) = &mut self.record {
            record.notes.extend(notes());
        }
    }

    /// The answer is there. `error`: why it is none that was wanted, in one word or a number.
    pub fn ends(mut self, error: impl FnOnce() -> Option<Cow<'static, str>>) {
        if let Some(record) = self.record.take() {
            record.tell(error().as_deref());
        }
    }
}

impl Drop for OutboundSpan {
    fn drop(&mut self) {
        let Some(record) = self.record.take() else { return };
        let is_late = Instant::now() >= record.of.deadline;
        let kind = if is_late { ErrorKind::Timeout } else { ErrorKind::Cancelled };
        record.tell(Some(kind.as_str()));
    }
}

impl fmt::Debug for OutboundSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboundSpan").field("trace", &self.trace).finish_non_exhaustive()
    }
}

/// The call that it is for.
pub(crate) struct OutboundOwner {
    pub(crate) key: CallKey,
    pub(crate) source: SourceId,
    pub(crate) attempt: u32,
    /// When nobody listens to the call any more.
    pub(crate) deadline: Instant,
}

/// A span that somebody records.
struct OutboundRecord {
    observer: Arc<dyn Observer>,
    of: OutboundOwner,
    began: Instant,
    name: String,
    notes: Vec<SpanAttribute>,
    trace: Trace,
}

impl OutboundRecord {
    fn tell(&self, error: Option<&str>) {
        let returned = OutboundFinished {
            call: self.of.key,
            source: &self.of.source,
            attempt: self.of.attempt,
            name: &self.name,
            notes: &self.notes,
            error,
            trace: self.trace,
            took: self.began.elapsed(),
        };
        // An observer that breaks costs its own record and no call.
        let telling = AssertUnwindSafe(|| self.observer.returned(returned));
        let _ = std::panic::catch_unwind(telling);
    }
}
