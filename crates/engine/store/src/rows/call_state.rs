//! Where a call stands, which rows are those of a state, and what a person may say of a call.

use serde::{Deserialize, Serialize};
use toolcrib_core::{Ending, ErrorKind};

/// Where a call stands: each is in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    Running,
    Succeeded,
    Failed,
    /// It never started.
    NotExecuted,
    /// It was started, and nobody can say how it ended.
    OutcomeUnknown,
    /// The same, since the process ended before the call did.
    Interrupted,
}

impl CallState {
    const ALL: [Self; 6] = [
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::NotExecuted,
        Self::OutcomeUnknown,
        Self::Interrupted,
    ];

    /// The words of all states.
    pub const WORDS: [&'static str; 6] = [
        Self::Running.as_str(),
        Self::Succeeded.as_str(),
        Self::Failed.as_str(),
        Self::NotExecuted.as_str(),
        Self::OutcomeUnknown.as_str(),
        Self::Interrupted.as_str(),
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::NotExecuted => "not_executed",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Interrupted => "interrupted",
        }
    }

    /// The state of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// How a call ended of which nobody knew, as a person says who has looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownEnd {
    Succeeded,
    /// It ran and failed, or certainly had no effect.
    Failed,
    /// It never started.
    NotExecuted,
}

impl KnownEnd {
    /// The words of all of them.
    pub const WORDS: [&'static str; 3] = [
        Self::Succeeded.state().as_str(),
        Self::Failed.state().as_str(),
        Self::NotExecuted.state().as_str(),
    ];

    /// Where a call stands that ended so.
    pub const fn state(self) -> CallState {
        match self {
            Self::Succeeded => CallState::Succeeded,
            Self::Failed => CallState::Failed,
            Self::NotExecuted => CallState::NotExecuted,
        }
    }

    /// Why it failed the person does not say: the tool did not do it.
    #[doc(hidden)]
    pub const fn ending(self) -> Ending {
        match self {
            Self::Succeeded => Ending::Succeeded,
            Self::Failed => Ending::Failed(ErrorKind::Tool),
            Self::NotExecuted => Ending::NotExecuted,
        }
    }
}
