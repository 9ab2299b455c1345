//! What is awaited of a session that is awake: while there is nothing, it may sleep.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::Instant;

use crate::door::client::subscriptions::NotifiedList;
use crate::door::messages::open_requests::OpenRequests;

/// How long a request that was let in may take to come to its session.
const ARRIVAL: Duration = Duration::from_secs(5);
/// How long a request that was cancelled may take to end.
const END: Duration = Duration::from_secs(10);

/// Looks after one session.
pub(super) struct SessionActivity(Mutex<ActivityState>);

struct ActivityState {
    /// Its client has said that it is ready.
    begun: bool,
    /// Its greeting has no answer yet: of one that wakes, the SDK greets under an id of its own.
    greets: bool,
    requests: OpenRequests,
    /// Streams to its client: answers, and the one on which it listens.
    streams: usize,
    listens: usize,
    /// Requests that were let in and have not come yet.
    coming: usize,
    coming_until: Instant,
    cancelled: Option<Instant>,
    /// Resources that it follows.
    follows: usize,
    /// Lists whose change it is about to be told of.
    owed: Vec<NotifiedList>,
    /// Lists whose change it was told of while it did not listen.
    unheard: Vec<NotifiedList>,
    used: Instant,
}

impl SessionActivity {
    /// `coming`: messages that are on their way already.
    pub(super) fn new(coming: usize) -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self(Mutex::new(ActivityState {
            begun: false,
            greets: true,
            requests: OpenRequests::default(),
            streams: 0,
            listens: 0,
            coming,
            coming_until: now + ARRIVAL,
            cancelled: None,
            follows: 0,
            owed: Vec::new(),
            unheard: Vec::new(),
            used: now,
        })))
    }

    fn watched(&self) -> MutexGuard<'_, ActivityState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message is let in.
    pub(super) fn expect(&self) {
        let mut watched = self.watched();
        watched.used = Instant::now();
        watched.coming_until = watched.used + ARRIVAL;
        watched.coming += 1;
    }

    /// It has come.
    pub(super) fn arrived(&self) {
        let mut watched = self.watched();
        watched.used = Instant::now();
        watched.coming = watched.coming.saturating_sub(1);
    }

    pub(super) fn follows(&self, resources: usize) {
        self.watched().follows = resources;
    }

    pub(super) fn listens(&self) -> bool {
        self.watched().listens > 0
    }

    /// A stream to its client, for as long as the guard lives.
    pub(super) fn stream(self: &Arc<Self>, listens: bool) -> SessionStreamGuard {
        let mut watched = self.watched();
        watched.streams += 1;
        if listens {
            watched.listens += 1;
            // What was told before is on it.
            watched.unheard.clear();
        }
        SessionStreamGuard { activity: Arc::clone(self), listens }
    }

    /// Since when nothing is awaited of it; `None`: something is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let watched = self.watched();
        let now = Instant::now();
        let coming = watched.coming > 0 && now < watched.coming_until;
        let ending = watched.cancelled.is_some_and(|since| now < since + END);
        let awaited = watched.streams + watched.follows > 0 || watched.requests.are_open();
        (watched.begun && !coming && !ending && !awaited).then_some(watched.used)
    }

    /// Since when nobody is there: no stream is open, and no request without an answer.
    pub(super) fn left_since(&self) -> Option<Instant> {
        let watched = self.watched();
        (watched.streams == 0 && !watched.requests.are_open()).then_some(watched.used)
    }

    /// Whether a request is on its way, or has no answer yet.
    pub(super) fn works(&self) -> bool {
        let watched = self.watched();
        let is_coming = watched.coming > 0 && Instant::now() < watched.coming_until;
        is_coming || watched.requests.are_open()
    }

    /// Its client is to be told that these lists changed.
    pub(super) fn owe(&self, lists: Vec<NotifiedList>) {
        self.watched().owed = lists;
    }

    /// The lists whose change its client does not know of.
    pub(super) fn untold(&self) -> Vec<NotifiedList> {
        let watched = self.watched();
        watched.owed.iter().chain(&watched.unheard).copied().collect()
    }

    /// A request is on its way to the SDK, whose answer is waited for if it
    /// [comes](ExpectedRequest::comes) there.
    pub(super) fn asked(self: Arc<Self>, id: &RequestId) -> ExpectedRequest {
        self.watched().requests.has_begun(id);
        ExpectedRequest(Some((self, id.clone())))
    }

    /// Whether a request under this id has no answer yet.
    pub(super) fn awaits(&self, id: &RequestId) -> bool {
        self.watched().requests.holds(id)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the SDK's messages grow with every release"
    )]
    fn hears(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                let mut watched = self.watched();
                if !watched.greets {
                    watched.requests.has_begun(&request.id);
                }
            }
            JsonRpcMessage::Notification(said) => match &said.notification {
                ClientNotification::InitializedNotification(_) => self.watched().begun = true,
                ClientNotification::CancelledNotification(cancelled) => {
                    let mut watched = self.watched();
                    watched.cancelled = Some(Instant::now());
                    if let Some(id) = &cancelled.params.request_id {
                        watched.requests.cancelled(id);
                    }
                }
                _ => {}
            },
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    fn says(&self, message: &ServerJsonRpcMessage) {
        let list = match message {
            JsonRpcMessage::Response(answer) => return self.answered(Some(&answer.id)),
            JsonRpcMessage::Error(error) => return self.answered(error.id.as_ref()),
            JsonRpcMessage::Request(_) => return,
            JsonRpcMessage::Notification(said) => NotifiedList::of(&said.notification),
        };
        let Some(list) = list else { return };
        let mut watched = self.watched();
        watched.owed.retain(|owed| *owed != list);
        if watched.listens == 0 && !watched.unheard.contains(&list) {
            watched.unheard.push(list);
        }
    }

    fn answered(&self, id: Option<&RequestId>) {
        let mut watched = self.watched();
        if std::mem::take(&mut watched.greets) {
            return;
        }
        if let Some(id) = id {
            watched.requests.answered(id);
        }
    }
}

/// A request on its way to the SDK, whose client may go away meanwhile.
pub(super) struct ExpectedRequest(Option<(Arc<SessionActivity>, RequestId)>);

impl ExpectedRequest {
    /// The SDK has it, and will answer it.
    pub(super) fn comes(mut self) {
        self.0 = None;
    }
}

impl Drop for ExpectedRequest {
    fn drop(&mut self) {
        if let Some((activity, id)) = &self.0 {
            activity.watched().requests.answered(id);
        }
    }
}

/// A stream to a client.
pub(super) struct SessionStreamGuard {
    activity: Arc<SessionActivity>,
    listens: bool,
}

impl Drop for SessionStreamGuard {
    fn drop(&mut self) {
        let mut watched = self.activity.watched();
        watched.used = Instant::now();
        watched.streams -= 1;
        watched.listens -= usize::from(self.listens);
    }
}

/// A transport that tells what comes and goes.
pub(in crate::door) struct ActivityTransport<T> {
    pub(super) transport: T,
    pub(super) activity: Arc<SessionActivity>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for ActivityTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.activity.says(&item);
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.transport.receive().await?;
        self.activity.hears(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
