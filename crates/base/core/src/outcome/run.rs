//! The turns of one conversation: what was used, cited and is to be checked so far.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

use super::content::Reference;
use super::response::{DebugRecord, Report, Response};
use crate::call::name::ToolName;
use crate::ledger::ticket::TicketId;
use crate::outcome::ToolOutcome;

/// The memory of a run, kept by the host between turns. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Run(Arc<RunMemory>);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct RunMemory {
    turn: u32,
    /// In the order of their first use.
    used: IndexSet<ToolName>,
    checks: IndexSet<String>,
    sources: IndexMap<String, Reference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cited: Vec<Reference>,
}

/// What the host does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// Sends the results to the model and lets it go on.
    GoOn,
    /// Gives the text of this response to the user: a tool has taken over.
    HandedOver { id: String, text: String },
    /// Every call waits for a person: nothing is to be told to the model yet.
    Waiting(Vec<TicketId>),
}

impl Run {
    /// One whose thread has these sources already, in the order of their numbers.
    pub fn with_sources(sources: impl IntoIterator<Item = Reference>) -> Self {
        let sources = sources.into_iter().map(|source| (source.id.clone(), source)).collect();
        Self(Arc::new(RunMemory { sources, ..RunMemory::default() }))
    }

    /// Whether nothing has happened in it yet.
    pub(crate) fn is_new(&self) -> bool {
        let RunMemory { turn, used, checks, sources, cited } = &*self.0;
        *turn == 0 && used.is_empty() && checks.is_empty() && sources.is_empty() && cited.is_empty()
    }

    /// Takes in a call that was decided after its batch: no new turn begins with it.
    pub fn absorb_late(&mut self, response: &Response) {
        self.remember(response);
    }

    /// Takes a batch in and says what is next. A batch that was refused because a controlling
    /// tool was not alone, or a controlling tool that failed, keeps the loop going.
    pub fn absorb(&mut self, report: &Report) -> NextStep {
        // The memory comes from the host, and may say anything.
        let memory = Arc::make_mut(&mut self.0);
        memory.turn = memory.turn.saturating_add(1);
        memory.cited.clear();
        report.responses.iter().for_each(|response| self.remember(response));
        report.turn()
    }

    /// Takes in what the model founded its words on since the last batch, beside the results of
    /// calls: what tools of its provider found.
    pub fn cite(&mut self, references: impl IntoIterator<Item = Reference>) {
        let bare = references.into_iter().map(|cited| Reference { text: String::new(), ..cited });
        Arc::make_mut(&mut self.0).cited.extend(bare);
    }

    /// What was cited so since the last batch.
    pub fn cited(&self) -> &[Reference] {
        &self.0.cited
    }

    fn remember(&mut self, response: &Response) {
        let memory = Arc::make_mut(&mut self.0);
        if response.outcome.is_done() {
            memory.used.extend(response.debug.tool.clone());
            memory.checks.extend(response.checks.iter().cloned());
        }
        for cited in &response.references {
            let reference = &cited.reference;
            memory.sources.entry(reference.id.clone()).or_insert_with(|| reference.clone());
        }
    }

    /// Turns so far.
    pub fn turn(&self) -> u32 {
        self.0.turn
    }

    pub fn used(&self, tool: &ToolName) -> bool {
        self.0.used.contains(tool)
    }

    /// The tools that were called with success, in the order of their first use.
    pub fn used_tools(&self) -> impl Iterator<Item = &ToolName> {
        self.0.used.iter()
    }

    /// The checks of all calls that succeeded, each once, in the order of their coming.
    pub fn checks(&self) -> impl Iterator<Item = &str> {
        self.0.checks.iter().map(String::as_str)
    }

    /// The sources of the run; the first one has number 1.
    pub fn sources(&self) -> impl Iterator<Item = &Reference> {
        self.0.sources.values()
    }

    /// The number of a known source.
    pub(crate) fn number_of(&self, id: &str) -> Option<usize> {
        self.0.sources.get_index_of(id).map(|position| position + 1)
    }

    pub(crate) fn source_count(&self) -> usize {
        self.0.sources.len()
    }
}

impl Report {
    /// What the host does next, judged by what really ran.
    pub fn turn(&self) -> NextStep {
        if let Some(response) = self.responses.iter().find(|response| response.handed_over) {
            return NextStep::HandedOver { id: response.id.clone(), text: response.text() };
        }
        let tickets: Vec<_> = self
            .responses
            .iter()
            .filter_map(|response| match &response.outcome {
                ToolOutcome::Pending(pending) => Some(pending.ticket.clone()),
                ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => None,
            })
            .collect();
        if !tickets.is_empty() && tickets.len() == self.responses.len() {
            let tickets: IndexSet<_> = tickets.into_iter().collect();
            return NextStep::Waiting(tickets.into_iter().collect());
        }
        NextStep::GoOn
    }

    /// The debug records of the batch, in call order.
    pub fn debug(&self) -> impl Iterator<Item = &DebugRecord> {
        self.responses.iter().map(|response| &response.debug)
    }
}
