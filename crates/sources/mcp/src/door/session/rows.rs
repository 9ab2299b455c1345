//! The rows of sessions, as one process sees them: what it has written of each, and when.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, timeout};
use toolcrib_core::{BoxFuture, ENDED_FOR, LedgerError, SessionLedger};
use uuid::Uuid;

use super::token::ResolvedSession;
use crate::door::persistence::McpPersistence;
use crate::door::settings::McpServerSettings;

/// How often sessions are looked after.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// How long a client waits for the record, which may have fallen silent.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// How long nobody may look at the ended ones without missing any: less than they are known of, as
/// a look takes time as well.
const LONGEST_GAP: Duration = Duration::from_secs(ENDED_FOR.as_secs() / 2);

/// Why a session cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionFault {
    /// There is none of this caller's.
    Unknown,
    /// The record cannot be asked.
    Away,
    Full,
    TooManyOfCaller,
}

/// Where they are written down, and how.
pub(super) struct SessionRows {
    pub(super) ledger: Arc<dyn SessionLedger>,
    life: Duration,
    pub(super) most_of_caller: usize,
    /// Whose life is over here, and may be over everywhere.
    left: Mutex<Vec<String>>,
    /// Other processes may end them, and keep them.
    is_shared: bool,
    looks: Mutex<EndedLooks>,
    /// Held by whoever looks after the rows.
    pub(super) looking: Arc<tokio::sync::Mutex<()>>,
}

/// The row of one.
pub(crate) struct SessionRow {
    pub(super) name: Arc<str>,
    pub(super) profile: Option<Arc<str>>,
    pub(super) began: SystemTime,
    state: Mutex<RowState>,
}

#[derive(Clone, Copy)]
pub(super) enum RowState {
    /// It is not there yet, or not any more.
    Unwritten,
    /// Its life was lengthened here last.
    Kept(Instant),
    /// It was written by another process, and was there at that time.
    Found(Instant),
    /// Its caller has too many: it stays in this process.
    Refused,
}

impl SessionRow {
    /// Of a session that another process wrote down.
    pub(super) fn found(
        named: &ResolvedSession,
        profile: Option<Arc<str>>,
        began: SystemTime,
    ) -> Self {
        let state = Mutex::new(RowState::Found(Instant::now()));
        Self { name: Arc::clone(&named.row), profile, began, state }
    }

    /// Of a session that begins.
    pub(crate) fn new(named: &ResolvedSession, profile: Option<Arc<str>>) -> Self {
        let state = Mutex::new(RowState::Unwritten);
        Self { name: Arc::clone(&named.row), profile, began: SystemTime::now(), state }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, RowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is there, and lives its whole life from this time on.
    pub(super) fn is_kept(&self, at: Instant) {
        *self.state() = RowState::Kept(at);
    }

    /// Behind what the numbers of its events are. No two processes use the same ones, so that a
    /// client that names one of another process is not taken to have heard one of this.
    pub(super) fn first_number(&self) -> u64 {
        match *self.state() {
            // 48 random bits of the operating system, above all that are counted from 0.
            RowState::Found(_) => (1 << 48) | (Uuid::new_v4().as_u64_pair().0 >> 16),
            RowState::Unwritten | RowState::Kept(_) | RowState::Refused => 0,
        }
    }
}

/// Since when all are known that others ended.
#[derive(Default)]
struct EndedLooks {
    last: Option<Instant>,
    since: Option<Instant>,
}

impl EndedLooks {
    /// What was asked at this time is answered by now.
    fn add(&mut self, asked: Instant) {
        let is_gap = |last: Instant| last.elapsed() >= LONGEST_GAP;
        if self.last.is_none_or(is_gap) {
            self.since = Some(Instant::now());
        }
        self.last = Some(asked);
    }

    /// Whether nobody ended one unnoticed that was there at that time.
    fn knows_since(&self, at: Instant) -> bool {
        self.since.is_some_and(|since| since.saturating_duration_since(at) < LONGEST_GAP)
    }
}

impl SessionRows {
    pub(super) fn new(
        ledger: Arc<dyn SessionLedger>,
        settings: &McpServerSettings,
        persistence: &McpPersistence,
    ) -> Self {
        Self {
            is_shared: persistence.secret.is_some() || persistence.homes.is_some(),
            looks: Mutex::default(),
            ledger,
            life: settings.session_life,
            most_of_caller: settings.sessions_per_caller,
            left: Mutex::default(),
            looking: Arc::default(),
        }
    }

    pub(super) fn left(&self) -> MutexGuard<'_, Vec<String>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which of these other processes ended.
    pub(super) async fn ended(&self, names: Vec<String>) -> Result<Vec<String>, LedgerError> {
        if self.is_shared { self.ledger.ended(names).await } else { Ok(Vec::new()) }
    }

    fn looks(&self) -> MutexGuard<'_, EndedLooks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that were ended are known, as it was asked at this time.
    pub(super) fn looked(&self, asked: Instant) {
        self.looks().add(asked);
    }

    /// Whether it is known of one that was there at that time that nobody ended it.
    pub(super) fn knows_since(&self, at: Instant) -> bool {
        !self.is_shared || self.looks().knows_since(at)
    }

    /// How often the life of one that is used is lengthened.
    pub(super) fn interval(&self) -> Duration {
        self.life / 4
    }

    /// What a row lives longer than its session, so that it never ends sooner.
    pub(super) fn slack(&self) -> Duration {
        self.interval().saturating_add(2 * LOOK)
    }

    pub(super) fn life_of_row(&self) -> Duration {
        self.life.saturating_add(self.slack())
    }
}

/// An answer of the record, unless it takes too long.
pub(super) async fn soon<T>(
    asking: BoxFuture<'_, Result<T, LedgerError>>,
) -> Result<T, SessionFault> {
    timeout(PATIENCE, asking).await.ok().and_then(Result::ok).ok_or(SessionFault::Away)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_there_before_a_gap_may_have_been_ended_in_it() {
        let (mut looks, begun) = (EndedLooks::default(), Instant::now());
        assert!(!looks.knows_since(begun));
        for _ in 0..100 {
            tokio::time::sleep(LOOK).await;
            looks.add(Instant::now());
        }
        assert!(looks.knows_since(begun));
        let before = Instant::now();
        tokio::time::sleep(ENDED_FOR).await;
        looks.add(Instant::now());
        assert!(!looks.knows_since(begun) && !looks.knows_since(before));
        assert!(looks.knows_since(Instant::now()));
    }
}
