//! How a reply ended, as its API says, and which of its calls may therefore be cut.

use serde_json::Value;
use toolcrib_core::RawArguments;

/// How a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplyEnding {
    /// Whole, or nothing is said of it.
    Whole,
    /// The model was not done: what it wrote last may be half of what it meant.
    Short(String),
    /// Somebody stopped it, and what is missing may be missing anywhere.
    Stopped(String),
}

/// Longest reason that is repeated.
const LONGEST_REASON: usize = 40;

impl ReplyEnding {
    /// By the field of the envelope that holds the reason. `null` says that the reply goes on;
    /// a word that is in neither list is taken for a cut, since nothing says that it is none.
    pub(crate) fn of(reason: Option<&Value>, whole: &[&str], stopped: &[&str]) -> Self {
        let Some(reason) = reason else {
            return Self::Whole;
        };
        let said = reason.as_str().unwrap_or_default();
        let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(said));
        if is_one_of(whole) {
            Self::Whole
        } else if is_one_of(stopped) {
            Self::Stopped(word(said))
        } else {
            Self::Short(word(said))
        }
    }
}

/// Where a call stands in its reply, and what the API says of it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplyPosition {
    /// Nothing follows it: a reply that was cut was cut in here.
    pub(crate) is_last: bool,
    /// What its own status says, where the API has one.
    pub(crate) is_complete: Option<bool>,
}

impl ReplyPosition {
    pub(crate) fn of(is_last: bool) -> Self {
        Self { is_last, is_complete: None }
    }

    /// `null` and no status say nothing.
    pub(crate) fn with_status(self, status: Option<&Value>) -> Self {
        let status = status.filter(|status| !status.is_null());
        Self { is_complete: status.map(|status| status == "completed"), ..self }
    }
}

/// Why a call must not run, if it may be cut.
pub(crate) fn cut(
    ending: &ReplyEnding,
    standing: ReplyPosition,
    arguments: &RawArguments,
) -> Option<String> {
    let half = |reason: &str| {
        format!(
            "the reply was cut off{reason}, so that this may be a part of one, and nothing was \
             done: make the call again, with shorter arguments if they are long"
        )
    };
    match (ending, standing.is_complete) {
        (ReplyEnding::Stopped(reason), _) => Some(format!(
            "the reply was cut off{reason}, nobody knows what is missing of it, and none of its \
             calls was made: make the call again if it is still wanted"
        )),
        (ReplyEnding::Whole | ReplyEnding::Short(_), Some(false)) => Some(half("")),
        (ReplyEnding::Whole, Some(true) | None) => None,
        (ReplyEnding::Short(reason), complete) => {
            let may_be_cut = standing.is_last && complete.is_none();
            (may_be_cut || is_incomplete(arguments)).then(|| half(reason))
        }
    }
}

fn is_incomplete(arguments: &RawArguments) -> bool {
    match arguments {
        RawArguments::Text(text) => serde_json::from_str::<serde::de::IgnoredAny>(text).is_err(),
        RawArguments::Absent | RawArguments::Value(_) => false,
    }
}

/// A reason as a fault repeats it: only what looks like a word of an API.
fn word(reason: &str) -> String {
    let is_word = !reason.is_empty()
        && reason.len() <= LONGEST_REASON
        && reason.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_word { format!(" (`{reason}`)") } else { String::new() }
}
