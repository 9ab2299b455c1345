//! What the SDK's server side knows of its client: one for a session of an older client, or for one
//! modern request.

use std::sync::Arc;

use rmcp::model::{ErrorCode, ErrorData, Extensions, PaginatedRequestParams};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolcrib_core::{
    BatchOptions, ClientSession, JsonFields, ResourceKind, ResourceOperation, ResourceRequest,
    ServerInfo, ToolError, Trace, TraceState,
};

use crate::client::inflight::level;
use crate::door::call::tool_call::traced;
use crate::door::client::channel::ClientChannel;
use crate::door::client::features::ClientFeatures;
use crate::door::client::logs::{LogForwarder, LogListener};
use crate::door::client::subscriptions::{ListNotifier, SessionSubscriptions};
use crate::door::http::SESSION;
use crate::door::methods::resources::{self, ResourceRequestHandler};
use crate::door::state::{McpRequestContext, McpServerState};
use crate::door::stdio::operation::McpOperationMark;

pub(crate) struct RmcpHandler {
    pub(crate) server_state: Arc<McpServerState>,
    /// Of a client at a pipe; over HTTP each request says who comes.
    request_context: Option<McpRequestContext>,
    pub(super) hearing: LogForwarder,
    pub(super) followed: SessionSubscriptions,
    pub(super) telling: ListNotifier,
}

impl RmcpHandler {
    pub(crate) fn new(
        server_state: Arc<McpServerState>,
        request_context: Option<McpRequestContext>,
    ) -> Self {
        let (followed, telling) = (SessionSubscriptions::default(), ListNotifier::default());
        Self { server_state, request_context, hearing: LogForwarder::default(), followed, telling }
    }

    /// Who comes, as authentication said; without that there is no way in.
    pub(crate) fn request_context(
        &self,
        extensions: &Extensions,
    ) -> Result<McpRequestContext, ErrorData> {
        if let Some(request_context) = &self.request_context {
            let place = McpOperationMark::of(extensions).map(|mark| mark.trace);
            let trace =
                place.unwrap_or_else(|| self.server_state.settings.traced.then(Trace::root));
            // The program may have put another one in its place since the client came.
            let crib = self.server_state.cribs.crib(request_context.profile.as_deref());
            let crib =
                crib.ok_or_else(|| ErrorData::invalid_request("the profile is gone", None))?;
            return Ok(McpRequestContext { crib, trace, ..request_context.clone() });
        }
        let parts = extensions.get::<http::request::Parts>();
        let request_context = parts.and_then(|parts| parts.extensions.get::<McpRequestContext>());
        request_context
            .cloned()
            .ok_or_else(|| ErrorData::invalid_request("nobody is logged in", None))
    }

    /// Takes in what a client at a pipe says beside its place in a trace. Over HTTP the way in did.
    pub(super) fn hear_state(
        &self,
        request_context: &mut McpRequestContext,
        context: &RequestContext<RoleServer>,
    ) {
        if self.request_context.is_some()
            && context.meta.get_traceparent().and_then(Trace::parse).is_some()
        {
            let said = context.meta.get("tracestate").and_then(Value::as_str);
            request_context.trace_state = said.and_then(TraceState::parse);
        }
    }

    pub(super) fn list<T: Serialize + DeserializeOwned>(
        &self,
        kind: ResourceKind,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        let request_context = self.request_context(&context.extensions)?;
        let cursor = request.and_then(|request| request.cursor);
        resources::list(self, &self.line(context), &request_context, kind, cursor.as_deref())
    }

    pub(crate) fn reading(
        &self,
        about: ResourceOperation,
        params: &impl Serialize,
        context: RequestContext<RoleServer>,
    ) -> Result<ResourceRequestHandler<'_>, ErrorData> {
        let mut request_context = self.request_context(&context.extensions)?;
        self.hear_state(&mut request_context, &context);
        let said = context.meta.get_traceparent();
        request_context.trace = request_context.trace.map(|own| traced(own, said));
        let Ok(Value::Object(mut params)) = serde_json::to_value(params) else {
            return Err(ErrorData::invalid_params("the parameters are no object", None));
        };
        params.shift_remove("_meta");
        Ok(ResourceRequestHandler::new(
            self,
            self.line(context),
            request_context,
            ResourceRequest { about, params },
        ))
    }

    /// Tells the only source behind a door something to which this client hears no answer.
    pub(crate) async fn pass_on(
        &self,
        request_context: McpRequestContext,
        inquiry: ResourceRequest,
    ) -> Result<JsonFields, ToolError> {
        let McpRequestContext { caller, crib, session, .. } = request_context;
        crib.inquire(&ClientSession { caller, session }, inquiry, BatchOptions::default()).await
    }

    /// Tells how many resources its client follows now.
    pub(super) fn follows(&self, extensions: &Extensions) {
        if let Some(id) = session(extensions) {
            self.server_state.sessions.follows(id, self.followed.count());
        }
    }

    /// Its client may have lines of log that belong to no call.
    pub(super) fn hears(
        &self,
        request_context: McpRequestContext,
        extensions: &Extensions,
        peer: Peer<RoleServer>,
    ) {
        let session = session(extensions).map(str::to_owned);
        session.as_ref().inspect(|id| self.server_state.sessions.hears(id));
        self.hearing.begin(&self.server_state, request_context, LogListener { peer, session });
    }

    pub(super) fn line(&self, context: RequestContext<RoleServer>) -> ClientChannel {
        let mut client = ClientFeatures::of(&context);
        let named = context.meta.get("io.modelcontextprotocol/logLevel").and_then(Value::as_str);
        client.hears =
            if client.is_modern { named.and_then(level) } else { Some(self.hearing.lowest()) };
        let (id, patience) = (context.id.clone(), self.server_state.settings.patience);
        let over = session(&context.extensions).map(|id| self.server_state.sessions.over(id));
        ClientChannel { id, context: Some(context), over, client, patience }
    }
}

/// What the SDK calls the session of a request over HTTP.
pub(super) fn session(extensions: &Extensions) -> Option<&str> {
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
