//! What holds over a configuration on this machine: one file for each, in the state folder, so that
//! a folder that somebody else wrote brings none along.

mod added_sources;
pub(crate) mod change_problem;
pub(crate) mod overlaid_config;

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};
use toolcrib_config::Overlay;

use super::kept_file::{KeptFile, KeptStamp};

/// Largest file of an overlay, in bytes.
const LARGEST: u64 = 8 << 20;
/// Rows of an overlay at the most.
const MOST_ROWS: usize = 10_000;
/// How long a row whose time is over is still told of, in seconds.
const REMEMBERED: u64 = 86_400;

/// Where the overlay of a configuration is kept.
#[derive(Debug, Clone)]
pub(crate) struct OverlayFile {
    kept: KeptFile,
    /// The configuration, as people name it.
    shown: String,
}

impl OverlayFile {
    /// `None`: there is no state folder, and so nothing is kept.
    pub(crate) fn of(config: &Path) -> Option<Self> {
        let kept = KeptFile::of(config, "overlays", LARGEST)?;
        Some(Self { kept, shown: config.display().to_string() })
    }

    /// What is kept; nothing, if nobody changed anything.
    pub(crate) fn read(&self) -> Result<Overlay> {
        let text = self.kept.text().with_context(|| self.unreadable())?;
        let Some(text) = text else { return Ok(Overlay::default()) };
        serde_json::from_str(&text).with_context(|| self.unreadable())
    }

    pub(crate) fn stamp(&self) -> Option<KeptStamp> {
        self.kept.stamp().ok().flatten()
    }

    /// Changes it under a lock, and keeps what came of it; an edit that fails changes nothing.
    pub(crate) fn change<T, E: From<anyhow::Error>>(
        &self,
        edit: impl FnOnce(&mut Overlay) -> Result<T, E>,
    ) -> Result<T, E> {
        let _lock = self.kept.lock()?;
        let mut overlay = self.read()?;
        let now = now();
        overlay.rows.retain(|row| row.until.is_none_or(|until| until + REMEMBERED > now));
        let done = edit(&mut overlay)?;
        self.write(&overlay)?;
        Ok(done)
    }

    fn write(&self, overlay: &Overlay) -> Result<()> {
        if overlay.rows.len() > MOST_ROWS {
            bail!(
                "there are more than {MOST_ROWS} changes over `{}`: put them into the file",
                self.shown
            );
        }
        let text = serde_json::to_string_pretty(overlay)?;
        if !self.kept.takes(&text) {
            bail!(
                "the changes over `{}` take more than {} MiB: put them into the file",
                self.shown,
                LARGEST >> 20
            );
        }
        self.kept.write(&text)
    }

    fn unreadable(&self) -> String {
        format!(
            "what was changed over `{}` cannot be read: correct `{}`, or remove it, which takes \
             all changes back; `serve --no-overlay` does without it",
            self.shown,
            self.kept.path().display()
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
