//! A run at a pause, as data.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcrib_core::Reference;

use crate::budget::Spent;
use crate::item::ThreadItem;
use crate::run::RunState;
use crate::run::end::RunEnd;
use crate::run::trace::RequestTrace;
use crate::usage::Usage;

/// A run at a pause, as data: whoever reads it back goes on with it, in another process too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedRun {
    /// Of this form; a later one reads it too.
    pub(crate) version: u32,
    pub(crate) state: RunState,
    /// Empty where items are kept beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) items: Vec<ThreadItem>,
    pub(crate) spent: Spent,
    pub(crate) usage: Usage,
    pub(crate) busy: Duration,
    /// When the model wants to be asked again, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deferred_until: Option<u64>,
    /// What was asked of the model last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) requests: Vec<RequestTrace>,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<RunEnd>,
}

/// The form that is written.
pub(crate) const SAVED_VERSION: u32 = 1;

/// A run that was written cannot be gone on with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    #[error("the run was saved by a later version (form {0}): update toolcrib")]
    Newer(u32),
    #[error("the run cannot be read: it is of another release, or damaged ({0})")]
    Unreadable(String),
}

impl SavedRun {
    /// How it ended, if it has.
    pub fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// What was asked of the model, the last requests of it, in their order.
    pub fn requests(&self) -> &[RequestTrace] {
        &self.requests
    }

    /// The sources of its thread, in the order of their numbers.
    pub fn sources(&self) -> Vec<Reference> {
        self.state.run.sources().cloned().collect()
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Turns that were taken.
    pub fn turns(&self) -> u32 {
        self.state.turn
    }
}
