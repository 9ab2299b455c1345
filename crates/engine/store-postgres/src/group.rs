//! One transaction for many, and what becomes of it when the database goes away.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::runtime::Runtime;
use toolcrib_core::{Ending, ResultHandle, failpoint};
use toolcrib_store::rows::calls::CallEnd;
use toolcrib_store::rows::keys::KeySettlement;
use toolcrib_store::writes::job::{Durability, GroupWriter, WriteJob};
use toolcrib_store::writes::shared::WriterShared;
use toolcrib_store::writes::task::WriteTask;
use toolcrib_store::writes::unwritten_end::UnwrittenEnd;
use toolcrib_store::{StoreError, StoreOptions};

use crate::address::DatabaseAddress;
use crate::error::SessionError;
use crate::session::{Answer, Session};
use crate::statements::execute::execute;
use crate::statements::{calls, prune, results, schema};

pub(crate) struct PostgresGroup {
    runtime: Runtime,
    address: Arc<DatabaseAddress>,
    /// `None` while the database is away.
    session: Option<Session>,
    shared: Arc<WriterShared>,
    options: StoreOptions,
    /// A name of this process, by which it sees that another one was there.
    owner: String,
}

/// Why a group is not there.
enum GroupFault {
    /// Something in it was refused, and nothing of it is there.
    Refused(StoreError),
    /// The database is away, and nothing of it is there.
    Away(StoreError),
    /// The database went away while it confirmed: all of it may be there.
    Unclear(StoreError),
}

impl GroupFault {
    fn error(&self) -> &StoreError {
        match self {
            Self::Refused(error) | Self::Away(error) | Self::Unclear(error) => error,
        }
    }
}

/// This machine cannot wait for a database.
pub(crate) fn no_thread(place: &str, error: std::io::Error) -> StoreError {
    let told = "cannot be used: this machine gives no thread for it";
    StoreError::Database { place: place.to_owned(), told, source: Some(Arc::new(error)) }
}

impl PostgresGroup {
    /// Of a database that can be written; what was left without an end has one then.
    pub(crate) fn open(
        address: Arc<DatabaseAddress>,
        shared: Arc<WriterShared>,
        options: StoreOptions,
    ) -> Result<Self, StoreError> {
        let place = address.place.clone();
        let open = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| no_thread(&address.place, error))?;
            let owner = ResultHandle::unguessable().0;
            let mut group = Self { runtime, address, session: None, shared, options, owner };
            group.learn()?;
            Ok(group)
        };
        // Whoever opens it may be within a runtime, where none may be waited for.
        let thread = std::thread::Builder::new().name("toolcrib-store-opens".into()).spawn(open);
        let opened = thread.map_err(|error| no_thread(&place, error))?.join();
        opened.unwrap_or_else(|_| {
            Err(no_thread(&place, std::io::Error::other("the thread that opens it ended")))
        })
    }

    /// Opens the database, and learns what it holds.
    fn learn(&mut self) -> Result<(), StoreError> {
        let learned = self.runtime.block_on(async {
            let session = Session::open(&self.address).await?;
            session.inspect().await?;
            schema::own(&session).await?;
            schema::migrate(&session, &self.owner).await?;
            let interrupted = schema::recover(&session).await?;
            let holders = results::holders(&session, None).await?;
            Answer::Ok((calls::any_unknown(&session).await?, interrupted, holders, session))
        });
        let learned = learned.map_err(|error| error.at(&self.address.place))?;
        let (any_unknown, interrupted, holders, session) = learned;
        if any_unknown {
            self.shared.note_unknown();
        }
        self.shared.interrupted.store(interrupted, Ordering::Release);
        self.shared.holders.learn(holders);
        self.session = Some(session);
        Ok(())
    }

    /// Has a session, if the database is there.
    fn reach(&mut self) -> Result<(), SessionError> {
        if self.session.as_ref().is_some_and(|session| !session.is_closed()) {
            return Ok(());
        }
        self.session = None;
        let session = self.runtime.block_on(async {
            let session = Session::open(&self.address).await?;
            session.inspect().await?;
            schema::own(&session).await?;
            schema::is_still_of(&session, &self.owner).await?;
            Answer::Ok(session)
        })?;
        self.session = Some(session);
        Ok(())
    }

    /// One transaction.
    fn attempt(&mut self, owed: &[UnwrittenEnd], jobs: &mut [WriteJob]) -> Result<(), GroupFault> {
        let sync = jobs.iter().any(|job| job.need == Durability::Sync);
        let options = self.options.clone();
        self.transact(sync, async |session| execute(session, owed, jobs, &options).await)
    }

    fn transact(
        &mut self,
        sync: bool,
        work: impl AsyncFnOnce(&Session) -> Answer<()>,
    ) -> Result<(), GroupFault> {
        let place = self.address.place.clone();
        self.reach().map_err(|error| GroupFault::Away(error.at(&place)))?;
        let Some(session) = &self.session else {
            return Err(GroupFault::Away(StoreError::Closed { path: self.shared.path.clone() }));
        };
        let done = self.runtime.block_on(async {
            let begin = if sync { "BEGIN" } else { "BEGIN; SET LOCAL synchronous_commit = off" };
            let worked = async {
                session.batch(begin).await?;
                work(session).await
            };
            if let Err(error) = worked.await {
                if error.is_of_the_statement() && session.batch("ROLLBACK").await.is_ok() {
                    return Err(GroupFault::Refused(error.at(&place)));
                }
                return Err(GroupFault::Away(error.at(&place)));
            }
            failpoint::reached("before commit");
            match session.batch("COMMIT").await {
                Ok(()) => Ok(()),
                Err(error) if error.is_of_the_statement() => {
                    Err(GroupFault::Refused(error.at(&place)))
                }
                Err(error) => Err(GroupFault::Unclear(error.at(&place))),
            }
        });
        if matches!(done, Err(GroupFault::Away(_) | GroupFault::Unclear(_))) {
            self.session = None;
        }
        failpoint::reached("committed");
        done
    }

    /// Each by itself, so that the one that is refused does not cost the others.
    fn one_by_one(&mut self, owed: Vec<UnwrittenEnd>, jobs: Vec<WriteJob>) {
        let mut owed = owed.into_iter();
        while let Some(one) = owed.next() {
            match self.attempt(std::slice::from_ref(&one), &mut []) {
                Ok(()) => {}
                Err(GroupFault::Refused(_)) => {
                    let lost = one.lost();
                    let is_lost = lost.is_some_and(|lost| {
                        self.attempt(std::slice::from_ref(&lost), &mut []).is_ok()
                    });
                    if !is_lost {
                        self.shared.lost.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Err(GroupFault::Away(_) | GroupFault::Unclear(_)) => {
                    self.shared.give_back(std::iter::once(one).chain(owed));
                    break;
                }
            }
        }
        for mut job in jobs {
            let done = self.attempt(&[], std::slice::from_mut(&mut job));
            self.finish(vec![job], done);
        }
    }

    /// Tells those who asked, and notes whether the database is there.
    fn finish(&mut self, jobs: Vec<WriteJob>, done: Result<(), GroupFault>) {
        match &done {
            Ok(()) => {
                self.shared.commits.fetch_add(1, Ordering::Relaxed);
                *self.shared.fault() = None;
            }
            Err(GroupFault::Refused(_)) => {}
            Err(fault) => *self.shared.fault() = Some(fault.error().clone()),
        }
        if matches!(done, Err(GroupFault::Unclear(_))) {
            self.take_back(&jobs);
        }
        let told = done.map_err(|fault| fault.error().clone());
        for job in jobs {
            job.task.answer(told.clone());
        }
    }

    /// Whoever asked is told that it was not done, and so it must not stand there as done.
    fn take_back(&self, jobs: &[WriteJob]) {
        for job in jobs {
            if let WriteTask::Plan(plan) = &job.task {
                let end = CallEnd::now(Ending::NotExecuted.into());
                let key = plan.request().call.key;
                UnwrittenEnd::call(key, end, &self.shared).later(&self.shared);
            }
            if let WriteTask::Begin(claim) = &job.task
                && let Some(key) = claim.taken().cloned()
            {
                let settled = KeySettlement::Free;
                UnwrittenEnd::IdempotencyKey { key, settled }.later(&self.shared);
            }
        }
    }
}

impl GroupWriter for PostgresGroup {
    fn commit(&mut self, mut jobs: Vec<WriteJob>) {
        let owed = self.shared.take_owed();
        let had_session = self.session.is_some();
        let mut done = self.attempt(&owed, &mut jobs);
        if had_session && matches!(done, Err(GroupFault::Away(_))) {
            // A session may have been closed while nobody asked for anything.
            done = self.attempt(&owed, &mut jobs);
        }
        match done {
            Err(GroupFault::Refused(_)) if owed.len() + jobs.len() > 1 => {
                self.one_by_one(owed, jobs);
            }
            Ok(()) => self.finish(jobs, Ok(())),
            Err(GroupFault::Refused(error)) => {
                // It is alone: what is owed would be refused for ever.
                if !owed.is_empty() {
                    self.one_by_one(owed, Vec::new());
                }
                self.finish(jobs, Err(GroupFault::Refused(error)));
            }
            Err(fault) => {
                self.shared.give_back(owed);
                self.finish(jobs, Err(fault));
            }
        }
    }

    fn prune(&mut self) -> bool {
        if !self.shared.owed().is_empty() {
            self.commit(Vec::new());
        }
        let (options, mut more) = (self.options.clone(), false);
        let pruned = self.transact(false, async |session| {
            more = prune::step(session, &options).await?;
            Ok(())
        });
        // What cannot be removed now is removed another time.
        pruned.is_ok() && more
    }

    fn probe(&mut self) {
        let reached = self.transact(false, async |_| Ok(()));
        let is_over = reached.is_ok();
        *self.shared.fault() = reached.err().map(|fault| fault.error().clone());
        if is_over && !self.shared.owed().is_empty() {
            self.commit(Vec::new());
        }
    }

    fn end(mut self) {
        if !self.shared.owed().is_empty() {
            self.commit(Vec::new());
        }
    }
}
