//! What a run remembers of those that it works for, and of those that work for it.

use serde::{Deserialize, Serialize};
use toolcrib_core::{Fingerprint, Response, ResultHandle, TicketId};

use crate::team::lineage::Lineage;
use crate::team::mode::AgentMode;

/// The same task is not given to the same specialist once more after so many equal answers.
const MOST_REPEATS: usize = 2;

/// Times that a planner is told to plan anew because a tool was missing.
const REPLANS: u32 = 1;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TeamMemory {
    /// Whose work it is a part of.
    #[serde(skip_serializing_if = "Lineage::is_first")]
    pub(crate) lineage: Lineage,
    /// Its thread, as a next task names it; empty of the first run of a tree.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) thread: String,
    /// How it uses its team, where that was to be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<DecidedMode>,
    /// What it said it has no tool for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) missing: Vec<String>,
    /// Handles of results that were cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) artifacts: Vec<ResultHandle>,
    /// Tickets of calls that its model was told wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) told_waiting: Vec<TicketId>,
    /// Tasks that were given away, each with its answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    given: Vec<GivenTask>,
    #[serde(skip_serializing_if = "is_zero")]
    replans: u32,
}

/// How a run uses its team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DecidedMode {
    pub(crate) mode: AgentMode,
    /// Whose tools it has itself, in direct mode; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) specialist: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct GivenTask {
    task: Fingerprint,
    answer: Fingerprint,
}

impl TeamMemory {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What it was when its run began.
    pub(super) fn begun(&self) -> Self {
        let (lineage, thread) = (self.lineage.clone(), self.thread.clone());
        Self { lineage, thread, ..Self::default() }
    }

    pub(super) fn keep(&mut self, responses: &[Response]) {
        self.artifacts.extend(responses.iter().filter_map(|response| response.whole.clone()));
    }

    pub(crate) fn was_given(&mut self, task: Fingerprint, answer: &str) {
        self.given.push(GivenTask { task, answer: Fingerprint::of(&answer.into()) });
    }

    /// Whether this task brought the same answer too often already.
    pub(crate) fn is_repeated(&self, task: Fingerprint) -> bool {
        let mut answers = self.given.iter().rev().filter(|given| given.task == task);
        let Some(last) = answers.next() else { return false };
        1 + answers.take_while(|given| given.answer == last.answer).count() >= MOST_REPEATS
    }

    /// Whether the planner may plan anew; from now on once less.
    pub(crate) fn may_replan(&mut self) -> bool {
        self.replans += 1;
        self.replans <= REPLANS
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
