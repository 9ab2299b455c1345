//! Looks through a record, in all its files, for lines that were changed or taken out.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::chain::{ChainHead, ChainLink, LONGEST_LINE};
use super::rotation;

/// A record without a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct VerifiedChain {
    pub(crate) records: u64,
    /// The hash of the last, to be kept somewhere else: who has it can tell later whether this
    /// record is still the same.
    pub(crate) hash: String,
    /// The files that it stands in.
    pub(crate) files: usize,
    /// Whether the last record is known to be the last that was written: without the file that
    /// names it nobody can tell what was cut off at the end.
    pub(crate) ends: bool,
}

/// The first fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ChainFault {
    /// The number of the record that was changed or is missing, from 1.
    pub(crate) record: u64,
    /// The file in which it stands, or should.
    pub(crate) file: PathBuf,
    pub(crate) what: String,
}

/// Reads the file and those that were closed before it. `after`: the hash of the last record that
/// is not among them any more.
pub(crate) fn verify(
    path: &Path,
    after: Option<&str>,
) -> io::Result<Result<VerifiedChain, ChainFault>> {
    let kept: Option<ChainHead> = match std::fs::read_to_string(rotation::head_of(path)) {
        Ok(text) => serde_json::from_str(text.trim()).ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut reading = ChainVerifier { kept, head: ChainHead::none(), begun: 0, after };
    let mut closed = rotation::closed(path)?;
    // A file that was closed and not replaced, since its process was killed, has two names.
    let first = first(path)?;
    closed.retain(|(last, _)| first.is_none_or(|first| *last < first));
    let paths = closed.iter().map(|(_, path)| path.as_path()).chain([path]);
    for file in paths {
        if let Err(broken) = reading.file(file)? {
            return Ok(Err(broken));
        }
    }
    let ChainVerifier { kept, head, begun, .. } = reading;
    match kept {
        Some(kept) if kept.n > head.n => Ok(Err(ChainFault {
            record: head.n + 1,
            file: path.to_owned(),
            what: "it was taken out of the end".to_owned(),
        })),
        kept => {
            let (records, ends) = (head.n - begun, kept.is_some());
            Ok(Ok(VerifiedChain { records, hash: head.hash, files: closed.len() + 1, ends }))
        }
    }
}

/// The number of the first line, if it is whole.
fn first(path: &Path) -> io::Result<Option<u64>> {
    let mut line = Vec::new();
    read_line(&mut BufReader::new(File::open(path)?), &mut line)?;
    let line = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
    Ok(line.and_then(ChainLink::read).map(|link| link.n))
}

fn read_line(lines: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<usize> {
    let most = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
    lines.by_ref().take(most).read_until(b'\n', line)
}

struct ChainVerifier<'a> {
    kept: Option<ChainHead>,
    head: ChainHead,
    /// Records that are not here any more.
    begun: u64,
    after: Option<&'a str>,
}

impl ChainVerifier<'_> {
    fn file(&mut self, path: &Path) -> io::Result<Result<(), ChainFault>> {
        let mut lines = BufReader::new(File::open(path)?);
        let mut line = Vec::new();
        loop {
            line.clear();
            if read_line(&mut lines, &mut line)? == 0 {
                return Ok(Ok(()));
            }
            if let Err((record, what)) = self.line(&line) {
                return Ok(Err(ChainFault { record, file: path.to_owned(), what }));
            }
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), (u64, String)> {
        let n = self.head.n + 1;
        let broken = |what: &str| Err((n, what.to_owned()));
        // The last line of a process that was killed may be a piece.
        let Some(text) = line.strip_suffix(b"\n") else {
            return broken(
                "the line is a piece of one: a process was killed while it wrote, or the end was \
                 cut off",
            );
        };
        let Some(found) = std::str::from_utf8(text).ok().and_then(ChainLink::read) else {
            return broken("it is not what was written");
        };
        if self.head.n == 0 {
            self.begin(&found)?;
        }
        let n = self.head.n + 1;
        if found.n > n {
            return Err((n, "it was taken out".to_owned()));
        }
        if found.n != n || found.prev != self.head.hash {
            let what = "it does not follow the record before, which was changed, or it stands in \
                        another place than it was written to";
            return Err((n, what.to_owned()));
        }
        self.head = ChainHead { n, hash: found.hash };
        let differs = |kept: &ChainHead| kept.n == n && kept.hash != self.head.hash;
        if self.kept.as_ref().is_some_and(differs) {
            return Err((n, "it is another one than was written last".to_owned()));
        }
        Ok(())
    }

    /// The first line of all that are here.
    fn begin(&mut self, first: &ChainLink) -> Result<(), (u64, String)> {
        match (self.after, &first.continues) {
            (Some(after), _) if first.prev == after && first.n > 1 => {
                self.begun = first.n - 1;
                self.head = ChainHead { n: first.n - 1, hash: after.to_owned() };
                Ok(())
            }
            (Some(_), _) => {
                let what = "it does not follow a record of the hash that `--after` names";
                Err((first.n, what.to_owned()))
            }
            (None, Some(file)) => Err((
                first.n - 1,
                format!(
                    "it stands in `{file}`, which is not here: put it back, or name its last hash \
                     by `--after`"
                ),
            )),
            (None, None) => Ok(()),
        }
    }
}
