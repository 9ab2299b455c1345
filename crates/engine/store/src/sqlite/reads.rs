//! What is read of the file, each question by its name.

use std::collections::HashMap;
use std::sync::Arc;

use toolcrib_core::{
    Caller, Content, Ending, IdempotencyKey, KeyState, OpenTickets, ParkedCall, ResultHandle,
    RunSummary, SessionRecord, StoredRun, TicketId, UncertainCall,
};

use super::read_pool::ReadPool;
use super::statements::{calls, history, keys, results, run_notes, runs, sessions, tickets};
use crate::clock::WallTime;
use crate::reads::{Reading, StoreReads};
use crate::rows::calls::DuplicateQuery;
use crate::rows::history::{CallCursor, CallFilter, CallPage, CallRecord};

impl StoreReads for ReadPool {
    fn page(
        &self,
        caller: Option<Caller>,
        filter: CallFilter,
        after: Option<CallCursor>,
        limit: usize,
    ) -> Reading<'_, CallPage> {
        Box::pin(self.read(move |file| history::page(file, caller.as_ref(), &filter, after, limit)))
    }

    fn call(&self, caller: Caller, key: String) -> Reading<'_, Option<CallRecord>> {
        Box::pin(self.read(move |file| history::one(file, &caller, &key)))
    }

    fn call_of_any(&self, key: String) -> Reading<'_, Option<CallRecord>> {
        Box::pin(self.read(move |file| history::any(file, &key)))
    }

    fn endings(&self, keys: Vec<String>) -> Reading<'_, HashMap<String, Ending>> {
        Box::pin(self.read(move |file| history::endings(file, keys)))
    }

    fn unknown_like(
        &self,
        like: DuplicateQuery,
        after: WallTime,
    ) -> Reading<'_, Option<UncertainCall>> {
        Box::pin(self.read(move |file| calls::unknown(file, &like, after)))
    }

    fn damage(&self) -> Reading<'_, Vec<String>> {
        let look = |file: &rusqlite::Connection| {
            let mut check = file.prepare("PRAGMA integrity_check(20)")?;
            let found: rusqlite::Result<Vec<String>> =
                check.query_map([], |row| row.get(0))?.collect();
            Ok(found?.into_iter().filter(|found| found != "ok").collect())
        };
        Box::pin(self.read(look))
    }

    fn recorded(&self, key: IdempotencyKey) -> Reading<'_, KeyState> {
        Box::pin(self.read(move |file| keys::recorded(&key, file)))
    }

    fn kept(&self, caller: Caller, handle: ResultHandle) -> Reading<'_, Option<Arc<Content>>> {
        Box::pin(self.read(move |file| results::kept(file, &caller, &handle)))
    }

    fn parked(&self, caller: Caller) -> Reading<'_, Vec<ParkedCall>> {
        Box::pin(self.read(move |file| tickets::open(file, &caller)))
    }

    fn open_tickets(
        &self,
        of: Option<Caller>,
        after: u64,
        limit: usize,
    ) -> Reading<'_, OpenTickets> {
        Box::pin(self.read(move |file| tickets::page(file, of.as_ref(), after, limit)))
    }

    fn ticket(&self, ticket: TicketId, caller: Caller) -> Reading<'_, Option<ParkedCall>> {
        Box::pin(self.read(move |file| tickets::one(file, &ticket, &caller)))
    }

    fn owner(&self, ticket: TicketId) -> Reading<'_, Option<Caller>> {
        Box::pin(self.read(move |file| tickets::owner(file, &ticket)))
    }

    fn waiting(&self) -> Reading<'_, u64> {
        Box::pin(self.read(tickets::count))
    }

    fn run(&self, run: String) -> Reading<'_, Option<StoredRun>> {
        Box::pin(self.read(move |file| runs::load(file, &run)))
    }

    fn events(&self, run: String, from: u64, limit: usize) -> Reading<'_, Vec<String>> {
        Box::pin(self.read(move |file| runs::events(file, &run, from, limit)))
    }

    fn runs(
        &self,
        caller: Caller,
        before: Option<u64>,
        limit: usize,
    ) -> Reading<'_, Vec<RunSummary>> {
        Box::pin(self.read(move |file| runs::list(file, &caller, before, limit)))
    }

    fn thread(&self, caller: Caller, thread: String) -> Reading<'_, Vec<RunSummary>> {
        Box::pin(self.read(move |file| runs::thread(file, &caller, &thread)))
    }

    fn unfinished(&self) -> Reading<'_, Vec<RunSummary>> {
        Box::pin(self.read(runs::unfinished))
    }

    fn notes(&self, run: String) -> Reading<'_, Vec<(String, String)>> {
        Box::pin(self.read(move |file| run_notes::of(file, &run)))
    }

    fn session(&self, name: String) -> Reading<'_, Option<SessionRecord>> {
        Box::pin(self.read(move |file| sessions::find(file, &name)))
    }

    fn ended_sessions(&self, names: Vec<String>) -> Reading<'_, Vec<String>> {
        Box::pin(self.read(move |connection| sessions::ended(connection, names)))
    }

    fn is_over(&self, _: String) -> Reading<'_, bool> {
        // A file has one process at a time.
        Box::pin(std::future::ready(Ok(true)))
    }
}
