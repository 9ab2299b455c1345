//! What is under way on one connection, and whose it is.
//!
//! Every message passes here on its way to and from the SDK. Answers to requests of ours are kept
//! as they came, and the SDK hears only that there is one: its types would drop the fields that
//! they do not know.

mod abandoned_calls;
pub(crate) mod asking_habits;
mod dispatch;
pub(crate) mod fast_result;
mod logs;
mod question;
mod request;
mod table;
mod unclear_owner;
mod unreadable_answers;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, GetExtensions, GetMeta, ProgressToken, RequestId,
    ServerJsonRpcMessage,
};
use serde_json::{Map, Value};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use toolcrib_core::CallContext;

use super::settings::McpBounds;
use crate::client::list_kind::ListKind;
use asking_habits::AskingHabits;
use logs::ServedUsers;
pub(crate) use logs::ServerLogs;
pub(crate) use question::{QuestionOwner, ServerQuestion};
pub(crate) use request::{UpstreamRequest, UpstreamRequestEnd};
use table::InFlightTable;
use unclear_owner::{UnclearQuestion, UnclearQuestions};

/// The requests under way on one connection.
pub(crate) struct InFlight {
    table: Mutex<InFlightTable>,
    pub(crate) news: Arc<ServerNotices>,
    pub(crate) bounds: McpBounds,
    /// What the server said of itself, as it came, or why that does not fit.
    greeting: Mutex<Option<Result<Map<String, Value>, String>>>,
    pub(crate) askers: Arc<AskingHabits>,
    doubts: UnclearQuestions,
    /// Questions that wait for an answer of ours.
    asking: AtomicUsize,
    pub(crate) served: ServedUsers,
    /// Cancelled when nothing more is heard of what is said: what came before may still come in.
    pub(crate) deaf: CancellationToken,
    /// Cancelled when nothing more will come in.
    pub(crate) closed: CancellationToken,
}

/// For as long as this lives, a question of a connection waits for its answer.
pub(crate) struct ConnectionQuestionGuard(Arc<InFlight>);

impl Drop for ConnectionQuestionGuard {
    fn drop(&mut self) {
        self.0.asking.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What a server tells that belongs to no request.
pub(crate) struct ServerNotices {
    /// Counts how often it said that its tools have changed.
    pub(crate) tools: watch::Sender<u64>,
    /// The same of its prompts and resources.
    pub(crate) library: watch::Sender<u64>,
    /// By the method of a list, how often the server said that it changed; what we suspect
    /// ourselves is not counted.
    announced: Mutex<HashMap<&'static str, u64>>,
    /// The parameters of each `notifications/resources/updated`.
    pub(crate) updates: broadcast::Sender<Arc<Map<String, Value>>>,
    lines: ServerLogs,
}

/// Updates that whoever follows a resource may lag behind.
const BACKLOG: usize = 256;

impl Default for ServerNotices {
    fn default() -> Self {
        let (tools, library) = (watch::Sender::new(0), watch::Sender::new(0));
        let (announced, updates) = (Mutex::default(), broadcast::Sender::new(BACKLOG));
        Self { tools, library, announced, updates, lines: ServerLogs::default() }
    }
}

impl ServerNotices {
    pub(crate) fn with(lines: ServerLogs) -> Self {
        Self { lines, ..Self::default() }
    }

    /// The place of lines that belong to no call.
    pub(crate) fn lines(&self) -> ServerLogs {
        self.lines.clone()
    }

    /// How often the server said that this list changed.
    pub(crate) fn announced(&self, list: ListKind) -> u64 {
        let announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        announced.get(list.method).copied().unwrap_or_default()
    }

    fn announce(&self, list: ListKind) {
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        *announced.entry(list.method).or_default() += 1;
    }
}

impl InFlight {
    pub(crate) fn new(
        news: &Arc<ServerNotices>,
        bounds: McpBounds,
        askers: &Arc<AskingHabits>,
    ) -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::default(),
            news: Arc::clone(news),
            bounds,
            greeting: Mutex::default(),
            askers: Arc::clone(askers),
            doubts: UnclearQuestions::default(),
            asking: AtomicUsize::new(0),
            served: ServedUsers::default(),
            deaf: CancellationToken::new(),
            closed: CancellationToken::new(),
        })
    }

    fn greeted(&self, said: Map<String, Value>) {
        *self.greeting.lock().unwrap_or_else(PoisonError::into_inner) = Some(Ok(said));
    }

    /// What the server said of itself does not fit: nobody can go on with it.
    fn misfit(&self, id: RequestId, why: String) -> ServerJsonRpcMessage {
        *self.greeting.lock().unwrap_or_else(PoisonError::into_inner) = Some(Err(why));
        let error = ErrorData::internal_error("its answer is none of the protocol", None);
        ServerJsonRpcMessage::error(error, Some(id))
    }

    fn table(&self) -> MutexGuard<'_, InFlightTable> {
        // Every change of the table is whole before anything can panic.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message is about to be written: from here on its request counts as sent, and what comes
    /// back for it finds its owner.
    pub(crate) fn sending(&self, message: &ClientJsonRpcMessage) -> Option<Arc<UpstreamRequest>> {
        let ClientJsonRpcMessage::Request(request) = message else {
            return None;
        };
        let mut table = self.table();
        table.newest = Some(request.id.clone());
        let Some(slot) = request.request.extensions().get::<Arc<UpstreamRequest>>().cloned() else {
            table.of_the_sdk.insert(request.id.clone());
            return None;
        };
        let token = request.request.get_meta().get_progress_token();
        table.sends(request.id.clone(), token, &slot);
        Some(slot)
    }

    /// The same of a request that goes around the SDK, whose id is its progress token as well.
    pub(crate) fn sends(&self, id: RequestId, slot: &Arc<UpstreamRequest>) {
        let token = ProgressToken(id.clone());
        self.table().sends(id, Some(token), slot);
    }

    /// Nobody waits for this request any more.
    pub(crate) fn forget(&self, slot: &UpstreamRequest) {
        if let Some((id, token)) = slot.close() {
            let mut table = self.table();
            table.by_id.remove(&id);
            table.suspects.forget(&id);
            token.map(|token| table.by_token.remove(&token));
        }
        self.doubts.tell_end();
    }

    /// The server works on this request, and is told that nobody waits for it any more.
    pub(crate) fn abandon(&self, id: RequestId, slot: &UpstreamRequest) {
        if let Some(context) = slot.context().filter(|_| !slot.is_look()) {
            self.table().abandoned.add(id, context);
        }
    }

    /// Whether what comes now may be about a call of somebody else that was given up.
    pub(crate) fn may_speak_for_others(&self, context: &CallContext) -> bool {
        self.table().abandoned.are_of_others(context)
    }

    /// Whether it may speak of a call that was given up.
    pub(crate) fn has_abandoned(&self) -> bool {
        !self.table().abandoned.is_empty()
    }

    /// Whether the server waits for an answer of ours, or a call runs that has asked before: that
    /// one may ask again, and is not begun anew, by which its person would be asked twice.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Acquire) > 0
            || (self.askers.have_asked() && self.table().calls().any(|slot| slot.has_asked()))
    }

    /// A question waits for its answer while the guard lives.
    pub(crate) fn asks(self: &Arc<Self>) -> ConnectionQuestionGuard {
        self.asking.fetch_add(1, Ordering::AcqRel);
        ConnectionQuestionGuard(Arc::clone(self))
    }

    /// For as long as this lives, what the server asks about a task is of this call.
    pub(crate) fn follow(self: &Arc<Self>, task: &str, of: &CallContext) -> impl Drop + use<> {
        let slot = Arc::new(UpstreamRequest::new(Some(of.clone())));
        self.table().tasks.insert(task.to_owned(), Arc::clone(&slot));
        TaskRouteGuard { calls: Arc::clone(self), task: task.to_owned(), slot }
    }

    /// What the server said of itself in the handshake, once; `Err`: what does not fit.
    pub(crate) fn greeting(&self) -> Option<Result<Map<String, Value>, String>> {
        self.greeting.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Waits until it is certain whose a question is. `None`: that cannot be told.
    pub(crate) async fn settled(&self, doubt: &UnclearQuestion) -> Option<Arc<UpstreamRequest>> {
        let may_be_of_another = |slot: &UpstreamRequest| self.table().may_be_of_another(slot);
        let of = self.doubts.settled(doubt, may_be_of_another).await?;
        self.is_known_to_ask(&of);
        Some(of)
    }

    /// This one asks without saying so.
    fn is_known_to_ask(&self, slot: &UpstreamRequest) {
        slot.may_have_asked();
        if let Some(subject) = slot.subject() {
            self.askers.asks(subject);
        }
    }

    /// The question under this id, once.
    pub(crate) fn question(&self, id: &RequestId) -> Option<ServerQuestion> {
        self.table().questions.remove(id)
    }
}

struct TaskRouteGuard {
    calls: Arc<InFlight>,
    task: String,
    slot: Arc<UpstreamRequest>,
}

impl Drop for TaskRouteGuard {
    fn drop(&mut self) {
        let mut table = self.calls.table();
        // Unless the server gave another one the same name.
        if table.tasks.get(&self.task).is_some_and(|slot| Arc::ptr_eq(slot, &self.slot)) {
            table.tasks.remove(&self.task);
        }
        drop(table);
        self.calls.forget(&self.slot);
    }
}
