//! One transaction for many.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::Connection;
use toolcrib_core::failpoint;

use crate::clock::WallTime;
use crate::error::{StoreError, is_unsynced};
use crate::options::StoreOptions;
use crate::sqlite::execute::{execute, write_end};
use crate::sqlite::file::{self, FileLock, LOCK_PATIENCE};
use crate::sqlite::prune;
use crate::sqlite::statements::{calls, results};
use crate::writes::job::{Durability, GroupWriter, WriteJob};
use crate::writes::shared::WriterShared;

/// Bytes that are written to see whether there is room: those of some pages, since the last one
/// may have room for one row and not for the next.
const PROBE: u32 = 32 * 1024;

pub(crate) struct WriteGroup {
    connection: Connection,
    shared: Arc<WriterShared>,
    options: StoreOptions,
    syncs: bool,
    /// The disk did not take something: what it holds is not known, and nothing more is written.
    unsynced: bool,
    /// Why the file is not open yet: its disk is full. Until it is, `connection` is of nothing.
    unopened: Option<StoreError>,
    /// Given back behind the connection.
    _owned: Arc<FileLock>,
}

impl GroupWriter for WriteGroup {
    fn commit(&mut self, mut jobs: Vec<WriteJob>) {
        let changes = self.connection.total_changes();
        let (mut whole, mut faults) = self.attempt(&mut jobs);
        let owes = !self.shared.owed().is_empty();
        if is_full(&whole) && (jobs.len() > 1 || (owes && !jobs.is_empty())) {
            // One that is too large must not cost the others, nor what would make room.
            self.unburden();
            whole = Ok(());
            faults.clear();
            for job in &mut jobs {
                let (alone, own) = self.attempt(std::slice::from_mut(job));
                faults.push(alone.err().or_else(|| own.into_iter().next().flatten()));
            }
        }
        if whole.is_ok() {
            self.shared.commits.fetch_add(1, Ordering::Relaxed);
        }
        let fault = whole.as_ref().err().or_else(|| faults.iter().flatten().next()).cloned();
        self.judge(fault, self.connection.total_changes() > changes);
        let mut faults = faults.into_iter();
        for job in jobs {
            let own = faults.next().flatten();
            job.task.answer(whole.clone().and_then(|()| own.map_or(Ok(()), Err)));
        }
    }

    fn prune(&mut self) -> bool {
        if !self.shared.owed().is_empty() {
            self.commit(Vec::new());
        }
        let options = self.options.clone();
        let mut more = false;
        let whole = self.transact(false, |connection, _| {
            more = prune::step(connection, &options)?;
            failpoint::reached("pruned");
            Ok(())
        });
        // What cannot be removed now is removed another time.
        whole.is_ok() && more
    }

    /// Sees whether the file can be written again: writes something and takes it out. It waits for
    /// nobody who holds the file, as those would wait who come meanwhile.
    fn probe(&mut self) {
        if self.unopened.is_some() {
            self.unopened = self.opened().err();
        }
        let waits_not = self.connection.busy_timeout(Duration::ZERO);
        let whole = self.transact(false, |connection, _| {
            waits_not?;
            // No content has a hash without bytes.
            connection.execute(
                "INSERT INTO contents (tenant, hash, size, expires, bytes)
                 VALUES ('', x'', 0, 0, zeroblob(?1))",
                [PROBE],
            )?;
            connection.execute("DELETE FROM contents WHERE tenant = '' AND hash = x''", [])?;
            Ok(())
        });
        // It fails for a connection that was closed, and nobody closes this one.
        let _ = self.connection.busy_timeout(LOCK_PATIENCE);
        let is_over = whole.is_ok();
        *self.shared.fault() = whole.err();
        if is_over && !self.shared.owed().is_empty() {
            self.commit(Vec::new());
        }
    }

    /// Brings the log into the file and closes it.
    fn end(mut self) {
        if !self.shared.owed().is_empty() {
            self.commit(Vec::new());
            self.unburden();
        }
        if !self.unsynced {
            // The log holds all of it should this fail.
            let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        }
    }
}

impl WriteGroup {
    /// Of a file that can be opened, or could if its disk had room.
    pub(crate) fn open(
        owned: Arc<FileLock>,
        shared: Arc<WriterShared>,
        options: StoreOptions,
    ) -> Result<Self, StoreError> {
        let nothing = Connection::open_in_memory();
        let connection = nothing.map_err(|error| StoreError::opening(&shared.path, error))?;
        let (syncs, unsynced, unopened) = (true, false, None);
        let mut group =
            Self { connection, shared, options, syncs, unsynced, unopened, _owned: owned };
        match group.opened() {
            Err(full @ StoreError::Full { .. }) => {
                file::waits(&group.shared.path)?;
                // A call that has no known end may stand in it.
                group.shared.last_unknown.store(WallTime::now().0, Ordering::Release);
                group.unopened = Some(full);
            }
            opened => opened?,
        }
        // A file that can be opened may be full: what there is to know of it is known from now on.
        group.probe();
        Ok(group)
    }

    /// Opens the file, and learns what it holds.
    fn opened(&mut self) -> Result<(), StoreError> {
        let path = &self.shared.path;
        let (connection, interrupted) = file::writer(path, self.options.max_bytes)?;
        let fault = |error| StoreError::of(path, error);
        let holders = results::holders(&connection, None).map_err(fault)?;
        self.shared.holders.learn(holders);
        if calls::any_unknown(&connection).map_err(fault)? {
            self.shared.last_unknown.store(WallTime::now().0, Ordering::Release);
        }
        self.shared.interrupted.store(interrupted, Ordering::Release);
        self.connection = connection;
        Ok(())
    }

    /// Notes a fault, or looks whether the one before is over. A group that changed nothing does
    /// not show that, and one that only changed rows not for sure: a full file takes both.
    fn judge(&mut self, fault: Option<StoreError>, has_changed: bool) {
        let was_at_fault = self.shared.fault().is_some();
        if fault.is_some() {
            *self.shared.fault() = fault;
        } else if was_at_fault && has_changed {
            self.probe();
        }
    }

    /// One transaction: what became of the whole, and of each job in it.
    fn attempt(
        &mut self,
        jobs: &mut [WriteJob],
    ) -> (Result<(), StoreError>, Vec<Option<StoreError>>) {
        let (owed, options) = (self.shared.take_owed(), self.options.clone());
        let sync = jobs.iter().any(|job| job.need == Durability::Sync);
        let mut faults = Vec::with_capacity(jobs.len());
        let whole = self.transact(sync, |connection, path| {
            for owed in &owed {
                write_end(owed, connection)?;
            }
            for job in jobs {
                // A panic costs the one who asked, not the thread.
                let task = AssertUnwindSafe(|| execute(&mut job.task, connection, &options));
                let done = catch_unwind(task);
                let done = done.unwrap_or(Err(rusqlite::Error::InvalidQuery));
                if done.is_err() && connection.is_autocommit() {
                    return done;
                }
                faults.push(done.err().map(|error| StoreError::of(path, error)));
            }
            Ok(())
        });
        if whole.is_err() {
            self.shared.give_back(owed);
        }
        (whole, faults)
    }

    /// Writes what goes with one group and is owed, each by itself. An answer for which there is no
    /// room would stand in the way of all that come: it becomes one that is lost.
    fn unburden(&mut self) {
        let mut owed = self.shared.take_owed().into_iter();
        while let Some(one) = owed.next() {
            let mut done = self.transact(false, |connection, _| write_end(&one, connection));
            if is_full(&done)
                && let Some(lost) = one.lost()
            {
                done = self.transact(false, |connection, _| write_end(&lost, connection));
            }
            if done.is_err() {
                // There is room for nothing, and an answer is not given up in vain.
                return self.shared.give_back(std::iter::once(one).chain(owed));
            }
        }
    }

    fn transact(
        &mut self,
        sync: bool,
        work: impl FnOnce(&Connection, &std::path::Path) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let path = self.shared.path.clone();
        if self.unsynced {
            return Err(StoreError::Unsynced { path });
        }
        if let Some(fault) = &self.unopened {
            return Err(fault.clone());
        }
        let done = self.in_one(sync, |connection| work(connection, &path));
        if done.is_err() && !self.connection.is_autocommit() {
            // The connection is of no use if this fails, and the next group will say so.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done.map_err(|error| {
            self.unsynced |= is_unsynced(&error);
            StoreError::of(&path, error)
        })
    }

    fn in_one(
        &mut self,
        sync: bool,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        if self.syncs != sync {
            let level = if sync { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", level)?;
            self.syncs = sync;
        }
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        work(&self.connection)?;
        failpoint::reached("before commit");
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        failpoint::reached("committed");
        Ok(())
    }
}

fn is_full(done: &Result<(), StoreError>) -> bool {
    matches!(done, Err(StoreError::Full { .. }))
}
