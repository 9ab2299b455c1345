//! The file that trajectories go to: whole lines, each of them once.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use serde::Deserialize;

/// Longest line that is read, in bytes.
const LONGEST: u64 = 1 << 30;
/// How a trajectory ended that its model failed.
const FAULT: &str = "fault";

pub(super) struct OutFile {
    file: File,
    path: PathBuf,
    /// Of the whole lines.
    length: u64,
}

/// What a file had when it was taken up.
#[derive(Default)]
pub(super) struct FinishedSamples {
    /// Trajectories that are not done again.
    pub(super) ids: HashSet<String>,
    /// How they ended, and how many did.
    pub(super) stops: BTreeMap<String, usize>,
    /// What was put right.
    pub(super) notes: Vec<String>,
}

/// What is read of a line to know what was done.
#[derive(Deserialize)]
struct LineHead {
    id: String,
    stop: String,
}

/// What is to become of the lines of a file.
#[derive(Default)]
struct FoundLines {
    finished: FinishedSamples,
    /// Where the lines end that are whole.
    whole: u64,
    /// From where to where the lines stand that are left out.
    dropped: Vec<(u64, u64)>,
    faults: usize,
    repeated: usize,
    unknown: Vec<usize>,
    half: u64,
}

impl OutFile {
    /// A new file; one that says something already is refused.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = open(path)?;
        let length = file.metadata().with_context(|| told(path))?.len();
        if length > 0 {
            bail!(
                "`{}` is there already: `--resume` goes on with it, `--out` names another",
                path.display()
            );
        }
        Ok(Self { file, path: path.to_owned(), length })
    }

    /// One that was begun, and what stands in it. A last line that is not whole is cut off, and so
    /// are trajectories that their model failed: those are done again.
    pub(super) fn resume(path: &Path) -> Result<(Self, FinishedSamples)> {
        let mut file = open(path)?;
        let found = FoundLines::read(&mut file).with_context(|| told(path))?;
        let mut finished = FinishedSamples { notes: found.notes(path), ..found.finished };
        if !found.dropped.is_empty() {
            file = without(&mut file, path, found.whole, &found.dropped)?;
        } else if found.half > 0 {
            file.set_len(found.whole).with_context(|| told(path))?;
        }
        let length = file.seek(SeekFrom::End(0)).with_context(|| told(path))?;
        finished.ids.shrink_to_fit();
        Ok((Self { file, path: path.to_owned(), length }, finished))
    }

    /// Writes a line, or nothing of it.
    pub(super) fn write(&mut self, line: &str) -> Result<()> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        if let Err(error) = self.file.write_all(&bytes) {
            // Half a line is none. Where even that fails, the next start cuts it off.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::End(0));
            return Err(anyhow!(error)).with_context(|| {
                format!(
                    "cannot write to `{}`: make room, and go on with `--resume`",
                    self.path.display()
                )
            });
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Has the disk keep what was written.
    pub(super) fn sync(&self) -> Result<()> {
        match self.file.sync_data() {
            // No disk stands behind it.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced.with_context(|| told(&self.path)),
        }
    }
}

impl FoundLines {
    fn read(file: &mut File) -> io::Result<Self> {
        let mut found = Self::default();
        let mut reader = BufReader::new(&mut *file);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let from = found.whole;
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)? as u64;
            if read == 0 {
                break;
            }
            if line.last() != Some(&b'\n') {
                found.half = read;
                break;
            }
            found.whole += read;
            found.take(number, &line, (from, from + read));
        }
        Ok(found)
    }

    fn take(&mut self, number: usize, line: &[u8], place: (u64, u64)) {
        match serde_json::from_slice::<LineHead>(line) {
            Err(_) => self.unknown.push(number),
            Ok(head) if head.stop == FAULT => {
                self.faults += 1;
                self.dropped.push(place);
            }
            Ok(head) => {
                if self.finished.ids.insert(head.id) {
                    *self.finished.stops.entry(head.stop).or_default() += 1;
                } else {
                    self.repeated += 1;
                    self.dropped.push(place);
                }
            }
        }
    }

    fn notes(&self, path: &Path) -> Vec<String> {
        let shown = path.display();
        let mut notes = Vec::new();
        if self.half > 0 {
            notes.push(format!(
                "the last line of `{shown}` is not whole ({} bytes): it was cut off, and its \
                 trajectory is done again",
                self.half
            ));
        }
        if self.faults > 0 {
            notes.push(format!(
                "{} of the trajectories ended because their model failed: they are done again",
                self.faults
            ));
        }
        if self.repeated > 0 {
            notes.push(format!("{} lines stood there twice: one of each stays", self.repeated));
        }
        if let [first, ..] = self.unknown.as_slice() {
            let more = self.unknown.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!("line {first}{more} of `{shown}` is no trajectory: it stays"));
        }
        notes
    }
}

/// The file, which is ours alone as long as it is open.
fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path).with_context(|| told(path))?;
    // What is no file on a disk has no lock.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        bail!("another rollout writes to `{}`: name another file", path.display());
    }
    Ok(file)
}

/// The same without some of its lines: a new file takes its place, so that a kill costs nothing.
fn without(file: &mut File, path: &Path, whole: u64, dropped: &[(u64, u64)]) -> Result<File> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let mut copied = || -> io::Result<File> {
        let mut options = OpenOptions::new();
        let new = options.read(true).write(true).create(true).truncate(true).open(&beside)?;
        let mut to = BufWriter::new(&new);
        let mut from = 0;
        for (begin, end) in dropped.iter().copied().chain([(whole, whole)]) {
            file.seek(SeekFrom::Start(from))?;
            io::copy(&mut (&mut *file).take(begin - from), &mut to)?;
            from = end;
        }
        to.flush()?;
        drop(to);
        new.sync_all()?;
        new.try_lock().map_err(io::Error::other)?;
        fs::rename(&beside, path)?;
        Ok(new)
    };
    copied().with_context(|| told(path))
}

fn told(path: &Path) -> String {
    format!("cannot use `{}` for the trajectories", path.display())
}
