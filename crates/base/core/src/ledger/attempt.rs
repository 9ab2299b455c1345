//! The attempts of a call, as the record has them.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::ending::Ending;
use crate::outcome::ErrorKind;

/// One try at a call: a call that is harmless to repeat may have several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Milliseconds since 1970.
    #[serde(rename = "at_ms")]
    pub at: u64,
    #[serde(rename = "took_ms")]
    pub took: u64,
    /// `done`, or why it failed: a word of `ErrorKind`.
    pub ended: Cow<'static, str>,
    /// Whether the other side may have seen it.
    pub sent: bool,
}

/// How a call ended, and what was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndingReport {
    pub ending: Ending,
    pub attempts: Vec<Attempt>,
}

impl Attempt {
    pub(crate) fn new(at: SystemTime, took: Duration, ended: &'static str, sent: bool) -> Self {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self { at: milliseconds(since), took: milliseconds(took), ended: ended.into(), sent }
    }
}

/// A call like another one, whose end nobody knew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncertainCall {
    /// Its name in the record.
    pub call: String,
    /// Whoever made it gave it up, and that is all that went wrong.
    pub was_cancelled: bool,
}

impl UncertainCall {
    pub fn new(call: impl Into<String>, attempts: &[Attempt]) -> Self {
        let mut sent = attempts.iter().filter(|attempt| attempt.sent).peekable();
        let is_cancelled = |attempt: &Attempt| attempt.ended == ErrorKind::Cancelled.as_str();
        let was_cancelled = sent.peek().is_some() && sent.all(is_cancelled);
        Self { call: call.into(), was_cancelled }
    }

    /// Of several, the latest first, the one that matters: one that nobody gave up, if there is
    /// any.
    pub fn weightiest(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut first = None;
        for like in all {
            if !like.was_cancelled {
                return Some(like);
            }
            first.get_or_insert(like);
        }
        first
    }
}

impl From<Ending> for EndingReport {
    fn from(ending: Ending) -> Self {
        Self { ending, attempts: Vec::new() }
    }
}
