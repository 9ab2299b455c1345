//! On whose behalf a request is made.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Who asks. Made by whoever authenticated the request, never from text that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Caller {
    pub tenant: String,
    pub subject: String,
    #[serde(default)]
    pub scopes: BTreeSet<String>,
}

impl Caller {
    pub fn new(tenant: impl Into<String>, subject: impl Into<String>) -> Self {
        Self { tenant: tenant.into(), subject: subject.into(), scopes: BTreeSet::new() }
    }

    /// The person who started this process.
    pub fn local() -> Self {
        Self::new("local", "local")
    }

    #[must_use]
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Whether both are the same person: scopes may have changed between two requests.
    pub fn is(&self, other: &Self) -> bool {
        self.tenant == other.tenant && self.subject == other.subject
    }
}
