//! One transaction, and the session that it takes.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use toolcrib_core::failpoint;
use toolcrib_store::StoreError;
use toolcrib_store::writes::job::WriteJob;
use toolcrib_store::writes::unwritten_end::UnwrittenEnd;

use super::{GroupFault, MOST_UNSYNCED, PostgresGroup, needs_sync};
use crate::error::SessionError;
use crate::session::{Answer, Session};
use crate::statements::execute::execute;
use crate::statements::{schema, tickets};

/// A time that is up would end the waiting for a standby, and tell as confirmed what it lacks.
pub(crate) const COMMIT: &str = "SET LOCAL statement_timeout = 0; COMMIT";

impl PostgresGroup {
    /// One transaction for all of these.
    pub(super) fn attempt(
        &mut self,
        owed: &[UnwrittenEnd],
        jobs: &mut [WriteJob],
    ) -> Result<(), GroupFault> {
        let sync = needs_sync(jobs) || self.unsynced.len() >= MOST_UNSYNCED;
        let options = self.options.clone();
        // What is unclear is settled first: that group may have given back what is unheard, and
        // taken it anew for somebody who is told so.
        let session = self.reach().map_err(|error| away(error, &self.address.place))?;
        self.session = Some(session);
        let unheard = std::mem::take(&mut self.unheard);
        let done = self.transact(sync, async |session| {
            for (ticket, caller) in &unheard {
                tickets::give_back(session, ticket, caller).await?;
            }
            execute(session, owed, jobs, &options).await?;
            Ok(GroupOutcome::Changed)
        });
        if done.is_err() {
            self.unheard.extend(unheard);
        }
        done
    }

    /// What changed nothing is not confirmed, and does not count as a group.
    pub(super) fn transact(
        &mut self,
        sync: bool,
        work: impl AsyncFnOnce(&Session) -> Answer<GroupOutcome>,
    ) -> Result<(), GroupFault> {
        let place = self.address.place.clone();
        // Whatever ends in between, it comes back only if it can be gone on with.
        let session = self.reach().map_err(|error| away(error, &place))?;
        let group = GroupStatements {
            begin: self.progress.begin(sync),
            is_of_replica: self.progress.replica.is_some(),
            confirms: Cell::new(false),
        };
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.runtime.block_on(group.run(&session, &place, work))
        }));
        let Ok(done) = done else {
            // The session goes, and what it had begun with it.
            let fault =
                if group.confirms.get() { GroupFault::Unclear } else { GroupFault::Refused };
            return Err(fault(panicked(&place)));
        };
        self.keep(session, sync, &done);
        done.map(|_| ())
    }

    /// Keeps the session if it can be gone on with.
    fn keep(&mut self, session: Session, sync: bool, done: &Result<GroupOutcome, GroupFault>) {
        match done {
            Ok(GroupOutcome::Changed) => {
                self.progress.advance(sync);
                self.session = Some(session);
            }
            Ok(GroupOutcome::Unchanged) | Err(GroupFault::Refused(_)) => {
                self.session = Some(session);
            }
            Err(GroupFault::Away { .. } | GroupFault::Unclear(_)) => {}
        }
    }

    /// A session, if the database is there and is the one that it was. What was not known to be
    /// there is known then.
    pub(super) fn reach(&mut self) -> Answer<Session> {
        let open = self.session.take().filter(|session| !session.is_closed());
        let mut session = match open {
            Some(session) => session,
            None => self.reopen()?,
        };
        let Some(life) = &self.life else { return Ok(session) };
        // Others took this one for dead, and it goes on as another.
        if let Some(one) = life.current().filter(|one| Some(one.id) != self.progress.replica) {
            let owners = life.numbers();
            self.runtime.block_on(async {
                session.be_one_of_several(owners).await?;
                schema::own_replica(&session, &one.name, one.id).await
            })?;
            self.progress.become_replica(one);
            // What the others have put in order is gone over once more, since some of it was lost.
            self.shared.give_back(std::mem::take(&mut self.unsynced));
        }
        Ok(session)
    }

    fn reopen(&mut self) -> Answer<Session> {
        let owner = self.progress.owner.clone();
        let (is_unsettled, replica) = (self.unsettled.is_some(), self.progress.replica);
        let owners = self.life.as_ref().map(|life| life.numbers());
        let (session, state) = self.runtime.block_on(async {
            let mut session = Session::open_brief(&self.address).await?;
            session.inspect().await?;
            // From here on none of ours that is still open changes anything.
            if let Some(id) = replica {
                session.be_one_of_several(owners.unwrap_or_default()).await?;
                schema::share(&session, &owner).await?;
                schema::own_replica(&session, &owner, id).await?;
            } else {
                schema::own(&session, &owner).await?;
            }
            if is_unsettled {
                schema::sync(&session).await?;
            }
            let state = schema::state(&session, replica).await?;
            Answer::Ok((session, state))
        })?;
        let found = self.progress.find(&state);
        match found {
            Ok(found) => {
                if found.lost_some {
                    self.shared.give_back(std::mem::take(&mut self.unsynced));
                }
                self.settle(found.groups);
                Ok(session)
            }
            Err(error) => {
                // It is not known, and never will be.
                self.give_up(&SessionError::unfit(told(&error)).at(&self.address.place));
                Err(error)
            }
        }
    }
}

/// Whether a group has anything to confirm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupOutcome {
    Changed,
    Unchanged,
}

/// What a group is begun with, and whether it was to be confirmed.
struct GroupStatements {
    begin: String,
    /// Whether the last but one of them is the fence.
    is_of_replica: bool,
    confirms: Cell<bool>,
}

impl GroupStatements {
    async fn run(
        &self,
        session: &Session,
        place: &str,
        work: impl AsyncFnOnce(&Session) -> Answer<GroupOutcome>,
    ) -> Result<GroupOutcome, GroupFault> {
        let worked = async {
            let counts = session.batch_counts(&self.begin).await?;
            let mut last = counts.iter().rev();
            let is_moved = last.next() != Some(&1);
            if self.is_of_replica && last.next() != Some(&1) {
                return Err(SessionError::Fenced);
            }
            if is_moved {
                return Err(SessionError::unfit(
                    "was changed by somebody else: start this process anew",
                ));
            }
            work(session).await
        };
        let outcome = match worked.await {
            Ok(outcome) => outcome,
            Err(error) => return Err(take_back(session, place, error).await),
        };
        if outcome == GroupOutcome::Unchanged {
            let undone = session.batch("ROLLBACK").await;
            return undone.map(|()| outcome).map_err(|error| away(error, place));
        }
        failpoint::reached("before commit");
        self.confirms.set(true);
        match session.batch(COMMIT).await {
            Ok(()) => {
                failpoint::reached("committed");
                Ok(outcome)
            }
            Err(error) if error.is_of_the_statement() => Err(GroupFault::Refused(error.at(place))),
            Err(error) => Err(GroupFault::Unclear(error.at(place))),
        }
    }
}

/// Leaves nothing of a group in the database; gives why it is not there.
async fn take_back(session: &Session, place: &str, error: SessionError) -> GroupFault {
    if matches!(error, SessionError::Fenced) {
        // What is owed goes on under the next number.
        return GroupFault::Away { error: error.at(place), is_silent: true };
    }
    let is_contention = error.is_contention();
    if error.is_of_the_statement() && session.batch("ROLLBACK").await.is_ok() {
        let error = error.at(place);
        return if is_contention {
            // Nothing of it was wrong: it is tried again, and what is owed is not dropped.
            GroupFault::Away { error, is_silent: false }
        } else {
            GroupFault::Refused(error)
        };
    }
    away(error, place)
}

fn away(error: SessionError, place: &str) -> GroupFault {
    let is_silent = matches!(error, SessionError::Silent);
    GroupFault::Away { error: error.at(place), is_silent }
}

fn told(error: &SessionError) -> String {
    if let SessionError::Unfit(told) = error { told.to_string() } else { error.to_string() }
}

fn panicked(place: &str) -> StoreError {
    StoreError::Database {
        place: place.to_owned(),
        told: "was not asked: this process has a fault, which its log tells".into(),
        source: None,
    }
}
