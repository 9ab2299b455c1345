//! The methods of the protocol, as the SDK hands them over.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomNotification, CustomRequest, CustomResult, DiscoverResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscriptionFilter,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::SessionRestoreMarker;
use serde_json::{Value, json};
use toolcrib_core::{JsonFields, LogLevel, ResourceKind, ResourceOperation, ResourceRequest};

use super::handler::{RmcpHandler, session};
use super::results::{self, MethodAnswer};
use crate::client::inflight::level;
use crate::door::call::idempotency;
use crate::door::call::tool_call::{self, ToolCallMetadata};
use crate::door::client::early_subscription::EarlySubscription;
use crate::door::client::features::ClientFeatures;
use crate::door::client::subscriptions::{self, PreparedSubscription};
use crate::door::http::session_fast_path::EarlyCall;
use crate::door::methods::extension;
use crate::door::methods::initialize;
use crate::door::methods::tools_list;
use crate::door::sdk::REVISIONS;
use crate::protocol::methods;

impl ServerHandler for RmcpHandler {
    fn get_info(&self) -> ServerConfig {
        initialize::config(self.server_state.settings.instructions.as_ref())
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
        if let Some(level) = woken.and_then(|woken| self.server_state.sessions.level(&woken.id)) {
            self.hearing.set(level);
        }
        let config = self.negotiate_initialize(&request)?;
        let request_context = self.request_context(&context.extensions)?;
        initialize::initialize(self, &self.line(context), &request_context, config)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let request_context = self.request_context(&context.extensions)?;
        initialize::discover(self, &self.line(context), &request_context, &self.get_info())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let request_context = self.request_context(&context.extensions)?;
        let line = self.line(context);
        let cursor = request.and_then(|request| request.cursor);
        let list = tools_list::tools(
            &self.server_state,
            &request_context,
            &line.client,
            cursor.as_deref(),
        )?;
        results::typed(&self.server_state, &line, list, || json!({ "tools": [] }))
    }

    async fn call_tool(
        &self,
        mut params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(early) = EarlyCall::taken(&context.extensions) {
            let (line, answer) = Box::pin(early.go_on(self.line(context))).await?;
            return results::called(&self.server_state, &line, answer);
        }
        let mut request_context = self.request_context(&context.extensions)?;
        self.hear_state(&mut request_context, &context);
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
        let (line, answer) =
            tool_call::answer(&self.server_state, request_context, line, marks, asked).await?;
        results::called(&self.server_state, &line, answer)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let request_context = self.request_context(&context.extensions)?;
        self.task_state(&request.task_id, &request_context, &self.line(context))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let request_context = self.request_context(&context.extensions)?;
        self.answer_task(&request.task_id, request_context, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.end_task(&request.task_id, &self.request_context(&context.extensions)?)
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
            self.server_state.sessions.set_level(id, lowest);
        }
        let request_context = self.request_context(&context.extensions)?;
        if request_context.sole().is_some() {
            let params = JsonFields::from_iter([("level".to_owned(), named)]);
            // A server without levels loses nothing: lines are sorted out here as well.
            let inquiry = ResourceRequest { about: ResourceOperation::Level, params };
            if self.pass_on(request_context.clone(), inquiry).await.is_ok() {
                self.hears(request_context, &context.extensions, context.peer);
            }
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        request: rmcp::model::SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let request_context = self.request_context(&context.extensions)?;
        self.followed.begin(request_context, request.uri, context.peer).await?;
        self.follows(&context.extensions);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: rmcp::model::UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.request_context(&context.extensions)?;
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
            self.server_state.sessions.is_of(id, ClientFeatures::of_session(&peer));
        }
        let woken = extensions.get::<SessionRestoreMarker>();
        let missed =
            || woken.map(|woken| self.server_state.sessions.missed(&woken.id)).unwrap_or_default();
        // Whoever comes in without one was refused before.
        if let Ok(request_context) = self.request_context(&extensions) {
            if woken.is_some_and(|woken| self.server_state.sessions.may_hear(&woken.id)) {
                self.hears(request_context.clone(), &extensions, peer.clone());
            }
            self.telling.begin(&self.server_state.cribs, request_context, peer, missed);
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
            let request_context = self.request_context(extensions)?;
            PreparedSubscription::begin(
                &self.server_state,
                &request_context,
                subscription.accepted(),
            )
            .await
        };
        subscriptions::listen(&self.server_state, ahead, subscription).await;
        Ok(())
    }
}
