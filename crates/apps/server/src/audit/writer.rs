//! The one thread that writes: what comes while it waits for the disk is its next group.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use toolcrib_config::{AuditSettings, LogLevel};

use super::error::AuditError;
use super::file::AuditFile;
use super::interrupted_calls::InterruptedCall;
use crate::telemetry::log;

/// Decisions that wait to be written; who comes then waits to be let in.
const WAITING: usize = 2048;
const MOST_OF_A_GROUP: usize = 256;
/// Records that wait for a file that cannot be written; more would be those of a day.
const MOST_OWED: usize = 100_000;
/// How long a record that nobody waits for may be without the disk.
const UNSYNCED: Duration = Duration::from_secs(1);

struct AuditJob {
    record: Value,
    /// Who waits for the disk.
    reply: Option<oneshot::Sender<Result<(), AuditError>>>,
    _room: Option<OwnedSemaphorePermit>,
}

enum AuditMessage {
    Write(Box<AuditJob>),
    Flush(Sender<()>),
}

pub(super) struct AuditWriter {
    words: Sender<AuditMessage>,
    room: Arc<Semaphore>,
    shared: Arc<AuditWriterState>,
}

#[derive(Default)]
struct AuditWriterState {
    written: AtomicU64,
    owed: AtomicU64,
    /// The last attempt to write failed.
    is_failing: AtomicBool,
}

impl AuditWriter {
    /// And the decisions that a process before left without an end.
    pub(super) fn start(
        settings: &AuditSettings,
    ) -> Result<(Self, Vec<InterruptedCall>), AuditError> {
        let path = &settings.file;
        let (mut book, left) = AuditFile::open(path, settings.rotate)?;
        let (words, waiting) = channel();
        let shared = Arc::<AuditWriterState>::default();
        // What there is to know of the disk is known before anybody calls.
        shared.tell(book.probe().err().as_ref());
        let thread = std::thread::Builder::new().name("toolcrib-audit".into());
        let of_thread = Arc::clone(&shared);
        thread
            .spawn(move || work(&waiting, book, &of_thread))
            .map_err(|source| AuditError::File { path: path.clone(), source: Arc::new(source) })?;
        Ok((Self { words, room: Arc::new(Semaphore::new(WAITING)), shared }, left))
    }

    /// Writes a record and waits until it is on the disk. If that fails, it is not written.
    pub(super) async fn ask(&self, record: Value) -> Result<(), AuditError> {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| AuditError::Closed)?;
        let (reply, answer) = oneshot::channel();
        self.send(AuditJob { record, reply: Some(reply), _room: Some(room) });
        answer.await.unwrap_or(Err(AuditError::Closed))
    }

    /// Has a record written soon, once there is room for it.
    pub(super) async fn hand_over_in_turn(&self, record: Value) {
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        self.send(AuditJob { record, reply: None, _room: room });
    }

    /// Has a record written soon: for what follows a record that had to wait for room.
    pub(super) fn hand_over(&self, record: Value) {
        self.send(AuditJob { record, reply: None, _room: None });
    }

    fn send(&self, job: AuditJob) {
        // The thread lives as long as we do; whoever waits hears of it by the reply.
        let _ = self.words.send(AuditMessage::Write(Box::new(job)));
    }

    pub(super) fn flush(&self, patience: Duration) {
        let (done, wait) = channel();
        if self.words.send(AuditMessage::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(patience);
        }
    }

    /// Whether the last attempt to write went well. While none does, it is made again every second,
    /// also where nobody calls.
    pub(super) fn works(&self) -> bool {
        !self.shared.is_failing.load(Ordering::Relaxed)
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        let AuditWriterState { written, owed, .. } = &*self.shared;
        (written.load(Ordering::Relaxed), owed.load(Ordering::Relaxed))
    }
}

fn work(waiting: &Receiver<AuditMessage>, mut book: AuditFile, shared: &AuditWriterState) {
    let mut owed: Vec<Value> = Vec::new();
    loop {
        let (jobs, flushes, is_over) = gather(waiting);
        let is_awaited = jobs.iter().any(|job| job.reply.is_some());
        let hurries = is_awaited || jobs.is_empty() || !flushes.is_empty();
        let records = owed.iter().chain(jobs.iter().map(|job| &job.record));
        let done = book.write(records, hurries || is_over);
        match &done {
            Ok(count) => {
                shared.written.fetch_add(*count, Ordering::Relaxed);
                owed.clear();
            }
            Err(_) => owed.extend(
                jobs.iter()
                    .filter(|job| job.reply.is_none())
                    .map(|job| job.record.clone())
                    .take(MOST_OWED.saturating_sub(owed.len())),
            ),
        }
        shared.owed.store(u64::try_from(owed.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let fault = match &done {
            // Nothing, and one more line, can be written on a full disk too.
            Ok(_) if shared.is_failing.load(Ordering::Relaxed) => book.probe().err(),
            Ok(_) => None,
            Err(fault) => Some(fault.clone()),
        };
        shared.tell(fault.as_ref());
        for job in jobs {
            if let Some(reply) = job.reply {
                // Whoever gave up in between does not hear it.
                let _ = reply.send(done.clone().map(|_| ()));
            }
        }
        for done in flushes {
            let _ = done.send(());
        }
        if is_over {
            return;
        }
    }
}

/// What waits now, and whether nobody is left to write for.
fn gather(waiting: &Receiver<AuditMessage>) -> (Vec<AuditJob>, Vec<Sender<()>>, bool) {
    let (mut jobs, mut flushes) = (Vec::new(), Vec::new());
    let first = match waiting.recv_timeout(UNSYNCED) {
        Ok(word) => Some(word),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => return (jobs, flushes, true),
    };
    for word in first.into_iter().chain(waiting.try_iter()).take(MOST_OF_A_GROUP) {
        match word {
            AuditMessage::Write(job) => jobs.push(*job),
            AuditMessage::Flush(done) => flushes.push(done),
        }
    }
    (jobs, flushes, false)
}

impl AuditWriterState {
    /// Says once that the record fails, and once that it goes on.
    fn tell(&self, fault: Option<&AuditError>) {
        if self.is_failing.swap(fault.is_some(), Ordering::Relaxed) == fault.is_some() {
            return;
        }
        let Some(fault) = fault else {
            let fields = json!({ "message": "the record can be written again" });
            return log::line(LogLevel::Warn, "audit", fields);
        };
        let cause = match fault {
            AuditError::File { source, .. } => Some(source.to_string()),
            AuditError::Taken(_)
            | AuditError::Damaged(_)
            | AuditError::Shortened(_)
            | AuditError::Closed => None,
        };
        let fields = json!({ "message": fault.to_string(), "cause": cause });
        log::line(LogLevel::Error, "audit", fields);
    }
}
