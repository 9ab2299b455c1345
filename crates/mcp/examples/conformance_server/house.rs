//! A crib of the engine as the door needs it.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    BatchOptions, BoxFuture, Call, Caller, Fields, Following, Kind, LedgerError, Parked, Plan,
    PlanError, Redemption, Report, Request, Response, Run, Said, TicketError, TicketId, ToolError,
    Visitor,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::{Asking, Claim, House};

/// One crib, with `small` as a profile that leaves out what `left_out` names.
pub(crate) struct Home {
    pub(crate) crib: Crib,
    pub(crate) left_out: Vec<String>,
    /// How long it waits for the end of a call whose ticket somebody redeemed; `None`: nobody is
    /// told of that.
    pub(crate) patience: Option<Duration>,
}

impl Home {
    pub(crate) fn of(crib: Crib) -> Self {
        Self { crib, left_out: Vec::new(), patience: None }
    }
}

impl House for Home {
    fn has_profile(&self, _: &Caller, profile: &str) -> bool {
        profile == "small"
    }

    fn plan(
        &self,
        caller: &Arc<Caller>,
        profile: Option<&str>,
        mut request: Request,
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
        request: Request,
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

    fn redeem(&self, claim: Claim) -> BoxFuture<'static, Result<Response, TicketError>> {
        let crib = self.crib.clone();
        Box::pin(async move {
            let Claim { caller, ticket, decision, options, .. } = claim;
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
    ) -> BoxFuture<'a, Result<Option<Parked>, LedgerError>> {
        Box::pin(self.crib.ticket(caller, ticket))
    }

    fn changed(&self) -> BoxFuture<'static, ()> {
        self.crib.changed()
    }

    fn offers(&self, caller: &Caller, _: Option<&str>, kind: Kind) -> Vec<Arc<Fields>> {
        let crib = self.crib.clone();
        let (stock, executor) = (crib.stock(), crib.executor());
        let seen = stock.seen(kind, caller, executor.policy());
        seen.map(|offer| Arc::clone(&offer.definition)).collect()
    }

    fn offers_changed(&self, kind: Kind) -> BoxFuture<'static, ()> {
        match kind {
            Kind::Prompt => self.crib.prompts_changed(),
            Kind::Resource | Kind::Template => self.crib.resources_changed(),
        }
    }

    fn announced(&self, _: Option<&str>, kind: Option<Kind>) -> BoxFuture<'static, ()> {
        self.crib.announced(kind)
    }

    fn lines(&self, visitor: Visitor, _: Option<&str>) -> Option<Following> {
        self.crib.lines(visitor)
    }

    fn inquire(&self, asking: Asking) -> BoxFuture<'static, Result<Fields, ToolError>> {
        let Asking { visitor, inquiry, options, .. } = asking;
        let crib = self.crib.clone();
        Box::pin(async move { crib.inquire(&visitor, inquiry, options).await })
    }

    fn follow(
        &self,
        visitor: Visitor,
        _: Option<&str>,
        uri: String,
    ) -> BoxFuture<'static, Result<Following, ToolError>> {
        let crib = self.crib.clone();
        Box::pin(async move { crib.follow(&visitor, uri, BatchOptions::default()).await })
    }

    fn sole(&self, _: Option<&str>) -> Option<Arc<Said>> {
        self.crib.clone().sole()
    }
}
