//! Keeps what was asked of the model, within bounds.

use std::time::Duration;

use super::AgentRun;
use crate::model::ModelFault;
use crate::run::trace::{MOST_TRACES, RequestPurpose, RequestTrace};
use crate::usage::{Usage, tokens};

/// Names of tools that are kept of one request.
pub(super) const MOST_TOOLS: usize = 200;
/// Letters of what tools wanted said, and of a note.
const LONGEST: usize = 2_000;
/// Notes of one request.
const MOST_NOTES: usize = 20;

/// What is known of a request once it is over.
pub(super) struct AskedRequest<'a> {
    pub(super) purpose: RequestPurpose,
    /// Names of the tools that the model was shown; `None`: it needs none.
    pub(super) tools: Option<Vec<String>>,
    /// What the tools wanted said.
    pub(super) guidance: Option<String>,
    pub(super) entries: usize,
    /// In bytes.
    pub(super) weight: usize,
    pub(super) usage: Usage,
    pub(super) took: Duration,
    pub(super) notes: Vec<String>,
    pub(super) fault: Option<&'a ModelFault>,
}

impl AgentRun {
    /// What was asked of the model, the last requests of it, in their order.
    pub fn requests(&self) -> &[RequestTrace] {
        &self.requests
    }

    pub(super) fn remember(&mut self, asked: AskedRequest<'_>) {
        let AskedRequest { purpose, tools, .. } = asked;
        let guidance = asked.guidance.map(|guidance| cut(&guidance));
        let before = |of: fn(&RequestTrace) -> bool| self.requests.iter().rev().find(|one| of(one));
        let same_tools = before(|one| one.tools.is_some()).and_then(|one| one.tools.as_ref());
        let same_words = before(|one| one.guidance.is_some()).and_then(|one| one.guidance.as_ref());
        let trace = RequestTrace {
            purpose,
            turn: self.state.turn + 1,
            model: self.agent.model.settings().name.clone(),
            entries: asked.entries,
            estimate: tokens(asked.weight),
            tools: tools.filter(|tools| same_tools != Some(tools)),
            guidance: guidance.filter(|words| same_words != Some(words)),
            usage: asked.usage,
            took_ms: u64::try_from(asked.took.as_millis()).unwrap_or(u64::MAX),
            notes: asked.notes.iter().take(MOST_NOTES).map(|note| cut(note)).collect(),
            fault: asked.fault.cloned(),
        };
        self.requests.push(trace);
        let beyond = self.requests.len().saturating_sub(MOST_TRACES);
        let mut gone = self.requests.drain(..beyond).rev();
        let (mut tools, mut guidance) = (None, None);
        for one in gone.by_ref() {
            tools = tools.or(one.tools);
            guidance = guidance.or(one.guidance);
        }
        drop(gone);
        // What the first one that is left has in common with those that are gone.
        if let Some(first) = self.requests.first_mut() {
            first.tools = first.tools.take().or(tools);
            first.guidance = first.guidance.take().or(guidance);
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
