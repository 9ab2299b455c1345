//! Who runs a run: asks the model, lets the crib run the calls, keeps the budget.

mod batch;
pub(crate) mod check;
mod children;
mod compaction;
mod decisions;
pub(crate) mod drift;
pub(crate) mod replay;
mod sample;
mod steps;
mod tape;
mod trace;
mod turn;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{
    BatchOptions, Call, Caller, Fingerprint, NewRun, Plan, Reference, Run, RunLedger,
    RunLedgerError, TicketId,
};

use crate::budget::Account;
use crate::event::RunEvent;
use crate::item::ThreadItem;
use crate::model::room::ModelRoom;
use crate::model::{CallChoice, CallerTool};
use crate::record::RunRecord;
use crate::record::run_tape::RunTape;
use crate::run::end::RunEnd;
use crate::run::notes::RunNotes;
use crate::run::trace::RequestTrace;
use crate::run::{RunEffect, RunInput, RunState};
use crate::team::Agent;
use crate::team::mode::TeamLimits;
use crate::usage::Usage;

/// One run of an agent for a caller.
pub struct AgentRun {
    agent: Arc<Agent>,
    caller: Arc<Caller>,
    state: RunState,
    account: Arc<Account>,
    next: RunEffect,
    /// Of the request that the model answered last: its calls are judged by what it was shown.
    plan: Option<Plan>,
    usage: Usage,
    /// While nobody was waited for.
    busy: Duration,
    /// Its end was told.
    is_told: bool,
    /// The tickets of which was told that they are waited for.
    told_tickets: Vec<TicketId>,
    /// What stands here is more than what was written.
    is_ahead: bool,
    past: RunPast,
    /// What goes with every batch; a host of its own hears of the calls in the place of the events.
    options: BatchOptions,
    /// Cancelled when the process ends: what was begun may end, and nothing else begins.
    hold: CancellationToken,
    /// Whether it waits for a model for longer than a request may take.
    defers: bool,
    /// When the model wants to be asked again, in seconds since 1970.
    deferred_until: Option<u64>,
    room: ModelRoom,
    /// The last ones.
    requests: Vec<RequestTrace>,
    record: Option<RunRecord>,
    /// What came to it.
    tape: RunTape,
    /// The same in detail, of one of many samples.
    notes: Option<Box<RunNotes>>,
    /// The runs that work for it.
    children: Children,
    /// What all runs share that work for one another.
    tree: RunTree,
    /// Its place among those that work, of one that works for another.
    place: WorkPlace,
    kept_at: ThreadPlace,
    /// How long the ledger of calls remembers their keys.
    keys_for: Duration,
}

/// A run that works for another one.
struct ChildRun {
    id: String,
    /// Of its thread, as the model that gave the task is told it.
    thread: String,
    /// From the first run of the tree: `billing-1/search-2`.
    path: String,
    task: Fingerprint,
    /// The call that it answers.
    call: Call,
    hands_over: bool,
    began: Instant,
    run: AgentRun,
}

/// Those of one run that have not ended, each under the ticket that its call waits under.
#[derive(Default)]
struct Children {
    open: BTreeMap<TicketId, ChildRun>,
    /// Threads of those that have ended, where no ledger has them.
    threads: HashMap<String, (String, Vec<ThreadItem>)>,
}

/// What all runs of a tree share.
#[derive(Clone)]
struct RunTree {
    depth: usize,
    active: Arc<Semaphore>,
}

/// A place among the runs of a tree that work.
type WorkPlace = Option<OwnedSemaphorePermit>;

/// Where the first run of a tree is written down.
#[derive(Clone, Default)]
struct ThreadPlace {
    /// `None`: nowhere.
    ledger: Option<Arc<dyn RunLedger>>,
    thread: String,
    profile: Option<String>,
}

/// What is not known of a run that another process drove before.
#[derive(Default)]
struct RunPast {
    /// It stood still for so long that the keys of its calls may be forgotten.
    is_old: bool,
    /// The model may have been asked, and its answer lost.
    has_lost_request: bool,
    /// Its first batch may have begun: somebody may let a call of it run at this moment.
    is_taken_up: bool,
}

/// What a run is about.
pub struct RunOrder {
    pub agent: Arc<Agent>,
    pub caller: Arc<Caller>,
    /// The thread, whose last item is what the user says.
    pub thread: Vec<ThreadItem>,
    /// Sources that the thread has already, in the order of their numbers, which stay.
    pub sources: Vec<Reference>,
    /// Tools that whoever asks runs itself.
    pub caller_tools: Vec<CallerTool>,
    /// What is wanted of the calls of the run.
    pub choice: CallChoice,
    /// Whether the model hears of a batch only when nothing of it waits for a person any more; else
    /// it is told of the ticket, and may answer in words.
    pub waits_for_people: bool,
}

/// Why a run does not go on by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum RunPause {
    /// Each of these is to be decided by [`AgentRun::decide`], or by whoever else decides about it;
    /// then [`AgentRun::look`] hears of it. Or [`AgentRun::go_on`].
    Waiting(Vec<TicketId>),
    Ended(RunEnd),
    /// It is to go on in another process: see [`AgentRun::with_hold`].
    Held,
    /// The model wants to be asked again at this moment, in seconds since 1970, and no earlier: see
    /// [`AgentRun::with_deferral`]. A cancelled run waits for nothing.
    Deferred {
        until: u64,
    },
}

/// Tells of the run while it goes on.
type Listener<'a> = &'a mut (dyn FnMut(RunEvent) + Send);

impl AgentRun {
    /// A run that goes on with a thread, and of which nothing is written down.
    pub fn new(order: RunOrder) -> Self {
        Self::named(String::new(), order)
    }

    /// The same under an id, which names the keys of its calls.
    pub fn under_id(id: String, order: RunOrder) -> Self {
        Self::named(id, order)
    }

    /// A run of which every step is written down before the next begins. Nobody but `run.id` has
    /// to be remembered to go on with it.
    pub async fn recorded(
        order: RunOrder,
        ledger: Arc<dyn RunLedger>,
        run: NewRun,
    ) -> Result<Self, RunLedgerError> {
        let mut begun = Self::named(run.id.clone(), order);
        begun.kept_at = ThreadPlace {
            ledger: Some(Arc::clone(&ledger)),
            thread: run.thread.clone(),
            profile: run.profile.clone(),
        };
        begun.written_down(ledger, run).await
    }

    async fn written_down(
        mut self,
        ledger: Arc<dyn RunLedger>,
        run: NewRun,
    ) -> Result<Self, RunLedgerError> {
        let mut record = RunRecord::new(ledger, run.id.clone());
        self.begin_tape();
        let tape = self.tape.drain();
        record.begin(run, &self.without_items(), &self.state.items, &tape).await?;
        self.record = Some(record);
        Ok(self)
    }

    fn named(id: String, order: RunOrder) -> Self {
        let RunOrder { agent, caller, thread, sources, caller_tools, choice, waits_for_people } =
            order;
        let account = Account::new(agent.budget, agent.model.settings().price);
        let mut state = RunState::new(id, thread, caller_tools, waits_for_people);
        state.run = Run::with_sources(sources);
        state.choice = choice;
        state.checks = agent.checks.rules();
        let next = state.again();
        let tree = tree_of(&agent);
        Self {
            agent,
            caller,
            state,
            account,
            next,
            children: Children::default(),
            tree,
            place: None,
            kept_at: ThreadPlace::default(),
            keys_for: Duration::MAX,
            plan: None,
            usage: Usage::default(),
            busy: Duration::ZERO,
            is_told: false,
            told_tickets: Vec::new(),
            is_ahead: false,
            past: RunPast::default(),
            options: BatchOptions::default(),
            hold: CancellationToken::new(),
            defers: false,
            deferred_until: None,
            room: ModelRoom::default(),
            requests: Vec::new(),
            record: None,
            tape: RunTape::None,
            notes: None,
        }
    }

    /// What goes with every batch. A host among it hears what calls tell, and answers what they ask.
    #[must_use]
    pub fn with_options(self, options: BatchOptions) -> Self {
        Self { options, ..self }
    }

    /// Once the token is cancelled, the calls that run may end and nothing else begins: the run is
    /// as it was written last, and another process goes on with it.
    #[must_use]
    pub fn with_hold(self, hold: CancellationToken) -> Self {
        Self { hold, ..self }
    }

    /// Where the model wants to be asked again only after a longer time than is waited within a
    /// request, the run pauses until then and does not fail.
    #[must_use]
    pub fn with_deferral(self) -> Self {
        Self { defers: true, ..self }
    }

    /// All of the thread, with what this run added.
    pub fn items(&self) -> &[ThreadItem] {
        &self.state.items
    }

    /// The sources of the thread, in the order of their numbers.
    pub fn sources(&self) -> Vec<Reference> {
        self.state.run.sources().cloned().collect()
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn account(&self) -> &Account {
        &self.account
    }

    pub fn turn(&self) -> u32 {
        self.state.turn
    }

    /// Goes on until somebody is needed or the run has ended.
    pub async fn go(&mut self, tell: Listener<'_>, cancel: &CancellationToken) -> RunPause {
        loop {
            let pause = match &self.next {
                RunEffect::End(end) => Some(RunPause::Ended(end.clone())),
                RunEffect::Wait(_) if !self.children.ready().is_empty() => None,
                RunEffect::Wait(tickets) => {
                    Some(RunPause::Waiting(self.tickets_of_people(tickets)))
                }
                RunEffect::Ask { .. } => self.deferral(cancel),
                RunEffect::Call(_) | RunEffect::Check { .. } => None,
            };
            let told = match &pause {
                Some(pause) => self.pause_events(pause).await,
                None => Vec::new(),
            };
            if let Err(error) = self.write(pause.as_ref()).await {
                return RunPause::Ended(self.unwritten(&error, tell));
            }
            // Whoever hears of it finds it written.
            told.into_iter().for_each(&mut *tell);
            if let Some(pause) = pause {
                return pause;
            }
            if self.hold.is_cancelled() || !self.tape.leads_on(&self.next) {
                return RunPause::Held;
            }
            self.is_ahead = self.go_one_step(tell, cancel).await;
        }
    }

    /// Whether anything came of it.
    async fn go_one_step(&mut self, tell: Listener<'_>, cancel: &CancellationToken) -> bool {
        let began = Instant::now();
        let mut record = self.record.take();
        let mut both = |event: RunEvent| {
            if let Some(record) = &mut record {
                record.note(event.clone());
            }
            tell(event);
        };
        let input = match &mut self.next {
            RunEffect::End(_) => None,
            RunEffect::Wait(_) => {
                self.go_on_with_children(&mut both, cancel).await;
                None
            }
            RunEffect::Ask { is_last } => {
                let is_last = *is_last;
                self.ask(is_last, &mut both, cancel).await
            }
            RunEffect::Check { names, answer } => {
                let (names, answer) = (std::mem::take(names), std::mem::take(answer));
                let judged = self.judge(&names, &answer, &mut both, cancel).await;
                if judged.is_none() {
                    self.next = RunEffect::Check { names, answer };
                }
                judged
            }
            RunEffect::Call(calls) => {
                let calls = std::mem::take(calls);
                let report = self.call(calls, &mut both, cancel).await;
                if report.is_none() {
                    self.next = self.state.again();
                }
                report.map(RunInput::Ran)
            }
        };
        self.record = record;
        self.busy += began.elapsed();
        let Some(input) = input else { return self.deferred_until.is_some() };
        let has_run = matches!(input, RunInput::Ran(_));
        let is_said = matches!(input, RunInput::Answered(_) | RunInput::Judged(_));
        self.next = self.take(input);
        if is_said && self.state.checks.gate {
            self.tell_answer(tell);
        }
        // What ran is on record; the thread is told of it too.
        if has_run && !matches!(self.next, RunEffect::End(_)) && self.tape.was_cancelled(cancel) {
            self.next = self.take(RunInput::Cancelled);
        }
        true
    }

    fn take(&mut self, input: RunInput) -> RunEffect {
        self.state.step(input, self.agent.model.dialect())
    }
}

/// What the runs share that begin with one of this agent.
fn tree_of(agent: &Agent) -> RunTree {
    let limits = agent.team.as_ref().map_or_else(TeamLimits::default, |team| team.limits);
    RunTree::new(limits)
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
