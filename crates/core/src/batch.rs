//! The one gate: every call of every door runs here, in the order that is the security model.
//!
//! 1 to 5 (`admit`): parse and repair, dedupe, cap, control guard, look up and validate.
//! 6 to 9 (`run_one`, a task for each call): decide, park, wait for its turn, record, run, govern,
//! record. 10 (`answer`): one response a call, in call order.

mod admit;
mod answer;
mod answered;
mod asked;
mod asking;
mod attempt;
mod bounds;
mod form;
mod going_on;
mod govern;
mod late;
mod once;
mod order;
mod plainly;
mod preview;
mod read;
mod record;
mod recorded;
mod redeem;
pub(crate) mod relay;
mod run_one;
mod standing;
mod tickets;
mod turn;
mod undeclared;
mod verify;
mod watch;
mod within;
mod witnessed;

use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::call::{Call, CallKey};
use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::host::{Host, Unheard};
use crate::ledger::{Ledger, OnceKey};
use crate::limits::CribLimits;
use crate::outcome::ToolError;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::response::Report;
use crate::spec::ToolSpec;
use crate::trace::{Trace, TraceState};
use crate::witness::Witness;
use admit::{Admitted, Slot, Terms};
use asked::Asked;
pub(crate) use asking::Asker;
use bounds::{BatchBounds, Bounds};
use order::Order;
pub(crate) use read::{Read, Word};
pub use redeem::Redemption;
use run_one::{Ended, OneCall};
use watch::Watched;

/// Runs batches of calls. Cheap to clone; all clones share bounds, policy and ledger.
#[derive(Clone)]
pub struct Executor(Arc<Gate>);

struct Gate {
    policy: Arc<dyn Policy>,
    ledger: Arc<dyn Ledger>,
    limits: CribLimits,
    bounds: Bounds,
    /// What running calls ask under tickets.
    asked: Arc<Asked>,
    marks: Marks,
    /// Places for calls that were given up and may still answer.
    late: Arc<Semaphore>,
}

/// What an executor is told of its place.
#[derive(Clone, Default)]
struct Marks {
    /// The profile whose rules these are, if they are those of one.
    profile: Option<Arc<str>>,
    /// The tool by which the whole of a result that was cut can be read, if there is one.
    reader: Option<Arc<ToolSpec>>,
    /// The tool that tells how a call stands of which nobody knew how it ended, if there is one.
    looker: Option<Arc<ToolSpec>>,
    /// Whoever sees what is decided and how calls end.
    witness: Option<Arc<dyn Witness>>,
    /// The runtime under which the gate was made: calls that may hold on to their thread run
    /// there, and not with the connections of whoever waits for them.
    home: Option<Handle>,
}

/// Calls that are listened to after they were given up, at the most.
const MOST_LATE: usize = 1_024;

/// Tells why a tool is not in a snapshot that may be there soon, for a caller and the name of it.
pub type Missing = Arc<dyn Fn(&Caller, &str, &Catalog) -> Option<ToolError> + Send + Sync>;

/// For whom results are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Audience {
    /// A model reads all of it: what is too large for one is cut.
    #[default]
    Model,
    /// A program that hands on what it wants to: texts are cut as for a model, and images, files and
    /// data come whole.
    Program,
    /// The same of a program that is to see what a server said and nothing else: arguments go as
    /// they came and results come as they are, unless the configuration says otherwise.
    Client,
}

/// What a host may add to a batch.
#[derive(Clone, Default)]
pub struct BatchOptions {
    /// Stops the batch: what has not started does not run.
    pub cancel: CancellationToken,
    /// Hears what the calls tell while they run, and answers what they ask.
    pub host: Option<Arc<dyn Host>>,
    /// What becomes of a form that the host cannot put to anybody.
    pub unheard: Unheard,
    /// Where the batch stands in a trace.
    pub trace: Option<Trace>,
    /// What others wrote beside that place.
    pub trace_state: Option<TraceState>,
    /// The host's own mark of the request that the calls came by; what is parked bears it.
    pub mark: Option<Arc<str>>,
    /// Under which the host began the batch as a whole.
    pub key: Option<OnceKey>,
    /// Why a tool may be missing that is not among those of the plan; `None`: there is none.
    pub missing: Option<Missing>,
    /// Who decides about a ticket in place of its own caller, for the record.
    pub decider: Option<Arc<Caller>>,
    pub audience: Audience,
}

impl Executor {
    pub fn new(policy: Arc<dyn Policy>, ledger: Arc<dyn Ledger>, limits: CribLimits) -> Self {
        let home = Handle::try_current().ok();
        Self::of(policy, (ledger, Arc::default()), limits, Marks { home, ..Marks::default() })
    }

    fn of(
        policy: Arc<dyn Policy>,
        (ledger, asked): (Arc<dyn Ledger>, Arc<Asked>),
        limits: CribLimits,
        marks: Marks,
    ) -> Self {
        let bounds = Bounds::new(&limits);
        let late = Arc::new(Semaphore::new(MOST_LATE));
        Self(Arc::new(Gate { policy, ledger, limits, bounds, asked, marks, late }))
    }

    /// Another policy and other limits over the same ledger. What runs already counts against
    /// the bounds it began under, and not against the new ones.
    #[must_use]
    pub fn with(&self, policy: Arc<dyn Policy>, limits: CribLimits) -> Self {
        Self::of(policy, self.kept(), limits, self.0.marks.clone())
    }

    /// The same under the eyes of somebody: for a gate that has run nothing yet.
    #[must_use]
    pub fn seen_by(&self, witness: Option<Arc<dyn Witness>>) -> Self {
        self.marked(Marks { witness, ..self.0.marks.clone() })
    }

    /// The same under the name of a profile: a ticket is redeemed under the name it was made
    /// under.
    #[must_use]
    pub fn named(&self, profile: &str) -> Self {
        self.marked(Marks { profile: Some(profile.into()), ..self.0.marks.clone() })
    }

    /// The same where a tool of this spec is there for whoever has a kept result: who may see it
    /// is told of it.
    #[must_use]
    pub fn reading_by(&self, reader: Arc<ToolSpec>) -> Self {
        self.marked(Marks { reader: Some(reader), ..self.0.marks.clone() })
    }

    /// The same where a tool of this spec is there for whoever had a call whose outcome nobody knew:
    /// who may see it is told of it.
    #[must_use]
    pub fn looking_up_by(&self, looker: Arc<ToolSpec>) -> Self {
        self.marked(Marks { looker: Some(looker), ..self.0.marks.clone() })
    }

    fn marked(&self, marks: Marks) -> Self {
        let Gate { policy, limits, .. } = &*self.0;
        Self::of(Arc::clone(policy), self.kept(), limits.clone(), marks)
    }

    /// What all gates over one ledger share.
    fn kept(&self) -> (Arc<dyn Ledger>, Arc<Asked>) {
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

    /// Answers every call exactly once, in call order, whatever happens.
    ///
    /// A caller that drops the future cancels the batch; what had started is still recorded.
    pub async fn run(&self, plan: &Plan, calls: Vec<Call>) -> Report {
        self.run_with(plan, calls, BatchOptions::default()).await
    }

    pub async fn run_with(
        &self,
        plan: &Plan,
        mut calls: Vec<Call>,
        options: BatchOptions,
    ) -> Report {
        // A request may ask for fewer than the operator allows, and not for more.
        let most = self.0.limits.max_calls;
        let max_calls = plan.max_calls().map_or(most, |asked| asked.min(most));
        let terms = Terms { max_calls, limits: &self.0.limits, options: &options };
        let admitted = AssertUnwindSafe(|| admit::admit(plan, &mut calls, &terms));
        let Ok(slots) = std::panic::catch_unwind(admitted) else {
            return answer::broken(calls);
        };
        let leash = Leash::new(&options.cancel);
        let gone = leash.batch.clone().drop_guard();
        let order = Order::of(slots.iter().map(|slot| match slot {
            Slot::Ready(admitted) => plan.at(admitted.place).map(|tool| &*tool.spec),
            Slot::Answered { .. } | Slot::Copy(_) => None,
        }));
        let batch = Arc::new(Batch {
            bounds: self.0.bounds.batch(plan.caller()),
            gate: Arc::clone(&self.0),
            plan: plan.clone(),
            calls,
            order,
            cancel: leash.batch.clone(),
            host: options.host,
            unheard: options.unheard,
            trace: options.trace,
            trace_state: options.trace_state,
            mark: options.mark,
            key: options.key,
            decider: None,
            reading: None,
            audience: options.audience,
        });
        let key_of = CallKey::batch();
        let ready = slots.iter().filter(|slot| matches!(slot, Slot::Ready(_))).count();
        let started: Vec<_> = slots
            .into_iter()
            .enumerate()
            .map(|(position, slot)| {
                Started::of(&batch, position, slot, key_of(position), ready == 1)
            })
            .collect();
        let ended = {
            // Pinned where it is made: it is large, and would be copied from hand to hand.
            let ending = pin!(async {
                let mut ended = Vec::with_capacity(started.len());
                for started in started {
                    ended.push(started.end(&batch).await);
                }
                ended
            });
            leash.hold(ending).await
        };
        if ended.iter().any(Ended::goes_on) {
            gone.disarm();
        }
        answer::report(batch, ended)
    }
}

/// One batch on its way, shared by the tasks of its calls.
struct Batch {
    gate: Arc<Gate>,
    plan: Plan,
    /// Without their arguments: those went with the admission.
    calls: Vec<Call>,
    order: Order,
    bounds: BatchBounds,
    cancel: CancellationToken,
    host: Option<Arc<dyn Host>>,
    unheard: Unheard,
    trace: Option<Trace>,
    trace_state: Option<TraceState>,
    mark: Option<Arc<str>>,
    key: Option<OnceKey>,
    /// Who decided about the ticket by which its call comes back.
    decider: Option<Arc<Caller>>,
    /// What policy is asked about where something is read that is no tool.
    reading: Option<Arc<ToolSpec>>,
    audience: Audience,
}

/// By which a host cancels a batch, until it has the answers: what then waits for a person goes on.
struct Leash<'a> {
    host: &'a CancellationToken,
    batch: CancellationToken,
}

impl<'a> Leash<'a> {
    fn new(host: &'a CancellationToken) -> Self {
        let batch = CancellationToken::new();
        if host.is_cancelled() {
            batch.cancel();
        }
        Self { host, batch }
    }

    async fn hold<T>(&self, mut work: Pin<&mut impl Future<Output = T>>) -> T {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.host.cancelled() => self.batch.cancel(),
        }
        work.await
    }
}

/// A call whose answer is there, or whose task was started.
enum Started {
    Ended(Box<Ended>),
    Running(Watched),
}

impl Started {
    fn of(batch: &Arc<Batch>, position: usize, slot: Slot, key: CallKey, alone: bool) -> Self {
        match slot {
            Slot::Copy(of) => Self::Ended(Box::new(Ended::copy(of))),
            Slot::Answered { outcome, repairs } => {
                let ended = Ended::unstarted(outcome, repairs);
                batch.tell_end((position, key), &ended, false, batch.trace.map(Trace::child));
                Self::Ended(Box::new(ended))
            }
            Slot::Ready(Admitted { place, arguments, repairs }) => {
                let batch = Arc::clone(batch);
                let (ticket, keys) = (None, Vec::new());
                let one = OneCall { batch, position, place, key, repairs, ticket, keys };
                Self::Running(Watched::start(one, arguments, alone))
            }
        }
    }

    async fn end(self, batch: &Arc<Batch>) -> Ended {
        match self {
            Self::Ended(ended) => *ended,
            Self::Running(watched) => watched.end(batch).await,
        }
    }
}
