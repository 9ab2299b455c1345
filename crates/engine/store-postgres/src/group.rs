//! One group after the other, and what becomes of it when the database goes away.

mod settlement;
#[cfg(test)]
mod tests;
mod transaction;
mod unsettled;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::runtime::Runtime;
use toolcrib_core::{Caller, ResultHandle, TicketId, failpoint};
use toolcrib_store::writes::job::{Durability, GroupWriter, WriteJob};
use toolcrib_store::writes::shared::WriterShared;
use toolcrib_store::writes::task::WriteTask;
use toolcrib_store::writes::unwritten_end::UnwrittenEnd;
use toolcrib_store::{StoreError, StoreOptions};

pub(crate) use self::transaction::COMMIT;
use self::transaction::GroupOutcome;
use self::unsettled::UnsettledGroup;
use crate::address::DatabaseAddress;
use crate::progress::{ProgressNote, RecordProgress};
use crate::replica::keeper::LeaseKeeper;
use crate::replica::{ReplicaLife, ReplicaSettings};
use crate::session::{Answer, Session};
use crate::statements::{calls, prune, replicas, results, schema};

/// Ends that are kept until the server has them on its disk; beyond that a group brings them there.
const MOST_UNSYNCED: usize = 256;

pub(crate) struct PostgresGroup {
    runtime: Runtime,
    address: Arc<DatabaseAddress>,
    /// `None` while the database is away.
    session: Option<Session>,
    shared: Arc<WriterShared>,
    options: StoreOptions,
    progress: RecordProgress,
    /// Ends that were confirmed and that a crash of the server would take with it.
    unsynced: Vec<UnwrittenEnd>,
    /// What is not known to be there; nothing is written before it is.
    unsettled: Option<UnsettledGroup>,
    /// Tickets that were taken for somebody who was told nothing of it.
    unheard: Vec<(TicketId, Caller)>,
    /// What this process is among those that share the record; `None`: it is alone.
    life: Option<Arc<ReplicaLife>>,
    keeper: Option<LeaseKeeper>,
}

/// Why a group is not there.
enum GroupFault {
    /// Something in it was refused, and nothing of it is there.
    Refused(StoreError),
    /// The database is away, and nothing of it is there. A session that was closed while nobody
    /// asked for anything is opened anew, but for one that fell silent.
    Away { error: StoreError, is_silent: bool },
    /// The database went away while it confirmed: all of it may be there.
    Unclear(StoreError),
}

impl GroupFault {
    fn error(&self) -> &StoreError {
        match self {
            Self::Refused(error) | Self::Away { error, .. } | Self::Unclear(error) => error,
        }
    }
}

/// This machine cannot wait for a database.
pub(crate) fn no_thread(place: &str, error: std::io::Error) -> StoreError {
    let told = "cannot be used: this machine gives no thread for it".into();
    StoreError::Database { place: place.to_owned(), told, source: Some(Arc::new(error)) }
}

/// What the opening of a database finds in it.
struct Learned {
    session: Session,
    progress: RecordProgress,
    interrupted: usize,
    any_unknown: bool,
    holders: Vec<(String, String, toolcrib_store::clock::WallTime)>,
}

impl PostgresGroup {
    /// Of a database that can be written; what was left without an end has one then.
    pub(crate) fn open(
        address: Arc<DatabaseAddress>,
        shared: Arc<WriterShared>,
        options: StoreOptions,
        (note, replica): (Option<&Path>, Option<ReplicaSettings>),
    ) -> Result<Self, StoreError> {
        let place = address.place.clone();
        let note = note.map(|path| ProgressNote(path.to_owned()));
        let open = move || {
            let runtime = runtime(&address.place)?;
            let life = replica.map(|of| Arc::new(ReplicaLife::of(of, Arc::clone(&shared))));
            let learned = runtime.block_on(learn(&address, note, life.as_deref()));
            let learned = learned.map_err(|error| error.at(&address.place))?;
            let Learned { session, mut progress, interrupted, any_unknown, holders } = learned;
            if any_unknown {
                shared.note_unknown();
            }
            shared.interrupted.store(interrupted, Ordering::Release);
            shared.holders.learn(holders);
            progress.note().map_err(|error| unnoted(&address.place, error))?;
            let keeper = life.as_ref().map(|life| keeper(&address, life)).transpose()?;
            Ok(Self {
                runtime,
                address,
                session: Some(session),
                shared,
                options,
                progress,
                unsynced: Vec::new(),
                unsettled: None,
                unheard: Vec::new(),
                life,
                keeper,
            })
        };
        apart(&place, open)
    }

    /// Each by itself, so that the one that is refused does not cost the others.
    fn one_by_one(&mut self, owed: Vec<UnwrittenEnd>, jobs: Vec<WriteJob>) {
        let mut away = self.owed_one_by_one(owed);
        for mut job in jobs {
            // Each would wait for it in turn, and those behind for all of them.
            if let Some(error) = &away {
                job.task.answer(Err(error.clone()));
                continue;
            }
            let done = self.attempt(&[], std::slice::from_mut(&mut job));
            if let Err(GroupFault::Away { error, .. }) = &done {
                away = Some(error.clone());
            }
            self.finish(Vec::new(), vec![job], done);
        }
    }

    /// The same of what is owed. Gives why the database is away, if it is.
    fn owed_one_by_one(&mut self, owed: Vec<UnwrittenEnd>) -> Option<StoreError> {
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
                Err(GroupFault::Away { error, .. }) => {
                    *self.shared.fault() = Some(error.clone());
                    self.shared.give_back(std::iter::once(one).chain(owed));
                    return Some(error);
                }
                // What is there already changes nothing when it is written again.
                Err(GroupFault::Unclear(_)) => {
                    self.shared.give_back(std::iter::once(one).chain(owed));
                    return None;
                }
            }
        }
        None
    }

    /// Tells those who asked, and notes whether the database is there.
    fn finish(
        &mut self,
        owed: Vec<UnwrittenEnd>,
        jobs: Vec<WriteJob>,
        done: Result<(), GroupFault>,
    ) {
        match done {
            Ok(()) => self.confirm(owed, jobs),
            Err(GroupFault::Unclear(error)) => self.postpone(owed, jobs, error),
            Err(fault) => {
                let error = fault.error().clone();
                if matches!(fault, GroupFault::Away { .. }) {
                    *self.shared.fault() = Some(error.clone());
                    self.shared.give_back(owed);
                }
                for job in jobs {
                    job.task.answer(Err(error.clone()));
                }
            }
        }
    }

    /// Tells those who asked for what is there.
    fn confirm(&mut self, owed: Vec<UnwrittenEnd>, jobs: Vec<WriteJob>) {
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        *self.shared.fault() = None;
        if needs_sync(&jobs) || self.unsynced.len() >= MOST_UNSYNCED {
            // What came before it is on the disk with it.
            self.unsynced.clear();
        } else {
            self.unsynced.extend(owed);
            for job in &jobs {
                if let WriteTask::End(end) = &job.task {
                    self.unsynced.push(end.owed.again());
                }
            }
        }
        for job in jobs {
            job.task.answer(Ok(()));
        }
    }
}

fn needs_sync(jobs: &[WriteJob]) -> bool {
    jobs.iter().any(|job| job.need == Durability::Sync)
}

impl GroupWriter for PostgresGroup {
    fn commit(&mut self, mut jobs: Vec<WriteJob>) {
        let owed = self.shared.take_owed();
        let had_session = self.session.is_some();
        let mut done = self.attempt(&owed, &mut jobs);
        if had_session && matches!(done, Err(GroupFault::Away { is_silent: false, .. })) {
            // A session may have been closed while nobody asked for anything.
            done = self.attempt(&owed, &mut jobs);
        }
        match done {
            Err(GroupFault::Refused(_)) if owed.len() + jobs.len() > 1 => {
                self.one_by_one(owed, jobs);
            }
            Err(GroupFault::Refused(error)) => {
                // It is alone: what is owed would be refused for ever.
                if !owed.is_empty() {
                    self.one_by_one(owed, Vec::new());
                }
                self.finish(Vec::new(), jobs, Err(GroupFault::Refused(error)));
            }
            done => self.finish(owed, jobs, done),
        }
    }

    fn prune(&mut self) -> bool {
        // Whoever waits for a database that is away is not to wait for old rows as well.
        if self.shared.fault().is_some() {
            return false;
        }
        if !self.shared.owed().is_empty() {
            self.commit(Vec::new());
        }
        // Another time, if it cannot be written now.
        let _ = self.progress.note();
        let options = self.options.clone();
        let mut more = false;
        let pruned = self.transact(false, async |session| {
            more = prune::step(session, &options).await?;
            failpoint::reached("pruned");
            Ok(if more { GroupOutcome::Changed } else { GroupOutcome::Unchanged })
        });
        // What cannot be removed now is removed another time.
        pruned.is_ok() && more
    }

    fn probe(&mut self) {
        let reached = self.transact(false, async |_| Ok(GroupOutcome::Changed));
        let is_over = reached.is_ok();
        *self.shared.fault() = reached.err().map(|fault| fault.error().clone());
        if is_over && !self.shared.owed().is_empty() {
            self.commit(Vec::new());
        }
    }

    fn end(mut self) {
        if self.unsettled.is_some() || !self.shared.owed().is_empty() {
            self.commit(Vec::new());
        }
        self.give_up(&StoreError::Closed { path: self.shared.path.clone() });
        let _ = self.progress.note();
        // Nobody needs to wait for the end of a lease.
        drop(self.keeper.take());
        if let (Some(life), Some(session)) = (&self.life, self.session.take()) {
            for id in life.numbers() {
                let _ = self.runtime.block_on(replicas::end(&session, id));
            }
        }
    }
}

fn keeper(
    address: &Arc<DatabaseAddress>,
    life: &Arc<ReplicaLife>,
) -> Result<LeaseKeeper, StoreError> {
    let of_keeper = runtime(&address.place)?;
    LeaseKeeper::start(Arc::clone(address), Arc::clone(life), of_keeper)
        .map_err(|error| no_thread(&address.place, error))
}

/// Opens a database, and learns what it holds.
async fn learn(
    address: &DatabaseAddress,
    note: Option<ProgressNote>,
    life: Option<&ReplicaLife>,
) -> Answer<Learned> {
    let owner = ResultHandle::unguessable().0;
    let mut session = Session::open(address).await?;
    session.inspect().await?;
    match life {
        Some(_) => schema::share(&session, &owner).await?,
        None => schema::own(&session, &owner).await?,
    }
    if let Some(note) = &note {
        compare(&session, note).await?;
    }
    schema::migrate(&session).await?;
    let (state, interrupted, one) = if let Some(life) = life {
        // Whoever is stopped in the middle of it must not hold up the others.
        session.be_one_of_several(Vec::new()).await?;
        let one = life.register(&session).await?;
        session.be_one_of_several(life.numbers()).await?;
        schema::own_replica(&session, &one.name, one.id).await?;
        (schema::state(&session, Some(one.id)).await?, 0, Some(one))
    } else {
        replicas::all_over(&session).await?;
        schema::hand_to(&session, &owner).await?;
        let interrupted = schema::recover(&session).await?;
        (schema::state(&session, None).await?, interrupted, None)
    };
    let holders = results::holders(&session, None).await?;
    let any_unknown = calls::any_unknown(&session).await?;
    session.be_brief().await?;
    let progress = match one {
        Some(one) => RecordProgress::of_replica(state, one, note),
        None => RecordProgress::of(state, note),
    };
    Ok(Learned { session, progress, interrupted, any_unknown, holders })
}

/// Whether a database has all that a process before left word of.
async fn compare(session: &Session, note: &ProgressNote) -> Answer<()> {
    let state = schema::look(session).await?;
    let noted = note.read().and_then(|noted| noted.replica);
    let has_replica = match noted.filter(|_| state.is_some()) {
        Some(noted) => schema::has_replica(session, noted.id, &noted.name, noted.groups).await?,
        None => true,
    };
    note.compare(state.as_ref(), has_replica)
}

/// Looks whether a database could be opened, and leaves all as it is. One that another process uses
/// is one that can be.
pub(crate) fn try_out(
    address: Arc<DatabaseAddress>,
    note: Option<&Path>,
) -> Result<(), StoreError> {
    let place = address.place.clone();
    let note = note.map(|path| ProgressNote(path.to_owned()));
    apart(&place, move || {
        let tried = runtime(&address.place)?.block_on(async {
            let session = Session::open(&address).await?;
            session.inspect().await?;
            match note {
                Some(note) => compare(&session, &note).await,
                None => schema::look(&session).await.map(|_| ()),
            }
        });
        tried.map_err(|error| error.at(&address.place))
    })
}

pub(crate) fn runtime(place: &str) -> Result<Runtime, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| no_thread(place, error))
}

/// Whoever opens a database may be within a runtime, where none may be waited for.
fn apart<T: Send + 'static>(
    place: &str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let thread = std::thread::Builder::new().name("toolcrib-store-opens".into()).spawn(work);
    let done = thread.map_err(|error| no_thread(place, error))?.join();
    done.unwrap_or_else(|_| {
        Err(no_thread(place, std::io::Error::other("the thread that opens it ended")))
    })
}

fn unnoted(place: &str, error: std::io::Error) -> StoreError {
    let told = "cannot be used safely: how far it has come cannot be written down in the folder \
                of this user";
    StoreError::Database {
        place: place.to_owned(),
        told: told.into(),
        source: Some(Arc::new(error)),
    }
}
