//! What must outlive a call: that it was planned, how it ended, what is parked, what was cut.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::BoxFuture;
use crate::call::CallKey;
use crate::caller::Caller;
use crate::content::Content;
use crate::fingerprint::Fingerprint;
use crate::outcome::ErrorKind;
use crate::spec::ToolSpec;
use crate::ticket::{Parked, TicketError, TicketId};
use crate::tool::Arguments;

/// The record. An error of the ledger stops a call that has an effect before it is sent.
pub trait Ledger: Send + Sync {
    /// A call is about to run; when this resolves, the row is as durable as the ledger is.
    fn planned<'a>(&'a self, call: Planned<'a>) -> BoxFuture<'a, Result<(), LedgerError>>;

    fn finished(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>>;

    fn park(&self, parked: Parked) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Takes a ticket out. Of any number who claim it at once, one gets it; a ticket of another
    /// caller is `Unknown` and stays.
    fn claim<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Parked, TicketError>>;

    /// The open tickets of a caller, oldest first.
    fn parked<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<Parked>, LedgerError>>;

    /// Keeps a result that is too large for a model; `None` where there is no room for it.
    fn keep<'a>(
        &'a self,
        caller: &'a Caller,
        content: Arc<Content>,
    ) -> BoxFuture<'a, Option<ResultHandle>>;

    /// A kept result, for the caller whose call gave it.
    fn kept<'a>(
        &'a self,
        caller: &'a Caller,
        handle: &'a ResultHandle,
    ) -> BoxFuture<'a, Option<Arc<Content>>>;
}

/// A call at the moment before it runs.
#[derive(Clone, Copy)]
pub struct Planned<'a> {
    pub key: CallKey,
    pub call_id: &'a str,
    pub caller: &'a Arc<Caller>,
    pub tool: &'a Arc<ToolSpec>,
    pub fingerprint: Fingerprint,
    pub arguments: &'a Arguments,
}

/// The truthful end of a planned call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "ending", content = "kind")]
pub enum Ending {
    Succeeded,
    /// It ran and failed, or certainly had no effect.
    Failed(ErrorKind),
    /// It never started.
    NotExecuted,
    /// It was started, and nobody can say how it ended.
    Unknown,
}

/// The name of a kept result.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResultHandle(pub String);

impl ResultHandle {
    /// 122 random bits of the operating system: whoever can guess it could read it.
    pub fn unguessable() -> Self {
        Self(format!("r_{}", uuid::Uuid::new_v4().simple()))
    }
}

impl fmt::Display for ResultHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The ledger cannot be written or read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the ledger does not answer")]
pub struct LedgerError(#[source] Arc<dyn Error + Send + Sync>);

impl LedgerError {
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(cause.into()))
    }
}

impl PartialEq for LedgerError {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for LedgerError {}
