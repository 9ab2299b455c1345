//! Sessions as they are written down, and taken up by another process.
//!
//! Each has a row from its beginning on. A process that is asked for one that it does not know takes
//! it up from there. While the record does not answer, what a process has goes on as it is, and its
//! row is written later.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use toolcrib_core::{Caller, LedgerError, SessionRecord};

use super::conversation::Conversation;
use super::greeting::WrittenGreeting;
use super::rows::{RowState, SessionFault, SessionRow, SessionRows, soon};
use super::token::ResolvedSession;
use super::{McpSession, McpSessionRegistry};
use crate::door::client::subscriptions::ListChanges;
use crate::door::provider::CribProvider;
use crate::door::state::McpRequestContext;

/// How long the looking after all of them does.
const LONG_PATIENCE: Duration = Duration::from_secs(20);

/// Rows that one question is about.
const AT_ONCE: usize = 500;

impl McpSessionRegistry {
    /// Takes in one that has begun, and writes it down.
    pub(crate) async fn begin(
        &self,
        named: &ResolvedSession,
        session: Arc<McpSession>,
    ) -> Result<(), SessionFault> {
        if let (Some(rows), Some(row)) = (&self.rows, &session.row) {
            // What cannot be written now is written later.
            if write(rows, &session, row).await == Ok(false) {
                return Err(SessionFault::TooManyOfCaller);
            }
        }
        if self.take_in(&named.session, session).is_some() {
            return Ok(());
        }
        if let Some(rows) = &self.rows {
            // Nobody has its name, and it would count for its caller.
            let _ = soon(rows.ledger.end(&named.row)).await;
        }
        Err(SessionFault::Full)
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
        let row = SessionRow::found(named, profile.cloned(), found.began);
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
                // What is not done by then is done at the next look.
                let _ = timeout(LONG_PATIENCE, sessions.synchronize(rows)).await;
            }
            drop(looking);
        });
    }

    /// What fails is done at the next look, and keeps nothing else from being done.
    async fn synchronize(&self, rows: &SessionRows) {
        let left = std::mem::take(&mut *rows.left());
        for names in left.chunks(AT_ONCE) {
            let _ = soon(rows.ledger.leave(names.to_vec(), rows.slack())).await;
        }
        let open: Vec<_> = {
            let all = self.all();
            let open = all.iter().filter(|(_, session)| session.row.is_some());
            open.map(|(id, session)| (Arc::clone(id), Arc::clone(session))).collect()
        };
        if open.is_empty() {
            return;
        }
        let knows_ended = self.end_what_others_ended(rows, &open).await.is_ok();
        // First what is over if nobody keeps it.
        self.keep(rows, &open, knows_ended).await;
        for (_, session) in &open {
            let Some(row) = &session.row else { continue };
            let state = *row.state();
            match state {
                RowState::Unwritten => {
                    let _ = write(rows, session, row).await;
                }
                RowState::Kept(_) | RowState::Found(_) => greet(rows, session, row).await,
                RowState::Refused => {}
            }
        }
    }

    async fn end_what_others_ended(
        &self,
        rows: &SessionRows,
        open: &[OpenSession],
    ) -> Result<(), LedgerError> {
        let asked = Instant::now();
        for some in open.chunks(AT_ONCE) {
            let ended: HashSet<String> = rows.ended(names(some)).await?.into_iter().collect();
            for (id, _) in some.iter().filter(|one| is_among(&ended, one)) {
                self.remove(id);
            }
        }
        rows.looked(asked);
        Ok(())
    }

    /// Lengthens the lives of those that were used.
    async fn keep(&self, rows: &SessionRows, open: &[OpenSession], knows_ended: bool) {
        let used: Vec<_> = open.iter().filter(|one| needs_keep(rows, one)).cloned().collect();
        for some in used.chunks(AT_ONCE) {
            let asked = Instant::now();
            let Ok(kept) = rows.ledger.keep(names(some), rows.life_of_row()).await else {
                continue;
            };
            let kept: HashSet<String> = kept.into_iter().collect();
            for one in some {
                let (id, session) = one;
                let Some(row) = &session.row else { continue };
                if is_among(&kept, one) {
                    row.is_kept(asked);
                } else if knows_ended {
                    self.miss(rows, id, row);
                }
            }
        }
    }

    /// Of one whose row is not there any more: it is written anew if its life was over, and over if
    /// somebody may have ended it while the record could not be asked.
    fn miss(&self, rows: &SessionRows, id: &str, row: &SessionRow) {
        let mut state = row.state();
        let (RowState::Kept(at) | RowState::Found(at)) = *state else { return };
        if rows.knows_since(at) {
            *state = RowState::Unwritten;
            return;
        }
        drop(state);
        self.remove(id);
    }
}

/// A session under its name.
type OpenSession = (Arc<str>, Arc<McpSession>);

/// The names of their rows.
fn names(sessions: &[OpenSession]) -> Vec<String> {
    let rows = sessions.iter().filter_map(|(_, session)| session.row.as_ref());
    rows.map(|row| row.name.to_string()).collect()
}

fn is_among(rows: &HashSet<String>, (_, session): &OpenSession) -> bool {
    session.row.as_ref().is_some_and(|row| rows.contains(&*row.name))
}

fn needs_keep(rows: &SessionRows, (_, session): &OpenSession) -> bool {
    let Some(row) = session.row.as_ref().filter(|_| !session.is_over()) else { return false };
    match *row.state() {
        // What it was used until then its row outlives.
        RowState::Kept(at) => session.used().saturating_duration_since(at) >= rows.interval(),
        RowState::Found(_) => true,
        RowState::Unwritten | RowState::Refused => false,
    }
}

/// Writes what there is more to know of its client by now.
async fn greet(rows: &SessionRows, session: &McpSession, row: &SessionRow) {
    let conversation = &session.conversation;
    if session.is_over() || !conversation.has_changed() {
        return;
    }
    let mut unwritten = UnwrittenChange(Some(conversation));
    let Some(greeting) = conversation.written() else { return };
    if soon(rows.ledger.greet(&row.name, greeting)).await.is_ok() {
        unwritten.0 = None;
    }
}

/// A change that was not written yet. Dropped, also by who waits no longer, it is there again.
struct UnwrittenChange<'a>(Option<&'a Conversation>);

impl Drop for UnwrittenChange<'_> {
    fn drop(&mut self) {
        if let Some(conversation) = self.0 {
            conversation.changes();
        }
    }
}

/// Writes one down; `false`: its caller has too many.
async fn write(
    rows: &SessionRows,
    session: &McpSession,
    row: &SessionRow,
) -> Result<bool, SessionFault> {
    let greeting = session.conversation.written().filter(|_| !session.is_over());
    let Some(greeting) = greeting else { return Ok(true) };
    let record = SessionRecord {
        name: row.name.to_string(),
        caller: Caller::new(&*session.owner.tenant, &*session.owner.subject),
        profile: row.profile.as_deref().map(str::to_owned),
        greeting,
        began: row.began,
    };
    let asked = Instant::now();
    let put = soon(rows.ledger.put(record, rows.life_of_row(), rows.most_of_caller)).await;
    if session.is_over() {
        // Whoever ended it meanwhile may have done so before it was there.
        return soon(rows.ledger.end(&row.name)).await.map(|_| true);
    }
    let is_there = put?;
    if is_there {
        row.is_kept(asked);
    } else {
        *row.state() = RowState::Refused;
    }
    Ok(is_there)
}
