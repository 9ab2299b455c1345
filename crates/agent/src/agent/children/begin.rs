//! How a run that works for another one begins, or is taken up again.

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{
    Call, Caller, Fingerprint, NewRun, Response, RunLedger, RunStage, StoredRun, TicketId,
};

use super::super::{Agent, AgentRun, ChildRun, Listener, RunOrder, ThreadPlace};
use super::answers::failed;
use super::work::{is_of_run, relayed, ticket_of};
use crate::event::RunEvent;
use crate::event::stored::events_of;
use crate::item::ThreadItem;
use crate::model::CallChoice;
use crate::run::WaitingCall;
use crate::saved::RestoreError;
use crate::team::lineage::{Lineage, task_print};
use crate::team::names::HAND_OVER;
use crate::team::wish::{DelegatedTask, TeamWish};

/// Letters of the mark by which the threads of one specialist are told apart.
const MARK: usize = 6;

impl AgentRun {
    /// Gives a task to a specialist. One that was begun under the same call before is gone on with.
    pub(super) async fn given(
        &mut self,
        place: usize,
        call: &Call,
        (specialist, task): (&str, DelegatedTask),
        tell: Listener<'_>,
    ) -> Result<TicketId, Box<Response>> {
        let none = || {
            let team = self.agent.team.as_ref();
            let names = team.iter().flat_map(|team| &team.specialists).take(30);
            let names: Vec<_> = names.map(|one| format!("`{}`", one.agent.name)).collect();
            let known = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
            failed(call, format!("there is no specialist `{specialist}`: there is {known}"))
        };
        let agent = self.agent.team.as_ref().and_then(|team| team.find(specialist));
        let agent = Arc::clone(&agent.ok_or_else(none)?.agent);
        let print = task_print(specialist, &task);
        let memory = &self.state.team;
        if memory.lineage.depth() >= self.tree.depth {
            let depth = self.tree.depth;
            let why = format!("not run: {depth} below each other are the most; do it yourself");
            return Err(failed(call, why));
        }
        if memory.lineage.has(print) {
            let why = "not run: somebody above you waits for this very task. Do it yourself, or say \
                       that it cannot be done";
            return Err(failed(call, why.to_owned()));
        }
        if memory.is_repeated(print) {
            let why = "not run: this task was given to this specialist before and brought the same \
                       answer each time. It stands above";
            return Err(failed(call, why.to_owned()));
        }
        let id = self.child_id(place, call);
        let ticket = ticket_of(&id);
        let child = self.child(id, (call, print), (agent, task), tell).await;
        let child = child.map_err(|why| failed(call, why))?;
        self.children.open.insert(ticket.clone(), child);
        Ok(ticket)
    }

    /// The same in every process that makes this call.
    fn child_id(&self, place: usize, call: &Call) -> String {
        let of_key = call.key.as_deref().and_then(|key| key.strip_prefix("run:"));
        let parts = of_key.map(|key| key.rsplitn(3, ':').collect::<Vec<_>>());
        match parts.as_deref() {
            Some([place, turn, run]) => format!("{run}.{turn}.{place}"),
            _ => format!("{}.{place}", self.state.turn),
        }
    }

    /// The run of a specialist: a new one, or as it was written down.
    async fn child(
        &mut self,
        id: String,
        (call, print): (&Call, Fingerprint),
        (agent, task): (Arc<Agent>, DelegatedTask),
        tell: Listener<'_>,
    ) -> Result<ChildRun, String> {
        let mark = Fingerprint::of(&id.as_str().into()).to_string();
        let mark: String = mark.chars().take(MARK).collect();
        let thread = task.thread.clone().unwrap_or_else(|| format!("{}-{mark}", agent.name));
        let lineage = self.state.team.lineage.to(&thread, print);
        let path = lineage.path();
        let ledger = self.kept_at.ledger.clone();
        let stored = match &ledger {
            Some(ledger) => ledger.load(&id).await.map_err(|error| error.to_string())?,
            None => None,
        };
        tell(RunEvent::ChildStarted {
            path: path.clone(),
            run: id.clone(),
            agent: agent.name.clone(),
            task: task.task.clone(),
            call: call.id.clone(),
        });
        let run = if let (Some(stored), Some(ledger)) = (stored, ledger) {
            self.tell_again(&*ledger, (&path, &id), tell).await;
            self.child_resumed(agent, ledger, stored).map_err(|error| error.to_string())?
        } else {
            self.child_begun((&id, &thread), lineage, agent, &task).await?
        };
        let mut run = run.with_options(self.options.clone()).with_hold(self.hold.clone());
        run.defers = self.defers;
        run.tree = self.tree.clone();
        run.kept_at = self.kept_at.clone();
        run.notes = self.notes.as_ref().map(|notes| Box::new(notes.of_child()));
        let hands_over = call.wire.name == HAND_OVER;
        let (call, began) = (call.clone(), Instant::now());
        Ok(ChildRun { id, thread, path, task: print, call, hands_over, began, run })
    }

    async fn child_begun(
        &self,
        (id, thread): (&str, &str),
        lineage: Lineage,
        agent: Arc<Agent>,
        task: &DelegatedTask,
    ) -> Result<Self, String> {
        let ledger = self.kept_at.ledger.clone();
        let before = self.thread_before(task, &agent.name, ledger.as_deref()).await?;
        let (mut items, previous) = before;
        items.push(ThreadItem::user(words_of(task)));
        let order = RunOrder {
            agent,
            caller: Arc::clone(&self.caller),
            thread: items,
            sources: Vec::new(),
            caller_tools: Vec::new(),
            choice: CallChoice::Free,
            waits_for_people: self.state.waits_for_people(),
        };
        // A sample begins anew under its id, and so do those that work for it.
        let is_named = ledger.is_some() || self.notes.is_some();
        let named = is_named.then(|| id.to_owned());
        let mut run = Self::named(named.unwrap_or_default(), order);
        run.state.team.lineage = lineage;
        thread.clone_into(&mut run.state.team.thread);
        let price = run.agent.model.settings().price;
        run.account = self.account.child(run.agent.budget, price);
        let Some(ledger) = ledger else { return Ok(run) };
        let new = self.new_child(id, thread, previous, &run);
        run.written_down(ledger, new).await.map_err(|error| error.to_string())
    }

    /// Tells what a child told before the process that drove it ended: the events of this run from
    /// then are lost.
    async fn tell_again(
        &self,
        ledger: &dyn RunLedger,
        (path, id): (&str, &str),
        tell: Listener<'_>,
    ) {
        let Ok(rows) = ledger.events(id, 0, usize::MAX).await else { return };
        for event in events_of(&rows).unwrap_or_default() {
            tell(relayed(path, id, event));
        }
    }

    fn child_resumed(
        &self,
        agent: Arc<Agent>,
        ledger: Arc<dyn RunLedger>,
        stored: StoredRun,
    ) -> Result<Self, RestoreError> {
        let keys_for = self.keys_for;
        let mut run = Self::resumed(agent, ledger, stored, keys_for)?;
        let (budget, price) = (run.agent.budget, run.agent.model.settings().price);
        // This run was written without what its children have spent.
        run.account = self.account.child_going_on(budget, price, run.account.saved());
        Ok(run)
    }

    fn new_child(&self, id: &str, thread: &str, previous: Option<String>, run: &Self) -> NewRun {
        let ThreadPlace { thread: of, profile, .. } = self.kept_at.clone();
        NewRun {
            id: id.to_owned(),
            caller: Caller::clone(&self.caller),
            thread: format!("{of}/{thread}"),
            previous,
            parent: Some(self.state.id().to_owned()),
            agent: run.agent.name.clone(),
            profile,
            request: "{}".to_owned(),
        }
    }

    /// The thread that a task goes on with, and its last run.
    async fn thread_before(
        &self,
        task: &DelegatedTask,
        agent: &str,
        ledger: Option<&dyn RunLedger>,
    ) -> Result<(Vec<ThreadItem>, Option<String>), String> {
        let Some(thread) = &task.thread else { return Ok((Vec::new(), None)) };
        let unknown = || {
            format!(
                "`{agent}` has no thread `{thread}` that has ended: leave `thread` out to begin one"
            )
        };
        let Some(ledger) = ledger else {
            let (of, items) = self.children.threads.get(thread).ok_or_else(unknown)?;
            return if of == agent { Ok((items.clone(), None)) } else { Err(unknown()) };
        };
        let of = &self.kept_at.thread;
        let runs = ledger.thread(&self.caller, &format!("{of}/{thread}")).await;
        let last = runs.map_err(|error| error.to_string())?.pop().ok_or_else(unknown)?;
        if last.agent != agent || last.stage != RunStage::Ended {
            return Err(unknown());
        }
        let stored = ledger.load(&last.id).await.map_err(|error| error.to_string())?;
        let stored = stored.ok_or_else(unknown)?;
        let items = stored.items.iter().map(|item| serde_json::from_str(item));
        let items = items.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        Ok((items, Some(last.id)))
    }

    /// Loads the children that calls wait for, after a restart.
    pub(in crate::agent) async fn load_children(&mut self, tell: Listener<'_>) {
        for WaitingCall { ticket, call, .. } in self.state.waiting_calls() {
            if is_of_run(&ticket) && !self.children.open.contains_key(&ticket) {
                self.load_child(call.call()).await.into_iter().for_each(|why| {
                    tell(RunEvent::Notice { text: why });
                });
            }
        }
    }

    /// Why it could not be loaded.
    async fn load_child(&mut self, call: Call) -> Option<String> {
        let Ok(TeamWish::Delegate { specialist, task } | TeamWish::HandOver { specialist, task }) =
            TeamWish::read(&call)
        else {
            return None;
        };
        let id = self.child_id(0, &call);
        let agent = self.agent.team.as_ref().and_then(|team| team.find(&specialist));
        let Some(agent) = agent.map(|one| Arc::clone(&one.agent)) else {
            return Some(format!("there is no specialist `{specialist}` any more"));
        };
        let print = task_print(&specialist, &task);
        // What it told is written with the events of this run.
        let loaded = self.child(id.clone(), (&call, print), (agent, task), &mut |_| {}).await;
        match loaded {
            Ok(child) => {
                self.children.open.insert(ticket_of(&id), child);
                None
            }
            Err(why) => Some(why),
        }
    }

    /// Ends those that a process before began for a batch of this run.
    pub(in crate::agent) async fn abandon_children(&mut self, tell: Listener<'_>) {
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        for call in self.state.calls() {
            let Some(ledger) = self.kept_at.ledger.clone() else { break };
            if self.is_of_team(&call.wire.name) {
                let id = self.child_id(0, &call);
                if matches!(ledger.load(&id).await, Ok(Some(_))) {
                    self.load_child(call).await;
                }
            }
        }
        let mut children = std::mem::take(&mut self.children);
        for child in children.open.values_mut() {
            Box::pin(child.run.abandon(tell)).await;
            Box::pin(child.run.go(&mut |_| {}, &cancelled)).await;
        }
    }
}

/// A task as its specialist is told it.
fn words_of(task: &DelegatedTask) -> String {
    let mut said = task.task.clone();
    if let Some(expected) = task.expected.as_deref().filter(|text| !text.trim().is_empty()) {
        said.push_str("\n\nThe answer is to have: ");
        said.push_str(expected);
    }
    let inputs: Vec<_> = task.inputs.iter().flatten().map(|handle| format!("`{handle}`")).collect();
    if !inputs.is_empty() {
        said.push_str("\n\nRead these results by their handles: ");
        said.push_str(&inputs.join(", "));
    }
    said
}
