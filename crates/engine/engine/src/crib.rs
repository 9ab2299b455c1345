//! The whole tool layer behind one handle.

pub(crate) mod builder;
mod catalog_source;
mod missing_tools;
mod narrowed_policy;
mod passthrough;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption, Guard};
use toolcrib_core::{
    BatchOptions, BoxFuture, Call, Caller, Catalog, ClientSession, Content, CribLimits, Decision,
    Discovery, Executor, JsonFields, LedgerError, OpenTickets, ParkedCall, Plan, PlanError,
    PlanRequest, Policy, Redemption, Report, ResourceCatalog, ResourceKind, ResourceOperation,
    ResourceRequest, Response, ResultHandle, Run, SourceId, TicketError, TicketId, ToolError,
    UpdateStream,
};

use crate::builtin::BuiltinTools;
use crate::catalog::{NamedSource, SourceState, SourceTrouble};
use crate::discovery::{
    self, DiscoveryPresenter, DiscoveryQuery, DiscoveryResult, DiscoverySettings, MetaToolFactory,
    SemanticSearch, UnavailableSource,
};
use catalog_source::CatalogSource;
use narrowed_policy::NarrowedPolicy;

/// Gathers tools, plans requests, runs calls. Cheap to clone; clones are the same crib.
#[derive(Clone)]
pub struct Crib {
    tools: CatalogSource,
    executor: Arc<ArcSwap<Executor>>,
    own: Option<Arc<BuiltinTools>>,
    discovery: Arc<ArcSwap<DiscoverySettings>>,
    /// The number of these settings of discovery, which no others have.
    shown_as: Arc<AtomicU64>,
    factory: Arc<MetaToolFactory>,
    /// Whether this crib or a view of it decides by counted tokens.
    weighs: Arc<AtomicBool>,
    /// How tools are found beside their words, in all views.
    meaning: Arc<ArcSwapOption<SemanticSearch>>,
}

impl Crib {
    /// The snapshot of now.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.tools.catalog()
    }

    /// Loads all sources, each within its deadline, and follows their changes; to be called once,
    /// within a tokio runtime. The list of each is served from the moment it is there.
    pub async fn start(&self) {
        if let CatalogSource::Published(publisher, _) = &self.tools {
            publisher.start().await;
            publisher.watch();
            if self.weighs.load(Ordering::Relaxed) {
                self.count_tokens().await;
            }
        }
    }

    /// Counts the tokens of the tools of now, off the threads that serve. A plan that is weighed
    /// (`Discovery::Auto`) waits for no count: before this is done it goes by an estimate.
    pub async fn count_tokens(&self) {
        let catalog = self.catalog();
        // Nothing is lost if it breaks.
        let _ = discovery::aside(move || discovery::prepare_weights(&catalog)).await;
    }

    /// Resolves when the tools change (see `Publisher::changed`; those of a fixed set never do),
    /// when some caller begins to have a use for a tool of ours, or when they are shown in another
    /// way.
    pub fn changed(&self) -> BoxFuture<'static, ()> {
        let tools = match &self.tools {
            CatalogSource::Fixed(_) => Box::pin(std::future::pending()),
            CatalogSource::Published(publisher, _) => publisher.changed(),
        };
        let Some(own) = &self.own else { return tools };
        let begun = own.begun();
        Box::pin(async move {
            tokio::select! {
                () = tools => {}
                () = begun => {}
            }
        })
    }

    /// Resolves when the prompts change.
    pub fn prompts_changed(&self) -> BoxFuture<'static, ()> {
        match &self.tools {
            CatalogSource::Fixed(_) => Box::pin(std::future::pending()),
            CatalogSource::Published(publisher, _) => publisher.prompts_changed(),
        }
    }

    /// Resolves when the resources or their templates change.
    pub fn resources_changed(&self) -> BoxFuture<'static, ()> {
        match &self.tools {
            CatalogSource::Fixed(_) => Box::pin(std::future::pending()),
            CatalogSource::Published(publisher, _) => publisher.resources_changed(),
        }
    }

    /// What the sources offer beside tools, of all callers; `ResourceCatalog::seen` and the policy of the
    /// executor tell what one of them may know of.
    pub fn resources(&self) -> Arc<ResourceCatalog> {
        match &self.tools {
            CatalogSource::Fixed(_) => Arc::default(),
            CatalogSource::Published(_, window) => window.load().stock(),
        }
    }

    /// The definitions of one kind that this caller may know of.
    pub fn offers(&self, caller: &Caller, kind: ResourceKind) -> Vec<Arc<JsonFields>> {
        let (resources, executor) = (self.resources(), self.executor());
        let seen = resources.seen(kind, caller, executor.policy());
        seen.map(|offer| Arc::clone(&offer.definition)).collect()
    }

    /// Resolves when these change; templates change with resources.
    pub fn offers_changed(&self, kind: ResourceKind) -> BoxFuture<'static, ()> {
        match kind {
            ResourceKind::Prompt => self.prompts_changed(),
            ResourceKind::Resource | ResourceKind::Template => self.resources_changed(),
        }
    }

    /// Fills in a prompt, reads a resource or completes an argument: through the gate. What a
    /// person has to approve is put to the host among `options`.
    pub async fn inquire(
        &self,
        visitor: &ClientSession,
        inquiry: ResourceRequest,
        options: BatchOptions,
    ) -> Result<JsonFields, ToolError> {
        self.may_come(visitor, &inquiry)?;
        let now = || (self.executor(), self.resources(), self.open());
        Executor::request(now, visitor, inquiry, options).await
    }

    /// Begins to follow one resource: through the gate.
    pub async fn follow(
        &self,
        visitor: &ClientSession,
        uri: String,
        options: BatchOptions,
    ) -> Result<UpdateStream, ToolError> {
        let params = JsonFields::from_iter([("uri".to_owned(), uri.as_str().into())]);
        self.may_come(visitor, &ResourceRequest { about: ResourceOperation::Resource, params })?;
        self.executor().follow(&self.resources(), visitor, uri, options).await
    }

    /// Decides what one request may use; what was decided before for the same caller may hold: see
    /// [`Plan::shown_by`].
    pub fn plan(&self, caller: &Caller, request: PlanRequest) -> Result<Plan, PlanError> {
        let (number, discovery) = self.shows();
        let asked = DiscoveryPresenter::of((number, &discovery), &request, &self.factory);
        let catalog = self.shown(caller);
        Plan::shown_by(&catalog, caller, self.executor().policy(), request, &asked)
    }

    fn shows(&self) -> (u64, Guard<Arc<DiscoverySettings>>) {
        // In this order: settings are there before their number is.
        (self.shown_as.load(Ordering::Acquire), self.discovery.load())
    }

    /// Says how the tools are shown to whoever does not say it; see [`DiscoverySettings`].
    pub fn set_discovery(&self, discovery: DiscoverySettings) {
        if discovery.mode == Discovery::Auto {
            self.weighs.store(true, Ordering::Relaxed);
        }
        self.discovery.store(Arc::new(discovery));
        self.shown_as.store(number(), Ordering::Release);
    }

    /// Wakes whoever waits for a change of tools, prompts or resources: others may be seen now, or
    /// they are shown in another way.
    pub fn notify_changed(&self) {
        match &self.tools {
            CatalogSource::Published(publisher, _) => publisher.tell_all(),
            CatalogSource::Fixed(_) => {
                if let Some(own) = &self.own {
                    own.begins();
                }
            }
        }
    }

    /// How the tools are shown to whoever does not say it.
    pub fn discovery(&self) -> Arc<DiscoverySettings> {
        self.discovery.load_full()
    }

    /// Searches among the tools of a plan, off the threads that serve.
    pub async fn find(
        &self,
        plan: &Plan,
        search: DiscoveryQuery,
    ) -> Result<DiscoveryResult, ToolError> {
        let with = (self.meaning.load_full(), self.unavailable_sources(plan.caller()));
        discovery::find_by(with, plan.clone(), search).await
    }

    /// The sources that give no tools now and that this caller may know of, in their order.
    pub fn unavailable_sources(&self, caller: &Caller) -> Vec<UnavailableSource> {
        self.factory.away(caller)
    }

    /// Has tools found by their meaning too, in this crib and in all views of it; `None`: by their
    /// words alone.
    pub fn set_embedder(&self, meaning: Option<Arc<SemanticSearch>>) {
        self.meaning.store(meaning);
    }

    /// How tools are found beside their words.
    pub fn meaning(&self) -> Option<Arc<SemanticSearch>> {
        self.meaning.load_full()
    }

    /// Has the vectors of the tools of now made, and waits for them; whoever searches before finds
    /// by words alone. Says whether they are there, which they are without an embedder too.
    pub async fn warm_embeddings(&self) -> bool {
        match self.meaning.load_full() {
            Some(meaning) => meaning.read(&self.catalog()).await,
            None => true,
        }
    }

    /// The snapshot of now, with the tools of ours that this caller has a use for.
    fn shown(&self, caller: &Caller) -> Arc<Catalog> {
        self.tools.shown(self.own.as_ref(), caller)
    }

    /// Answers every call of a batch exactly once, in call order.
    pub async fn run(&self, plan: &Plan, calls: Vec<Call>) -> Report {
        self.run_with(plan, calls, BatchOptions::default()).await
    }

    /// The same with cancellation and progress.
    pub async fn run_with(&self, plan: &Plan, calls: Vec<Call>, options: BatchOptions) -> Report {
        let before = self.own.as_ref().map(|own| own.uses(plan.caller()));
        let options = BatchOptions { missing: Some(self.factory.missing()), ..options };
        let report = self.executor().run_with(plan, calls, options).await;
        if let Some((own, before)) = self.own.as_ref().zip(before) {
            own.hear(plan.caller(), before, &report.responses);
        }
        report
    }

    /// The open tickets of a caller, oldest first.
    pub async fn tickets(&self, caller: &Caller) -> Result<Vec<ParkedCall>, LedgerError> {
        self.executor().tickets(caller).await
    }

    /// One open ticket of a caller.
    pub async fn ticket(
        &self,
        caller: &Caller,
        ticket: &TicketId,
    ) -> Result<Option<ParkedCall>, LedgerError> {
        self.executor().ticket(ticket, caller).await
    }

    /// A page of the open tickets of one caller, or of all: see `Executor::open_tickets`.
    pub async fn open_tickets(
        &self,
        of: Option<&Caller>,
        after: u64,
        limit: usize,
    ) -> Result<OpenTickets, LedgerError> {
        self.executor().open_tickets(of, after, limit).await
    }

    /// Whose ticket it is: for whoever runs the crib.
    pub async fn owner(&self, ticket: &TicketId) -> Result<Option<Caller>, LedgerError> {
        self.executor().owner(ticket).await
    }

    /// What came of a ticket that was redeemed before; see `Executor::redeemed`.
    pub async fn redeemed(
        &self,
        caller: &Caller,
        ticket: &TicketId,
        patience: Duration,
    ) -> Result<Option<Response>, LedgerError> {
        self.executor().redeemed(caller, ticket, patience).await
    }

    /// Answers a parked call: runs it if it was approved, its tool is still the one that was
    /// asked about, and policy still lets it. Or answers what a running call asks, which then goes
    /// on. `run` numbers the sources of the answer.
    pub async fn decide(
        &self,
        caller: &Caller,
        run: &Run,
        ticket: &TicketId,
        decision: Decision,
    ) -> Result<Response, TicketError> {
        let options = BatchOptions::default();
        self.redeem(Redemption { caller, ticket, decision, run, options }).await
    }

    /// The same with cancellation and a host.
    pub async fn redeem(&self, redemption: Redemption<'_>) -> Result<Response, TicketError> {
        let caller = redemption.caller;
        let before = self.own.as_ref().map(|own| own.uses(caller));
        let catalog = self.holding(caller, redemption.ticket).await;
        let mut redemption = redemption;
        redemption.options.missing = Some(self.factory.missing());
        let response = self.executor().redeem(&catalog, redemption).await?;
        if let Some((own, before)) = self.own.as_ref().zip(before) {
            own.hear(caller, before, std::slice::from_ref(&response));
        }
        Ok(response)
    }

    /// The whole of a result that was cut, for the caller whose call gave it.
    pub async fn result(&self, caller: &Caller, handle: &ResultHandle) -> Option<Arc<Content>> {
        self.executor().ledger().kept(caller, handle).await
    }

    /// How the sources are doing; empty for a crib of a fixed set.
    pub fn sources(&self) -> Vec<SourceState> {
        match &self.tools {
            CatalogSource::Fixed(_) => Vec::new(),
            CatalogSource::Published(publisher, _) => publisher.sources(),
        }
    }

    /// Those of them that fail, and when each is asked again.
    pub fn troubles(&self) -> Vec<SourceTrouble> {
        match &self.tools {
            CatalogSource::Fixed(_) => Vec::new(),
            CatalogSource::Published(publisher, _) => publisher.troubles(),
        }
    }

    /// Has every tool judged again: the judge may say another thing than it did.
    pub fn judge_again(&self) {
        if let CatalogSource::Published(publisher, _) = &self.tools {
            publisher.judge_again();
        }
    }

    /// Loads one source again; see `Publisher::reload`.
    pub async fn reload(&self, source: &SourceId) -> Option<bool> {
        match &self.tools {
            CatalogSource::Fixed(_) => None,
            CatalogSource::Published(publisher, _) => publisher.reload(source).await,
        }
    }

    pub fn executor(&self) -> Arc<Executor> {
        self.executor.load_full()
    }

    /// The same tools and the same ledger under another policy and other limits. Bounds on what
    /// runs at the same time count for each of them alone.
    #[must_use]
    pub fn with_policy(&self, policy: Arc<dyn Policy>, limits: CribLimits) -> Self {
        let crib = self.with(self.executor().with_policy(policy, limits));
        crib.restrict_sources(None);
        crib
    }

    /// The same for whoever may do less: this crib's policy of the moment and `by` must both agree
    /// to a tool and to a call. A ticket of one can be redeemed at the other.
    #[must_use]
    pub fn narrowed(&self, by: Arc<dyn Policy>) -> Self {
        let policy = Arc::new(NarrowedPolicy::new(Arc::clone(&self.executor), by));
        let mut crib = self.with(self.executor().with_shared_bounds(policy));
        // What is shown in the same way has the same number, so that plans are found again.
        let (number, discovery) = self.shows();
        crib.discovery.store(Arc::clone(&discovery));
        crib.shown_as = Arc::new(AtomicU64::new(number));
        crib
    }

    /// The same as the view of a profile: a ticket is redeemed under the profile it was made under.
    #[must_use]
    pub fn for_profile(&self, profile: &str) -> Self {
        let crib = self.with(self.executor().for_profile(profile));
        // Nobody else has it yet, and its number is its own.
        crib.discovery.store(self.discovery.load_full());
        crib
    }

    fn put_together(
        tools: CatalogSource,
        executor: Arc<ArcSwap<Executor>>,
        own: Option<Arc<BuiltinTools>>,
        meaning: Arc<ArcSwapOption<SemanticSearch>>,
    ) -> Self {
        let (from, ours) = (tools.clone(), own.clone());
        let catalog = move |caller: &Caller| from.shown(ours.as_ref(), caller);
        let weighs = Arc::default();
        let discovery: Arc<ArcSwap<DiscoverySettings>> = Arc::default();
        let (shows, means) = (Arc::clone(&discovery), Arc::clone(&meaning));
        let sources = tools.clone();
        let absent = move || sources.absent();
        let missing = missing_tools::missing(tools.clone(), Arc::clone(&executor));
        let factory =
            MetaToolFactory::new(Arc::clone(&executor), shows, means, (catalog, absent, missing));
        let shown_as = Arc::new(AtomicU64::new(number()));
        Self { tools, executor, own, discovery, shown_as, factory, weighs, meaning }
    }

    fn with(&self, executor: Executor) -> Self {
        let (tools, own) = (self.tools.apart(), self.own.clone());
        let meaning = Arc::clone(&self.meaning);
        let mut crib = Self::put_together(tools, shared(executor), own, meaning);
        crib.weighs = Arc::clone(&self.weighs);
        crib
    }

    /// Says which sources the policy leaves; `None`: any. It grants nothing: names that others
    /// have are free to these, and a crib with one source may be shown as that one is.
    pub fn restrict_sources(&self, sources: Option<BTreeSet<SourceId>>) {
        self.tools.narrow(sources);
    }

    /// Takes other sources, policy and limits while it runs: see `Publisher::replace`. What runs
    /// goes on as it began, and what is planned from now on follows the new ones. Under another
    /// version of the policy all lists count as changed. The ledger and the pins stay.
    ///
    /// Does nothing to the tools of a crib of a fixed set.
    pub async fn replace(
        &self,
        sources: impl IntoIterator<Item = NamedSource>,
        policy: Arc<dyn Policy>,
        limits: CribLimits,
    ) {
        let before = self.executor();
        let same = before.policy().version().is_some_and(|is| policy.version() == Some(is));
        self.executor.store(Arc::new(before.with_policy(policy, limits)));
        if !same {
            self.notify_changed();
        }
        if let CatalogSource::Published(publisher, _) = &self.tools {
            publisher.replace(sources).await;
        }
    }
}

/// A number for settings of discovery.
fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn shared(executor: Executor) -> Arc<ArcSwap<Executor>> {
    Arc::new(ArcSwap::from_pointee(executor))
}
