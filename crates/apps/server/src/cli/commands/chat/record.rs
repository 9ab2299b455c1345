//! The runs of the chats with an agent, written down: one that was left in the middle goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use toolcrib_agent::{Agent, AgentRun, RunOrder};
use toolcrib_config::Config;
use toolcrib_core::{Caller, Fingerprint, Ledger, NewRun, RunLedger, RunStage, StoredRun};
use toolcrib_store::{Store, StoreError};
use uuid::Uuid;

use crate::cli::context::CommandConfig;
use crate::cli::output::Output;
use crate::config;
use crate::config::record::bounds;

/// Where the runs of an agent are kept.
#[derive(Clone)]
pub(super) struct ChatRecord(Store);

/// A thread of the terminal: the runs that follow each other in it.
pub(super) struct ChatThread {
    id: String,
    /// The run before.
    last: Option<String>,
}

impl ChatRecord {
    /// `None`: there is no place for it, or another chat writes there. That is told.
    pub(super) fn open(read: &CommandConfig, agent: &str, output: &Output) -> Option<Self> {
        let place = place(read, agent)?;
        let found = opened(&place, &read.checked);
        let in_use = |error: &anyhow::Error| {
            matches!(error.downcast_ref::<StoreError>(), Some(StoreError::Owned { .. }))
        };
        match found {
            Ok(store) => return Some(Self(store)),
            Err(error) if in_use(&error) => output.note(&format!(
                "another chat with `{agent}` is open: this one is not kept when it ends"
            )),
            Err(error) => {
                output.warn(&[format!("this chat is not kept when it ends: {error:#}")]);
            }
        }
        None
    }

    /// What calls and tickets are kept in.
    pub(super) fn ledger(&self) -> Arc<dyn Ledger> {
        Arc::new(self.0.clone())
    }

    fn runs(&self) -> Arc<dyn RunLedger> {
        Arc::new(self.0.clone())
    }

    /// The run that began last.
    pub(super) async fn last(&self, caller: &Caller) -> Result<Option<StoredRun>> {
        let newest = self.0.list(caller, None, 1).await?;
        let Some(newest) = newest.first() else { return Ok(None) };
        Ok(self.0.load(&newest.id).await?)
    }

    /// Whether the run that began last is not over.
    pub(super) async fn has_unfinished(&self, caller: &Caller) -> Result<bool> {
        let newest = self.0.list(caller, None, 1).await?;
        Ok(newest.first().is_some_and(|run| run.stage != RunStage::Ended))
    }

    /// Begins a run in a thread; `asked`: what the person said.
    pub(super) async fn begin(
        &self,
        thread: &mut ChatThread,
        order: RunOrder,
        profile: Option<String>,
        asked: &str,
    ) -> Result<AgentRun> {
        let id = Uuid::new_v4().simple().to_string();
        let previous = thread.last.replace(id.clone());
        let request = serde_json::json!({ "input": asked }).to_string();
        let run = NewRun {
            id,
            caller: (*order.caller).clone(),
            thread: thread.id.clone(),
            previous,
            parent: None,
            agent: order.agent.name.clone(),
            profile,
            request,
        };
        let begun = AgentRun::recorded(order, self.runs(), run).await;
        begun.context("cannot write down what the agent is to do")
    }

    /// A run that was written down, as it stands.
    pub(super) fn resume(
        &self,
        agent: Arc<Agent>,
        stored: StoredRun,
    ) -> Result<(ChatThread, AgentRun)> {
        let (id, last) = (stored.summary.thread.clone(), Some(stored.summary.id.clone()));
        let run = AgentRun::resumed(agent, self.runs(), stored, self.0.keys_for())?;
        Ok((ChatThread { id, last }, run))
    }
}

impl ChatThread {
    pub(super) fn new() -> Self {
        Self { id: format!("thread_{}", Uuid::new_v4().simple()), last: None }
    }
}

fn opened(place: &Path, checked: &Config) -> Result<Store> {
    if let Some(folder) = place.parent() {
        config::private_folder(folder)
            .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    }
    Ok(Store::open(place, bounds(checked))?)
}

/// Chats of one configuration with one agent have one place.
fn place(read: &CommandConfig, agent: &str) -> Option<PathBuf> {
    let whole = std::path::absolute(&read.path).unwrap_or_else(|_| read.path.clone());
    let of = serde_json::json!([whole.display().to_string(), agent]);
    let name = Fingerprint::of(&of);
    Some(config::state_folder()?.join("chats").join(format!("{name}.db")))
}
