//! Why a ledger does not answer.

use std::error::Error;
use std::sync::Arc;

/// The ledger cannot be written or read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the ledger does not answer")]
pub struct LedgerError(#[source] Arc<dyn Error + Send + Sync>);

impl LedgerError {
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(cause.into()))
    }

    pub(crate) fn keyless() -> Self {
        Self::new("this ledger keeps no keys")
    }
}

impl PartialEq for LedgerError {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for LedgerError {}
