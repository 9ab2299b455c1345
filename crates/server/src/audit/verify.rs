//! Looks through a record for lines that were changed or taken out.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::chain::{Head, LONGEST_LINE, Link};

/// A record without a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Verified {
    pub(crate) records: u64,
    /// The hash of the last, to be kept somewhere else: who has it can tell later whether this
    /// record is still the same.
    pub(crate) hash: String,
}

/// The first fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Broken {
    /// The number of the record that was changed or is missing, from 1.
    pub(crate) record: u64,
    pub(crate) what: String,
}

/// Where the last record that is on the disk is named.
pub(super) fn head_of(path: &Path) -> PathBuf {
    let mut head = path.as_os_str().to_owned();
    head.push(".head");
    head.into()
}

/// Reads the whole file.
pub(crate) fn verify(path: &Path) -> io::Result<Result<Verified, Broken>> {
    let mut lines = BufReader::new(File::open(path)?);
    let mut head = Head::none();
    let kept: Option<Head> = match std::fs::read_to_string(head_of(path)) {
        Ok(text) => serde_json::from_str(text.trim()).ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let broken = |record, what: &str| Ok(Err(Broken { record, what: what.to_owned() }));
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
        if lines.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let n = head.n + 1;
        // The last line of a process that was killed may be a piece.
        let Some(text) = line.strip_suffix(b"\n") else {
            return broken(
                n,
                "the line is a piece of one: a process was killed while it wrote, or \
                              the end was cut off",
            );
        };
        let Some(found) = std::str::from_utf8(text).ok().and_then(Link::read) else {
            return broken(n, "it is not what was written");
        };
        if found.n > n {
            return broken(n, "it was taken out");
        }
        if found.n != n || found.prev != head.hash {
            return broken(
                n,
                "it does not follow the record before, which was changed, or it \
                              stands in another place than it was written to",
            );
        }
        head = Head { n, hash: found.hash };
        if kept.as_ref().is_some_and(|kept| kept.n == n && kept.hash != head.hash) {
            return broken(n, "it is another one than was written last");
        }
    }
    match kept {
        Some(kept) if kept.n > head.n => broken(head.n + 1, "it was taken out of the end"),
        _ => Ok(Ok(Verified { records: head.n, hash: head.hash })),
    }
}
