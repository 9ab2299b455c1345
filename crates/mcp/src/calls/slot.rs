//! One request of ours, from before it is sent until nobody waits for it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressToken, RequestId};
use serde_json::{Map, Value};
use tokio::sync::Notify;
use toolcrib_core::CallContext;

/// Where the answer to one request is put.
pub(crate) struct Slot {
    context: Option<CallContext>,
    state: Mutex<State>,
    /// Told with every report of progress.
    pub(crate) progressed: Notify,
    questions: AtomicUsize,
}

#[derive(Default)]
struct State {
    sent: bool,
    closed: bool,
    names: Option<(RequestId, Option<ProgressToken>)>,
    heard: Heard,
}

/// What came back.
#[derive(Default)]
enum Heard {
    #[default]
    Nothing,
    Result(Map<String, Value>),
    /// An error that the server made, and not the SDK.
    Error,
    /// Something that is none of the protocol.
    Odd,
}

impl Slot {
    /// `context`: of the call that this request is; a page of a list has none.
    pub(crate) fn new(context: Option<CallContext>) -> Self {
        Self {
            context,
            state: Mutex::default(),
            progressed: Notify::new(),
            questions: AtomicUsize::new(0),
        }
    }

    pub(crate) fn context(&self) -> Option<&CallContext> {
        self.context.as_ref()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `false`: nobody waits for it any more, so that it needs no place in the table.
    pub(super) fn sent_as(&self, id: RequestId, token: Option<ProgressToken>) -> bool {
        let mut state = self.state();
        state.sent = true;
        if !state.closed {
            state.names = Some((id, token));
        }
        !state.closed
    }

    /// While the guard lives, the server waits for an answer of ours and cannot go on.
    pub(crate) fn is_asked(self: &Arc<Self>) -> impl Drop + Send + use<> {
        self.questions.fetch_add(1, Ordering::AcqRel);
        Answering(Arc::clone(self))
    }

    pub(crate) fn waits_for_us(&self) -> bool {
        self.questions.load(Ordering::Acquire) > 0
    }

    /// Whether the other side may have seen it.
    pub(crate) fn was_sent(&self) -> bool {
        self.state().sent
    }

    pub(super) fn close(&self) -> Option<(RequestId, Option<ProgressToken>)> {
        let mut state = self.state();
        state.closed = true;
        state.names.take()
    }

    /// `None`: what came is no result.
    pub(super) fn answer(&self, answer: Option<Map<String, Value>>) {
        self.state().heard = answer.map_or(Heard::Odd, Heard::Result);
    }

    pub(super) fn refused(&self) {
        self.state().heard = Heard::Error;
    }

    /// Whether what came is no result.
    pub(crate) fn is_odd(&self) -> bool {
        matches!(self.state().heard, Heard::Odd)
    }

    /// Whether an error of this request came from the server; others are the SDK's own.
    pub(crate) fn was_refused(&self) -> bool {
        matches!(self.state().heard, Heard::Error)
    }

    /// What came back, once.
    pub(crate) fn take_answer(&self) -> Option<Map<String, Value>> {
        let mut state = self.state();
        let Heard::Result(result) = &mut state.heard else {
            return None;
        };
        let result = std::mem::take(result);
        state.heard = Heard::Nothing;
        Some(result)
    }
}

struct Answering(Arc<Slot>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Ordering::AcqRel);
        // The time without a sign of life begins now.
        self.0.progressed.notify_one();
    }
}
