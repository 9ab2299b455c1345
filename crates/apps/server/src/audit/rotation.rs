//! The files of one record: the one that is written, and those before it, which were closed when
//! they were long enough. A closed one has the number of its last line behind its name.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// What the first line of a file records if others were before it.
pub(super) const CONTINUES: &str = "continues";

/// How files of a record are opened, for nobody but their owner.
pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

/// Where the last record that is on the disk is named.
pub(super) fn head_of(path: &Path) -> PathBuf {
    with(path, ".head")
}

/// Where the next of those names is made.
pub(super) fn next_head_of(path: &Path) -> PathBuf {
    with(path, ".head.new")
}

/// Where the next file is made.
pub(super) fn beside(path: &Path) -> PathBuf {
    with(path, ".new")
}

pub(super) fn closed_name(path: &Path, last: u64) -> PathBuf {
    with(path, &format!(".{last}"))
}

/// The record that a file begins with whose chain began in another.
pub(super) fn continuing(path: &Path, last: u64) -> Value {
    let name = closed_name(path, last);
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    json!({ "record": CONTINUES, "file": name })
}

/// The closed files, the oldest first, each with the number of its last line.
pub(super) fn closed(path: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let Some(name) = path.file_name() else { return Ok(Vec::new()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = match std::fs::read_dir(folder.unwrap_or(Path::new("."))) {
        Ok(folder) => folder,
        // Whoever looks for the file itself says what is wrong with it.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut closed = Vec::new();
    for entry in folder {
        let found = entry?.file_name();
        let number = found.to_str().zip(name.to_str()).and_then(|(found, name)| {
            let number = found.strip_prefix(name)?.strip_prefix('.')?;
            number.parse().ok().filter(|n: &u64| n.to_string() == number)
        });
        closed.extend(number.map(|number| (number, closed_name(path, number))));
    }
    closed.sort_unstable();
    Ok(closed)
}

/// Whether two names are of one file.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let place =
            |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        place(one).is_some() && place(one) == place(other)
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        false
    }
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}
