//! A crib that stands for one server: what that says of itself, and what it does not list.

use std::sync::Arc;

use toolcrib_core::{
    BoxFuture, Caller, Catalog, ClientSession, Plan, PlanRequest, ResourceKind, ServerInfo,
    SourceId, TicketId, UpdateStream,
};

use super::Crib;
use super::catalog_source::CatalogSource;
use crate::catalog::Publisher;

impl Crib {
    /// What the only source says of itself, if there is one alone and its names have no prefix.
    pub fn sole(&self) -> Option<Arc<ServerInfo>> {
        self.only_server().map(|(_, _, said)| said)
    }

    fn only_server(&self) -> Option<(&Arc<Publisher>, SourceId, Arc<ServerInfo>)> {
        let CatalogSource::Published(publisher, window) = &self.tools else { return None };
        let window = window.load();
        let name = publisher.sole(|name| window.has(name))?;
        let stock = self.resources();
        let held = stock.libraries().iter().find(|held| held.source == name)?;
        let said = &held.holdings.said;
        // Functions of the host program are no server.
        let is_plain = held.holdings.stem.is_empty() && !said.server.is_empty();
        is_plain.then(|| (publisher, name, Arc::clone(said)))
    }

    /// Resolves when the only server says once more that a list of it changed, though it is the
    /// same; `None`: that of its tools.
    pub fn announced(&self, kind: Option<ResourceKind>) -> BoxFuture<'static, ()> {
        match self.only_server() {
            Some((publisher, server, _)) => publisher.announced(&server, kind),
            None => Box::pin(std::future::pending()),
        }
    }

    /// The lines of log that the only server writes outside of any call, as far as they are meant
    /// for nobody but this visitor.
    pub fn lines(&self, visitor: ClientSession) -> Option<UpdateStream> {
        let (_, server, _) = self.only_server()?;
        let stock = self.resources();
        let held = stock.libraries().iter().find(|held| held.source == server)?;
        held.library.lines(visitor)
    }

    /// What a request may use that calls a tool which the only server does not list: that tool
    /// alone, as one that may destroy. `None`: to this caller there is none.
    pub fn plan_unlisted(&self, caller: &Caller, request: PlanRequest, tool: &str) -> Option<Plan> {
        let catalog = self.unlisted(tool)?;
        let plan = Plan::make(&catalog, caller, self.executor().policy(), request).ok()?;
        plan.get(tool).is_some().then_some(plan)
    }

    /// The only server, where more may be asked of it than it lists.
    pub(super) fn open(&self) -> Option<SourceId> {
        let (publisher, server, _) = self.only_server()?;
        publisher.takes_unlisted().then_some(server)
    }

    fn unlisted(&self, tool: &str) -> Option<Arc<Catalog>> {
        // It may be another name of a tool that is denied or asked about.
        if self.executor().policy().is_per_tool() {
            return None;
        }
        let (publisher, server, _) = self.only_server()?;
        publisher.unlisted(&server, tool).map(Arc::new)
    }

    /// The snapshot of now, or the tool of a parked call that no list names.
    pub(super) async fn holding(&self, caller: &Caller, ticket: &TicketId) -> Arc<Catalog> {
        let shown = self.shown(caller);
        if self.sole().is_none() {
            return shown;
        }
        let parked = self.ticket(caller, ticket).await.ok().flatten();
        let unlisted = parked.and_then(|parked| self.unlisted(parked.tool.as_str()));
        unlisted.unwrap_or(shown)
    }
}
