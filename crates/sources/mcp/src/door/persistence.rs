//! What outlives one process of a server: what it has in common with those before, beside and after
//! it.

use std::sync::Arc;

use toolcrib_core::{BoxFuture, LedgerError, Secret, SessionLedger};
use uuid::Uuid;

/// What a server shares with its other processes. By default it shares nothing, and what its clients
/// come back for ends with it.
#[derive(Clone, Default)]
pub struct McpPersistence {
    /// Where sessions of older clients are written down, so that another process takes them up.
    pub sessions: Option<Arc<dyn SessionLedger>>,
    /// The secret of all processes that serve at the same time: by it each of them knows the names
    /// of sessions that another one gave. `None`: there are no others. Names that a process before
    /// gave are then looked for in `sessions`.
    pub secret: Option<Secret>,
    /// Which processes live. `None`: this one alone.
    pub homes: Option<Arc<dyn McpHomes>>,
}

/// The processes that serve at the same time. What lives in one of them alone has it for its home.
pub trait McpHomes: Send + Sync {
    /// The name of this one: of letters and digits, and no other has or had it.
    fn own(&self) -> String;

    /// Whether one of that name lives, or may live. One that nobody has heard of does not.
    fn is_alive<'a>(&'a self, home: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>>;
}

/// One process after the other.
pub(super) struct SoleHome(String);

impl SoleHome {
    pub(super) fn new() -> Self {
        Self(Uuid::new_v4().simple().to_string())
    }
}

impl McpHomes for SoleHome {
    fn own(&self) -> String {
        self.0.clone()
    }

    fn is_alive<'a>(&'a self, home: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let lives = home == self.0;
        Box::pin(std::future::ready(Ok(lives)))
    }
}
