//! The name of a ticket.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The name of a ticket. It is ours and not the call's id: that one comes from the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TicketId(String);

impl TicketId {
    /// 122 random bits of the operating system.
    pub(crate) fn unguessable() -> Self {
        Self(format!("t_{}", Uuid::new_v4().simple()))
    }

    /// What somebody says is a ticket; the ledger knows whether it is one.
    pub fn claimed(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
