//! Asks the ledger, which may break or never answer without taking a call along.

pub(crate) mod checkpoint;
pub(crate) mod idempotency;
pub(crate) mod stored_response;
pub(crate) mod unknown_outcome;

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;

use crate::gate::run::timeout::timeout_lazy;
use crate::ledger::error::LedgerError;

/// How long the ledger may take for one answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the ledger says; a panic of it and a silence are its errors.
pub(super) async fn guarded<T>(
    asking: impl Future<Output = Result<T, LedgerError>>,
) -> Result<T, LedgerError> {
    match timeout_lazy(PATIENCE, AssertUnwindSafe(asking).catch_unwind()).await {
        Some(Ok(answer)) => answer,
        Some(Err(_)) => Err(LedgerError::new("it panicked")),
        None => Err(LedgerError::new(format!("no answer within {PATIENCE:?}"))),
    }
}
