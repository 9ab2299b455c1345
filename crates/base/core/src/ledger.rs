//! What must outlive a call: that it was planned, how it ended, what is parked, what was cut.

mod attempt;
mod ending;
pub(crate) mod error;
mod keys;
mod open_tickets;
mod runs;
mod sessions;
mod status;
pub(crate) mod ticket;
pub(crate) mod timestamp;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::BoxFuture;
use crate::call::CallKey;
use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::outcome::content::Content;
use crate::tool::fingerprint::Fingerprint;
use crate::tool::spec::ToolSpec;
pub use attempt::{Attempt, EndingReport, UncertainCall};
pub use ending::Ending;
use error::LedgerError;
pub use keys::{Checkpoint, IdempotencyKey, KeyResult, KeyState, LONGEST_CHECKPOINT, LONGEST_KEY};
pub use open_tickets::OpenTickets;
pub use runs::{
    MOST_NOTES, NewRun, RunLedger, RunLedgerError, RunStage, RunStep, RunSummary, StoredRun,
};
pub use sessions::{ENDED_FOR, LONGEST_GREETING, SessionLedger, SessionRecord};
pub use status::CallStatus;
use ticket::{ParkedCall, TicketError, TicketId};

/// The record. An error of the ledger stops a call that has an effect before it is sent.
pub trait Ledger: CallLedger + KeyLedger + TicketLedger + ResultLedger {}

impl<T: CallLedger + KeyLedger + TicketLedger + ResultLedger> Ledger for T {}

/// The calls: that they were planned, and how they ended.
pub trait CallLedger: Send + Sync {
    /// A call waits for its turn, and nothing of it was sent. Not every call waits, and one that
    /// did is `planned` too before it runs.
    fn queued<'a>(&'a self, _: PlannedCall<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// A call is about to be sent; when this resolves, the row is as durable as the ledger is, and
    /// its keys are bound, unless it only reads.
    fn planned<'a>(&'a self, call: PlannedCall<'a>) -> BoxFuture<'a, Result<(), LedgerError>>;

    fn finished(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// The same with what was tried; a ledger that keeps no attempts keeps the end.
    fn ended(&self, call: CallKey, finish: EndingReport) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.finished(call, finish.ending)
    }

    /// A call whose end was not known has one after all; any other call stays as it is.
    fn resolved(&self, _: CallKey, _: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// The call of this caller like this one, same tool of the same source and same arguments, that
    /// ended within the window and nobody knew how; also where it is known by now, but from no
    /// person, that it took effect. Of several the weightiest: see [`UncertainCall`].
    fn unknown_like<'a>(
        &'a self,
        _: PlannedCall<'a>,
        _: Duration,
    ) -> BoxFuture<'a, Result<Option<UncertainCall>, LedgerError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// How a call of this caller stands, by our name of it; `None`: there is none, or no more.
    fn status<'a>(
        &'a self,
        _: &'a Caller,
        _call: &'a str,
    ) -> BoxFuture<'a, Result<Option<CallStatus>, LedgerError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Whether it can tell how calls stand.
    fn supports_status(&self) -> bool {
        false
    }
}

/// The idempotency keys: what was begun under them, and what came of it.
pub trait KeyLedger: Send + Sync {
    /// Asks for a key before the call under it is made: of any number who ask at once, one is
    /// told `New`, and from then on the key is on record. If the process ends before the key is
    /// bound, it is free again.
    fn begin<'a>(
        &'a self,
        _: &'a IdempotencyKey,
        _: Fingerprint,
    ) -> BoxFuture<'a, Result<KeyState, LedgerError>> {
        Box::pin(std::future::ready(Err(LedgerError::keyless())))
    }

    /// Binds keys without a call that is sent: something of what was begun under them outlives
    /// the process.
    fn bind<'a>(&'a self, _: &'a [IdempotencyKey]) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Says what came of a call that was begun under a key.
    fn settle<'a>(
        &'a self,
        _: &'a IdempotencyKey,
        _: KeyResult,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(std::future::ready(Err(LedgerError::keyless())))
    }

    /// Leaves word with keys that are bound of how far their call is. The latest word takes the
    /// place of those before.
    fn checkpoint<'a>(
        &'a self,
        _: &'a [IdempotencyKey],
        _: &'a Checkpoint,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Takes up a call that was begun under a key, whose end nobody knows, and that left word. Of
    /// any number who ask at once, one is given it, and the key is that of a running call again.
    /// `None`: there is nothing to take up.
    fn take_up<'a>(
        &'a self,
        _: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, LedgerError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// What a key says, without asking for it; `New`: nothing. A ticket that was claimed stands
    /// here under its own name: see `IdempotencyKey::of_ticket`.
    fn recorded<'a>(
        &'a self,
        _: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<KeyState, LedgerError>> {
        Box::pin(std::future::ready(Err(LedgerError::keyless())))
    }
}

/// The tickets: calls that wait for a person.
pub trait TicketLedger: Send + Sync {
    fn park(&self, parked: ParkedCall) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Takes a ticket out. Of any number who claim it at once, one gets it; a ticket of another
    /// caller is `Unknown` and stays. A ledger that keeps keys begins the ticket's own with it; if
    /// the process ends before that is bound or settled, the ticket is open again.
    fn claim<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<ParkedCall, TicketError>>;

    /// The open tickets of a caller, oldest first.
    fn parked<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Vec<ParkedCall>, LedgerError>>;

    /// A page of the open tickets, those behind this number: of one caller, or of all, for whoever
    /// runs the crib.
    fn open_tickets<'a>(
        &'a self,
        of: Option<&'a Caller>,
        _after: u64,
        _limit: usize,
    ) -> BoxFuture<'a, Result<OpenTickets, LedgerError>> {
        Box::pin(async move {
            let of =
                of.ok_or_else(|| LedgerError::new("this ledger has no list of all tickets"))?;
            Ok(OpenTickets { tickets: self.parked(of).await?, next: None })
        })
    }

    /// Whose ticket it is, as far as that is known, also of one that is not open any more: for
    /// whoever runs the crib.
    fn owner<'a>(&'a self, _: &'a TicketId) -> BoxFuture<'a, Result<Option<Caller>, LedgerError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// How many calls of all callers wait for approval; `None`: it cannot tell.
    fn waiting(&self) -> BoxFuture<'_, Option<u64>> {
        Box::pin(std::future::ready(None))
    }

    /// One open ticket of a caller, which stays.
    fn ticket<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<ParkedCall>, LedgerError>> {
        Box::pin(async move {
            let open = self.parked(caller).await?;
            Ok(open.into_iter().find(|parked| &parked.ticket == ticket))
        })
    }
}

/// Results that are too large for a model.
pub trait ResultLedger: Send + Sync {
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

    /// Whether this caller has a kept result that can be read now. Asked for every plan: it must
    /// answer from memory.
    fn keeps_for(&self, _: &Caller) -> bool {
        false
    }
}

/// A call at the moment before it runs.
#[derive(Clone, Copy)]
pub struct PlannedCall<'a> {
    pub key: CallKey,
    pub call_id: &'a str,
    pub caller: &'a Arc<Caller>,
    pub tool: &'a Arc<ToolSpec>,
    pub fingerprint: Fingerprint,
    pub arguments: &'a Arguments,
    /// Under which it was begun.
    pub keys: &'a [IdempotencyKey],
    /// Who said yes to it, of a call that comes back by a ticket.
    pub decider: Option<&'a Arc<Caller>>,
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
