//! Which ids of requests are taken in a session: of two under one id the SDK gives one an answer,
//! whichever ends first, and neither side knows whose it is.

use std::sync::Arc;

use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::SessionId;

use super::{McpSessionRegistry, SessionTable};

/// The id of a request that is on its way to the SDK.
pub(in crate::door) struct ReservedRequestId {
    sessions: Arc<McpSessionRegistry>,
    session: SessionId,
    id: RequestId,
}

impl Drop for ReservedRequestId {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.all().known.get_mut(&self.session) {
            session.coming.retain(|coming| *coming != self.id);
        }
    }
}

impl McpSessionRegistry {
    /// Takes the id of a request for as long as the SDK has not heard it. `has_begun`: the request
    /// is a call that was begun under this id. `None`: another one under it has no answer yet.
    pub(in crate::door) fn asks(
        self: &Arc<Self>,
        session: &str,
        id: &RequestId,
        has_begun: bool,
    ) -> Option<ReservedRequestId> {
        let mut all = self.all();
        if !has_begun && all.is_taken(session, id) {
            return None;
        }
        if let Some(session) = all.known.get_mut(session) {
            session.coming.push(id.clone());
        }
        drop(all);
        Some(ReservedRequestId {
            sessions: Arc::clone(self),
            session: session.into(),
            id: id.clone(),
        })
    }
}

impl SessionTable {
    /// Whether a request of a session under this id has no answer yet.
    pub(super) fn is_taken(&self, session: &str, id: &RequestId) -> bool {
        let is_ours = self.known.get(session).is_some_and(|session| {
            session.coming.contains(id) || session.calls.iter().any(|call| call.id == *id)
        });
        is_ours || self.activities.get(session).is_some_and(|activity| activity.awaits(id))
    }
}
