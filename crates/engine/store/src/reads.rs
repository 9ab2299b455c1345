//! What is read of a store, each question by its name.

use std::collections::HashMap;
use std::sync::Arc;

use toolcrib_core::{
    BoxFuture, Caller, Content, Ending, IdempotencyKey, KeyState, OpenTickets, ParkedCall,
    ResultHandle, RunSummary, SessionRecord, StoredRun, TicketId, UncertainCall,
};

use crate::clock::WallTime;
use crate::error::StoreError;
use crate::rows::calls::DuplicateQuery;
use crate::rows::history::{CallCursor, CallFilter, CallPage, CallRecord};

pub type Reading<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Reads beside the one who writes, and sees what that one has committed.
pub trait StoreReads: Send + Sync {
    fn page(
        &self,
        caller: Option<Caller>,
        filter: CallFilter,
        after: Option<CallCursor>,
        limit: usize,
    ) -> Reading<'_, CallPage>;

    fn call(&self, caller: Caller, key: String) -> Reading<'_, Option<CallRecord>>;

    fn call_of_any(&self, key: String) -> Reading<'_, Option<CallRecord>>;

    fn endings(&self, keys: Vec<String>) -> Reading<'_, HashMap<String, Ending>>;

    fn unknown_like(
        &self,
        like: DuplicateQuery,
        after: WallTime,
    ) -> Reading<'_, Option<UncertainCall>>;

    /// The damage of the whole file, in the words of SQLite.
    fn damage(&self) -> Reading<'_, Vec<String>>;

    fn recorded(&self, key: IdempotencyKey) -> Reading<'_, KeyState>;

    fn kept(&self, caller: Caller, handle: ResultHandle) -> Reading<'_, Option<Arc<Content>>>;

    fn parked(&self, caller: Caller) -> Reading<'_, Vec<ParkedCall>>;

    fn open_tickets(
        &self,
        of: Option<Caller>,
        after: u64,
        limit: usize,
    ) -> Reading<'_, OpenTickets>;

    fn ticket(&self, ticket: TicketId, caller: Caller) -> Reading<'_, Option<ParkedCall>>;

    fn owner(&self, ticket: TicketId) -> Reading<'_, Option<Caller>>;

    fn waiting(&self) -> Reading<'_, u64>;

    fn run(&self, run: String) -> Reading<'_, Option<StoredRun>>;

    fn events(&self, run: String, from: u64, limit: usize) -> Reading<'_, Vec<String>>;

    fn runs(
        &self,
        caller: Caller,
        before: Option<u64>,
        limit: usize,
    ) -> Reading<'_, Vec<RunSummary>>;

    fn thread(&self, caller: Caller, thread: String) -> Reading<'_, Vec<RunSummary>>;

    fn unfinished(&self) -> Reading<'_, Vec<RunSummary>>;

    fn notes(&self, run: String) -> Reading<'_, Vec<(String, String)>>;

    fn session(&self, name: String) -> Reading<'_, Option<SessionRecord>>;

    fn ended_sessions(&self, names: Vec<String>) -> Reading<'_, Vec<String>>;

    /// Whether nothing of the replica with that name goes on any more; so it is where there are none.
    fn is_over(&self, replica: String) -> Reading<'_, bool>;
}
