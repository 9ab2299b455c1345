//! Sessions of clients, as a ledger keeps them: it knows whose they are, and nothing of what is said
//! in them.

use std::time::{Duration, SystemTime};

use super::error::LedgerError;
use crate::BoxFuture;
use crate::call::caller::Caller;

/// Bytes of the longest greeting that is kept.
pub const LONGEST_GREETING: usize = 32 * 1024;

/// How long it is known of a session that its client ended it.
pub const ENDED_FOR: Duration = Duration::from_mins(1);

/// Keeps sessions beyond the process that began them, so that another one can take them up. One is
/// forgotten when its life is over.
pub trait SessionLedger: Send + Sync {
    /// Writes a session down, unless its caller has `most` of them already; whether it is there.
    /// Written twice it stays as it was first, unless its life is over by then.
    fn put(
        &self,
        session: SessionRecord,
        life: Duration,
        most: usize,
    ) -> BoxFuture<'_, Result<bool, LedgerError>>;

    /// The session of that name, if its life is not over and nobody ended it.
    fn find<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<SessionRecord>, LedgerError>>;

    /// Has sessions live so long from now on, whose life is not over yet, and gives the names of
    /// those. Any other was ended, or its life is over.
    fn keep(
        &self,
        names: Vec<String>,
        life: Duration,
    ) -> BoxFuture<'_, Result<Vec<String>, LedgerError>>;

    /// Has the life of those be over that have no more left than this: nobody has kept them since
    /// they were left.
    fn leave(&self, names: Vec<String>, left: Duration) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Writes what is known of a client by now in the place of what was.
    fn greet<'a>(
        &'a self,
        name: &'a str,
        greeting: String,
    ) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// Ends a session; whether there was one.
    fn end<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// Which of these were ended in the last minute, whoever did it.
    fn ended(&self, names: Vec<String>) -> BoxFuture<'_, Result<Vec<String>, LedgerError>>;
}

/// A session of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Unique among all, and none by which a client can enter it.
    pub name: String,
    /// Who began it; their rights are those of each request.
    pub caller: Caller,
    /// The profile at whose door it began; `None`: that of the whole crib.
    pub profile: Option<String>,
    /// What is known of its client, in at most [`LONGEST_GREETING`] bytes.
    pub greeting: String,
    pub began: SystemTime,
}
