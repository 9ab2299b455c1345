//! Tokens of sign-ins, as replicas share them: sealed documents, and the right to renew one.

use std::time::Duration;

use super::error::LedgerError;
use crate::BoxFuture;

/// Keeps sealed documents beyond one process. It knows neither whose they are nor what is in them.
pub trait TokenLedger: Send + Sync {
    /// The document of that name, if there is one.
    fn document<'a>(&'a self, name: &'a str)
    -> BoxFuture<'a, Result<Option<Vec<u8>>, LedgerError>>;

    /// Writes a document in the place of the one before; `None`: forgets it.
    fn put<'a>(
        &'a self,
        name: &'a str,
        sealed: Option<Vec<u8>>,
    ) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// Takes the right to renew what has this name, for so long at the most; `false`: another one
    /// has it. `holder` is a name that no other holder has, and may take its own right anew.
    fn lock<'a>(
        &'a self,
        name: &'a str,
        holder: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// Gives that right back, if this holder still has it.
    fn unlock<'a>(
        &'a self,
        name: &'a str,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), LedgerError>>;
}
