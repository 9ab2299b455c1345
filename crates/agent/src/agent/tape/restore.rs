//! A run as data, and back.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolcrib_core::{BatchOptions, Caller, RunLedger, StoredRun};

use crate::agent::{Agent, AgentRun, Children, RunPast, ThreadPlace, tree_of};
use crate::budget::{Account, Spent};
use crate::model::room::ModelRoom;
use crate::record::RunRecord;
use crate::record::run_tape::RunTape;
use crate::run::RunEffect;
use crate::saved::{RestoreError, SAVED_VERSION, SavedRun};

impl AgentRun {
    /// The run as it is now. At a pause it can be gone on with; what was asked of the model and is
    /// not answered yet is asked again.
    pub fn saved(&self) -> SavedRun {
        SavedRun { items: self.state.items.clone(), ..self.without_items() }
    }

    pub(in crate::agent) fn without_items(&self) -> SavedRun {
        let end = if let RunEffect::End(end) = &self.next { Some(end.clone()) } else { None };
        SavedRun {
            version: SAVED_VERSION,
            state: self.state.bare(),
            items: Vec::new(),
            spent: self.spent_without_children(),
            usage: self.usage,
            busy: self.busy,
            deferred_until: self.deferred_until,
            requests: self.requests.clone(),
            end,
        }
    }

    /// A run that was saved, for the agent and the caller that it was of.
    pub fn restored(
        agent: Arc<Agent>,
        caller: Arc<Caller>,
        saved: SavedRun,
    ) -> Result<Self, RestoreError> {
        if saved.version > SAVED_VERSION {
            return Err(RestoreError::Newer(saved.version));
        }
        let price = agent.model.settings().price;
        let account = Account::going_on(agent.budget, price, saved.spent);
        let mut state = saved.state;
        state.items = saved.items;
        state.checks = agent.checks.rules();
        let is_told = saved.end.is_some();
        let next = saved.end.map_or_else(|| state.again(), RunEffect::End);
        let told_tickets =
            if let RunEffect::Wait(tickets) = &next { tickets.clone() } else { Vec::new() };
        let tree = tree_of(&agent);
        Ok(Self {
            agent,
            children: Children::default(),
            tree,
            place: None,
            kept_at: ThreadPlace::default(),
            keys_for: Duration::MAX,
            caller,
            account,
            next,
            plan: None,
            usage: saved.usage,
            busy: saved.busy,
            is_told,
            told_tickets,
            is_ahead: false,
            past: RunPast {
                has_lost_request: state.asks() && saved.deferred_until.is_none(),
                ..RunPast::default()
            },
            options: BatchOptions::default(),
            hold: CancellationToken::new(),
            defers: false,
            deferred_until: saved.deferred_until,
            room: ModelRoom::default(),
            requests: saved.requests,
            record: None,
            tape: RunTape::None,
            notes: None,
            state,
        })
    }

    /// A run that was written down, whoever wrote it. Calls that had begun are not made again: what
    /// is on record of them is told.
    ///
    /// `keys_for`: how long the ledger of calls remembers their keys. For a run that stood still for
    /// half of it, they may be forgotten.
    pub fn resumed(
        agent: Arc<Agent>,
        ledger: Arc<dyn RunLedger>,
        stored: StoredRun,
        keys_for: Duration,
    ) -> Result<Self, RestoreError> {
        let unreadable = |error: serde_json::Error| RestoreError::Unreadable(error.to_string());
        let mut saved: SavedRun = serde_json::from_str(&stored.state).map_err(unreadable)?;
        let items = stored.items.iter().map(|item| serde_json::from_str(item));
        saved.items = items.collect::<Result<_, _>>().map_err(unreadable)?;
        let written = saved.items.len();
        let stood = stored.summary.changed.elapsed().unwrap_or_default();
        let (thread, profile) = (stored.summary.thread, stored.summary.profile);
        let mut run = Self::restored(agent, Arc::new(stored.summary.caller), saved)?;
        run.kept_at = ThreadPlace { ledger: Some(Arc::clone(&ledger)), thread, profile };
        run.keys_for = keys_for;
        run.past.is_old = stood > keys_for / 2;
        run.past.is_taken_up = true;
        let id = stored.summary.id;
        run.record = Some(RunRecord::after(ledger, id, stored.steps, written));
        run.resume_tape();
        Ok(run)
    }

    /// What it has spent without those that work for it now: each of them is written down with its
    /// own.
    fn spent_without_children(&self) -> Spent {
        let children = self.children.open.values();
        let theirs = children.map(|child| child.run.account.saved());
        theirs.fold(self.account.saved(), Spent::without)
    }
}
