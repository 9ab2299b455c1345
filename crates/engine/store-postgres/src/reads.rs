//! Sessions that read, beside the one that writes.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::time::Instant;
use toolcrib_core::{
    Caller, Content, Ending, IdempotencyKey, KeyState, OpenTickets, ParkedCall, ResultHandle,
    RunSummary, SessionRecord, StoredRun, TicketId, UncertainCall,
};
use toolcrib_store::StoreError;
use toolcrib_store::clock::WallTime;
use toolcrib_store::reads::{Reading, StoreReads};
use toolcrib_store::rows::calls::DuplicateQuery;
use toolcrib_store::rows::history::{CallCursor, CallFilter, CallPage, CallRecord};

use crate::address::DatabaseAddress;
use crate::client_sessions;
use crate::error::SessionError;
use crate::group::no_thread;
use crate::session::{Answer, Session};
use crate::statements::{calls, history, keys, replicas, results, runs, tickets};

/// Sessions that read; each takes many questions at once.
const SESSIONS: usize = 2;

/// How long to wait for a session that another question opens: somewhat longer than that may take.
const PATIENCE: Duration = Duration::from_secs(9);

/// How long nobody tries again to open what could not be opened: else those who waited for it would
/// try one after the other.
const RESPITE: Duration = Duration::from_millis(500);

/// A thread of its own serves them, whatever runtime asks.
pub(crate) struct PostgresReads {
    /// `None` once it goes: it must not be waited for where a task runs.
    runtime: Option<Runtime>,
    sessions: Arc<ReadSessions>,
}

struct ReadSessions {
    address: Arc<DatabaseAddress>,
    open: [Mutex<ReadSlot>; SESSIONS],
    next: AtomicUsize,
}

/// The place of one session.
#[derive(Default)]
struct ReadSlot {
    session: Option<Arc<Session>>,
    failed: Option<FailedOpening>,
}

/// Told to all who come soon after it.
struct FailedOpening {
    at: Instant,
    error: StoreError,
}

impl ReadSlot {
    async fn session(&mut self, address: &DatabaseAddress) -> Result<Arc<Session>, StoreError> {
        if let Some(session) = self.session.as_ref().filter(|session| !session.is_closed()) {
            return Ok(Arc::clone(session));
        }
        self.session = None;
        if let Some(failed) = self.failed.as_ref().filter(|failed| failed.at.elapsed() < RESPITE) {
            return Err(failed.error.clone());
        }
        match Session::open_brief(address).await {
            Ok(session) => {
                self.failed = None;
                Ok(Arc::clone(self.session.insert(Arc::new(session))))
            }
            Err(error) => {
                let error = error.at(&address.place);
                self.failed = Some(FailedOpening { at: Instant::now(), error: error.clone() });
                Err(error)
            }
        }
    }
}

impl ReadSessions {
    /// One after the other; one that was closed is opened anew.
    async fn session(&self) -> Result<Arc<Session>, StoreError> {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % SESSIONS;
        let [first, second] = &self.open;
        let slot = if next == 0 { first } else { second };
        let Ok(mut slot) = tokio::time::timeout(PATIENCE, slot.lock()).await else {
            return Err(SessionError::Silent.at(&self.address.place));
        };
        slot.session(&self.address).await
    }
}

impl PostgresReads {
    pub(crate) fn start(address: Arc<DatabaseAddress>) -> Result<Self, StoreError> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).thread_name("toolcrib-reads").enable_all().build();
        let runtime = runtime.map_err(|error| no_thread(&address.place, error))?;
        let open = [Mutex::default(), Mutex::default()];
        let sessions = Arc::new(ReadSessions { address, open, next: AtomicUsize::new(0) });
        Ok(Self { runtime: Some(runtime), sessions })
    }

    fn read<T, F>(&self, work: impl FnOnce(Arc<Session>) -> F + Send + 'static) -> Reading<'_, T>
    where
        T: Send + 'static,
        F: Future<Output = Answer<T>> + Send,
    {
        let sessions = Arc::clone(&self.sessions);
        let place = &self.sessions.address.place;
        let closed = StoreError::Closed { path: place.into() };
        let Some(runtime) = &self.runtime else {
            return Box::pin(std::future::ready(Err(closed)));
        };
        let reading = runtime.spawn(async move {
            let session = sessions.session().await?;
            work(session).await.map_err(|error| error.at(&sessions.address.place))
        });
        Box::pin(async move {
            match reading.await {
                Ok(answer) => answer,
                Err(fault) if fault.is_panic() => Err(StoreError::Database {
                    place: place.clone(),
                    told: "was not asked: this process has a fault, which its log tells".into(),
                    source: None,
                }),
                Err(_) => Err(closed),
            }
        })
    }
}

impl Drop for PostgresReads {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl StoreReads for PostgresReads {
    fn page(
        &self,
        caller: Option<Caller>,
        filter: CallFilter,
        after: Option<CallCursor>,
        limit: usize,
    ) -> Reading<'_, CallPage> {
        self.read(async move |session| {
            history::page(&session, caller.as_ref(), &filter, after, limit).await
        })
    }

    fn call(&self, caller: Caller, key: String) -> Reading<'_, Option<CallRecord>> {
        self.read(async move |session| history::one(&session, &caller, &key).await)
    }

    fn call_of_any(&self, key: String) -> Reading<'_, Option<CallRecord>> {
        self.read(async move |session| history::any(&session, &key).await)
    }

    fn endings(&self, keys: Vec<String>) -> Reading<'_, HashMap<String, Ending>> {
        self.read(async move |session| history::endings(&session, &keys).await)
    }

    fn unknown_like(
        &self,
        like: DuplicateQuery,
        after: WallTime,
    ) -> Reading<'_, Option<UncertainCall>> {
        self.read(async move |session| calls::unknown(&session, &like, after).await)
    }

    fn damage(&self) -> Reading<'_, Vec<String>> {
        // A server looks after its files itself.
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn recorded(&self, key: IdempotencyKey) -> Reading<'_, KeyState> {
        self.read(async move |session| keys::recorded(&session, &key).await)
    }

    fn kept(&self, caller: Caller, handle: ResultHandle) -> Reading<'_, Option<Arc<Content>>> {
        self.read(async move |session| results::kept(&session, &caller, &handle).await)
    }

    fn parked(&self, caller: Caller) -> Reading<'_, Vec<ParkedCall>> {
        self.read(async move |session| tickets::open(&session, &caller).await)
    }

    fn open_tickets(
        &self,
        of: Option<Caller>,
        after: u64,
        limit: usize,
    ) -> Reading<'_, OpenTickets> {
        self.read(async move |session| tickets::page(&session, of.as_ref(), after, limit).await)
    }

    fn ticket(&self, ticket: TicketId, caller: Caller) -> Reading<'_, Option<ParkedCall>> {
        self.read(async move |session| tickets::one(&session, &ticket, &caller).await)
    }

    fn owner(&self, ticket: TicketId) -> Reading<'_, Option<Caller>> {
        self.read(async move |session| tickets::owner(&session, &ticket).await)
    }

    fn waiting(&self) -> Reading<'_, u64> {
        self.read(async move |session| tickets::count(&session).await)
    }

    fn run(&self, run: String) -> Reading<'_, Option<StoredRun>> {
        self.read(async move |session| runs::load(&session, &run).await)
    }

    fn events(&self, run: String, from: u64, limit: usize) -> Reading<'_, Vec<String>> {
        self.read(async move |session| runs::events(&session, &run, from, limit).await)
    }

    fn runs(
        &self,
        caller: Caller,
        before: Option<u64>,
        limit: usize,
    ) -> Reading<'_, Vec<RunSummary>> {
        self.read(async move |session| runs::list(&session, &caller, before, limit).await)
    }

    fn thread(&self, caller: Caller, thread: String) -> Reading<'_, Vec<RunSummary>> {
        self.read(async move |session| runs::thread(&session, &caller, &thread).await)
    }

    fn unfinished(&self) -> Reading<'_, Vec<RunSummary>> {
        self.read(async move |session| runs::unfinished(&session).await)
    }

    fn notes(&self, run: String) -> Reading<'_, Vec<(String, String)>> {
        self.read(async move |session| runs::notes(&session, &run).await)
    }

    fn session(&self, name: String) -> Reading<'_, Option<SessionRecord>> {
        self.read(async move |session| client_sessions::find(&session, &name).await)
    }

    fn ended_sessions(&self, names: Vec<String>) -> Reading<'_, Vec<String>> {
        self.read(async move |session| client_sessions::ended(&session, &names).await)
    }

    fn is_over(&self, replica: String) -> Reading<'_, bool> {
        self.read(async move |session| replicas::is_over(&session, &replica).await)
    }
}
