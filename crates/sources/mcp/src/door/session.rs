//! Sessions of older clients over HTTP, each with its streams.
//!
//! A session of which nothing is awaited is some hundred bytes: no task and no channel is kept for
//! it. What changes meanwhile is there for its client when that listens again.

pub(crate) mod conversation;
pub(crate) mod event_log;
mod greeting;
pub(crate) mod kept_bytes;
pub(crate) mod negotiation;
pub(crate) mod open_requests;
pub(crate) mod request;
pub(crate) mod rows;
pub(crate) mod streams;
mod take_up;
pub(crate) mod token;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use foldhash::fast::RandomState;
use tokio::time::Instant;
use toolcrib_core::Caller;

use super::persistence::McpPersistence;
use super::provider::McpObserver;
use super::settings::McpServerSettings;
use crate::door::client::subscriptions::ListChanges;
use conversation::Conversation;
use event_log::EventLog;
use kept_bytes::KeptBytes;
use rows::{LOOK, SessionRow, SessionRows};
use streams::SessionStreams;

pub(crate) struct McpSessionRegistry {
    observer: Arc<dyn McpObserver>,
    /// For so long one lives of which nothing is heard.
    life: Duration,
    /// For so long one lives whatever is heard of it.
    longest: Duration,
    all: Mutex<HashMap<Arc<str>, Arc<McpSession>, RandomState>>,
    is_swept: AtomicBool,
    /// What is kept of their streams.
    kept: Arc<KeptBytes>,
    /// Where they are written down for other processes.
    rows: Option<SessionRows>,
    most: usize,
    own: Weak<Self>,
}

/// One session.
pub(crate) struct McpSession {
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) streams: SessionStreams,
    /// Held by whoever tells its client of changed lists.
    pub(crate) changes: Arc<tokio::sync::Mutex<ListChanges>>,
    owner: Arc<Caller>,
    row: Option<SessionRow>,
    began: SystemTime,
    used: Mutex<Instant>,
}

impl McpSessionRegistry {
    pub(crate) fn new(
        observer: Arc<dyn McpObserver>,
        settings: &McpServerSettings,
        persistence: &McpPersistence,
    ) -> Arc<Self> {
        let ledger = persistence.sessions.as_ref();
        Arc::new_cyclic(|own| Self {
            observer,
            life: settings.session_life,
            longest: settings.longest_session,
            all: Mutex::default(),
            is_swept: AtomicBool::new(false),
            kept: Arc::default(),
            rows: ledger.map(|ledger| SessionRows::new(Arc::clone(ledger), settings, persistence)),
            most: settings.most_sessions,
            own: own.clone(),
        })
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<McpSession>, RandomState>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that has not begun.
    pub(crate) fn create(
        &self,
        owner: Arc<Caller>,
        changes: ListChanges,
        row: SessionRow,
    ) -> Arc<McpSession> {
        let row = self.rows.is_some().then_some(row);
        McpSession::new(owner, changes, Arc::clone(&self.kept), row)
    }

    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    /// How many of them are open that this caller began.
    pub(crate) fn of(&self, caller: &Caller) -> usize {
        self.all().values().filter(|session| session.owner.is(caller)).count()
    }

    /// Takes in one that has begun; the one of that name, where another request took it in before.
    /// `None`: there is no room for it.
    fn take_in(&self, id: &Arc<str>, session: Arc<McpSession>) -> Option<Arc<McpSession>> {
        let session = {
            let mut all = self.all();
            let has_room = all.len() < self.most;
            match all.get(id) {
                Some(known) => Arc::clone(known),
                None if has_room => Arc::clone(all.entry(Arc::clone(id)).or_insert(session)),
                None => return None,
            }
        };
        session.is_used();
        self.look_after();
        Some(session)
    }

    /// The session of that name, of which something is heard with this.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<McpSession>> {
        let session = self.all().get(id).map(Arc::clone)?;
        session.is_used();
        Some(session)
    }

    /// Ends it here, and its requests with it.
    fn remove(&self, id: &str) {
        let over = self.all().remove(id);
        self.tell(over);
    }

    /// Has somebody look after them for as long as there are any.
    fn look_after(&self) {
        if self.is_swept.swap(true, Ordering::AcqRel) {
            return;
        }
        let sessions = Weak::clone(&self.own);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(sessions) = sessions.upgrade() else { return };
                let is_over = sessions.forget();
                sessions.look_at_rows();
                if is_over {
                    return;
                }
            }
        });
    }

    /// Forgets those that nobody came back to, and those that are too old; `true`: there are none
    /// any more.
    fn forget(&self) -> bool {
        let over: Vec<_> = {
            let mut all = self.all();
            let is_over = |session: &McpSession| {
                let idle = session.idle_since();
                session.streams.forget();
                idle.is_some_and(|since| since.elapsed() >= self.life)
                    || (session.age() >= self.longest && !session.conversation.open.are_open())
            };
            all.extract_if(|_, session| is_over(session)).map(|(_, session)| session).collect()
        };
        self.leave(&over);
        self.tell(over);
        let mut all = self.all();
        let is_over = all.is_empty();
        if is_over {
            *all = HashMap::default();
            // With the lock held: the next one to begin has somebody look again.
            self.is_swept.store(false, Ordering::Release);
        }
        is_over
    }

    /// Ends those that were taken out: after the lock is given back, as others wait for it.
    fn tell(&self, over: impl IntoIterator<Item = Arc<McpSession>>) {
        for session in over {
            session.conversation.over.cancel();
            if let Some(revision) = session.conversation.wanted() {
                self.observer.session_ended(&revision, session.age());
            }
        }
    }
}

impl McpSession {
    fn new(
        owner: Arc<Caller>,
        changes: ListChanges,
        kept: Arc<KeptBytes>,
        row: Option<SessionRow>,
    ) -> Arc<Self> {
        let first = row.as_ref().map_or(0, SessionRow::first_number);
        let unrelated = EventLog::of_session(kept, first);
        let began = row.as_ref().map_or_else(SystemTime::now, |row| row.began);
        Arc::new(Self {
            conversation: Arc::new(Conversation::new(Arc::clone(&unrelated) as _)),
            streams: SessionStreams::new(unrelated, first),
            changes: Arc::new(tokio::sync::Mutex::new(changes)),
            owner,
            row,
            began,
            used: Mutex::new(Instant::now()),
        })
    }

    /// Since it began, in whichever process.
    fn age(&self) -> Duration {
        self.began.elapsed().unwrap_or_default()
    }

    pub(crate) fn is_used(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.conversation.over.is_cancelled()
    }

    /// When something was heard of it last. `None`: a request of it has no answer, or its client
    /// listens.
    fn idle_since(&self) -> Option<Instant> {
        if self.conversation.open.are_open() || self.streams.have_readers() {
            self.is_used();
            return None;
        }
        Some(self.used())
    }
}
