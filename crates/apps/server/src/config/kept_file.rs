//! A file of the state folder that goes with one configuration: changed under a lock, and put in
//! its place whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use toolcrib_core::Fingerprint;

use super::{private_folder, state_folder};

/// What tells one content from another without reading it: when it was written, its length, and
/// which file it is.
pub(crate) type KeptStamp = (SystemTime, u64, u64);

#[derive(Debug, Clone)]
pub(crate) struct KeptFile {
    path: PathBuf,
    /// In bytes.
    largest: u64,
}

impl KeptFile {
    /// `None`: there is no state folder, and so nothing is kept.
    pub(crate) fn of(config: &Path, folder: &str, largest: u64) -> Option<Self> {
        let whole = whole(config);
        let name = Fingerprint::of(&whole.display().to_string().into());
        let path = state_folder()?.join(folder).join(format!("{name}.json"));
        Some(Self { path, largest })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// `None`: there is none. Where we may not look, nothing of ours was kept.
    pub(crate) fn text(&self) -> io::Result<Option<String>> {
        match std::fs::metadata(&self.path) {
            Ok(_) => {}
            Err(error) if is_nowhere(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut text = String::new();
        File::open(&self.path)?.take(self.largest + 1).read_to_string(&mut text)?;
        Ok(Some(text))
    }

    /// `None`: there is none.
    pub(crate) fn stamp(&self) -> io::Result<Option<KeptStamp>> {
        match std::fs::metadata(&self.path) {
            Ok(found) => Ok(Some((found.modified()?, found.len(), number(&found)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether nothing can be kept where it would lie.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        std::fs::metadata(&self.path).is_err_and(|error| is_nowhere(&error))
    }

    /// Held while it is changed.
    pub(crate) fn lock(&self) -> Result<File> {
        let folder = self.path.parent().unwrap_or(&self.path);
        private_folder(folder).with_context(|| self.unwritable())?;
        let lock = private(&self.path.with_extension("lock")).with_context(|| self.unwritable())?;
        lock.lock().with_context(|| self.unwritable())?;
        Ok(lock)
    }

    /// Whether a text may be kept.
    pub(crate) fn takes(&self, text: &str) -> bool {
        u64::try_from(text.len()).is_ok_and(|length| length <= self.largest)
    }

    /// On the disk, and whole: whoever reads it meanwhile finds the old one or the new one.
    pub(crate) fn write(&self, text: &str) -> Result<()> {
        let new = self.path.with_extension("new");
        let mut file = private(&new).with_context(|| self.unwritable())?;
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        written.and_then(|()| file.sync_all()).with_context(|| self.unwritable())?;
        toolcrib_core::failpoint::reached("kept file written");
        std::fs::rename(&new, &self.path).with_context(|| self.unwritable())?;
        // Without its folder the name of the new one might not outlive a loss of power.
        #[cfg(unix)]
        if let Some(folder) = self.path.parent() {
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .with_context(|| self.unwritable())?;
        }
        Ok(())
    }

    fn unwritable(&self) -> String {
        format!("cannot write `{}`", self.path.display())
    }
}

/// The one name of a configuration, by whichever it was named.
pub(crate) fn whole(config: &Path) -> PathBuf {
    let found = config.canonicalize().or_else(|_| std::path::absolute(config));
    found.unwrap_or_else(|_| config.to_owned())
}

/// There is no such place, or none that is ours.
fn is_nowhere(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    [NotFound, NotADirectory, PermissionDenied].contains(&error.kind())
}

#[cfg(unix)]
fn number(found: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn number(_: &std::fs::Metadata) -> u64 {
    0
}

/// A file for its owner's eyes alone.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
