//! Who runs batches of calls, and what all of them share.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::gate::question::registry::OpenQuestions;
use crate::gate::schedule::places::ProcessPlaces;
use crate::ledger::Ledger;
use crate::observe::observer::Observer;
use crate::outcome::door_hints::DoorHints;
use crate::policy::Policy;
use crate::policy::limits::CribLimits;
use crate::tool::spec::ToolSpec;

/// Runs batches of calls. Cheap to clone; all clones share bounds, policy and ledger.
#[derive(Clone)]
pub struct Executor(pub(super) Arc<Gate>);

pub(crate) struct Gate {
    pub(super) policy: Arc<dyn Policy>,
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) limits: CribLimits,
    pub(super) bounds: Arc<ProcessPlaces>,
    /// What running calls ask under tickets.
    pub(super) asked: Arc<OpenQuestions>,
    pub(super) marks: ExecutorOptions,
    /// Places for calls that were given up and may still answer.
    pub(super) late: Arc<Semaphore>,
}

/// What an executor is told of its place.
#[derive(Clone, Default)]
pub(super) struct ExecutorOptions {
    /// The profile whose rules these are, if they are those of one.
    pub(super) profile: Option<Arc<str>>,
    /// The tool by which the whole of a result that was cut can be read, if there is one.
    pub(super) reader: Option<Arc<ToolSpec>>,
    /// The tool that tells how a call stands of which nobody knew how it ended, if there is one.
    pub(super) looker: Option<Arc<ToolSpec>>,
    /// Commands and addresses of whoever embeds the gate.
    pub(super) hints: DoorHints,
    /// Whoever sees what is decided and how calls end.
    pub(super) observer: Option<Arc<dyn Observer>>,
    /// The runtime under which the gate was made: calls that may hold on to their thread run
    /// there, and not with the connections of whoever waits for them.
    pub(super) home: Option<Handle>,
}

/// Calls that are listened to after they were given up, at the most.
const MOST_LATE: usize = 1_024;

impl Executor {
    pub fn new(policy: Arc<dyn Policy>, ledger: Arc<dyn Ledger>, limits: CribLimits) -> Self {
        let home = Handle::try_current().ok();
        Self::of(
            policy,
            (ledger, Arc::default()),
            limits,
            ExecutorOptions { home, ..ExecutorOptions::default() },
        )
    }

    fn of(
        policy: Arc<dyn Policy>,
        (ledger, asked): (Arc<dyn Ledger>, Arc<OpenQuestions>),
        limits: CribLimits,
        marks: ExecutorOptions,
    ) -> Self {
        let bounds = Arc::new(ProcessPlaces::new(&limits));
        let late = Arc::new(Semaphore::new(MOST_LATE));
        Self(Arc::new(Gate { policy, ledger, limits, bounds, asked, marks, late }))
    }

    /// Another policy and other limits over the same ledger. What runs already counts against
    /// the bounds it began under, and not against the new ones.
    #[must_use]
    pub fn with_policy(&self, policy: Arc<dyn Policy>, limits: CribLimits) -> Self {
        Self::of(policy, self.kept(), limits, self.0.marks.clone())
    }

    /// Another policy over the same ledger, under the same limits: what runs under either counts
    /// against the same bounds.
    #[must_use]
    pub fn with_shared_bounds(&self, policy: Arc<dyn Policy>) -> Self {
        let Gate { limits, bounds, marks, late, .. } = &*self.0;
        let (ledger, asked) = self.kept();
        Self(Arc::new(Gate {
            policy,
            ledger,
            limits: limits.clone(),
            bounds: Arc::clone(bounds),
            asked,
            marks: marks.clone(),
            late: Arc::clone(late),
        }))
    }

    /// The same under the eyes of somebody: for a gate that has run nothing yet.
    #[must_use]
    pub fn with_observer(&self, observer: Option<Arc<dyn Observer>>) -> Self {
        self.marked(ExecutorOptions { observer, ..self.0.marks.clone() })
    }

    /// Whoever sees the calls.
    pub fn observer(&self) -> Option<&Arc<dyn Observer>> {
        self.0.marks.observer.as_ref()
    }

    /// The same where commands and addresses are there of which its words should tell.
    #[must_use]
    pub fn with_hints(&self, hints: DoorHints) -> Self {
        self.marked(ExecutorOptions { hints, ..self.0.marks.clone() })
    }

    /// The same under the name of a profile: a ticket is redeemed under the name it was made
    /// under.
    #[must_use]
    pub fn for_profile(&self, profile: &str) -> Self {
        self.marked(ExecutorOptions { profile: Some(profile.into()), ..self.0.marks.clone() })
    }

    /// The same where a tool of this spec is there for whoever has a kept result: who may see it
    /// is told of it.
    #[must_use]
    pub fn with_result_reader(&self, reader: Arc<ToolSpec>) -> Self {
        self.marked(ExecutorOptions { reader: Some(reader), ..self.0.marks.clone() })
    }

    /// The same where a tool of this spec is there for whoever had a call whose outcome nobody
    /// knew: who may see it is told of it.
    #[must_use]
    pub fn with_call_lookup(&self, looker: Arc<ToolSpec>) -> Self {
        self.marked(ExecutorOptions { looker: Some(looker), ..self.0.marks.clone() })
    }

    fn marked(&self, marks: ExecutorOptions) -> Self {
        let Gate { policy, limits, .. } = &*self.0;
        Self::of(Arc::clone(policy), self.kept(), limits.clone(), marks)
    }

    /// What all gates over one ledger share.
    fn kept(&self) -> (Arc<dyn Ledger>, Arc<OpenQuestions>) {
        (Arc::clone(&self.0.ledger), Arc::clone(&self.0.asked))
    }

    /// The profile whose rules these are, if they are those of one.
    pub fn profile(&self) -> Option<&str> {
        self.0.marks.profile.as_deref()
    }

    pub fn policy(&self) -> &dyn Policy {
        &*self.0.policy
    }

    pub fn ledger(&self) -> &dyn Ledger {
        &*self.0.ledger
    }

    pub fn limits(&self) -> &CribLimits {
        &self.0.limits
    }
}
