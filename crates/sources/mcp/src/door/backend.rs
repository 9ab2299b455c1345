//! What the door needs of a crib; whoever may name the engine implements it.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    BatchOptions, BoxFuture, Call, Caller, ClientSession, Decision, JsonFields, LedgerError,
    ParkedCall, Plan, PlanError, PlanRequest, Report, ResourceKind, ResourceRequest, Response,
    ServerInfo, TicketError, TicketId, ToolError, UpdateStream,
};

use crate::door::stdio::operation::McpOperation;

/// A crib as its MCP clients need it. Every call that comes in by the door runs through `run` or
/// `redeem`, which must pass the gate.
///
/// The futures of `run` and `redeem` own what they need: a call whose client must be asked first
/// goes on while the client is away.
pub trait McpBackend: Send + Sync + 'static {
    /// Whether `/mcp/NAME` is there for this caller; what is not there answers as if it were
    /// nowhere.
    fn has_profile(&self, caller: &Caller, profile: &str) -> bool;

    /// Decides what a request may use; `None`: no profile, all that the caller may see.
    fn plan(
        &self,
        caller: &Arc<Caller>,
        profile: Option<&str>,
        request: PlanRequest,
    ) -> Result<Plan, PlanError>;

    /// The same for a call of a tool that is not in that plan: where the door is to look as if it
    /// were that of one server, which may answer to more than it lists. `None`: there is no such
    /// tool.
    fn plan_unlisted(
        &self,
        _caller: &Arc<Caller>,
        _profile: Option<&str>,
        _request: PlanRequest,
        _tool: &str,
    ) -> Option<Plan> {
        None
    }

    /// Runs one batch under the rules of the profile that the plan was made for.
    fn run(
        &self,
        plan: Plan,
        profile: Option<&str>,
        calls: Vec<Call>,
        options: BatchOptions,
    ) -> BoxFuture<'static, Report>;

    /// Answers a parked call.
    fn redeem(&self, claim: TicketClaim) -> BoxFuture<'static, Result<Response, TicketError>>;

    /// What came of a ticket that somebody redeemed before, for its caller.
    fn redeemed<'a>(
        &'a self,
        _caller: &'a Caller,
        _ticket: &'a TicketId,
    ) -> BoxFuture<'a, Option<Response>> {
        Box::pin(std::future::ready(None))
    }

    /// The call under a ticket of a caller, as long as nobody decided about it.
    fn ticket<'a>(
        &'a self,
        caller: &'a Caller,
        ticket: &'a TicketId,
    ) -> BoxFuture<'a, Result<Option<ParkedCall>, LedgerError>>;

    /// Resolves once the catalog is another one than it was when this was called.
    fn changed(&self) -> BoxFuture<'static, ()>;

    /// The definitions of what a caller may see beside tools.
    fn offers(
        &self,
        caller: &Caller,
        profile: Option<&str>,
        kind: ResourceKind,
    ) -> Vec<Arc<JsonFields>>;

    /// Resolves once these are others; templates change with resources.
    fn offers_changed(&self, kind: ResourceKind) -> BoxFuture<'static, ()>;

    /// Resolves once the server for which this door stands says that a list of it changed, though
    /// it is the same (`None`: that of its tools): its clients hear what it says.
    fn announced(
        &self,
        _profile: Option<&str>,
        _kind: Option<ResourceKind>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// The lines of log that the server for which this door stands writes outside of any call, as
    /// far as they are meant for nobody but this visitor.
    fn lines(&self, _visitor: ClientSession, _profile: Option<&str>) -> Option<UpdateStream> {
        None
    }

    /// Fills in a prompt, reads a resource, completes an argument. Must pass the gate.
    fn inquire(
        &self,
        asking: BackendResourceRequest,
    ) -> BoxFuture<'static, Result<JsonFields, ToolError>>;

    /// Begins to follow one resource. Must pass the gate.
    fn follow(
        &self,
        visitor: ClientSession,
        profile: Option<&str>,
        uri: String,
    ) -> BoxFuture<'static, Result<UpdateStream, ToolError>>;

    /// What the only source of a profile says of itself, where the door is to look as if it were
    /// that one's.
    fn sole(&self, profile: Option<&str>) -> Option<Arc<ServerInfo>>;

    /// What a client at a pipe asked for is over.
    fn served(&self, _: &McpOperation) {}

    /// A session of an older client over HTTP is over; `revision`: which it had asked for.
    fn session_ended(&self, _revision: &str, _lasted: Duration) {}
}

/// A question about something that is no tool.
pub struct BackendResourceRequest {
    pub visitor: ClientSession,
    pub profile: Option<Arc<str>>,
    pub inquiry: ResourceRequest,
    pub options: BatchOptions,
}

/// A person's answer about a parked call.
pub struct TicketClaim {
    pub caller: Arc<Caller>,
    pub profile: Option<Arc<str>>,
    pub ticket: TicketId,
    pub decision: Decision,
    pub options: BatchOptions,
}
