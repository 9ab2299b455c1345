//! Calls of sessions that the SDK does not know of.
//!
//! Such a call needs nothing of its session but who began it, so that a session that sleeps goes on
//! sleeping. Its client may cancel it, and with its session it ends.

use std::sync::Arc;

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::SessionId;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{McpSession, McpSessionRegistry};
use crate::door::client::features::ClientFeatures;

/// Calls of one session at the same time; those beyond are the SDK's from the beginning.
const MOST: usize = 64;

/// One call of a session.
pub(super) struct SessionCall {
    pub(super) id: RequestId,
    cancel: CancellationToken,
}

/// Its place among the calls of its session, which is free again when this is dropped.
pub(in crate::door) struct SessionCallGuard {
    sessions: Arc<McpSessionRegistry>,
    session: SessionId,
    id: RequestId,
    cancel: CancellationToken,
}

impl SessionCallGuard {
    pub(in crate::door) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Gives the place up: the SDK knows of the call now. `false`: it was cancelled before that.
    pub(in crate::door) fn give_up(self) -> bool {
        let cancel = self.cancel.clone();
        drop(self);
        !cancel.is_cancelled()
    }
}

impl Drop for SessionCallGuard {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.all().known.get_mut(&self.session) {
            session.calls.retain(|open| open.id != self.id);
            session.called = Some(Instant::now());
        }
    }
}

impl McpSessionRegistry {
    /// Who a session was begun by, and a place for one of its calls. `None`: it is not there, its
    /// client has not said that it is ready, another request has its id, or too many are open.
    pub(in crate::door) fn begin(
        self: &Arc<Self>,
        session: &str,
        id: &RequestId,
    ) -> Option<(ClientFeatures, SessionCallGuard)> {
        let mut all = self.all();
        if all.is_taken(session, id) {
            return None;
        }
        let (name, _) = all.known.get_key_value(session)?;
        let name = Arc::clone(name);
        let session = all.known.get_mut(session)?;
        let mut client = session.client.as_deref()?.clone();
        client.hears = session.level.or(client.hears);
        if session.calls.len() >= MOST {
            return None;
        }
        let cancel = CancellationToken::new();
        session.calls.push(SessionCall { id: id.clone(), cancel: cancel.clone() });
        drop(all);
        Some((
            client,
            SessionCallGuard { sessions: Arc::clone(self), session: name, id: id.clone(), cancel },
        ))
    }

    /// Whether a session is of a client that may send batches.
    pub(in crate::door) fn has_batches(&self, session: &str) -> bool {
        let all = self.all();
        let client = all.known.get(session).and_then(|session| session.client.as_deref());
        client.is_some_and(ClientFeatures::has_batches)
    }

    /// Cancels a call, if there is one that the SDK does not know of.
    pub(in crate::door) fn cancel(&self, session: &str, id: &RequestId) {
        let all = self.all();
        let open = all.known.get(session).into_iter().flat_map(|session| &session.calls);
        open.filter(|open| open.id == *id).for_each(|open| open.cancel.cancel());
    }

    /// Keeps who its client is. `None`: that has not said that it is ready, or greets once more.
    pub(in crate::door) fn is_of(&self, session: &str, client: Option<ClientFeatures>) {
        if let Some(session) = self.all().known.get_mut(session) {
            session.client = client.map(Box::new);
        }
    }
}

/// With a session its calls end, those too that the SDK knows of.
impl Drop for McpSession {
    fn drop(&mut self) {
        self.calls.iter().for_each(|open| open.cancel.cancel());
        self.over.cancel();
    }
}
