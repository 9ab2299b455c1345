//! A crib of the engine as the door needs it.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    BatchOptions, BoxFuture, Call, Caller, ClientSession, JsonFields, LedgerError, ParkedCall,
    Plan, PlanError, PlanRequest, Redemption, Report, ResourceKind, Response, Run, ServerInfo,
    TicketError, TicketId, ToolError, UpdateStream,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::{BackendResourceRequest, McpBackend, TicketClaim};

/// One crib, with `small` as a profile that leaves out what `left_out` names.
pub(crate) struct FixtureBackend {
    pub(crate) crib: Crib,
    pub(crate) left_out: Vec<String>,
    /// How long it waits for the end of a call whose ticket somebody redeemed; `None`: nobody is
    /// told of that.
    pub(crate) patience: Option<Duration>,
}

impl FixtureBackend {
    pub(crate) fn of(crib: Crib) -> Self {
        Self { crib, left_out: Vec::new(), patience: None }
    }
}

impl McpBackend for FixtureBackend {
    fn has_profile(&self, _: &Caller, profile: &str) -> bool {
        profile == "small"
    }

    fn plan(
        &self,
        caller: &Arc<Caller>,
        profile: Option<&str>,
        mut request: PlanRequest,
    ) -> Result<Plan, PlanError> {
        if profile.is_some() {
            request.disabled.clone_from(&self.left_out);
        }
        self.crib.plan_again(caller, request)
    }

    fn plan_unlisted(
        &self,
        caller: &Arc<Caller>,
        _: Option<&str>,
        request: PlanRequest,
        tool: &str,
    ) -> Option<Plan> {
        self.crib.plan_unlisted(caller, request, tool)
    }

    fn run(
        &self,
        plan: Plan,
        _: Option<&str>,
        calls: Vec<Call>,
        options: BatchOptions,
    ) -> BoxFuture<'static, Report> {
        let crib = self.crib.clone();
        Box::pin(async move { crib.run_with(&plan, calls, options).await })
    }

    fn redeem(&self, claim: TicketClaim) -> BoxFuture<'static, Result<Response, TicketError>> {
        let crib = self.crib.clone();
        Box::pin(async move {
            let TicketClaim { caller, ticket, decision, options, .. } = claim;
            let run = Run::default();
            let redemption =
                Redemption { caller: &caller, ticket: &ticket, decision, run: &run, options };
            crib.redeem(redemption).await
        })
    }

    fn redeemed<'a>(
        &'a self,
        caller: &'a Caller,
        ticket: &'a TicketId,
    ) -> BoxFuture<'a, Option<Response>> {
        Box::pin(
            async move { self.crib.redeemed(caller, ticket, self.patience?).await.ok().flatten() },
        )
    }

    fn ticket<'a>(
        &'a self,
        caller: &'a Caller,
        ticket: &'a TicketId,
    ) -> BoxFuture<'a, Result<Option<ParkedCall>, LedgerError>> {
        Box::pin(self.crib.ticket(caller, ticket))
    }

    fn changed(&self) -> BoxFuture<'static, ()> {
        self.crib.changed()
    }

    fn offers(&self, caller: &Caller, _: Option<&str>, kind: ResourceKind) -> Vec<Arc<JsonFields>> {
        let crib = self.crib.clone();
        let (stock, executor) = (crib.resources(), crib.executor());
        let seen = stock.seen(kind, caller, executor.policy());
        seen.map(|offer| Arc::clone(&offer.definition)).collect()
    }

    fn offers_changed(&self, kind: ResourceKind) -> BoxFuture<'static, ()> {
        match kind {
            ResourceKind::Prompt => self.crib.prompts_changed(),
            ResourceKind::Resource | ResourceKind::Template => self.crib.resources_changed(),
        }
    }

    fn announced(&self, _: Option<&str>, kind: Option<ResourceKind>) -> BoxFuture<'static, ()> {
        self.crib.announced(kind)
    }

    fn lines(&self, visitor: ClientSession, _: Option<&str>) -> Option<UpdateStream> {
        self.crib.lines(visitor)
    }

    fn inquire(
        &self,
        asking: BackendResourceRequest,
    ) -> BoxFuture<'static, Result<JsonFields, ToolError>> {
        let BackendResourceRequest { visitor, inquiry, options, .. } = asking;
        let crib = self.crib.clone();
        Box::pin(async move { crib.inquire(&visitor, inquiry, options).await })
    }

    fn follow(
        &self,
        visitor: ClientSession,
        _: Option<&str>,
        uri: String,
    ) -> BoxFuture<'static, Result<UpdateStream, ToolError>> {
        let crib = self.crib.clone();
        Box::pin(async move { crib.follow(&visitor, uri, BatchOptions::default()).await })
    }

    fn sole(&self, _: Option<&str>) -> Option<Arc<ServerInfo>> {
        self.crib.clone().sole()
    }
}
