//! `/mcp` and `/mcp/{profile}`: the door of the Model Context Protocol, behind the same check of
//! who asks.

pub(crate) mod homes;
mod observed_body;
mod operation;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderValue, Method, Request};
use http_body_util::BodyExt;
use serde_json::Value;
use toolcrib_auth::{AccessLevel, ProtectedResource, needed, reach};
use toolcrib_config::LiveConfig;
use toolcrib_core::{Caller, ParkedCall};
use toolcrib_engine::Crib;
use toolcrib_mcp::{
    AuthenticatedCaller, CribProvider, McpObserver, McpOperation, McpOperationFailure,
    McpPersistence, McpServer, McpServerSettings,
};

use super::rest::tickets::{decides, enters};
use crate::http::pipeline::authentication::lacking;
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::telemetry::recent_calls::cut;
use crate::telemetry::{ClientTransport, OperationErrorType, OperationTrace, OtlpSpan, Telemetry};
use observed_body::ObservedBody;
use operation::{ActiveOperation, REVISIONS};

pub(crate) fn enter(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let profile = asked.segments.first().map(String::as_str);
        asked.permit(profile)?;
        insufficient_scope_hint(&asked, profile)?;
        let operation = ActiveOperation::begin(&asked);
        let GatewayRequest {
            gateway,
            method,
            uri,
            caller,
            segments,
            headers,
            body,
            trace,
            trace_state,
            ..
        } = asked;
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        let profile = segments.into_iter().next();
        let own = operation.as_ref().and_then(ActiveOperation::place);
        let (trace, trace_state) = own.unwrap_or((trace, trace_state));
        let guest = AuthenticatedCaller { caller, profile, trace: Some(trace), trace_state };
        // Pinned where it is made: it is large, and would be copied from hand to hand.
        let reply = ObservedBody::of(pin!(gateway.mcp.answer(guest, request)).await, operation);
        Ok(reply.map(|body| body.map_err(Into::into).boxed_unsync()))
    })
}

/// Whether a request at this door is one of a client that listens, which does so for ever. One of
/// 2026-07-28 says it in a header, which must say what the body says.
pub(crate) fn listens(head: &Parts) -> bool {
    let said = head.headers.get("mcp-method").map(HeaderValue::as_bytes);
    head.method == Method::GET || said == Some(b"subscriptions/listen")
}

/// A tool that writes, called by somebody who may only read, is told of by the scope that opens it,
/// so that a client can ask for that. What no scope opens is for the door to say: it is not there.
fn insufficient_scope_hint(
    asked: &GatewayRequest,
    profile: Option<&str>,
) -> Result<(), HttpProblem> {
    if reach(&asked.caller, profile) != AccessLevel::Reads || asked.body.is_empty() {
        return Ok(());
    }
    // What the door refuses of a message, it refuses itself.
    let Ok(message) = asked.json::<Value>() else { return Ok(()) };
    let name = message.pointer("/params/name").and_then(Value::as_str);
    let (Some("tools/call"), Some(name)) = (message.get("method").and_then(Value::as_str), name)
    else {
        return Ok(());
    };
    let crib = asked.crib(profile)?;
    let sees = |caller: &Caller| {
        let plan = crib.plan(caller, toolcrib_core::PlanRequest::default());
        plan.is_ok_and(|plan| {
            let raw = || message.pointer("/params/arguments").cloned().into();
            let meant = plan.meant(name, raw, &crib.executor().limits().arguments);
            plan.get(meant.as_deref().unwrap_or(name)).is_some()
        })
    };
    let scope = needed(profile);
    let mut more = Caller::clone(&asked.caller);
    more.scopes.insert(scope.clone());
    if sees(&asked.caller) || !sees(&more) {
        return Ok(());
    }
    let resource = profile.map_or(ProtectedResource::Mcp, ProtectedResource::Profile);
    Err(lacking(&asked.gateway.guard.access(), resource, &scope))
}

/// The server of the cribs of a file.
pub(crate) fn server(
    live: &Arc<LiveConfig>,
    telemetry: &Arc<Telemetry>,
    settings: McpServerSettings,
    persistence: McpPersistence,
) -> McpServer {
    let observer = GatewayObserver { live: Arc::clone(live), telemetry: Arc::clone(telemetry) };
    let cribs = Arc::new(LiveCribs(Arc::clone(live)));
    McpServer::with_persistence(cribs, Arc::new(observer), settings, persistence)
}

/// The cribs of a file: the whole one, and those of its profiles.
struct LiveCribs(Arc<LiveConfig>);

impl CribProvider for LiveCribs {
    fn crib(&self, profile: Option<&str>) -> Option<Crib> {
        match profile {
            None => Some(self.0.crib().clone()),
            Some(name) => self.0.view(name),
        }
    }

    fn may_see(&self, caller: &Caller, parked: &ParkedCall) -> bool {
        enters(caller, parked)
    }

    /// A token that could not have made the call does not use the ticket up.
    fn may_decide(&self, caller: &Caller, parked: &ParkedCall) -> bool {
        decides(self.0.crib(), caller, parked)
    }
}

/// Counts what was served over MCP, and writes its spans.
struct GatewayObserver {
    live: Arc<LiveConfig>,
    telemetry: Arc<Telemetry>,
}

impl McpObserver for GatewayObserver {
    fn served(&self, served: &McpOperation) {
        let McpOperation { method, name, id, revision, trace, took, failure } = served;
        let asked = (method.as_str(), name.as_deref(), revision.as_deref());
        let mut told = operation::served(&self.live, asked, ClientTransport::Pipe);
        told.failure = failure.map(|failure| match failure {
            McpOperationFailure::Code(code) => OperationErrorType::Code(code),
            McpOperationFailure::Tool => OperationErrorType::Tool,
            McpOperationFailure::Cancelled => OperationErrorType::Cancelled,
        });
        if let (Some(spans), Some(trace)) = (&self.telemetry.spans, *trace) {
            let (id, name) = (Some(cut(id)), name.as_deref().map(cut));
            let beside = OperationTrace { id, name, ..OperationTrace::of(trace) };
            spans.add(|| OtlpSpan::of_operation(&told, &beside, *took));
        }
        self.telemetry.figures.operations.served(told, *took);
    }

    fn session_ended(&self, revision: &str, lasted: Duration) {
        let revision = REVISIONS.into_iter().find(|known| *known == revision);
        self.telemetry.figures.operations.session_ended(revision, lasted);
    }
}
