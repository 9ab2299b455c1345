//! Files by which others of this user find a process, for their owner's eyes alone.
//!
//! A process holds the lock of its file as long as it lives. A file whose lock is free was left
//! behind by one that was killed, and whoever finds it takes it away.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::tokens::is_private;

/// Longest file that is read, in bytes.
const LONGEST: u64 = 1024;
const MOST: usize = 1000;

/// The file of this process, which is gone when this is dropped.
pub(crate) struct RegistryEntry {
    path: PathBuf,
    #[expect(dead_code, reason = "its lock says that we live")]
    file: File,
}

impl Drop for RegistryEntry {
    fn drop(&mut self) {
        // What stays is found to be ours no more.
        let _ = fs::remove_file(&self.path);
    }
}

/// Says this of this process, among those of its kind.
pub(super) fn name(kind: &str, said: &impl Serialize) -> Result<RegistryEntry> {
    let folder = folder(kind).context("set `HOME` or `XDG_STATE_HOME` to an absolute path")?;
    let made = make(&folder, &serde_json::to_string(said)?);
    made.with_context(|| format!("cannot write into `{}`", folder.display()))
}

/// Beside its place until it is whole and locked: nobody finds it before that.
fn make(folder: &Path, text: &str) -> std::io::Result<RegistryEntry> {
    super::private_folder(folder)?;
    let name = Uuid::new_v4().simple().to_string();
    let (path, beside) = (folder.join(&name), folder.join(format!(".{name}")));
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.write(true).create_new(true).open(&beside)?;
    let made = file.lock().and_then(|()| file.write_all(text.as_bytes()));
    if let Err(error) = made.and_then(|()| fs::rename(&beside, &path)) {
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    Ok(RegistryEntry { path, file })
}

/// What all of a kind say that live.
pub(super) fn all<T: DeserializeOwned>(kind: &str) -> Vec<T> {
    let entries = folder(kind).and_then(|folder| fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().flatten().take(MOST);
    let paths = names.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    paths.filter_map(|entry| read(&entry.path())).collect()
}

/// `None`: nobody stands behind it, or it is no file of ours.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let file = File::open(path).ok()?;
    if !is_private(&file).ok()? {
        return None;
    }
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = fs::remove_file(path);
            return None;
        }
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(_)) => return None,
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn folder(kind: &str) -> Option<PathBuf> {
    super::state_folder().map(|state| state.join(kind))
}
