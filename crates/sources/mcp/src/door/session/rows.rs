//! Sessions as they are written down, and taken up by another process.
//!
//! Each has a row from its beginning on. A process that is asked for one that it does not know takes
//! it up from there. While the record does not answer, what a process has goes on as it is, and its
//! row is written later.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, timeout};
use toolcrib_core::{BoxFuture, Caller, LedgerError, SessionLedger, SessionRecord};

use super::greeting::WrittenGreeting;
use super::token::ResolvedSession;
use super::{LOOK, McpSession, McpSessionRegistry};
use crate::door::client::subscriptions::ListChanges;
use crate::door::provider::CribProvider;
use crate::door::settings::McpServerSettings;
use crate::door::state::McpRequestContext;

/// How long a client waits for the record, which may have fallen silent.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long the looking after all of them does.
const LONG_PATIENCE: Duration = Duration::from_secs(20);

/// Rows that one question is about.
const AT_ONCE: usize = 500;

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
    ledger: Arc<dyn SessionLedger>,
    life: Duration,
    most_of_caller: usize,
    /// Whose life is over here, and may be over everywhere.
    left: Mutex<Vec<String>>,
    /// Held by whoever looks after the rows.
    looking: Arc<tokio::sync::Mutex<()>>,
}

/// The row of one.
pub(crate) struct SessionRow {
    name: Arc<str>,
    profile: Option<Arc<str>>,
    pub(super) began: SystemTime,
    state: Mutex<RowState>,
}

#[derive(Clone, Copy)]
enum RowState {
    /// It is not there yet.
    Unwritten,
    /// Its life was lengthened here last.
    Kept(Instant),
    /// It was written by another process.
    Found,
    /// Its caller has too many: it stays in this process.
    Refused,
}

impl SessionRow {
    /// Of a session that begins.
    pub(crate) fn new(named: &ResolvedSession, profile: Option<Arc<str>>) -> Self {
        let state = Mutex::new(RowState::Unwritten);
        Self { name: Arc::clone(&named.row), profile, began: SystemTime::now(), state }
    }

    fn state(&self) -> MutexGuard<'_, RowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_kept(&self) {
        *self.state() = RowState::Kept(Instant::now());
    }
}

impl SessionRows {
    pub(super) fn new(ledger: Arc<dyn SessionLedger>, settings: &McpServerSettings) -> Self {
        Self {
            ledger,
            life: settings.session_life,
            most_of_caller: settings.sessions_per_caller,
            left: Mutex::default(),
            looking: Arc::default(),
        }
    }

    fn left(&self) -> MutexGuard<'_, Vec<String>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often the life of one that is used is lengthened.
    fn interval(&self) -> Duration {
        self.life / 4
    }

    /// What a row lives longer than its session, so that it never ends sooner.
    fn slack(&self) -> Duration {
        self.interval().saturating_add(2 * LOOK)
    }

    fn life_of_row(&self) -> Duration {
        self.life.saturating_add(self.slack())
    }

    /// Writes one down; `false`: its caller has too many.
    async fn write(&self, session: &McpSession, row: &SessionRow) -> Result<bool, LedgerError> {
        let Some(greeting) = session.conversation.written() else { return Ok(true) };
        let record = SessionRecord {
            name: row.name.to_string(),
            caller: Caller::new(&*session.owner.tenant, &*session.owner.subject),
            profile: row.profile.as_deref().map(str::to_owned),
            greeting,
            began: row.began,
        };
        let is_there = self.ledger.put(record, self.life_of_row(), self.most_of_caller).await?;
        if is_there {
            row.is_kept();
        } else {
            *row.state() = RowState::Refused;
        }
        Ok(is_there)
    }
}

/// An answer of the record, unless it takes too long.
async fn soon<T>(asking: BoxFuture<'_, Result<T, LedgerError>>) -> Result<T, SessionFault> {
    timeout(PATIENCE, asking).await.ok().and_then(Result::ok).ok_or(SessionFault::Away)
}

impl McpSessionRegistry {
    /// Takes in one that has begun, and writes it down.
    pub(crate) async fn begin(
        &self,
        named: &ResolvedSession,
        session: Arc<McpSession>,
    ) -> Result<(), SessionFault> {
        if let (Some(rows), Some(row)) = (&self.rows, &session.row) {
            // What cannot be written now is written later.
            let written = timeout(PATIENCE, rows.write(&session, row)).await;
            if matches!(written, Ok(Ok(false))) {
                return Err(SessionFault::TooManyOfCaller);
            }
        }
        self.take_in(&named.session, session).map(drop).ok_or(SessionFault::Full)
    }

    /// What is written of one that this caller began at this door.
    pub(crate) async fn look_up(
        &self,
        row: &str,
        caller: &Caller,
        profile: Option<&Arc<str>>,
    ) -> Result<SessionRecord, SessionFault> {
        let rows = self.rows.as_ref().ok_or(SessionFault::Unknown)?;
        let found = soon(rows.ledger.find(row)).await?.ok_or(SessionFault::Unknown)?;
        let is_theirs =
            found.caller.is(caller) && found.profile.as_deref() == profile.map(Arc::as_ref);
        let is_young = found.began.elapsed().unwrap_or_default() < self.longest;
        if is_theirs && is_young { Ok(found) } else { Err(SessionFault::Unknown) }
    }

    /// Takes up one that another process began.
    pub(crate) async fn take_up(
        &self,
        named: &ResolvedSession,
        context: &McpRequestContext,
        cribs: &Arc<dyn CribProvider>,
    ) -> Result<Arc<McpSession>, SessionFault> {
        let profile = context.profile.as_ref();
        let found = self.look_up(&named.row, &context.caller, profile).await?;
        let greeting = WrittenGreeting::read(&found.greeting).ok_or(SessionFault::Unknown)?;
        let row = SessionRow {
            began: found.began,
            state: Mutex::new(RowState::Found),
            ..SessionRow::new(named, profile.cloned())
        };
        let changes = ListChanges::resume(cribs, context);
        let session = self.create(Arc::clone(&context.caller), changes, row);
        session.conversation.restore(greeting);
        self.take_in(&named.session, session).ok_or(SessionFault::Full)
    }

    /// Ends one, wherever it is, and its requests with it.
    pub(crate) async fn end(&self, named: &ResolvedSession) -> Result<(), SessionFault> {
        self.remove(&named.session);
        match &self.rows {
            Some(rows) => soon(rows.ledger.end(&named.row)).await.map(drop),
            None => Ok(()),
        }
    }

    /// Their life is over here: of one that goes on in another process nothing is to be told.
    pub(super) fn leave(&self, over: &[Arc<McpSession>]) {
        if let Some(rows) = &self.rows {
            let names = over.iter().filter_map(|session| session.row.as_ref());
            let mut left = rows.left();
            // What is not told is over a little later.
            left.truncate(self.most);
            left.extend(names.map(|row| row.name.to_string()));
        }
    }

    /// Looks after the rows, unless somebody does already.
    pub(super) fn look_at_rows(&self) {
        let Some(rows) = &self.rows else { return };
        let Ok(looking) = Arc::clone(&rows.looking).try_lock_owned() else { return };
        let Some(sessions) = self.own.upgrade() else { return };
        tokio::spawn(async move {
            if let Some(rows) = &sessions.rows {
                // What fails now is done at the next look.
                let _ = timeout(LONG_PATIENCE, sessions.synchronize(rows)).await;
            }
            drop(looking);
        });
    }

    async fn synchronize(&self, rows: &SessionRows) -> Result<(), LedgerError> {
        let left = std::mem::take(&mut *rows.left());
        for names in left.chunks(AT_ONCE) {
            rows.ledger.leave(names.to_vec(), rows.slack()).await?;
        }
        let open: Vec<_> =
            self.all().iter().map(|(id, session)| (Arc::clone(id), Arc::clone(session))).collect();
        if open.is_empty() {
            return Ok(());
        }
        let ended: HashSet<String> = rows.ledger.ended().await?.into_iter().collect();
        let mut kept = Vec::new();
        for (id, session) in &open {
            let Some(row) = &session.row else { continue };
            if ended.contains(&*row.name) {
                self.remove(id);
                continue;
            }
            let state = *row.state();
            match state {
                RowState::Unwritten => {
                    rows.write(session, row).await?;
                }
                RowState::Kept(at) if at.elapsed() < rows.interval() || session.used() <= at => {}
                RowState::Kept(_) | RowState::Found => kept.push((row, row.name.to_string())),
                RowState::Refused => {}
            }
            let is_there = !matches!(state, RowState::Unwritten | RowState::Refused);
            if is_there
                && session.conversation.has_changed()
                && let Some(greeting) = session.conversation.written()
                && let Err(error) = rows.ledger.greet(&row.name, greeting).await
            {
                session.conversation.changes();
                return Err(error);
            }
        }
        for some in kept.chunks(AT_ONCE) {
            let names = some.iter().map(|(_, name)| name.clone()).collect();
            rows.ledger.keep(names, rows.life_of_row()).await?;
            for (row, _) in some {
                row.is_kept();
            }
        }
        Ok(())
    }
}
