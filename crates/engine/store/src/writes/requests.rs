//! What is asked of the rows of calls, keys, tickets and kept results.

pub mod session_requests;

use toolcrib_core::{
    Caller, Checkpoint, Ending, ParkedCall, ResultHandle, TicketError, TicketId, UncertainCall,
};

use super::awaited::WriteRequest;
use crate::clock::WallTime;
use crate::rows::call_state::KnownEnd;
use crate::rows::calls::{DuplicateQuery, NewCall};
use crate::rows::history::CallRecord;
use crate::rows::keys::IdempotencyKey;
use crate::rows::results::NewResult;
use crate::rows::tickets::NewTicket;

/// Writes the row of a call that may be sent from then on, and binds its keys. Refused where
/// another process that shares the record has come before.
pub struct PlanCall {
    pub call: NewCall,
    pub keys: Vec<IdempotencyKey>,
    /// Since when no call like it may have ended without anybody knowing how; `None`: any may.
    pub guard: Option<WallTime>,
}

impl WriteRequest for PlanCall {
    type Answer = Result<(), PlanRefusal>;
}

/// Why a call is not planned, and nothing of it sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    #[error(
        "the same call ended on another replica, and nobody knows how: ask again, and it is told"
    )]
    Guarded,
    #[error(
        "another replica took this one for dead, and has what it had begun: ask again under the \
         same key"
    )]
    Lost,
}

/// Gives a call whose end was not known the one that came late.
pub struct ResolveCall {
    pub key: String,
    pub ending: Ending,
}

impl WriteRequest for ResolveCall {
    type Answer = ();
}

/// Gives a call whose end was not known the one that a person says. Answers the call as it is from
/// then on.
pub struct JudgeCall {
    pub key: String,
    pub end: KnownEnd,
    pub by: Caller,
}

impl WriteRequest for JudgeCall {
    type Answer = Option<CallRecord>;
}

/// Looks for a call like this one whose outcome nobody knew, and that ended after a moment.
pub struct FindUnknown {
    pub like: DuplicateQuery,
    pub after: WallTime,
}

impl WriteRequest for FindUnknown {
    type Answer = Option<UncertainCall>;
}

/// Has keys stay taken when the process ends.
pub struct BindKeys(pub Vec<IdempotencyKey>);

impl WriteRequest for BindKeys {
    /// Refused where another process that shares the record has what was begun.
    type Answer = Result<(), PlanRefusal>;
}

/// Leaves word with keys whose call runs.
pub struct LeaveCheckpoint {
    pub keys: Vec<IdempotencyKey>,
    pub written: String,
}

impl WriteRequest for LeaveCheckpoint {
    type Answer = ();
}

/// Takes up the word that a call left whose end nobody knows.
pub struct TakeUpKey(pub IdempotencyKey);

impl WriteRequest for TakeUpKey {
    type Answer = Option<Checkpoint>;
}

/// Writes a ticket; refused where too many wait already.
pub struct ParkTicket(pub NewTicket);

impl WriteRequest for ParkTicket {
    type Answer = Result<(), String>;
}

/// Takes a ticket out and begins its own key.
pub struct ClaimTicket {
    pub ticket: TicketId,
    pub caller: Caller,
}

impl WriteRequest for ClaimTicket {
    type Answer = Result<ParkedCall, TicketError>;
}

/// Keeps a result. Answers its handle, and until when each caller of its tenant has one.
pub struct KeepResult(pub NewResult);

impl WriteRequest for KeepResult {
    type Answer = (ResultHandle, Vec<(String, String, WallTime)>);
}

/// Removes a bounded number of old rows. Answers whether there may be more.
pub struct PruneStep;

impl WriteRequest for PruneStep {
    type Answer = bool;
}

/// Does nothing: what came before is committed when it is answered.
pub struct FlushAll;

impl WriteRequest for FlushAll {
    type Answer = ();
}
