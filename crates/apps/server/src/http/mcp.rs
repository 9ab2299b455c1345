//! `/mcp` and `/mcp/{profile}`: the door of the Model Context Protocol, behind the same check of
//! who asks.

mod observed_body;
mod operation;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderValue, Method, Request};
use http_body_util::BodyExt;
use serde_json::Value;
use toolcrib::auth::{AccessLevel, ProtectedResource, needed, reach};
use toolcrib::config::LiveConfig;
use toolcrib::mcp::{
    AuthenticatedCaller, BackendResourceRequest, McpBackend, McpOperation, McpOperationFailure,
    TicketClaim,
};
use toolcrib::{
    BatchOptions, BoxFuture, Call, Caller, ClientSession, Crib, CribLimits, Intent, JsonFields,
    LedgerError, ParkedCall, Plan, PlanError, Policy, Redemption, Report, ResourceKind, Response,
    Run, ServerInfo, TicketError, TicketId, ToolError, ToolSpec, UpdateStream, Verdict,
};

use super::rest::tickets::{decides, enters, recorded};
use crate::http::pipeline::authentication::lacking;
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::telemetry::{
    ClientTransport, OperationErrorType, OperationTrace, OtlpSpan, Telemetry, cut,
};
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
        let plan = crib.plan(caller, toolcrib::PlanRequest::default());
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

/// The crib of a file as the door wants it.
pub(crate) struct LiveBackend {
    pub(crate) live: Arc<LiveConfig>,
    pub(crate) telemetry: Arc<Telemetry>,
}

/// What holds for a profile that is gone meanwhile.
struct MissingProfilePolicy;

impl Policy for MissingProfilePolicy {
    fn sees(&self, _caller: &Caller, _tool: &ToolSpec) -> bool {
        false
    }

    fn decide<'a>(&'a self, _intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Deny("the profile is gone".to_owned())))
    }
}

impl LiveBackend {
    fn crib(&self, profile: Option<&str>) -> Crib {
        let all = self.live.crib();
        match profile {
            None => all.clone(),
            Some(name) => self.live.view(name).unwrap_or_else(|| {
                all.with_policy(Arc::new(MissingProfilePolicy), CribLimits::default())
            }),
        }
    }
}

impl McpBackend for LiveBackend {
    fn has_profile(&self, _caller: &Caller, profile: &str) -> bool {
        self.live.view(profile).is_some()
    }

    fn plan(
        &self,
        caller: &Arc<Caller>,
        profile: Option<&str>,
        request: toolcrib::PlanRequest,
    ) -> Result<Plan, PlanError> {
        self.crib(profile).plan_again(caller, request)
    }

    fn plan_unlisted(
        &self,
        caller: &Arc<Caller>,
        profile: Option<&str>,
        request: toolcrib::PlanRequest,
        tool: &str,
    ) -> Option<Plan> {
        self.crib(profile).plan_unlisted(caller, request, tool)
    }

    fn run(
        &self,
        plan: Plan,
        profile: Option<&str>,
        calls: Vec<Call>,
        options: BatchOptions,
    ) -> BoxFuture<'static, Report> {
        let crib = self.crib(profile);
        Box::pin(async move { crib.run_with(&plan, calls, options).await })
    }

    fn redeem(&self, claim: TicketClaim) -> BoxFuture<'static, Result<Response, TicketError>> {
        let crib = self.crib(claim.profile.as_deref());
        Box::pin(async move {
            // A token that could not have made the call does not use the ticket up.
            if reach(&claim.caller, claim.profile.as_deref()) != AccessLevel::All {
                let parked = crib.ticket(&claim.caller, &claim.ticket).await?;
                if parked.is_some_and(|parked| !decides(&crib, &claim.caller, &parked)) {
                    return Err(TicketError::Unknown);
                }
            }
            let TicketClaim { caller, ticket, decision, options, .. } = claim;
            let run = &Run::default();
            let redemption =
                Redemption { caller: &caller, ticket: &ticket, decision, run, options };
            crib.redeem(redemption).await
        })
    }

    fn redeemed<'a>(
        &'a self,
        caller: &'a Caller,
        ticket: &'a TicketId,
    ) -> BoxFuture<'a, Option<Response>> {
        let crib = self.crib(None);
        Box::pin(async move { recorded(&crib, caller, ticket).await })
    }

    fn ticket<'a>(
        &'a self,
        caller: &'a Caller,
        ticket: &'a TicketId,
    ) -> BoxFuture<'a, Result<Option<ParkedCall>, LedgerError>> {
        let crib = self.crib(None);
        Box::pin(async move {
            let parked = crib.ticket(caller, ticket).await?;
            Ok(parked.filter(|parked| enters(caller, parked)))
        })
    }

    fn changed(&self) -> BoxFuture<'static, ()> {
        self.live.crib().changed()
    }

    fn offers(
        &self,
        caller: &Caller,
        profile: Option<&str>,
        kind: ResourceKind,
    ) -> Vec<Arc<JsonFields>> {
        let crib = self.crib(profile);
        let (stock, executor) = (crib.resources(), crib.executor());
        let seen = stock.seen(kind, caller, executor.policy());
        seen.map(|offer| Arc::clone(&offer.definition)).collect()
    }

    fn offers_changed(&self, kind: ResourceKind) -> BoxFuture<'static, ()> {
        match kind {
            ResourceKind::Prompt => self.live.crib().prompts_changed(),
            ResourceKind::Resource | ResourceKind::Template => self.live.crib().resources_changed(),
        }
    }

    fn announced(
        &self,
        profile: Option<&str>,
        kind: Option<ResourceKind>,
    ) -> BoxFuture<'static, ()> {
        self.crib(profile).announced(kind)
    }

    fn lines(&self, visitor: ClientSession, profile: Option<&str>) -> Option<UpdateStream> {
        match profile {
            None => self.live.crib().lines(visitor),
            Some(name) => self.live.view(name)?.lines(visitor),
        }
    }

    fn inquire(
        &self,
        asking: BackendResourceRequest,
    ) -> BoxFuture<'static, Result<JsonFields, ToolError>> {
        let BackendResourceRequest { visitor, profile, inquiry, options } = asking;
        let crib = self.crib(profile.as_deref());
        Box::pin(async move { crib.inquire(&visitor, inquiry, options).await })
    }

    fn follow(
        &self,
        visitor: ClientSession,
        profile: Option<&str>,
        uri: String,
    ) -> BoxFuture<'static, Result<UpdateStream, ToolError>> {
        let crib = self.crib(profile);
        Box::pin(async move { crib.follow(&visitor, uri, BatchOptions::default()).await })
    }

    fn sole(&self, profile: Option<&str>) -> Option<Arc<ServerInfo>> {
        self.crib(profile).sole()
    }

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
