//! Keys that a caller gives a call, so that sending it again does not run it again.
//!
//! `begin` before the call, then `settle` with what came of it. What was begun by a process that
//! ended is `Unknown` for as long as a key is kept, if it was bound: else nothing ran under it.

use serde_json::Value;
pub use toolcrib_core::{IdempotencyKey, KeyState};
use toolcrib_core::{KeyResult, LONGEST_KEY};

use crate::error::StoreError;

/// Largest recorded response in bytes of JSON. That of a whole request is a text with the results
/// of all its calls, 64 of 256 KiB by default, and every quote in them takes more room in a text.
/// Of SQLite a row may have a billion bytes.
const LARGEST_RESPONSE: usize = 32 * 1024 * 1024;

pub fn check(key: &IdempotencyKey) -> Result<(), StoreError> {
    key.fits().then_some(()).ok_or(StoreError::TooLong { what: "a key", most: LONGEST_KEY })
}

/// What becomes of a key that is begun when the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyHold {
    /// It is free again.
    Loose,
    /// It stays taken.
    Bound,
}

/// What a key is of: a tool, and behind a blank, which no name holds, whose it is.
pub fn named(key: &IdempotencyKey) -> String {
    match &key.source {
        Some(source) => format!("{} {source}", key.tool),
        None => key.tool.to_string(),
    }
}

/// What is to be written under a key.
#[derive(Clone)]
pub enum KeySettlement {
    Answered(String),
    /// It takes the place of what was written before.
    Late(String),
    Lost,
    Free,
}

impl KeySettlement {
    /// An answer that is too large to be kept is one that is lost.
    pub fn of(end: &KeyResult) -> Self {
        match end {
            KeyResult::Answered(answer) => written(answer).map_or(Self::Lost, Self::Answered),
            KeyResult::Late(answer) => written(answer).map_or(Self::Lost, Self::Late),
            KeyResult::Told { later, .. } => written(later).map_or(Self::Lost, Self::Answered),
            KeyResult::Lost => Self::Lost,
            KeyResult::Free => Self::Free,
        }
    }

    pub fn size(&self) -> usize {
        match self {
            Self::Answered(answer) | Self::Late(answer) => answer.len(),
            Self::Lost | Self::Free => 0,
        }
    }
}

/// A response as it is written.
pub fn written(response: &Value) -> Result<String, StoreError> {
    let text = response.to_string();
    let fits = text.len() <= LARGEST_RESPONSE;
    fits.then_some(text).ok_or(StoreError::TooLong { what: "a response", most: LARGEST_RESPONSE })
}
