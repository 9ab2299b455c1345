//! What is read of the file, each question by its name.

use std::collections::HashMap;
use std::sync::Arc;

use toolcrib_core::{
    Caller, Content, Ending, IdempotencyKey, KeyState, OpenTickets, ParkedCall, ResultHandle,
    RunSummary, StoredRun, TicketId, UncertainCall,
};

use super::read_pool::ReadPool;
use super::statements::{calls, history, keys, results, run_notes, runs, tickets};
use crate::clock::WallTime;
use crate::error::StoreError;
use crate::rows::calls::DuplicateQuery;
use crate::rows::history::{CallCursor, CallFilter, CallPage, CallRecord};

/// Calls, and the file itself.
impl ReadPool {
    pub(crate) async fn page(
        &self,
        caller: Option<Caller>,
        filter: CallFilter,
        after: Option<CallCursor>,
        limit: usize,
    ) -> Result<CallPage, StoreError> {
        self.read(move |file| history::page(file, caller.as_ref(), &filter, after, limit)).await
    }

    pub(crate) async fn call(
        &self,
        caller: Caller,
        key: String,
    ) -> Result<Option<CallRecord>, StoreError> {
        self.read(move |file| history::one(file, &caller, &key)).await
    }

    pub(crate) async fn call_of_any(&self, key: String) -> Result<Option<CallRecord>, StoreError> {
        self.read(move |file| history::any(file, &key)).await
    }

    pub(crate) async fn endings(
        &self,
        keys: Vec<String>,
    ) -> Result<HashMap<String, Ending>, StoreError> {
        self.read(move |file| history::endings(file, keys)).await
    }

    pub(crate) async fn unknown_like(
        &self,
        like: DuplicateQuery,
        after: WallTime,
    ) -> Result<Option<UncertainCall>, StoreError> {
        self.read(move |file| calls::unknown(file, &like, after)).await
    }

    /// The damage of the whole file, in the words of SQLite.
    pub(crate) async fn damage(&self) -> Result<Vec<String>, StoreError> {
        let look = |file: &rusqlite::Connection| {
            let mut check = file.prepare("PRAGMA integrity_check(20)")?;
            let found: rusqlite::Result<Vec<String>> =
                check.query_map([], |row| row.get(0))?.collect();
            Ok(found?.into_iter().filter(|found| found != "ok").collect())
        };
        self.read(look).await
    }
}

/// Keys, kept results and tickets.
impl ReadPool {
    pub(crate) async fn recorded(&self, key: IdempotencyKey) -> Result<KeyState, StoreError> {
        self.read(move |file| keys::recorded(&key, file)).await
    }

    pub(crate) async fn kept(
        &self,
        caller: Caller,
        handle: ResultHandle,
    ) -> Result<Option<Arc<Content>>, StoreError> {
        self.read(move |file| results::kept(file, &caller, &handle)).await
    }

    pub(crate) async fn parked(&self, caller: Caller) -> Result<Vec<ParkedCall>, StoreError> {
        self.read(move |file| tickets::open(file, &caller)).await
    }

    pub(crate) async fn open_tickets(
        &self,
        of: Option<Caller>,
        after: u64,
        limit: usize,
    ) -> Result<OpenTickets, StoreError> {
        self.read(move |file| tickets::page(file, of.as_ref(), after, limit)).await
    }

    pub(crate) async fn ticket(
        &self,
        ticket: TicketId,
        caller: Caller,
    ) -> Result<Option<ParkedCall>, StoreError> {
        self.read(move |file| tickets::one(file, &ticket, &caller)).await
    }

    pub(crate) async fn owner(&self, ticket: TicketId) -> Result<Option<Caller>, StoreError> {
        self.read(move |file| tickets::owner(file, &ticket)).await
    }

    pub(crate) async fn waiting(&self) -> Result<u64, StoreError> {
        self.read(tickets::count).await
    }
}

/// Runs of agents.
impl ReadPool {
    pub(crate) async fn run(&self, run: String) -> Result<Option<StoredRun>, StoreError> {
        self.read(move |file| runs::load(file, &run)).await
    }

    pub(crate) async fn events(
        &self,
        run: String,
        from: u64,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        self.read(move |file| runs::events(file, &run, from, limit)).await
    }

    pub(crate) async fn runs(
        &self,
        caller: Caller,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RunSummary>, StoreError> {
        self.read(move |file| runs::list(file, &caller, before, limit)).await
    }

    pub(crate) async fn thread(
        &self,
        caller: Caller,
        thread: String,
    ) -> Result<Vec<RunSummary>, StoreError> {
        self.read(move |file| runs::thread(file, &caller, &thread)).await
    }

    pub(crate) async fn unfinished(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.read(runs::unfinished).await
    }

    pub(crate) async fn notes(&self, run: String) -> Result<Vec<(String, String)>, StoreError> {
        self.read(move |file| run_notes::of(file, &run)).await
    }
}
