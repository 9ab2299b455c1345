//! Follows what a client of 2026-07-28 wants to hear of before it is told that it will hear of it.
//!
//! The SDK acknowledges a subscription before it asks its handler to follow anything: what changed
//! in between would be told to nobody. So the request is met in front of the handler: over HTTP
//! where requests come in, at a pipe by [`StdioHandler`].

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, Extensions, ProtocolVersion, ServerConfig,
    ServerResult, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};
use serde::Deserialize as _;
use serde_json::Value;

use super::subscriptions::PreparedSubscription;
use crate::door::sdk::handler::RmcpHandler;
use crate::door::state::{McpRequestContext, McpServerState};
use crate::door::stdio::operation::McpOperationGuard;

/// Goes with the request to the handler, which takes out what is followed.
#[derive(Clone)]
pub(crate) struct EarlySubscription(Arc<Mutex<Option<PreparedSubscription>>>);

impl EarlySubscription {
    pub(crate) async fn begin(
        server_state: &McpServerState,
        request_context: &McpRequestContext,
        wanted: &SubscriptionFilter,
    ) -> Self {
        Self(Arc::new(Mutex::new(Some(
            PreparedSubscription::begin(server_state, request_context, wanted).await,
        ))))
    }

    /// What was begun before the acknowledgement.
    pub(crate) fn taken(extensions: &Extensions) -> Option<PreparedSubscription> {
        let parts = extensions.get::<http::request::Parts>();
        let of_request = || parts?.extensions.get::<Self>();
        let Self(carried) = extensions.get().or_else(of_request)?;
        carried.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What a message asks to hear of; the SDK refuses whoever may not.
pub(crate) fn wanted(message: &Value) -> Option<SubscriptionFilter> {
    let listens = message.get("method").is_some_and(|method| method == "subscriptions/listen");
    let wanted = message.pointer("/params/notifications").filter(|_| listens)?;
    SubscriptionFilter::deserialize(wanted).ok()
}

/// A handler at a pipe that begins to follow in time, and tells what comes of requests.
pub(crate) struct StdioHandler(pub(crate) RmcpHandler);

impl Service<RoleServer> for StdioHandler {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if let ClientRequest::SubscriptionsListenRequest(asked) = &request
            && let Ok(request_context) = self.0.request_context(&context.extensions)
        {
            let begun = EarlySubscription::begin(
                &self.0.server_state,
                &request_context,
                &asked.params.notifications,
            );
            tokio::select! {
                begun = begun => drop(context.extensions.insert(begun)),
                () = context.ct.cancelled() => {}
            }
        }
        let operation = McpOperationGuard::begin(&self.0.server_state, &request, &mut context);
        let cancelled = context.ct.clone();
        let answer = self.0.handle_request(request, context).await;
        if let Some(operation) = operation.filter(|_| !cancelled.is_cancelled()) {
            operation.answered(&answer);
        }
        answer
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
