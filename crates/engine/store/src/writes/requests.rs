//! What is asked of the rows of calls, keys, tickets and kept results.

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

/// Writes the row of a call that may be sent from then on, and binds its keys.
pub(crate) struct PlanCall {
    pub(crate) call: NewCall,
    pub(crate) keys: Vec<IdempotencyKey>,
}

impl WriteRequest for PlanCall {
    type Answer = ();
}

/// Gives a call whose end was not known the one that came late.
pub(crate) struct ResolveCall {
    pub(crate) key: String,
    pub(crate) ending: Ending,
}

impl WriteRequest for ResolveCall {
    type Answer = ();
}

/// Gives a call whose end was not known the one that a person says. Answers the call as it is from
/// then on.
pub(crate) struct JudgeCall {
    pub(crate) key: String,
    pub(crate) end: KnownEnd,
    pub(crate) by: Caller,
}

impl WriteRequest for JudgeCall {
    type Answer = Option<CallRecord>;
}

/// Looks for a call like this one whose outcome nobody knew, and that ended after a moment.
pub(crate) struct FindUnknown {
    pub(crate) like: DuplicateQuery,
    pub(crate) after: WallTime,
}

impl WriteRequest for FindUnknown {
    type Answer = Option<UncertainCall>;
}

/// Has keys stay taken when the process ends.
pub(crate) struct BindKeys(pub(crate) Vec<IdempotencyKey>);

impl WriteRequest for BindKeys {
    type Answer = ();
}

/// Leaves word with keys whose call runs.
pub(crate) struct LeaveCheckpoint {
    pub(crate) keys: Vec<IdempotencyKey>,
    pub(crate) written: String,
}

impl WriteRequest for LeaveCheckpoint {
    type Answer = ();
}

/// Takes up the word that a call left whose end nobody knows.
pub(crate) struct TakeUpKey(pub(crate) IdempotencyKey);

impl WriteRequest for TakeUpKey {
    type Answer = Option<Checkpoint>;
}

/// Writes a ticket; refused where too many wait already.
pub(crate) struct ParkTicket(pub(crate) NewTicket);

impl WriteRequest for ParkTicket {
    type Answer = Result<(), String>;
}

/// Takes a ticket out and begins its own key.
pub(crate) struct ClaimTicket {
    pub(crate) ticket: TicketId,
    pub(crate) caller: Caller,
}

impl WriteRequest for ClaimTicket {
    type Answer = Result<ParkedCall, TicketError>;
}

/// Keeps a result. Answers its handle, and until when each caller of its tenant has one.
pub(crate) struct KeepResult(pub(crate) NewResult);

impl WriteRequest for KeepResult {
    type Answer = (ResultHandle, Vec<(String, String, WallTime)>);
}

/// Removes a bounded number of old rows. Answers whether there may be more.
pub(crate) struct PruneStep;

impl WriteRequest for PruneStep {
    type Answer = bool;
}

/// Does nothing: what came before is committed when it is answered.
pub(crate) struct FlushAll;

impl WriteRequest for FlushAll {
    type Answer = ();
}
