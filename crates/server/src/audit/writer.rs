//! The one thread that writes: what comes while it waits for the disk is its next group.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use toolcrib::config::LogLevel;

use super::chain::{Head, LONGEST_LINE, Link};
use super::verify::head_of;
use crate::telemetry::log;

/// Decisions that wait to be written; who comes then waits to be let in.
const WAITING: usize = 2048;
const MOST_OF_A_GROUP: usize = 256;
/// Records that wait for a file that cannot be written; more would be those of a day.
const MOST_OWED: usize = 100_000;
/// How long a record that nobody waits for may be without the disk.
const UNSYNCED: Duration = Duration::from_secs(1);

/// Why the record cannot be kept.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Fault {
    #[error("another process writes the record `{}`: give each a file of its own", .0.display())]
    Taken(PathBuf),
    #[error("the last record of `{}` is not whole: keep the file for whoever looks into it (`toolcrib audit verify`), and name another", .0.display())]
    Damaged(PathBuf),
    #[error("`{}` ends before the record that was written last: keep it for whoever looks into it (`toolcrib audit verify`), and name another", .0.display())]
    Shortened(PathBuf),
    #[error("the record `{}` cannot be written", path.display())]
    File { path: PathBuf, source: Arc<io::Error> },
    #[error("the record is closed")]
    Closed,
}

struct Job {
    record: Value,
    /// Who waits for the disk.
    reply: Option<oneshot::Sender<Result<(), Fault>>>,
    _room: Option<OwnedSemaphorePermit>,
}

enum Word {
    Write(Box<Job>),
    Flush(Sender<()>),
}

pub(super) struct Writer {
    words: Sender<Word>,
    room: Arc<Semaphore>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    written: AtomicU64,
    owed: AtomicU64,
    told: Mutex<bool>,
}

impl Writer {
    pub(super) fn start(path: &Path) -> Result<Self, Fault> {
        let book = Book::open(path)?;
        let (words, waiting) = channel();
        let shared = Arc::<Shared>::default();
        let thread = std::thread::Builder::new().name("toolcrib-audit".into());
        let of_thread = Arc::clone(&shared);
        thread
            .spawn(move || work(&waiting, book, &of_thread))
            .map_err(|source| Fault::File { path: path.to_owned(), source: Arc::new(source) })?;
        Ok(Self { words, room: Arc::new(Semaphore::new(WAITING)), shared })
    }

    /// Writes a record and waits until it is on the disk. If that fails, it is not written.
    pub(super) async fn ask(&self, record: Value) -> Result<(), Fault> {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| Fault::Closed)?;
        let (reply, answer) = oneshot::channel();
        self.send(Job { record, reply: Some(reply), _room: Some(room) });
        answer.await.unwrap_or(Err(Fault::Closed))
    }

    /// Has a record written soon, once there is room for it.
    pub(super) async fn hand_over_in_turn(&self, record: Value) {
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        self.send(Job { record, reply: None, _room: room });
    }

    /// Has a record written soon: for what follows a record that had to wait for room.
    pub(super) fn hand_over(&self, record: Value) {
        self.send(Job { record, reply: None, _room: None });
    }

    fn send(&self, job: Job) {
        // The thread lives as long as we do; whoever waits hears of it by the reply.
        let _ = self.words.send(Word::Write(Box::new(job)));
    }

    pub(super) fn flush(&self, patience: Duration) {
        let (done, wait) = channel();
        if self.words.send(Word::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(patience);
        }
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        let Shared { written, owed, .. } = &*self.shared;
        (written.load(Ordering::Relaxed), owed.load(Ordering::Relaxed))
    }
}

fn work(waiting: &Receiver<Word>, mut book: Book, shared: &Shared) {
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
        shared.tell(done.as_ref().err());
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
fn gather(waiting: &Receiver<Word>) -> (Vec<Job>, Vec<Sender<()>>, bool) {
    let (mut jobs, mut flushes) = (Vec::new(), Vec::new());
    let first = match waiting.recv_timeout(UNSYNCED) {
        Ok(word) => Some(word),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => return (jobs, flushes, true),
    };
    for word in first.into_iter().chain(waiting.try_iter()).take(MOST_OF_A_GROUP) {
        match word {
            Word::Write(job) => jobs.push(*job),
            Word::Flush(done) => flushes.push(done),
        }
    }
    (jobs, flushes, false)
}

impl Shared {
    /// Says once that the record fails, and once that it goes on.
    fn tell(&self, fault: Option<&Fault>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if *told == fault.is_some() {
            return;
        }
        *told = fault.is_some();
        let Some(fault) = fault else {
            let fields = json!({ "message": "the record can be written again" });
            return log::line(LogLevel::Warn, "audit", fields);
        };
        let cause = match fault {
            Fault::File { source, .. } => Some(source.to_string()),
            Fault::Taken(_) | Fault::Damaged(_) | Fault::Shortened(_) | Fault::Closed => None,
        };
        let fields = json!({ "message": fault.to_string(), "cause": cause });
        log::line(LogLevel::Error, "audit", fields);
    }
}

/// The file and where its chain ends.
struct Book {
    path: PathBuf,
    file: File,
    /// Bytes that hold whole lines.
    length: u64,
    head: Head,
    synced: u64,
}

impl Book {
    fn open(path: &Path) -> Result<Self, Fault> {
        let fault = |source| Fault::File { path: path.to_owned(), source: Arc::new(source) };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let mut file = options.open(path).map_err(fault)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Fault::Taken(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(fault(error)),
        }
        let (head, length) = last(&mut file, path)?;
        let kept = std::fs::read_to_string(head_of(path)).ok();
        let kept: Option<Head> = kept.and_then(|text| serde_json::from_str(text.trim()).ok());
        if kept.is_some_and(|kept| kept.n > head.n) {
            return Err(Fault::Shortened(path.to_owned()));
        }
        let synced = head.n;
        Ok(Self { path: path.to_owned(), file, length, head, synced })
    }

    /// Adds records, all or none, and brings all to the disk if it hurries; tells how many.
    fn write<'a>(
        &mut self,
        records: impl Iterator<Item = &'a Value>,
        hurries: bool,
    ) -> Result<u64, Fault> {
        let (mut text, mut head) = (String::new(), self.head.clone());
        for record in records {
            let (line, next) = head.next(record);
            text += &line;
            head = next;
        }
        let count = head.n - self.head.n;
        if count > 0 {
            let length = self.length + u64::try_from(text.len()).unwrap_or(u64::MAX);
            // What an earlier attempt left behind is no line.
            self.attempt(|file, old| {
                file.set_len(old)?;
                file.seek(SeekFrom::Start(old))?;
                let written = file.write_all(text.as_bytes());
                if written.is_err() {
                    // Nor is a piece of one; if it stays, the next start takes it away.
                    let _ = file.set_len(old);
                }
                written
            })?;
            if hurries {
                // Of what is not on the disk nobody may hear that it is.
                self.attempt(|file, _| file.sync_data())?;
            }
            (self.length, self.head) = (length, head);
        } else if hurries && self.synced < self.head.n {
            self.attempt(|file, _| file.sync_data())?;
        }
        if hurries && self.synced < self.head.n {
            self.synced = self.head.n;
            let head = serde_json::to_string(&self.head).unwrap_or_default();
            // It is a help for whoever looks later, and its loss costs no record.
            let _ = std::fs::write(head_of(&self.path), head + "\n");
        }
        Ok(count)
    }

    fn attempt(&mut self, act: impl FnOnce(&mut File, u64) -> io::Result<()>) -> Result<(), Fault> {
        let length = self.length;
        act(&mut self.file, length)
            .map_err(|source| Fault::File { path: self.path.clone(), source: Arc::new(source) })
    }
}

/// The last whole line, and how many bytes end with it. A piece of a line behind it is what a
/// killed process left: nobody was told that it is written, and it is overwritten.
fn last(file: &mut File, path: &Path) -> Result<(Head, u64), Fault> {
    let fault = |source| Fault::File { path: path.to_owned(), source: Arc::new(source) };
    let length = file.seek(SeekFrom::End(0)).map_err(fault)?;
    let window = u64::try_from(2 * LONGEST_LINE).unwrap_or(u64::MAX).min(length);
    file.seek(SeekFrom::Start(length - window)).map_err(fault)?;
    let mut tail = Vec::new();
    // Not all that can be opened has an end.
    file.take(window).read_to_end(&mut tail).map_err(fault)?;
    let Some(end) = tail.iter().rposition(|byte| *byte == b'\n') else {
        let is_short = length < u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
        return if is_short { Ok((Head::none(), 0)) } else { Err(Fault::Damaged(path.to_owned())) };
    };
    let lines = tail.get(..end).unwrap_or_default();
    let start = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    let line = lines.get(start..).and_then(|line| std::str::from_utf8(line).ok());
    let newest = line.and_then(Link::read).ok_or_else(|| Fault::Damaged(path.to_owned()))?;
    let whole = length - window + u64::try_from(end + 1).unwrap_or(u64::MAX);
    Ok((Head { n: newest.n, hash: newest.hash }, whole))
}
