//! One request of ours, from before it is sent until nobody waits for it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ErrorData, ProgressToken, RequestId};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use toolcrib_core::CallContext;

use super::asking_habits::CallSubject;
use crate::client::call::reply::ServerReply;
use crate::client::stdio::local_reader::reader_here;

/// Where the answer to one request is put.
pub(crate) struct UpstreamRequest {
    context: Option<CallContext>,
    /// The field of the result whose entries are wanted as the text that they come as.
    page: Option<&'static str>,
    /// Whether it is a call of a tool.
    is_call: bool,
    /// Whether it only asks how a task is doing.
    is_look: bool,
    /// What it is about, where questions do not say whose they are.
    subject: Option<CallSubject>,
    state: Mutex<UpstreamRequestState>,
    /// Told with every report of progress.
    pub(crate) progressed: Notify,
    questions: AtomicUsize,
    /// A question that did not say so was its own, or may have been.
    asked: AtomicBool,
    /// Told when it is to be begun anew by itself.
    pub(crate) moved: Notify,
    is_moving: AtomicBool,
    /// By their names, the addresses that the server asked to have opened.
    addresses: Mutex<Vec<Value>>,
    /// Who waits for a request that went around the SDK; `None` within: it has ended.
    direct: Option<Mutex<Option<oneshot::Sender<UpstreamRequestEnd>>>>,
    /// Where a request around the SDK was asked from, if its answer may be read there.
    asker: Option<Handle>,
}

/// Addresses that the server of one call may ask to have opened and speak of later.
const MOST_ADDRESSES: usize = 64;

/// How a request ended that went around the SDK.
pub(crate) enum UpstreamRequestEnd {
    Result(ServerReply),
    /// An error of the server.
    Refused(ErrorData),
    /// Something that cannot be read, and why.
    Odd(&'static str),
}

/// Why an answer of no shape that is known cannot be read.
pub(crate) const NO_PROTOCOL: &str = "it is none of the protocol";

#[derive(Default)]
struct UpstreamRequestState {
    sent: bool,
    closed: bool,
    was_answered: bool,
    names: Option<(RequestId, Option<ProgressToken>)>,
    heard: ReceivedAnswer,
}

/// What came back.
#[derive(Default)]
enum ReceivedAnswer {
    #[default]
    Nothing,
    Result(Map<String, Value>),
    /// An error that the server made, and not the SDK.
    Error,
    /// Something that cannot be read, and why.
    Odd(&'static str),
}

impl UpstreamRequestState {
    fn hears(&mut self, heard: ReceivedAnswer) {
        self.heard = heard;
        self.was_answered = true;
    }
}

impl UpstreamRequest {
    /// `context`: of the call that this request is; a page of a list has none.
    pub(crate) fn new(context: Option<CallContext>) -> Self {
        Self {
            context,
            page: None,
            is_call: false,
            is_look: false,
            subject: None,
            state: Mutex::default(),
            progressed: Notify::new(),
            questions: AtomicUsize::new(0),
            asked: AtomicBool::new(false),
            moved: Notify::new(),
            is_moving: AtomicBool::new(false),
            addresses: Mutex::default(),
            direct: None,
            asker: None,
        }
    }

    /// Of a request that goes around the SDK, with the place where its end comes.
    pub(crate) fn direct(
        context: Option<CallContext>,
    ) -> (Self, oneshot::Receiver<UpstreamRequestEnd>) {
        let (sender, end) = oneshot::channel();
        let asker = reader_here();
        (Self { direct: Some(Mutex::new(Some(sender))), asker, ..Self::new(context) }, end)
    }

    /// Of a request for a page of a list.
    pub(crate) fn of_page(mut self, key: Option<&'static str>) -> Self {
        self.page = key;
        self
    }

    /// Of a call of a tool, if that is so.
    pub(crate) fn of_call(mut self, is_call: bool) -> Self {
        self.is_call = is_call;
        self
    }

    /// Of a request about a task, if that is so.
    pub(crate) fn of_look(mut self, is_look: bool) -> Self {
        self.is_look = is_look;
        self
    }

    pub(crate) fn of_subject(mut self, subject: Option<&CallSubject>) -> Self {
        self.subject = subject.cloned();
        self
    }

    pub(crate) fn subject(&self) -> Option<&CallSubject> {
        self.subject.as_ref()
    }

    /// Whether nobody waits for it any more.
    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Whether its server has said how it ended.
    pub(crate) fn was_answered(&self) -> bool {
        self.has_ended() || self.state().was_answered
    }

    /// It is to be begun anew by itself.
    pub(super) fn moves(&self) {
        self.is_moving.store(true, Ordering::Release);
        self.moved.notify_one();
    }

    pub(super) fn is_moving(&self) -> bool {
        self.is_moving.load(Ordering::Acquire)
    }

    pub(super) fn may_have_asked(&self) {
        self.asked.store(true, Ordering::Release);
    }

    /// Whether a question that did not say so was its own, or may have been.
    pub(super) fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Whether it came to its end, and no question can have been its own.
    pub(crate) fn was_silent(&self) -> bool {
        self.was_answered() && !self.has_asked()
    }

    pub(super) fn is_look(&self) -> bool {
        self.is_look
    }

    /// Whether a [`ServerReply::Usual`] may end it.
    pub(super) fn takes_usual(&self) -> bool {
        self.is_call && self.is_direct()
    }

    pub(super) fn page(&self) -> Option<&'static str> {
        self.page
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.direct.is_some()
    }

    pub(super) fn asker(&self) -> Option<&Handle> {
        self.asker.as_ref()
    }

    /// Ends a request that went around the SDK, once.
    pub(super) fn end(&self, end: UpstreamRequestEnd) {
        let waits = self.direct.as_ref().map(|waits| waits.lock());
        let waits = waits.and_then(|waits| waits.unwrap_or_else(PoisonError::into_inner).take());
        if let Some(waits) = waits {
            // Who asked may have given up meanwhile.
            let _ = waits.send(end);
        }
    }

    /// Whether a request that went around the SDK has its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.direct
            .as_ref()
            .is_some_and(|waits| waits.lock().unwrap_or_else(PoisonError::into_inner).is_none())
    }

    pub(crate) fn context(&self) -> Option<&CallContext> {
        self.context.as_ref()
    }

    fn state(&self) -> MutexGuard<'_, UpstreamRequestState> {
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
    pub(crate) fn is_asked(self: &Arc<Self>) -> CallQuestionGuard {
        self.questions.fetch_add(1, Ordering::AcqRel);
        CallQuestionGuard(Arc::clone(self))
    }

    /// Notes that the server asks to have an address opened, if this is such a question.
    pub(crate) fn notes_address(&self, params: &Value) {
        if let Some(name) = params.get("elicitationId").filter(|name| name.is_string()) {
            let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
            if addresses.len() < MOST_ADDRESSES {
                addresses.push(name.clone());
            }
        }
    }

    pub(super) fn has_address(&self, name: &Value) -> bool {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
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

    pub(super) fn answer(&self, answer: Map<String, Value>) {
        self.state().hears(ReceivedAnswer::Result(answer));
    }

    /// What came cannot be read.
    pub(super) fn is_unreadable(&self, why: &'static str) {
        self.state().hears(ReceivedAnswer::Odd(why));
    }

    pub(super) fn refused(&self) {
        self.state().hears(ReceivedAnswer::Error);
    }

    /// Why what came cannot be read, if that is so.
    pub(crate) fn odd(&self) -> Option<&'static str> {
        match self.state().heard {
            ReceivedAnswer::Odd(why) => Some(why),
            ReceivedAnswer::Nothing | ReceivedAnswer::Result(_) | ReceivedAnswer::Error => None,
        }
    }

    /// Whether an error of this request came from the server; others are the SDK's own.
    pub(crate) fn was_refused(&self) -> bool {
        matches!(self.state().heard, ReceivedAnswer::Error)
    }

    /// What came back, once.
    pub(crate) fn take_answer(&self) -> Option<Map<String, Value>> {
        let mut state = self.state();
        let ReceivedAnswer::Result(result) = &mut state.heard else {
            return None;
        };
        let result = std::mem::take(result);
        state.heard = ReceivedAnswer::Nothing;
        Some(result)
    }
}

/// For as long as this lives, a question of a call waits for an answer of ours.
pub(crate) struct CallQuestionGuard(Arc<UpstreamRequest>);

impl Drop for CallQuestionGuard {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Ordering::AcqRel);
        // The time without a sign of life begins now.
        self.0.progressed.notify_one();
    }
}
