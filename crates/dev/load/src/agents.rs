//! What an agent costs beside the time of its model: a turn of its loop, the way of its first word,
//! a run that waits for a person, and what many spend at once within one bound.

pub(crate) mod endpoint;
mod fanout;
mod first_word;
pub(crate) mod model;
mod servers;
mod turns;
pub(crate) mod waiting;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::LoadError;
use crate::test_bed::MeasuredPrograms;

/// How much is measured.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// How often each way is taken; the middle counts.
    pub rounds: usize,
    /// Turns of a long run; a short one has a single turn, and the difference is what turns cost.
    pub turns: usize,
    /// Answers whose first word is waited for.
    pub answers: usize,
    /// Runs that wait for a person.
    pub waiting: usize,
    /// A Python with the agents of others; `None`: they are not measured.
    pub python: Option<PathBuf>,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self { rounds: 40, turns: 20, answers: 200, waiting: 1_000, python: None }
    }
}

/// Measures all of it, in a folder below this one.
pub async fn agents(
    programs: &MeasuredPrograms,
    below: &Path,
    much: &AgentSettings,
) -> Result<Value, LoadError> {
    Ok(json!({
        "turns": turns::turns(programs, below, much).await?,
        "first_word": first_word::first_words(programs, below, much.answers).await?,
        "fanout": fanout::fanout(programs, below, much).await?,
        "waiting": waiting::waiting(programs, below, much.waiting).await?,
    }))
}
