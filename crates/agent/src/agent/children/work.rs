//! The runs that work for a run: driven at the same time, each until it has ended or waits for a
//! person.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{BoxFuture, Call, TicketId};

use super::super::{AgentRun, ChildRun, Children, Listener, RunPause, RunTree, WorkPlace, now};
use crate::event::RunEvent;
use crate::run::end::RunEnd;
use crate::team::mode::TeamLimits;

/// How often it is looked what became of the tickets of those that wait while others work.
const LOOKS: Duration = Duration::from_millis(250);

/// How the ticket of a call begins that waits for a run and not for a person.
const RUN: &str = "run:";

/// What driving came to.
#[derive(Default)]
pub(in crate::agent) struct ChildOutcomes {
    pub(in crate::agent) ended: Vec<EndedChild>,
    /// The process ends, and another one goes on with some.
    pub(in crate::agent) is_held: bool,
    /// Some broke by a fault of ours, each with its call.
    pub(in crate::agent) broken: Vec<(TicketId, Call)>,
}

pub(in crate::agent) struct EndedChild {
    pub(in crate::agent) ticket: TicketId,
    pub(in crate::agent) child: ChildRun,
    pub(in crate::agent) end: RunEnd,
    /// The time of the one that it works for was over.
    pub(in crate::agent) is_late: bool,
}

impl RunTree {
    pub(in crate::agent) fn new(limits: TeamLimits) -> Self {
        Self { depth: limits.depth, active: Arc::new(Semaphore::new(limits.active.max(1))) }
    }

    /// A place among those that work; `None`: the run is cancelled meanwhile, or to be held.
    pub(in crate::agent) async fn place(
        &self,
        run: &AgentRun,
        cancel: &CancellationToken,
    ) -> WorkPlace {
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            () = run.hold.cancelled() => None,
            place = Arc::clone(&self.active).acquire_owned() => place.ok(),
        }
    }
}

/// Whether a call waits under this ticket for a run, and not for a person.
pub(in crate::agent) fn is_of_run(ticket: &TicketId) -> bool {
    ticket.as_str().starts_with(RUN)
}

pub(in crate::agent) fn ticket_of(run: &str) -> TicketId {
    TicketId::claimed(format!("{RUN}{run}"))
}

impl ChildRun {
    /// Tells what it tells, as the one that it works for tells it.
    pub(in crate::agent) fn relay<'a>(
        &self,
        mut tell: impl FnMut(RunEvent) + Send + 'a,
    ) -> impl FnMut(RunEvent) + Send + 'a {
        let (path, id) = (self.path.clone(), self.id.clone());
        move |event| tell(relayed(&path, &id, event))
    }

    /// The tickets that it waits for.
    pub(in crate::agent) fn tickets(&self) -> Vec<TicketId> {
        self.run.open_tickets()
    }
}

pub(in crate::agent) fn relayed(path: &str, run: &str, event: RunEvent) -> RunEvent {
    // The path of those below it is whole already.
    if matches!(event, RunEvent::Child { .. } | RunEvent::ChildStarted { .. }) {
        return event;
    }
    RunEvent::Child { path: path.to_owned(), run: run.to_owned(), event: Box::new(event) }
}

impl Children {
    pub(in crate::agent) fn ready(&self) -> Vec<TicketId> {
        let ready = self.open.iter().filter(|(_, child)| !child.run.is_waiting());
        ready.map(|(ticket, _)| ticket.clone()).collect()
    }

    /// Drives these at the same time, each until it has ended or waits for a person. One that waits
    /// goes on as soon as somebody decides, while others work. Those that wait in the end stay open.
    pub(in crate::agent) async fn drive(
        &mut self,
        tickets: Vec<TicketId>,
        within: Duration,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> ChildOutcomes {
        let mut work = ChildWork::new(cancel);
        for ticket in tickets {
            if let Some(child) = self.open.remove(&ticket) {
                work.begin(ticket, child);
            }
        }
        let mut late = std::pin::pin!(tokio::time::sleep(within));
        let mut looks = tokio::time::interval_at(Instant::now() + LOOKS, LOOKS);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = work.heard.take();
        while !work.is_idle().await {
            let events = async {
                match &mut heard {
                    Some(heard) => heard.recv().await,
                    None => None,
                }
            };
            tokio::select! {
                biased;
                Some(event) = events => tell(event),
                Some(joined) = work.tasks.join_next_with_id() => work.joined(joined),
                () = &mut late, if !work.is_late => {
                    work.is_late = true;
                    work.cancel.cancel();
                }
                _ = looks.tick() => work.look().await,
            }
        }
        while let Some(event) = heard.as_mut().and_then(|heard| heard.try_recv().ok()) {
            tell(event);
        }
        self.open.extend(work.waiting);
        self.open.extend(work.held);
        work.outcomes
    }
}

/// Children at work.
struct ChildWork {
    tasks: JoinSet<(TicketId, ChildRun, RunPause)>,
    /// Whose task it is, should it break.
    calls: HashMap<Id, (TicketId, Call)>,
    waiting: Vec<(TicketId, ChildRun)>,
    held: Vec<(TicketId, ChildRun)>,
    outcomes: ChildOutcomes,
    cancel: CancellationToken,
    is_late: bool,
    tell: UnboundedSender<RunEvent>,
    heard: Option<mpsc::UnboundedReceiver<RunEvent>>,
}

type JoinedChild = Result<(Id, (TicketId, ChildRun, RunPause)), tokio::task::JoinError>;

impl ChildWork {
    fn new(cancel: &CancellationToken) -> Self {
        let (tell, heard) = mpsc::unbounded_channel();
        Self {
            tasks: JoinSet::new(),
            calls: HashMap::new(),
            waiting: Vec::new(),
            held: Vec::new(),
            outcomes: ChildOutcomes::default(),
            cancel: cancel.child_token(),
            is_late: false,
            tell,
            heard: Some(heard),
        }
    }

    fn begin(&mut self, ticket: TicketId, child: ChildRun) {
        let call = child.call.clone();
        let driving = driven(ticket.clone(), child, self.tell.clone(), self.cancel.clone());
        let task = self.tasks.spawn(driving);
        self.calls.insert(task.id(), (ticket, call));
    }

    fn joined(&mut self, joined: JoinedChild) {
        match joined {
            Ok((id, (ticket, child, pause))) => {
                self.calls.remove(&id);
                match pause {
                    RunPause::Ended(end) => {
                        let is_late = self.is_late;
                        self.outcomes.ended.push(EndedChild { ticket, child, end, is_late });
                    }
                    RunPause::Waiting(_) => self.waiting.push((ticket, child)),
                    RunPause::Held | RunPause::Deferred { .. } => {
                        self.outcomes.is_held = true;
                        self.held.push((ticket, child));
                    }
                }
            }
            Err(error) => {
                let broken = self.calls.remove(&error.id());
                self.outcomes.broken.extend(broken);
            }
        }
    }

    /// Whether nobody works any more. Those that wait are ended first, once the run is cancelled.
    async fn is_idle(&mut self) -> bool {
        if self.tasks.is_empty() && self.cancel.is_cancelled() {
            for (ticket, mut child) in std::mem::take(&mut self.waiting) {
                let mut tell = child.relay(sending(self.tell.clone()));
                if Box::pin(child.run.stop(&mut tell)).await {
                    self.begin(ticket, child);
                } else {
                    self.waiting.push((ticket, child));
                }
            }
        }
        self.tasks.is_empty()
    }

    async fn look(&mut self) {
        for (ticket, mut child) in std::mem::take(&mut self.waiting) {
            let mut tell = child.relay(sending(self.tell.clone()));
            Box::pin(child.run.look(&mut tell)).await;
            if child.run.is_waiting() {
                self.waiting.push((ticket, child));
            } else {
                self.begin(ticket, child);
            }
        }
    }
}

/// Whoever listens may have gone.
fn sending(tell: UnboundedSender<RunEvent>) -> impl FnMut(RunEvent) + Send {
    move |event| drop(tell.send(event))
}

/// Drives one. Its type is named, since it may drive others in turn.
fn driven(
    ticket: TicketId,
    mut child: ChildRun,
    tell: UnboundedSender<RunEvent>,
    cancel: CancellationToken,
) -> BoxFuture<'static, (TicketId, ChildRun, RunPause)> {
    Box::pin(async move {
        let mut tell = child.relay(sending(tell));
        let pause = loop {
            child.run.place = child.run.tree.clone().place(&child.run, &cancel).await;
            let pause = child.run.go(&mut tell, &cancel).await;
            child.run.place = None;
            let RunPause::Deferred { until } = pause else { break pause };
            let left = Duration::from_secs(until.saturating_sub(now()));
            tokio::select! {
                () = tokio::time::sleep(left) => {}
                () = cancel.cancelled() => {}
                () = child.run.hold.cancelled() => break RunPause::Held,
            }
        };
        (ticket, child, pause)
    })
}
