//! The replicas of a server, as those in which a call or a task may live.

use toolcrib_core::{BoxFuture, LedgerError};
use toolcrib_mcp::McpHomes;
use toolcrib_store::Store;

/// Begins the name of each replica, and does not stand in the names that clients get.
const KIND: &str = "r_";

/// Those that share a record.
pub(crate) struct ReplicaHomes(Store);

impl ReplicaHomes {
    /// `None`: this process has the record for itself.
    pub(crate) fn of(store: &Store) -> Option<Self> {
        store.replica().map(|_| Self(store.clone()))
    }
}

impl McpHomes for ReplicaHomes {
    fn own(&self) -> String {
        let name = self.0.replica().unwrap_or_default();
        name.strip_prefix(KIND).unwrap_or(&name).to_owned()
    }

    fn is_alive<'a>(&'a self, home: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let name = format!("{KIND}{home}");
        Box::pin(async move { Ok(!self.0.is_over(&name).await?) })
    }
}
