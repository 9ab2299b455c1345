//! Calls of older clients, begun before the SDK hears of them.
//!
//! Most calls end soon and say nothing on the way: those are answered here, without the tasks and
//! channels of a session. Where a call says or asks something, or takes its time, its request goes
//! to the SDK after all, whose handler finds the call under way and goes on with it: with events
//! that can be asked for again, with questions, and with signs of life.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use rmcp::model::{ErrorData, Extensions};
use tokio::runtime::Handle;
use tokio::time::timeout;
use toolcrib_core::TicketError;

use super::fast_path::{listed, replied};
use super::fast_request::{EVENTS, FastMethod, FastRequest};
use crate::door::call::running::{McpCallEnd, McpCallSignal, RunningMcpCall};
use crate::door::call::tool_call::{ToolCallHandler, ToolCallMetadata};
use crate::door::client::channel::ClientChannel;
use crate::door::client::features::ClientFeatures;
use crate::door::sdk::results::CallAnswer;
use crate::door::session::SessionCallGuard;
use crate::door::state::{McpRequestContext, McpServerState};

/// A call that ends within this time, and is silent until then, is none of the SDK's.
const SOON: Duration = Duration::from_millis(100);

/// A call that the SDK is to know of; goes with the request to the handler.
#[derive(Clone)]
pub(crate) struct EarlyCall(Arc<Mutex<Option<(ToolCallHandler, EarlyCallGuard)>>>);

/// What came of the beginning of a request.
pub(crate) enum EarlyStart {
    Answered(Response),
    /// The SDK has to go on with it.
    Early(EarlyCall),
}

/// A call under way. Dropped, it goes on without its client: in the older revisions a connection
/// that breaks cancels nothing. Its client does not come back to it, since no event of it has a
/// name yet.
struct EarlyCallGuard(Option<(RunningMcpCall, SessionCallGuard)>);

impl Drop for EarlyCallGuard {
    fn drop(&mut self) {
        if let (Some((running, begun)), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(async move {
                tokio::select! {
                    () = running.end_alone() => {}
                    () = begun.cancelled() => {}
                }
            });
        }
    }
}

/// Begins what a client of a session asks for.
pub(crate) async fn begin(
    server_state: &Arc<McpServerState>,
    request_context: McpRequestContext,
    plain: FastRequest,
    (client, begun): (ClientFeatures, SessionCallGuard),
) -> EarlyStart {
    let FastRequest { id, wanted, trace, key, .. } = plain;
    let (tool, arguments) = match wanted {
        FastMethod::Call(tool, arguments) => (tool, arguments),
        FastMethod::Tools(cursor) => {
            return EarlyStart::Answered(listed(
                server_state,
                &request_context,
                &client,
                &id,
                cursor.as_deref(),
            ));
        }
    };
    let line = ClientChannel::silent(&id, client, server_state.settings.patience);
    let marks =
        ToolCallMetadata { trace: trace.as_deref(), key: key.as_ref(), again: None, headers: None };
    let answered = |answer| EarlyStart::Answered(replied(&id, false, answer));
    let calling = match ToolCallHandler::of(
        server_state,
        request_context,
        line,
        marks,
        (tool, arguments.as_ref()),
    ) {
        Ok(calling) => calling,
        Err(error) => return answered(Err(error)),
    };
    let running = match calling.begin(arguments) {
        Ok(running) => running,
        Err(error) => return answered(Err(error)),
    };
    let mut call = EarlyCallGuard(Some((running, begun)));
    match call.hear(&calling).await {
        // Its id is taken until its answer is there.
        EarlyOutcome::Ended(end, _begun) => answered(calling.ended(&end).await),
        EarlyOutcome::Cancelled => EarlyStart::Answered(nothing()),
        EarlyOutcome::Not => {
            EarlyStart::Early(EarlyCall(Arc::new(Mutex::new(Some((calling, call))))))
        }
    }
}

/// How a call began.
enum EarlyOutcome {
    Ended(Box<Result<toolcrib_core::Response, TicketError>>, Option<SessionCallGuard>),
    Cancelled,
    Not,
}

impl EarlyCallGuard {
    async fn hear(&mut self, calling: &ToolCallHandler) -> EarlyOutcome {
        let Some((running, begun)) = &mut self.0 else { return EarlyOutcome::Not };
        let heard = tokio::select! {
            biased;
            () = begun.cancelled() => {
                self.0 = None;
                return EarlyOutcome::Cancelled;
            }
            heard = timeout(SOON, running.hear()) => heard,
        };
        match heard {
            Ok(McpCallSignal::Ended(McpCallEnd::Called(end))) if !calling.asks_about(&end) => {
                EarlyOutcome::Ended(end, self.0.take().map(|(_, begun)| begun))
            }
            Ok(heard) => {
                running.put_back(heard);
                EarlyOutcome::Not
            }
            Err(_) => EarlyOutcome::Not,
        }
    }
}

impl EarlyCall {
    /// What was begun before the request came to its handler.
    pub(crate) fn taken(extensions: &Extensions) -> Option<Self> {
        let parts = extensions.get::<http::request::Parts>()?;
        parts.extensions.get::<Self>().cloned()
    }

    /// Goes on with the call for the client at this line.
    pub(crate) async fn go_on(
        self,
        line: ClientChannel,
    ) -> Result<(ClientChannel, CallAnswer), ErrorData> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gone = || ErrorData::internal_error("the call was cancelled", None);
        let (calling, mut call) = taken.ok_or_else(gone)?;
        let (running, begun) = call.0.take().ok_or_else(gone)?;
        if !begun.give_up() {
            return Err(gone());
        }
        calling.go_on(running, line).await
    }

    /// Ends the call if no handler goes on with it: the SDK did not let its request in, and its
    /// client may make it again.
    pub(crate) fn give_up(self) {
        if let Some((_, mut call)) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            call.0 = None;
        }
    }
}

/// The answer to what its client does not want any more.
fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    response
}
