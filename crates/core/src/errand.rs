//! What somebody else does for a call: a request on its way to a server or an API.
//!
//! A source begins an errand for each request that it sends, also for one that it repeats, and
//! tells the other side the place of the errand in the trace, not that of the call. What runs
//! within the process is no errand.

use std::borrow::Cow;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::call::CallKey;
use crate::context::CallContext;
use crate::name::SourceId;
use crate::outcome::ErrorKind;
use crate::trace::Trace;
use crate::witness::Witness;

/// A name by the conventions of OpenTelemetry, and what it is of this errand.
pub type Note = (&'static str, Value);

/// A request that is under way. Dropped before it [ended](Errand::ends), it was given up.
///
/// Where nobody records the trace it is nothing, and what describes it is not asked for.
pub struct Errand {
    trace: Option<Trace>,
    record: Option<Box<Record>>,
}

/// An errand that is over, as a witness sees it.
#[derive(Clone, Copy)]
pub struct Returned<'a> {
    /// Of the call that it was for.
    pub call: CallKey,
    /// Where the tool of the call comes from.
    pub source: &'a SourceId,
    /// Which attempt of the call it belongs to; an attempt may need several.
    pub attempt: u32,
    /// What was asked for, of few different values: `tools/call look`, `GET /pets/{id}`.
    pub name: &'a str,
    pub notes: &'a [Note],
    /// Why it came to nothing, in one word or a number of its protocol.
    pub error: Option<&'a str>,
    /// Its own place, which the other side was told; its parent is the call.
    pub trace: Trace,
    pub took: Duration,
}

impl Errand {
    /// `name`: what is asked for, without anything that an argument says.
    pub(crate) fn begin(context: &CallContext, name: impl FnOnce() -> String) -> Self {
        let trace = context.trace();
        let (Some(source), Some(witness), Some(of_call)) =
            (&context.recorded, &context.witness, trace)
        else {
            return Self { trace, record: None };
        };
        let own = of_call.child();
        let record = Record {
            witness: Arc::clone(witness),
            call: context.key,
            source: source.clone(),
            attempt: context.attempt,
            deadline: context.deadline,
            began: Instant::now(),
            name: name(),
            notes: Vec::new(),
            trace: own,
        };
        Self { trace: Some(own), record: Some(Box::new(record)) }
    }

    /// Where it stands in a trace, for the other side; `None`: nobody traces.
    pub fn trace(&self) -> Option<Trace> {
        self.trace
    }

    /// Adds what is known of it: nothing of arguments or results, and no secret.
    pub fn notes<N: IntoIterator<Item = Note>>(&mut self, notes: impl FnOnce() -> N) {
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

impl Drop for Errand {
    fn drop(&mut self) {
        let Some(record) = self.record.take() else { return };
        let is_late = Instant::now() >= record.deadline;
        let kind = if is_late { ErrorKind::Timeout } else { ErrorKind::Cancelled };
        record.tell(Some(kind.as_str()));
    }
}

impl fmt::Debug for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errand").field("trace", &self.trace).finish_non_exhaustive()
    }
}

/// An errand that somebody records.
struct Record {
    witness: Arc<dyn Witness>,
    call: CallKey,
    source: SourceId,
    attempt: u32,
    /// When nobody listens to the call any more.
    deadline: Instant,
    began: Instant,
    name: String,
    notes: Vec<Note>,
    trace: Trace,
}

impl Record {
    fn tell(&self, error: Option<&str>) {
        let returned = Returned {
            call: self.call,
            source: &self.source,
            attempt: self.attempt,
            name: &self.name,
            notes: &self.notes,
            error,
            trace: self.trace,
            took: self.began.elapsed(),
        };
        // A witness that breaks costs its own record and no call.
        let telling = AssertUnwindSafe(|| self.witness.returned(returned));
        let _ = std::panic::catch_unwind(telling);
    }
}
