//! One request of a client that keeps a conversation.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::conversation::Conversation;
use super::negotiation::{named_revision, who_asks};
use super::open_requests::OpenRequest;
use crate::door::call::answer::MethodAnswer;
use crate::door::client::channel::{ClientChannel, progress_token};
use crate::door::client::outbound::Outbound;
use crate::door::methods::dispatch::MethodRequest;
use crate::door::state::{McpRequestContext, McpServerState};
use crate::protocol::revisions::agreed;
use crate::protocol::rpc::{self, INVALID_REQUEST, RpcRequest};

/// A request that has begun: its id is taken until its answer is there.
pub(crate) struct ConversationRequest {
    pub(crate) asked: RpcRequest,
    pub(crate) request: MethodRequest,
    /// In which it was asked, as far as its client said.
    pub(crate) revision: Option<String>,
    open: OpenRequest,
}

impl ConversationRequest {
    /// `out`: where goes what is said before the answer. `Err`: what is answered instead.
    pub(crate) fn begin(
        server_state: &Arc<McpServerState>,
        conversation: &Arc<Conversation>,
        request_context: McpRequestContext,
        out: Arc<dyn Outbound>,
        asked: RpcRequest,
    ) -> Result<Self, (StatusCode, Vec<u8>)> {
        let id = &asked.id;
        let open = conversation.open.begin(id, &conversation.over).map_err(|told| {
            (StatusCode::BAD_REQUEST, rpc::refusal(Some(id), INVALID_REQUEST, told))
        })?;
        let (revision, client) = who_asks(&asked.method, asked.meta(), Some(conversation))
            .map_err(|error| (StatusCode::OK, rpc::answer(id, Err(error))))?;
        let channel = ClientChannel {
            id: id.clone(),
            client,
            patience: server_state.settings.patience,
            progress: progress_token(asked.meta()),
            out: Some(out),
            questions: Some(Arc::clone(&conversation.questions)),
            cancelled: open.cancelled.clone(),
        };
        let request = MethodRequest {
            server_state: Arc::clone(server_state),
            conversation: Some(Arc::clone(conversation)),
            request_context,
            channel,
            headers: None,
        };
        let revision = match asked.method.as_str() {
            "initialize" => asked.params.get("protocolVersion").and_then(Value::as_str).map(agreed),
            _ => (conversation.wanted().is_some() || named_revision(asked.meta()).is_some())
                .then_some(revision),
        };
        let revision = revision.map(str::to_owned);
        Ok(Self { asked, request, revision, open })
    }

    /// The answer, of which `hears` hears first. `None`: its client does not want any more.
    pub(crate) async fn answer(self, hears: impl FnOnce(&MethodAnswer)) -> Option<Vec<u8>> {
        let Self { asked, request, open, .. } = self;
        let RpcRequest { id, method, params } = asked;
        let answered = tokio::select! {
            biased;
            () = open.cancelled.cancelled() => return None,
            answered = request.answer(&method, params) => answered,
        };
        hears(&answered);
        // Before its client has the answer, and may ask under its id again.
        drop(open);
        Some(rpc::answer(&id, answered.map(|result| result.text)))
    }
}
