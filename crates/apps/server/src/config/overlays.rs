//! What holds over a configuration on this machine: one file for each, in the state folder, so that
//! a folder that somebody else wrote brings none along.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};
use toolcrib::Fingerprint;
use toolcrib::config::Overlay;

use super::{private_folder, stamp, state_folder};

/// Largest file of an overlay, in bytes.
const LARGEST: u64 = 8 << 20;
/// Rows of an overlay at the most.
const MOST_ROWS: usize = 10_000;
/// How long a row whose time is over is still told of, in seconds.
const REMEMBERED: u64 = 86_400;

/// Where the overlay of a configuration is kept.
#[derive(Debug, Clone)]
pub(crate) struct OverlayFile {
    path: PathBuf,
    /// The configuration, as people name it.
    shown: String,
}

impl OverlayFile {
    /// `None`: there is no state folder, and so nothing is kept.
    pub(crate) fn of(config: &Path) -> Option<Self> {
        let whole = std::path::absolute(config).unwrap_or_else(|_| config.to_owned());
        let name = Fingerprint::of(&whole.display().to_string().into());
        let path = state_folder()?.join("overlays").join(format!("{name}.json"));
        Some(Self { path, shown: config.display().to_string() })
    }

    /// What is kept; nothing, if nobody changed anything.
    pub(crate) fn read(&self) -> Result<Overlay> {
        // Where nothing can be looked up, nothing of ours was kept.
        if std::fs::metadata(&self.path).is_err() {
            return Ok(Overlay::default());
        }
        self.parsed(File::open(&self.path).with_context(|| self.unreadable())?)
    }

    pub(crate) fn stamp(&self) -> Option<(SystemTime, u64)> {
        stamp(&self.path)
    }

    /// Changes it under a lock, and keeps what came of it; an edit that fails changes nothing.
    pub(crate) fn change<T>(&self, edit: impl FnOnce(&mut Overlay) -> Result<T>) -> Result<T> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let unwritable = || format!("cannot write `{}`", self.path.display());
        private_folder(folder).with_context(unwritable)?;
        let lock = private(&self.path.with_extension("lock")).with_context(unwritable)?;
        lock.lock().with_context(unwritable)?;
        let mut overlay = self.read()?;
        let now = now();
        overlay.rows.retain(|row| row.until.is_none_or(|until| until + REMEMBERED > now));
        let done = edit(&mut overlay)?;
        if overlay.rows.len() > MOST_ROWS {
            bail!(
                "there are more than {MOST_ROWS} changes over `{}`: put them into the file",
                self.shown
            );
        }
        let text = serde_json::to_string_pretty(&overlay)?;
        if u64::try_from(text.len()).is_ok_and(|length| length > LARGEST) {
            bail!(
                "the changes over `{}` take more than {} MiB: put them into the file",
                self.shown,
                LARGEST >> 20
            );
        }
        let new = self.path.with_extension("new");
        let mut file = private(&new).with_context(unwritable)?;
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        written.and_then(|()| file.sync_all()).with_context(unwritable)?;
        // Whoever reads it meanwhile finds the old one or the new one.
        std::fs::rename(&new, &self.path).with_context(unwritable)?;
        Ok(done)
    }

    fn parsed(&self, file: File) -> Result<Overlay> {
        let mut text = String::new();
        file.take(LARGEST + 1).read_to_string(&mut text).with_context(|| self.unreadable())?;
        serde_json::from_str(&text).with_context(|| self.unreadable())
    }

    fn unreadable(&self) -> String {
        format!(
            "what was changed over `{}` cannot be read: correct `{}`, or remove it, which takes \
             all changes back; `serve --no-overlay` does without it",
            self.shown,
            self.path.display()
        )
    }
}

/// What holds over a configuration.
pub(crate) fn overlay(config: &Path) -> Result<Overlay> {
    OverlayFile::of(config).map_or_else(|| Ok(Overlay::default()), |file| file.read())
}

/// In seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A file for its owner's eyes alone.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
