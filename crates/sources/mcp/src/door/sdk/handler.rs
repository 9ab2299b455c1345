//! The SDK's server side: one desk for a session of an older client, or for one modern request.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomNotification, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    ErrorData, Extensions, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscriptionFilter,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::SessionRestoreMarker;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, ClientSession, JsonFields, LogLevel, ResourceKind, ResourceOperation,
    ResourceRequest, ServerInfo, ToolError, Trace, TraceState,
};

use super::results::{self, MethodAnswer};
use crate::client::inflight::level;
use crate::door::backend::BackendResourceRequest;
use crate::door::call::idempotency;
use crate::door::call::tool_call::{self, ToolCallMetadata, traced};
use crate::door::client::channel::ClientChannel;
use crate::door::client::early_subscription::EarlySubscription;
use crate::door::client::features::ClientFeatures;
use crate::door::client::logs::{LogForwarder, LogListener};
use crate::door::client::subscriptions::{
    self, ListNotifier, PreparedSubscription, SessionSubscriptions,
};
use crate::door::http::SESSION;
use crate::door::http::session_fast_path::EarlyCall;
use crate::door::methods::extension;
use crate::door::methods::initialize;
use crate::door::methods::resources::{self, ResourceRequestHandler};
use crate::door::methods::tools_list;
use crate::door::sdk::REVISIONS;
use crate::door::state::{McpRequestContext, McpServerState};
use crate::door::stdio::operation::McpOperationMark;
use crate::protocol::methods;

pub(crate) struct RmcpHandler {
    pub(crate) shared: Arc<McpServerState>,
    /// Of a client at a pipe; over HTTP each request says who comes.
    origin: Option<McpRequestContext>,
    hearing: LogForwarder,
    followed: SessionSubscriptions,
    telling: ListNotifier,
}

impl RmcpHandler {
    pub(crate) fn new(shared: Arc<McpServerState>, origin: Option<McpRequestContext>) -> Self {
        let (followed, telling) = (SessionSubscriptions::default(), ListNotifier::default());
        Self { shared, origin, hearing: LogForwarder::default(), followed, telling }
    }

    /// Who comes, as authentication said; without that there is no way in.
    pub(crate) fn origin(&self, extensions: &Extensions) -> Result<McpRequestContext, ErrorData> {
        if let Some(origin) = &self.origin {
            let place = McpOperationMark::of(extensions).map(|mark| mark.trace);
            let trace = place.unwrap_or_else(|| self.shared.settings.traced.then(Trace::root));
            return Ok(McpRequestContext { trace, ..origin.clone() });
        }
        let parts = extensions.get::<http::request::Parts>();
        let origin = parts.and_then(|parts| parts.extensions.get::<McpRequestContext>());
        origin.cloned().ok_or_else(|| ErrorData::invalid_request("nobody is logged in", None))
    }

    /// What the only source behind this entrance says of itself.
    pub(crate) fn sole(&self, origin: &McpRequestContext) -> Option<Arc<ServerInfo>> {
        self.shared.sole(origin)
    }

    /// Takes in what a client at a pipe says beside its place in a trace. Over HTTP the way in did.
    fn hear_state(&self, origin: &mut McpRequestContext, context: &RequestContext<RoleServer>) {
        if self.origin.is_some() && context.meta.get_traceparent().and_then(Trace::parse).is_some()
        {
            let said = context.meta.get("tracestate").and_then(Value::as_str);
            origin.trace_state = said.and_then(TraceState::parse);
        }
    }

    fn list<T: Serialize + DeserializeOwned>(
        &self,
        kind: ResourceKind,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        let origin = self.origin(&context.extensions)?;
        let cursor = request.and_then(|request| request.cursor);
        resources::list(self, &self.line(context), &origin, kind, cursor.as_deref())
    }

    pub(crate) fn reading(
        &self,
        about: ResourceOperation,
        params: &impl Serialize,
        context: RequestContext<RoleServer>,
    ) -> Result<ResourceRequestHandler<'_>, ErrorData> {
        let mut origin = self.origin(&context.extensions)?;
        self.hear_state(&mut origin, &context);
        let said = context.meta.get_traceparent();
        origin.trace = origin.trace.map(|own| traced(own, said));
        let Ok(Value::Object(mut params)) = serde_json::to_value(params) else {
            return Err(ErrorData::invalid_params("the parameters are no object", None));
        };
        params.shift_remove("_meta");
        Ok(ResourceRequestHandler::new(
            self,
            self.line(context),
            origin,
            ResourceRequest { about, params },
        ))
    }

    /// Tells the only source behind an entrance something to which this client hears no answer.
    pub(crate) async fn pass_on(
        &self,
        origin: McpRequestContext,
        inquiry: ResourceRequest,
    ) -> Result<JsonFields, ToolError> {
        let McpRequestContext { caller, profile, session, .. } = origin;
        let (visitor, options) = (ClientSession { caller, session }, BatchOptions::default());
        let asking = BackendResourceRequest { visitor, profile, inquiry, options };
        self.shared.backend.inquire(asking).await
    }

    /// Tells how many resources its client follows now.
    fn follows(&self, extensions: &Extensions) {
        if let Some(id) = session(extensions) {
            self.shared.sessions.follows(id, self.followed.count());
        }
    }

    /// Its client may have lines of log that belong to no call.
    fn hears(&self, origin: McpRequestContext, extensions: &Extensions, peer: Peer<RoleServer>) {
        let session = session(extensions).map(str::to_owned);
        session.as_ref().inspect(|id| self.shared.sessions.hears(id));
        self.hearing.begin(&self.shared, origin, LogListener { peer, session });
    }

    fn line(&self, context: RequestContext<RoleServer>) -> ClientChannel {
        let mut client = ClientFeatures::of(&context);
        let named = context.meta.get("io.modelcontextprotocol/logLevel").and_then(Value::as_str);
        client.hears =
            if client.is_modern { named.and_then(level) } else { Some(self.hearing.lowest()) };
        let (id, patience) = (context.id.clone(), self.shared.settings.patience);
        let over = session(&context.extensions).map(|id| self.shared.sessions.over(id));
        ClientChannel { id, context: Some(context), over, client, patience }
    }
}

/// What the SDK calls the session of a request over HTTP.
fn session(extensions: &Extensions) -> Option<&str> {
    let parts = extensions.get::<http::request::Parts>()?;
    parts.headers.get(SESSION)?.to_str().ok()
}

/// Fails where a door that stands for one source has no such methods.
pub(crate) fn offers(
    sole: Option<&ServerInfo>,
    capability: &str,
    method: &'static str,
) -> Result<(), ErrorData> {
    match sole {
        Some(said) if !said.capabilities.contains_key(capability) => {
            Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
        }
        _ => Ok(()),
    }
}

impl ServerHandler for RmcpHandler {
    fn get_info(&self) -> ServerConfig {
        initialize::config(self.shared.settings.instructions.as_ref())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let woken = context.extensions.get::<SessionRestoreMarker>();
        if let Some(level) = woken.and_then(|woken| self.shared.sessions.level(&woken.id)) {
            self.hearing.set(level);
        }
        let config = self.negotiate_initialize(&request)?;
        let origin = self.origin(&context.extensions)?;
        initialize::initialize(self, &self.line(context), &origin, config)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let origin = self.origin(&context.extensions)?;
        initialize::discover(self, &self.line(context), &origin, &self.get_info())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let origin = self.origin(&context.extensions)?;
        let line = self.line(context);
        let cursor = request.and_then(|request| request.cursor);
        let list = tools_list::tools(&self.shared, &origin, &line.client, cursor.as_deref())?;
        results::typed(&self.shared, &line, list, || json!({ "tools": [] }))
    }

    async fn call_tool(
        &self,
        mut params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(early) = EarlyCall::taken(&context.extensions) {
            let (line, answer) = Box::pin(early.go_on(self.line(context))).await?;
            return results::called(&self.shared, &line, answer);
        }
        let mut origin = self.origin(&context.extensions)?;
        self.hear_state(&mut origin, &context);
        let tool = std::mem::take(&mut params.name).into_owned();
        let arguments = params.arguments.take().map(Value::Object);
        let answers = params.input_responses.take().unwrap_or_default();
        let back = params.request_state.take().map(|state| (state, answers));
        let meta = context.meta.clone();
        let headers = context.extensions.get::<http::request::Parts>();
        let headers = headers.map(|parts| parts.headers.clone());
        let asked = (tool, arguments, back);
        let line = self.line(context);
        let headers = headers.as_ref().filter(|_| line.client.is_modern);
        let (key, again) = (meta.get(idempotency::KEY), meta.get(idempotency::AGAIN));
        let marks = ToolCallMetadata { trace: meta.get_traceparent(), key, again, headers };
        let (line, answer) = tool_call::answer(&self.shared, origin, line, marks, asked).await?;
        results::called(&self.shared, &line, answer)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let origin = self.origin(&context.extensions)?;
        self.task_state(&request.task_id, &origin, &self.line(context))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let origin = self.origin(&context.extensions)?;
        self.answer_task(&request.task_id, origin, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.end_task(&request.task_id, &self.origin(&context.extensions)?)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.list(ResourceKind::Prompt, request, context)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.list(ResourceKind::Resource, request, context)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.list(ResourceKind::Template, request, context)
    }

    async fn get_prompt(
        &self,
        mut params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let state = params.request_state.take();
        let answers = params.input_responses.take().unwrap_or_default();
        let reading = self.reading(ResourceOperation::Prompt, &params, context)?;
        Ok(match reading.answer(state, answers).await? {
            MethodAnswer::Complete(result) => GetPromptResponse::Complete(result),
            MethodAnswer::Asks(asks) => GetPromptResponse::InputRequired(asks),
        })
    }

    async fn read_resource(
        &self,
        mut params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let state = params.request_state.take();
        let answers = params.input_responses.take().unwrap_or_default();
        let reading = self.reading(ResourceOperation::Resource, &params, context)?;
        Ok(match reading.answer(state, answers).await? {
            MethodAnswer::Complete(result) => ReadResourceResponse::Complete(result),
            MethodAnswer::Asks(asks) => ReadResourceResponse::InputRequired(asks),
        })
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let reading = self.reading(ResourceOperation::Completion, &params, context)?;
        match reading.answer(None, BTreeMap::new()).await? {
            MethodAnswer::Complete(result) => Ok(result),
            // No revision has questions here.
            MethodAnswer::Asks(_) => Ok(CompleteResult::default()),
        }
    }

    #[expect(deprecated, reason = "older clients set their level by this")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let named = serde_json::to_value(request.level).unwrap_or_default();
        let lowest = named.as_str().and_then(level).unwrap_or(LogLevel::Info);
        self.hearing.set(lowest);
        if let Some(id) = session(&context.extensions) {
            self.shared.sessions.set_level(id, lowest);
        }
        let origin = self.origin(&context.extensions)?;
        if self.sole(&origin).is_some() {
            let params = JsonFields::from_iter([("level".to_owned(), named)]);
            // A server without levels loses nothing: lines are sorted out here as well.
            let inquiry = ResourceRequest { about: ResourceOperation::Level, params };
            if self.pass_on(origin.clone(), inquiry).await.is_ok() {
                self.hears(origin, &context.extensions, context.peer);
            }
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        request: rmcp::model::SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let origin = self.origin(&context.extensions)?;
        self.followed.begin(&self.shared, origin, request.uri, context.peer).await?;
        self.follows(&context.extensions);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: rmcp::model::UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.origin(&context.extensions)?;
        self.followed.end(&request.uri);
        self.follows(&context.extensions);
        Ok(())
    }

    /// What the SDK has no type for: parameters that do not fit, or a method of an extension.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if methods::is_defined(&request.method) {
            return Err(results::misfit(request.method, &ClientFeatures::of(&context)));
        }
        extension::request(self, request, context).await
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        if !methods::is_defined(&notification.method) {
            extension::notice(self, notification, &context.extensions).await;
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let NotificationContext { peer, extensions, .. } = context;
        if let Some(id) = session(&extensions) {
            self.shared.sessions.is_of(id, ClientFeatures::of_session(&peer));
        }
        let woken = extensions.get::<SessionRestoreMarker>();
        let missed =
            || woken.map(|woken| self.shared.sessions.missed(&woken.id)).unwrap_or_default();
        // Whoever comes in without one was refused before.
        if let Ok(origin) = self.origin(&extensions) {
            if woken.is_some_and(|woken| self.shared.sessions.may_hear(&woken.id)) {
                self.hears(origin.clone(), &extensions, peer.clone());
            }
            self.telling.begin(&self.shared.backend, origin, peer, missed);
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(subscriptions::MOST);
        }
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let extensions = &subscription.request_context().extensions;
        let ahead = if let Some(ahead) = EarlySubscription::taken(extensions) {
            ahead
        } else {
            let origin = self.origin(extensions)?;
            PreparedSubscription::begin(&self.shared, &origin, subscription.accepted()).await
        };
        subscriptions::listen(&self.shared, ahead, subscription).await;
        Ok(())
    }
}
