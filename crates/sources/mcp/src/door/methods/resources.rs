//! Prompts, resources and completions: their lists, and one answer with its questions.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::ErrorData;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolcrib_core::{
    BatchOptions, ClientSession, JsonFields, ResourceKind, ResourceOperation, ResourceRequest,
    ServerInfo,
};

use super::tools_list;
use crate::door::call::idempotency::digest;
use crate::door::call::report::error_data;
use crate::door::call::running::{
    CallIdentity, CallLifetime, McpCallEnd, McpCallStep, RunningMcpCall,
};
use crate::door::call::tool_call::stale;
use crate::door::client::channel::ClientChannel;
use crate::door::client::features::ClientFeatures;
use crate::door::sdk::handler::{RmcpHandler, offers};
use crate::door::sdk::results::{self, MethodAnswer};
use crate::door::state::{McpRequestContext, McpServerState};
use crate::protocol::methods;

/// One request for something that is read.
pub(crate) struct ResourceRequestHandler<'a> {
    handler: &'a RmcpHandler,
    line: ClientChannel,
    request_context: McpRequestContext,
    identity: CallIdentity,
    inquiry: ResourceRequest,
}

impl<'a> ResourceRequestHandler<'a> {
    pub(crate) fn new(
        handler: &'a RmcpHandler,
        line: ClientChannel,
        request_context: McpRequestContext,
        inquiry: ResourceRequest,
    ) -> Self {
        let McpRequestContext { caller, profile, .. } = request_context.clone();
        let params = Value::Object(inquiry.params.clone());
        let identity = CallIdentity {
            caller,
            profile,
            digest: digest(methods::of_operation(&inquiry.about), Some(&params)),
        };
        Self { handler, line, request_context, identity, inquiry }
    }

    /// `state` and `answers`: of a client that comes back with what it was asked for.
    pub(crate) async fn answer<T: Serialize + DeserializeOwned>(
        self,
        state: Option<String>,
        answers: BTreeMap<String, Value>,
    ) -> Result<MethodAnswer<T>, ErrorData> {
        let running = match state.filter(|_| self.line.client.is_modern) {
            None => self.begin(),
            Some(state) => {
                let taken = self.handler.server_state.waiting.take(&state, &self.identity);
                let mut running = taken.ok_or_else(stale)?;
                if !running.answer(answers) {
                    return self.wait(running).await;
                }
                running
            }
        };
        self.follow(running).await
    }

    fn begin(&self) -> RunningMcpCall {
        RunningMcpCall::start(
            self.identity.clone(),
            &self.line.client,
            CallLifetime::WithItsClient,
            |options| {
                let McpRequestContext { caller, crib, session, trace, trace_state, .. } =
                    self.request_context.clone();
                let options = BatchOptions { trace, trace_state, ..options };
                let (visitor, inquiry) = (ClientSession { caller, session }, self.inquiry.clone());
                Box::pin(async move {
                    McpCallEnd::Read(Box::new(crib.inquire(&visitor, inquiry, options).await))
                })
            },
        )
    }

    async fn follow<T: Serialize + DeserializeOwned>(
        &self,
        running: RunningMcpCall,
    ) -> Result<MethodAnswer<T>, ErrorData> {
        match running.go_on(&self.line).await {
            McpCallStep::Ended(McpCallEnd::Read(read)) => {
                self.complete(read.map_err(|error| error_data(&error))?)
            }
            // Its digest is that of a call.
            McpCallStep::Ended(McpCallEnd::Called(_)) => Err(stale()),
            McpCallStep::Asks(running) => self.wait(running).await,
            // Nobody reads this.
            McpCallStep::Gone => Err(ErrorData::internal_error("the request was cancelled", None)),
        }
    }

    async fn wait<T: Serialize + DeserializeOwned>(
        &self,
        running: RunningMcpCall,
    ) -> Result<MethodAnswer<T>, ErrorData> {
        let (questions, around) = (running.questions(), running.around());
        match self.handler.server_state.waiting.keep(running) {
            Ok(state) => {
                let asked = results::asking(questions, &state, around);
                results::asks(&self.handler.server_state, &self.line, &asked, || {
                    empty(&self.inquiry.about)
                })
            }
            Err(mut running) => {
                running.decline();
                Box::pin(self.follow(*running)).await
            }
        }
    }

    fn complete<T: Serialize + DeserializeOwned>(
        &self,
        read: JsonFields,
    ) -> Result<MethodAnswer<T>, ErrorData> {
        let mut result = Map::new();
        if self.line.client.is_modern {
            result.insert("resultType".to_owned(), json!("complete"));
        }
        result.extend(read);
        if self.line.client.is_modern && self.inquiry.about == ResourceOperation::Resource {
            let is_sole = self.request_context.sole().is_some();
            let hints = result.contains_key("ttlMs") && result.contains_key("cacheScope");
            if !hints {
                result.insert("ttlMs".to_owned(), json!(0));
            }
            // What one caller may read another may not; a sole source knows best.
            if !(hints && is_sole) {
                result.insert("cacheScope".to_owned(), json!("private"));
            }
        }
        let (server_state, about) = (&self.handler.server_state, &self.inquiry.about);
        results::typed(server_state, &self.line, Value::Object(result), || empty(about))
            .map(MethodAnswer::Complete)
    }
}

/// The least that the SDK takes for a result.
fn empty(about: &ResourceOperation) -> Value {
    match about {
        ResourceOperation::Prompt => json!({ "messages": [] }),
        ResourceOperation::Resource => json!({ "contents": [] }),
        ResourceOperation::Completion => json!({ "completion": { "values": [] } }),
        ResourceOperation::Level | ResourceOperation::Method(_) | ResourceOperation::Notice(_) => {
            json!({})
        }
    }
}

/// A page of what there is of a kind.
pub(crate) fn list<T: Serialize + DeserializeOwned>(
    handler: &RmcpHandler,
    line: &ClientChannel,
    request_context: &McpRequestContext,
    kind: ResourceKind,
    cursor: Option<&str>,
) -> Result<T, ErrorData> {
    let sole = request_context.sole();
    let (capability, method, key, name) = match kind {
        ResourceKind::Prompt => ("prompts", "prompts/list", "prompts", "name"),
        ResourceKind::Resource => ("resources", "resources/list", "resources", "uri"),
        ResourceKind::Template => {
            ("resources", "resources/templates/list", "resourceTemplates", "uriTemplate")
        }
    };
    offers(sole.as_deref(), capability, method)?;
    let server_state = &handler.server_state;
    let all = request_context.crib.offers(&request_context.caller, kind);
    let (page, next) = tools_list::offers(&all, name, cursor, server_state.settings.page)?;
    let mut result = frame(&handler.server_state, &line.client, sole.as_ref(), method);
    result.insert(key.to_owned(), Value::Array(page));
    result.extend(next.map(|next| ("nextCursor".to_owned(), Value::from(next))));
    results::typed(server_state, line, Value::Object(result), || json!({ key: [] }))
}

/// What a list says besides its entries.
pub(crate) fn frame(
    server_state: &McpServerState,
    client: &ClientFeatures,
    sole: Option<&Arc<ServerInfo>>,
    method: &str,
) -> Map<String, Value> {
    let said = sole.map(|said| methods::besides(said, method, client.is_modern));
    let mut result = said.unwrap_or_default();
    if !client.is_modern {
        return result;
    }
    let fresh = u64::try_from(server_state.settings.fresh.as_millis()).unwrap_or(u64::MAX);
    result.insert("resultType".to_owned(), json!("complete"));
    result.entry("ttlMs").or_insert_with(|| json!(fresh));
    // What a caller sees is for this caller.
    result.entry("cacheScope").or_insert_with(|| json!("private"));
    result
}
