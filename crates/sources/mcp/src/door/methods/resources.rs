//! Prompts, resources and completions: their lists, and one answer with its questions.

use std::sync::Arc;

use rmcp::model::ErrorData;
use serde_json::{Map, Value, json};
use toolcrib_core::{
    BatchOptions, ClientSession, JsonFields, ResourceKind, ResourceOperation, ResourceRequest,
};

use super::lists::{self, frame};
use super::parameters::Resumed;
use crate::door::call::answer::{MethodAnswer, MethodResult, asking};
use crate::door::call::idempotency::digest;
use crate::door::call::report::error_data;
use crate::door::call::running::{
    CallIdentity, CallLifetime, McpCallEnd, McpCallStep, RunningMcpCall,
};
use crate::door::call::tool_call::stale;
use crate::door::client::channel::ClientChannel;
use crate::door::client::features::ClientFeatures;
use crate::door::persistence::{NamedPlace, elsewhere};
use crate::door::state::{McpRequestContext, McpServerState};
use crate::protocol::methods;

/// One request for something that is read.
pub(crate) struct ResourceRequestHandler<'a> {
    server_state: &'a McpServerState,
    channel: &'a ClientChannel,
    request_context: McpRequestContext,
    identity: CallIdentity,
    inquiry: ResourceRequest,
}

impl<'a> ResourceRequestHandler<'a> {
    pub(crate) fn new(
        server_state: &'a McpServerState,
        channel: &'a ClientChannel,
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
        Self { server_state, channel, request_context, identity, inquiry }
    }

    /// `state` and `answers`: of a client that comes back with what it was asked for.
    pub(crate) async fn answer(self, (state, answers): Resumed) -> MethodAnswer {
        let running = match state.filter(|_| self.channel.client.is_modern) {
            None => self.begin(),
            Some(state) => {
                if self.server_state.waiting.place(&state).await == NamedPlace::Elsewhere {
                    return Err(elsewhere());
                }
                let taken = self.server_state.waiting.take(&state, &self.identity);
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
            &self.channel.client,
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

    async fn follow(&self, running: RunningMcpCall) -> MethodAnswer {
        match running.go_on(self.channel).await {
            McpCallStep::Ended(McpCallEnd::Read(read)) => {
                Ok(self.complete(read.map_err(|error| error_data(&error))?))
            }
            // Its digest is that of a call.
            McpCallStep::Ended(McpCallEnd::Called(_)) => Err(stale()),
            McpCallStep::Asks(running) => self.wait(running).await,
            // Nobody reads this.
            McpCallStep::Gone => Err(ErrorData::internal_error("the request was cancelled", None)),
        }
    }

    async fn wait(&self, running: RunningMcpCall) -> MethodAnswer {
        let (questions, around) = (running.questions(), running.around());
        match self.server_state.waiting.keep(running) {
            // No revision has questions there.
            Ok(_) if self.inquiry.about == ResourceOperation::Completion => {
                Ok(self.complete(no_completion()))
            }
            Ok(state) => Ok(asking(questions, &state, around)),
            Err(mut running) => {
                running.decline();
                Box::pin(self.follow(*running)).await
            }
        }
    }

    fn complete(&self, read: JsonFields) -> MethodResult {
        let mut result = Map::new();
        if self.channel.client.is_modern {
            result.insert("resultType".to_owned(), json!("complete"));
        }
        result.extend(read);
        if self.channel.client.is_modern && self.inquiry.about == ResourceOperation::Resource {
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
        MethodResult::of(&result)
    }
}

fn no_completion() -> JsonFields {
    JsonFields::from_iter([("completion".to_owned(), json!({ "values": [] }))])
}

/// Tells the only source behind a door something to which this client hears no answer.
pub(crate) async fn pass_on(
    request_context: &McpRequestContext,
    about: ResourceOperation,
    params: JsonFields,
) -> bool {
    let McpRequestContext { caller, crib, session, .. } = request_context;
    let visitor = ClientSession { caller: Arc::clone(caller), session: session.clone() };
    let inquiry = ResourceRequest { about, params };
    crib.inquire(&visitor, inquiry, BatchOptions::default()).await.is_ok()
}

/// A page of what there is of a kind.
pub(crate) fn list(
    server_state: &McpServerState,
    client: &ClientFeatures,
    request_context: &McpRequestContext,
    kind: ResourceKind,
    cursor: Option<&str>,
) -> MethodAnswer {
    let sole = request_context.sole();
    let (capability, method, key, name) = match kind {
        ResourceKind::Prompt => ("prompts", "prompts/list", "prompts", "name"),
        ResourceKind::Resource => ("resources", "resources/list", "resources", "uri"),
        ResourceKind::Template => {
            ("resources", "resources/templates/list", "resourceTemplates", "uriTemplate")
        }
    };
    lists::provided(sole.as_deref(), capability, method)?;
    let all = request_context.crib.offers(&request_context.caller, kind);
    let (page, next) = lists::page(&all, name, cursor, server_state.settings.page)?;
    let mut result = frame(server_state, client, sole.as_ref(), method);
    result.insert(key.to_owned(), Value::Array(page));
    result.extend(next.map(|next| ("nextCursor".to_owned(), Value::from(next))));
    Ok(MethodResult::of(&result))
}
