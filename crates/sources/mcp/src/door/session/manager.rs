//! Sessions as the SDK wants them: its own of one process, behind what lets them sleep.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{Stream, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, SessionId, SessionState, SessionStore, SessionStoreError,
};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::activity::{ActivityTransport, SessionStreamGuard};
use super::{FALL, McpSessionRegistry, SleepState};

type LocalSessionTransport = ActivityTransport<WorkerTransport<LocalSessionWorker>>;

/// To a session that wakes come the last word of its greeting and what woke it.
const WAKING: usize = 2;

impl SessionManager for McpSessionRegistry {
    type Error = LocalSessionManagerError;
    type Transport = LocalSessionTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.let_sleep(true);
        let (id, transport) = self.local.create_session().await?;
        let activity = self.wakes(&id, 0);
        self.look_after();
        Ok((id, ActivityTransport { transport, activity }))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        loop {
            // With the lock held: it does not fall asleep before what is let in has come.
            if self.all().activities.get(id).map(|activity| activity.expect()).is_some() {
                return Ok(true);
            }
            let Some(falling) = self.falling(id) else { return Ok(false) };
            let fell = falling.notified();
            let still = self.falling(id).is_some_and(|now| Arc::ptr_eq(&now, &falling));
            if still && timeout(FALL, fell).await.is_err() {
                return Ok(false);
            }
        }
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        if self.ended(id) { Ok(()) } else { self.local.close_session(id).await }
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let asking = match &message {
            JsonRpcMessage::Request(request) => {
                self.activity(id).map(|activity| activity.asked(&request.id))
            }
            JsonRpcMessage::Response(_)
            | JsonRpcMessage::Error(_)
            | JsonRpcMessage::Notification(_) => None,
        };
        let streaming = self.streaming(id, false);
        // The message is the last that this passes on: dropped or failed before, it passed on none.
        let stream = self.local.create_stream(id, message).await?;
        if let Some(asking) = asking {
            asking.comes();
        }
        Ok(held(stream, streaming))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await?;
        if let Some(activity) = self.activity(id) {
            activity.arrived();
        }
        Ok(())
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let streaming = self.streaming(id, true);
        let stream = self.local.create_standalone_stream(id).await?;
        Ok(held(stream, streaming))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        // An event of an answer names the request behind a stroke.
        let streaming = self.streaming(id, !last_event_id.contains('/'));
        let stream = self.local.resume(id, last_event_id).await?;
        Ok(held(stream, streaming))
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        if !self.sleeps(&id) {
            return Ok(RestoreOutcome::NotSupported);
        }
        self.let_sleep(true);
        let activity = self.wakes(&id, WAKING);
        let RestoreOutcome::Restored(transport) = self.local.restore_session(id).await? else {
            return Ok(RestoreOutcome::NotSupported);
        };
        Ok(RestoreOutcome::Restored(ActivityTransport { transport, activity }))
    }
}

impl McpSessionRegistry {
    fn falling(&self, id: &str) -> Option<Arc<Notify>> {
        match &self.all().known.get(id)?.state {
            SleepState::Falling(_, fell) => Some(Arc::clone(fell)),
            SleepState::Awake | SleepState::Asleep(_) => None,
        }
    }

    /// Whether it sleeps, or is about to.
    pub(in crate::door) fn has_to_wake(&self, id: &str) -> bool {
        let all = self.all();
        all.known.get(id).is_some_and(|session| !matches!(session.state, SleepState::Awake))
    }

    fn sleeps(&self, id: &str) -> bool {
        let all = self.all();
        all.known.get(id).is_some_and(|session| matches!(session.state, SleepState::Asleep(_)))
    }
}

/// The stream, and a guard as long as it lasts. The SDK sends from the number in `Last-Event-ID` on,
/// that event among them. Here an event has the number of the next one, so that who has it gets what
/// is behind it; 0, which the SDK itself says at the beginning, is before the first.
fn held<S>(
    stream: S,
    streaming: Option<SessionStreamGuard>,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync
where
    S: Stream<Item = ServerSseMessage> + Send + Sync + 'static,
{
    stream.map(move |mut event| {
        let _held = &streaming;
        event.event_id = event.event_id.map(next_event);
        event
    })
}

/// The name of the event behind this one: its number, with the request behind a stroke.
fn next_event(id: String) -> String {
    let (number, request) = id.split_once('/').unwrap_or((&id, ""));
    let Ok(number) = number.parse::<usize>() else { return id };
    let stroke = if request.is_empty() { "" } else { "/" };
    format!("{}{stroke}{request}", number.saturating_add(1))
}

type SessionStoreAnswer<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

/// The SDK asks here for the greeting of a session that it does not find.
impl SessionStore for McpSessionRegistry {
    fn load<'a, 'b, 'c>(&'a self, id: &'b str) -> SessionStoreAnswer<'c, Option<SessionState>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let all = self.all();
        let asleep =
            all.known.get(id).filter(|session| matches!(session.state, SleepState::Asleep(_)));
        let greeting = asleep.and_then(|session| serde_json::from_str(&session.greeting).ok());
        Box::pin(std::future::ready(Ok(greeting.map(SessionState::new))))
    }

    fn store<'a, 'b, 'c, 'd>(
        &'a self,
        id: &'b str,
        state: &'c SessionState,
    ) -> SessionStoreAnswer<'d, ()>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        let greeting = serde_json::to_string(&state.initialize_params).unwrap_or_default();
        if let Some(session) = self.all().known.get_mut(id) {
            session.greeting = greeting.into();
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn delete<'a, 'b, 'c>(&'a self, id: &'b str) -> SessionStoreAnswer<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let over = self.all().remove(id);
        self.tell(over);
        Box::pin(std::future::ready(Ok(())))
    }
}
