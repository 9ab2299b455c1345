//! What another process has, and is to answer.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::Value;

use super::messages::ASKED_ELSEWHERE;
use super::replies::{HttpRefusal, empty};
use super::{Arrival, HttpHandlerInner, HttpRequest};
use crate::door::authenticated_caller::AuthenticatedCaller;
use crate::door::persistence::{ForwardedMcpRequest, NamedPlace};
use crate::protocol::rpc::RpcMessage;

impl HttpHandlerInner {
    /// The process that has what a request names, where that is another one. What names nothing is
    /// answered here, and what came from another process goes no further.
    pub(super) async fn home_of(
        &self,
        request: &HttpRequest,
        message: &RpcMessage,
    ) -> Option<String> {
        self.server_state.persistence.homes.as_ref()?;
        let RpcMessage::Request(asked) = message else { return None };
        if request.arrival == Arrival::Process {
            return None;
        }
        let text = |key: &str| asked.params.get(key).and_then(Value::as_str);
        let place = match asked.method.as_str() {
            "tasks/get" | "tasks/update" | "tasks/cancel" => {
                self.server_state.tasks.place(text("taskId")?).await
            }
            _ => self.server_state.waiting.place(text("requestState")?).await,
        };
        match place {
            NamedPlace::Elsewhere(home) => Some(home),
            NamedPlace::Here | NamedPlace::Gone => None,
        }
    }

    /// The answer of that process; `None`: it has none to give now.
    pub(super) async fn forward(
        &self,
        home: &str,
        request: &HttpRequest,
        body: &Bytes,
    ) -> Option<Response> {
        let homes = self.server_state.persistence.homes.as_ref()?;
        homes.forward(home, forwarded(request, body)).await
    }

    /// Whether a message of a session is about something that may go on in any process: an answer to
    /// a question, or that a request is not wanted any more.
    pub(super) fn may_be_of_others(&self, request: &HttpRequest, message: &RpcMessage) -> bool {
        let is_shared = self.server_state.persistence.homes.is_some();
        is_shared
            && request.session.is_some()
            && match message {
                RpcMessage::Request(_) => false,
                RpcMessage::Notification(said) => said.method == "notifications/cancelled",
                RpcMessage::Response(_) => true,
            }
    }

    /// Takes such a message in, and has the others take it in as well.
    pub(super) async fn for_any(
        &self,
        request: HttpRequest,
        message: RpcMessage,
        body: Bytes,
    ) -> Result<Response, HttpRefusal> {
        if request.arrival == Arrival::Process {
            // A session that nothing goes on in here is not taken up for it.
            let named = request.session.as_ref().map(|named| &named.session);
            if named.is_none_or(|named| self.sessions.find(named).is_none()) {
                return Err(ASKED_ELSEWHERE);
            }
            return self.message(request, message).await;
        }
        let is_answer = matches!(message, RpcMessage::Response(_));
        let forwarded = forwarded(&request, &body);
        drop(body);
        let own = self.message(request, message).await;
        let Some(homes) = self.server_state.persistence.homes.as_ref() else { return own };
        match own {
            // Whichever of them it is, its client need not wait for that.
            Ok(response) if !is_answer => {
                let homes = Arc::clone(homes);
                tokio::spawn(async move { homes.forward_to_all(forwarded).await });
                Ok(response)
            }
            Err(ASKED_ELSEWHERE) if homes.forward_to_all(forwarded).await => {
                Ok(empty(StatusCode::ACCEPTED))
            }
            own => own,
        }
    }
}

fn forwarded(request: &HttpRequest, body: &Bytes) -> ForwardedMcpRequest {
    let context = &request.request_context;
    let guest = AuthenticatedCaller {
        caller: Arc::clone(&context.caller),
        profile: context.profile.as_deref().map(ToOwned::to_owned),
        trace: context.trace,
        trace_state: context.trace_state.clone(),
    };
    ForwardedMcpRequest { guest, request: Request::from_parts(request.head.clone(), body.clone()) }
}
