//! The file of a record while it is written: where its chain ends, and when another file is begun.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcrib_config::LogLevel;

use super::chain::{ChainHead, ChainLink, LONGEST_LINE};
use super::error::AuditError;
use super::interrupted_calls::{self, InterruptedCall};
use super::open_decisions::{LinePosition, OpenDecisions};
use super::rotation;
use crate::telemetry::log;

/// Bytes that are written to see whether there is room: more than a few lines have.
const PROBE: [u8; 8 * 1024] = [b' '; 8 * 1024];

/// The file and where its chain ends.
pub(super) struct AuditFile {
    path: PathBuf,
    file: File,
    /// Bytes that hold whole lines.
    length: u64,
    head: ChainHead,
    open: OpenDecisions,
    synced: u64,
    /// How long the file may become before another one is begun.
    rotate: Option<u64>,
    /// At which length beginning another one failed: it is tried again after as much more.
    failed_at: u64,
}

/// What stands in the file beside the record.
#[derive(Serialize, Deserialize)]
struct HeadFile {
    #[serde(flatten)]
    head: ChainHead,
    /// In front of this every decision has an end; a release before did not tell.
    from: Option<LinePosition>,
}

impl AuditFile {
    /// And the decisions that a process before left without an end.
    pub(super) fn open(
        path: &Path,
        rotate: Option<u64>,
    ) -> Result<(Self, Vec<InterruptedCall>), AuditError> {
        let fault = |source| AuditError::File { path: path.to_owned(), source: Arc::new(source) };
        let mut file = locked(path)?;
        let ChainEnd { head, length, kept, twice } = found(&mut file, path)?;
        // A process was killed while it closed the file: it is the one that is written still.
        twice.map_or(Ok(()), std::fs::remove_file).map_err(fault)?;
        let from = kept.as_ref().and_then(|kept| kept.from);
        let left = interrupted_calls::of(path, from, head.n).map_err(fault)?;
        let mut open = OpenDecisions::default();
        for left in &left {
            open.insert(&left.call, left.place);
        }
        if kept.is_none() {
            is_not_named(path, &file, &HeadFile { from: open.oldest(), head: head.clone() });
        }
        let (path, synced) = (path.to_owned(), head.n);
        Ok((Self { path, file, length, head, open, synced, rotate, failed_at: 0 }, left))
    }

    /// Fails as [`AuditFile::open`] would, and leaves all as it is. One that another process writes
    /// is one that can be.
    pub(super) fn try_out(path: &Path) -> Result<(), AuditError> {
        let is_new = !path.exists();
        let tried = match locked(path) {
            Err(AuditError::Taken(_)) => return Ok(()),
            locked => locked.and_then(|mut file| found(&mut file, path).map(|_| ())),
        };
        if is_new {
            // What is not there was not made.
            let _ = std::fs::remove_file(path);
        }
        tried
    }

    /// Adds records, all or none, and brings all to the disk if it hurries; tells how many.
    pub(super) fn write<'a>(
        &mut self,
        records: impl Iterator<Item = &'a Value>,
        hurries: bool,
    ) -> Result<u64, AuditError> {
        let mut records = records.peekable();
        let (mut text, mut head) = (String::new(), self.head.clone());
        let mut added = Vec::new();
        if records.peek().is_some() {
            self.turn_over();
            if self.length == 0 && head.n > 0 {
                // The first line of a file says where the lines before it are.
                (text, head) = head.next(&rotation::continuing(&self.path, head.n));
            }
        }
        for record in records {
            let (line, next) = head.next(record);
            added.push((record, LinePosition { n: next.n, offset: self.length + size(&text) }));
            text += &line;
            head = next;
        }
        let count = head.n - self.head.n;
        if count > 0 {
            let length = self.length + size(&text);
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
            for (record, place) in added {
                self.open.follow(record, place);
            }
        } else if hurries && self.synced < self.head.n {
            self.attempt(|file, _| file.sync_data())?;
        }
        if hurries && self.synced < self.head.n {
            self.synced = self.head.n;
            name(&self.path, &self.named());
        }
        Ok(count)
    }

    fn named(&self) -> HeadFile {
        let next = LinePosition { n: self.head.n + 1, offset: self.length };
        HeadFile { head: self.head.clone(), from: Some(self.open.oldest().unwrap_or(next)) }
    }

    /// Sees whether the file can be written again: writes something behind its lines and takes it
    /// away. What a process leaves there that is killed meanwhile is no line, and the next start
    /// takes it away.
    pub(super) fn probe(&mut self) -> Result<(), AuditError> {
        self.attempt(|file, length| {
            file.seek(SeekFrom::Start(length))?;
            let written = file.write_all(&PROBE).and_then(|()| file.sync_data());
            file.set_len(length).and(written)
        })
    }

    /// Begins another file where this one is as long as it may be. The old one keeps its place in
    /// the chain under a name with the number of its last line.
    fn turn_over(&mut self) {
        let Some(rotate) = self.rotate else { return };
        if self.length < self.failed_at.saturating_add(rotate) {
            return;
        }
        match self.replaced() {
            Ok(file) => (self.file, self.length, self.failed_at) = (file, 0, 0),
            Err(source) => {
                // The record is worth more than its division.
                self.failed_at = self.length;
                let message = format!("no new file for the record `{}`", self.path.display());
                let fields = json!({ "message": message, "cause": source.to_string() });
                log::line(LogLevel::Warn, "audit", fields);
            }
        }
    }

    /// The file is there under its name all the time, and held by us: two steps make it another.
    fn replaced(&mut self) -> io::Result<File> {
        self.file.sync_data()?;
        let closed = rotation::closed_name(&self.path, self.head.n);
        let beside = rotation::beside(&self.path);
        let _ = std::fs::remove_file(&beside);
        let file = rotation::options().create_new(true).open(&beside)?;
        file.try_lock()?;
        std::fs::hard_link(&self.path, closed)?;
        std::fs::rename(&beside, &self.path)?;
        Ok(file)
    }

    fn attempt(
        &mut self,
        act: impl FnOnce(&mut File, u64) -> io::Result<()>,
    ) -> Result<(), AuditError> {
        let length = self.length;
        act(&mut self.file, length).map_err(|source| AuditError::File {
            path: self.path.clone(),
            source: Arc::new(source),
        })
    }
}

/// Names the last record, as a whole at any time: who looks while it is written finds one of both.
/// It is a help for whoever looks later, and its loss costs no record.
fn name(path: &Path, named: &HeadFile) {
    let text = serde_json::to_string(named).unwrap_or_default() + "\n";
    let (place, new) = (rotation::head_of(path), rotation::next_head_of(path));
    let _ = std::fs::write(&new, text).and_then(|()| std::fs::rename(new, place));
}

fn size(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// The last record is not named: nobody can tell whether it is the last that was written.
fn is_not_named(path: &Path, file: &File, first: &HeadFile) {
    if first.head.n == 0 {
        // Beside a device there is nothing to be named.
        if file.metadata().is_ok_and(|found| found.is_file()) {
            name(path, first);
        }
        return;
    }
    let (shown, named) = (path.display(), rotation::head_of(path));
    let message = format!(
        "nobody can tell whether records were taken out of the end of `{shown}` before this start: \
         `{}` is not there, or cannot be read",
        named.display()
    );
    log::line(LogLevel::Warn, "audit", json!({ "message": message }));
}

/// The open file, which no other process writes.
fn locked(path: &Path) -> Result<File, AuditError> {
    let fault = |source| AuditError::File { path: path.to_owned(), source: Arc::new(source) };
    let file = rotation::options().create(true).truncate(false).open(path).map_err(fault)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(AuditError::Taken(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(fault(error)),
    }
}

/// Where a chain ends.
struct ChainEnd {
    head: ChainHead,
    length: u64,
    kept: Option<HeadFile>,
    /// A second name of the file that is written.
    twice: Option<PathBuf>,
}

fn found(file: &mut File, path: &Path) -> Result<ChainEnd, AuditError> {
    let fault = |source| AuditError::File { path: path.to_owned(), source: Arc::new(source) };
    let mut closed = rotation::closed(path).map_err(fault)?;
    let newest = closed.pop_if(|(_, newest)| rotation::is_same(newest, path));
    let twice = newest.map(|(_, name)| name);
    let (mut head, length) = last(file, path)?;
    let is_behind = |(n, _): &&(u64, PathBuf)| *n > head.n;
    if let Some((_, newest)) = closed.last().filter(is_behind) {
        // A process was killed before the new file had its first line.
        head = last(&mut File::open(newest).map_err(fault)?, newest)?.0;
        if length > 0 {
            return Err(AuditError::Shortened(path.to_owned()));
        }
    }
    let kept = std::fs::read_to_string(rotation::head_of(path)).ok();
    // By a value: of a flattened field a text could not be read.
    let kept: Option<Value> = kept.and_then(|text| serde_json::from_str(text.trim()).ok());
    let kept: Option<HeadFile> = kept.and_then(|kept| serde_json::from_value(kept).ok());
    if kept.as_ref().is_some_and(|kept| kept.head.n > head.n) {
        return Err(AuditError::Shortened(path.to_owned()));
    }
    Ok(ChainEnd { head, length, kept, twice })
}

/// The last whole line, and how many bytes end with it. A piece of a line behind it is what a
/// killed process left: nobody was told that it is written, and it is overwritten.
fn last(file: &mut File, path: &Path) -> Result<(ChainHead, u64), AuditError> {
    let fault = |source| AuditError::File { path: path.to_owned(), source: Arc::new(source) };
    let length = file.seek(SeekFrom::End(0)).map_err(fault)?;
    let window = u64::try_from(2 * LONGEST_LINE).unwrap_or(u64::MAX).min(length);
    file.seek(SeekFrom::Start(length - window)).map_err(fault)?;
    let mut tail = Vec::new();
    // Not all that can be opened has an end.
    file.take(window).read_to_end(&mut tail).map_err(fault)?;
    let Some(end) = tail.iter().rposition(|byte| *byte == b'\n') else {
        let is_short = length < u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
        return if is_short {
            Ok((ChainHead::none(), 0))
        } else {
            Err(AuditError::Damaged(path.to_owned()))
        };
    };
    let lines = tail.get(..end).unwrap_or_default();
    let start = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    let line = lines.get(start..).and_then(|line| std::str::from_utf8(line).ok());
    let newest =
        line.and_then(ChainLink::read).ok_or_else(|| AuditError::Damaged(path.to_owned()))?;
    let whole = length - window + u64::try_from(end + 1).unwrap_or(u64::MAX);
    Ok((ChainHead { n: newest.n, hash: newest.hash }, whole))
}
