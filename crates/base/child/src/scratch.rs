//! An empty working folder that only its program's user may enter, removed at the end.

use std::collections::HashSet;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io, thread};

use rustix::process::getuid;
use uuid::Uuid;

/// How the name of each begins.
const PREFIX: &str = "toolcrib-";

/// A folder; dropped, it is removed with all it holds.
pub(crate) struct ScratchFolder {
    path: PathBuf,
    /// Locked as long as we live: what nobody holds belongs to an instance that was killed.
    _lock: File,
}

impl ScratchFolder {
    /// A new folder in the given one, else in `/tmp`; the error names it.
    ///
    /// The first one in a place also removes what killed instances left there.
    pub(crate) fn new(within: Option<&str>) -> Result<Self, (PathBuf, io::Error)> {
        let within = Path::new(within.filter(|folder| folder.starts_with('/')).unwrap_or("/tmp"));
        clear_once(within);
        let path = within.join(format!("{PREFIX}{}", Uuid::new_v4().simple()));
        let lock = DirBuilder::new().mode(0o700).create(&path).and_then(|()| {
            let folder = File::open(&path)?;
            // Another instance that clears up holds it for a moment, and may find it abandoned.
            folder.lock()?;
            fs::symlink_metadata(&path).map(|_| folder)
        });
        match lock {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => Err((path, error)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Most are empty; a million files must not hold up whoever waits for the end.
        if fs::remove_dir(&self.path).is_err() {
            let path = self.path.clone();
            let _ = thread::Builder::new().spawn(move || fs::remove_dir_all(path));
        }
    }
}

/// Removes what killed instances left in a place, on a thread of its own.
fn clear_once(within: &Path) {
    static CLEARED: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut cleared = CLEARED.lock().unwrap_or_else(PoisonError::into_inner);
    if cleared.get_or_insert_default().insert(within.to_path_buf()) {
        let within = within.to_path_buf();
        let _ = thread::Builder::new().spawn(move || clear(&within));
    }
}

fn clear(within: &Path) {
    let entries = fs::read_dir(within).into_iter().flatten().flatten();
    let is_named =
        |name: &str| name.strip_prefix(PREFIX).is_some_and(|id| Uuid::try_parse(id).is_ok());
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_named)) {
        let path = entry.path();
        // Anybody may put a link or a folder of that name into a common place.
        let is_ours = fs::symlink_metadata(&path)
            .is_ok_and(|data| data.is_dir() && data.uid() == getuid().as_raw());
        if is_ours && is_abandoned(&path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Whether nobody holds a folder; one that was made a moment ago may not be held yet.
fn is_abandoned(path: &Path) -> bool {
    const YOUNG: std::time::Duration = std::time::Duration::from_mins(1);
    File::open(path).is_ok_and(|folder| {
        let age = folder.metadata().and_then(|data| data.modified()).map(|time| time.elapsed());
        matches!(age, Ok(Ok(age)) if age > YOUNG) && folder.try_lock().is_ok()
    })
}
