//! The session that a request belongs to.

use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use toolcrib_core::Caller;

use super::replies::HttpRefusal;
use super::{HttpHandlerInner, HttpRequest, NO_SESSION, SESSION, SESSION_MISSING};
use crate::door::session::McpSession;
use crate::door::session::rows::SessionFault;
use crate::door::session::token::ResolvedSession;

const NO_ROOM: HttpRefusal =
    (StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open: try again later");
const TOO_MANY: HttpRefusal = (
    StatusCode::TOO_MANY_REQUESTS,
    "this caller has as many sessions open as one may have: end one of them",
);
const AWAY: HttpRefusal = (
    StatusCode::SERVICE_UNAVAILABLE,
    "the record of sessions does not answer: the session stays as it is, so try again with it",
);

pub(super) fn refusal(fault: SessionFault) -> HttpRefusal {
    match fault {
        SessionFault::Unknown => NO_SESSION,
        SessionFault::Away => AWAY,
        SessionFault::Full => NO_ROOM,
        SessionFault::TooManyOfCaller => TOO_MANY,
    }
}

impl HttpHandlerInner {
    /// The name of the session of a request, which must be one that this caller began; somebody
    /// else's is not there.
    pub(super) async fn unseal(
        &self,
        headers: &HeaderMap,
        caller: &Arc<Caller>,
        profile: Option<&Arc<str>>,
    ) -> Result<Option<ResolvedSession>, HttpRefusal> {
        let Some(sealed) = headers.get(SESSION) else { return Ok(None) };
        let sealed = sealed.to_str().map_err(|_| NO_SESSION)?;
        if let Some(opened) = self.tokens.open(sealed, caller, profile) {
            return Ok(Some(opened));
        }
        let before = self.tokens.of_process_before(sealed).ok_or(NO_SESSION)?;
        self.sessions.look_up(&before.row, caller, profile).await.map_err(refusal)?;
        self.tokens.remember(sealed, caller, profile, &before);
        Ok(Some(before))
    }

    /// The session itself, taken up where another process began it.
    pub(super) async fn session_of(
        &self,
        request: &HttpRequest,
    ) -> Result<Arc<McpSession>, HttpRefusal> {
        let named = request.session.as_ref().ok_or(SESSION_MISSING)?;
        if let Some(session) = self.sessions.find(&named.session) {
            return Ok(session);
        }
        let cribs = &self.server_state.cribs;
        let taken_up = self.sessions.take_up(named, &request.request_context, cribs);
        Box::pin(taken_up).await.map_err(refusal)
    }

    pub(super) fn room_for_one_more(&self, caller: &Caller) -> Result<(), HttpRefusal> {
        let settings = &self.server_state.settings;
        if self.sessions.count() >= settings.most_sessions {
            return Err(NO_ROOM);
        }
        if self.sessions.of(caller) >= settings.sessions_per_caller {
            return Err(TOO_MANY);
        }
        Ok(())
    }
}
