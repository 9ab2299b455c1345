//! The one thread that writes: what comes while it commits is its next group.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::awaited::{AwaitedWrite, WriteRequest};
use super::job::{Durability, GroupWriter, WriteJob};
use super::key_claim::{KeyClaim, KeyClaimTask, UnheardClaim};
use super::shared::WriterShared;
use super::task::WriteTask;
use crate::error::StoreError;
use crate::rows::keys::KeyState;

/// Jobs that wait for the writer, at the most; whoever comes then waits to be let in.
const WAITING: usize = 2_048;

/// Jobs of one group.
const MOST_OF_A_GROUP: usize = 256;

/// How long rows that nobody waits for gather, unless they fill a group before. Whoever comes
/// meanwhile and waits has them in front, so that it must not be long.
const GATHERING: Duration = Duration::from_millis(20);

/// How often old rows are looked for.
const PRUNING: Duration = Duration::from_mins(1);

/// How soon again if there were more than one step removes.
const BREATH: Duration = Duration::from_millis(5);

/// How often it is tried whether the file can be written again, while nothing could be at last.
const PROBING: Duration = Duration::from_secs(2);

/// The way to the thread. Dropping it ends the thread once all that was asked is done.
pub struct StoreWriter {
    jobs: Option<mpsc::Sender<WriteJob>>,
    room: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<WriterShared>,
}

impl StoreWriter {
    /// Starts the thread, which holds what it writes to until it ends.
    pub fn start(
        shared: Arc<WriterShared>,
        group: impl GroupWriter + 'static,
    ) -> Result<Self, StoreError> {
        let (jobs, waiting) = mpsc::channel();
        let thread = std::thread::Builder::new().name("toolcrib-store".into());
        let of_thread = Arc::clone(&shared);
        let thread = thread.spawn(move || work(&waiting, &of_thread, group));
        let thread = thread.map_err(|error| StoreError::file(&shared.path, error))?;
        let room = Arc::new(Semaphore::new(WAITING));
        Ok(Self { jobs: Some(jobs), room, thread: Some(thread), shared })
    }

    pub fn shared(&self) -> &Arc<WriterShared> {
        &self.shared
    }

    /// Does something within the next group and waits until the group is committed;
    /// `Durability::Sync` waits for the disk as well. Nothing is done if nobody waits any more when
    /// its turn comes.
    pub async fn ask<R: WriteRequest>(
        &self,
        need: Durability,
        request: R,
    ) -> Result<R::Answer, StoreError>
    where
        WriteTask: From<AwaitedWrite<R>>,
    {
        let (awaited, answer) = AwaitedWrite::of(request);
        self.send(need, awaited.into()).await?;
        answer.await.unwrap_or_else(|_| Err(self.unanswered()))
    }

    /// Asks for a key so that it stays with nobody who went away before hearing of it.
    pub async fn claim(&self, claim: KeyClaim) -> Result<KeyState, StoreError> {
        let (task, answer) = KeyClaimTask::of(claim, Arc::clone(&self.shared));
        self.send(Durability::Sync, WriteTask::Begin(task)).await?;
        // From here on nothing is awaited: what was heard is not lost again.
        answer.await.unwrap_or_else(|_| Err(self.unanswered())).map(UnheardClaim::heard)
    }

    /// Has something done soon. While the file cannot be written, whoever asks is told at once and
    /// does not wait; it is done all the same if the file recovers meanwhile.
    pub async fn hand_over(&self, task: WriteTask) -> Result<(), StoreError> {
        let Err(fault) = self.works() else { return self.send(Durability::Nothing, task).await };
        if let (Ok(room), Some(jobs)) = (Arc::clone(&self.room).try_acquire_owned(), &self.jobs) {
            let job = WriteJob::of(task, Durability::Nothing, room);
            jobs.send(job).map_err(|_| self.closed())?;
        } else {
            task.answer(Err(fault.clone()));
        }
        Err(fault)
    }

    /// Why the file could not be written when it was tried last, if it could not.
    pub fn works(&self) -> Result<(), StoreError> {
        let fault = self.shared.fault().clone();
        fault.or_else(|| self.shared.lease.lapsed(&self.shared.path)).map_or(Ok(()), Err)
    }

    /// Hands a job of another kind in.
    pub async fn send(&self, need: Durability, task: WriteTask) -> Result<(), StoreError> {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| self.closed())?;
        let jobs = self.jobs.as_ref().ok_or_else(|| self.closed())?;
        jobs.send(WriteJob::of(task, need, room)).map_err(|_| self.closed())?;
        let waiting = WAITING.saturating_sub(self.room.available_permits());
        if need != Durability::Nothing || waiting >= MOST_OF_A_GROUP {
            self.hurry();
        }
        Ok(())
    }

    /// Has the thread begin with what is there.
    fn hurry(&self) {
        self.shared.urgent.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    /// The thread does not end before those who ask: it panicked over what it was asked.
    pub fn unanswered(&self) -> StoreError {
        StoreError::Panicked { path: self.shared.path.clone() }
    }

    pub fn closed(&self) -> StoreError {
        StoreError::Closed { path: self.shared.path.clone() }
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        drop(self.jobs.take());
        self.hurry();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told to all who waited for it.
            let _ = thread.join();
        }
    }
}

/// What the thread does: a group after the other, and old rows in between. While the file cannot
/// be written it tries that by itself, since whoever is told so may come no more.
fn work(waiting: &mpsc::Receiver<WriteJob>, shared: &WriterShared, mut group: impl GroupWriter) {
    let mut next_pruning = Instant::now();
    let mut next_probe = next_pruning;
    loop {
        if Instant::now() >= next_pruning {
            let more = survive(shared, || group.prune()).unwrap_or_default();
            let rest = if more { BREATH } else { PRUNING };
            next_pruning = Instant::now() + rest;
        }
        // At once after the first fault: what could not be written may have been too large.
        if shared.fault().is_some() && Instant::now() >= next_probe {
            survive(shared, || group.probe());
            next_probe = Instant::now() + PROBING;
        }
        let is_at_fault = shared.fault().is_some();
        let next = if is_at_fault { next_pruning.min(next_probe) } else { next_pruning };
        let patience = next.saturating_duration_since(Instant::now());
        match waiting.recv_timeout(patience) {
            Ok(first) => {
                let jobs = gather(first, waiting, shared);
                // Those who wait hear that nobody answers them, and the next ones are served.
                survive(shared, || group.commit(jobs));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    group.end();
}

/// Does something that may panic: the thread goes on, and its fault is told until something was
/// written again.
fn survive<T>(shared: &WriterShared, work: impl FnOnce() -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    if done.is_none() {
        *shared.fault() = Some(StoreError::Panicked { path: shared.path.clone() });
    }
    done
}

/// What waits now; if nobody waits for any of it, also what comes within a moment. Only a job that
/// somebody waits for, or a full group, wakes the thread from that: to wake it for each would cost
/// those who call more than the rows do.
fn gather(
    first: WriteJob,
    waiting: &mpsc::Receiver<WriteJob>,
    shared: &WriterShared,
) -> Vec<WriteJob> {
    let until = Instant::now() + GATHERING;
    let mut hurry = first.need != Durability::Nothing;
    loop {
        // Taken back before the queue is emptied: who comes after that is the first of the next.
        hurry |= shared.urgent.swap(false, Ordering::AcqRel);
        let patience = until.saturating_duration_since(Instant::now());
        if hurry || patience.is_zero() {
            break;
        }
        std::thread::park_timeout(patience);
    }
    let rest = waiting.try_iter().take(MOST_OF_A_GROUP - 1);
    std::iter::once(first).chain(rest).collect()
}
