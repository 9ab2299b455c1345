//! Whether a file that was found where a command is run may do what it says.
//!
//! A folder may be somebody else's, fetched a moment ago: what its `crib.toml` would start or send
//! is shown to a person once, and remembered until it says something else. A file that the command
//! line names is the person's own word.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use serde_json::json;
use toolcrib_config::{Config, Disclosure, Overlay};
use toolcrib_core::{Fingerprint, SourceId};

use super::{person_is_there, private_folder, state_folder};

/// The text of a file, and what holds over it at a moment.
#[derive(Clone, Copy)]
pub(crate) struct OverFile<'f> {
    pub(crate) text: &'f str,
    pub(crate) held: &'f Overlay,
    /// In seconds since 1970.
    pub(crate) at: u64,
}

impl OverFile<'_> {
    /// The sources that are added over it.
    pub(crate) fn added(&self, path: &Path) -> Vec<SourceId> {
        let rows = self.held.sources(self.text, &path.display().to_string(), self.at);
        let ids = rows.iter().filter_map(|row| row.path.keys().get(1));
        ids.map(SourceId::new).collect()
    }
}

/// What a file would do, and where it is remembered that it may.
pub(crate) struct TrustRequest {
    shown: String,
    lines: Vec<String>,
    /// The same for logs.
    masked: Vec<String>,
    /// `None`: there is no place to remember anything.
    mark: Option<PathBuf>,
}

impl TrustRequest {
    /// `None`: it starts nothing and asks nobody. Holds the file to what is told: reads the
    /// documents that say where its secrets go, and blocks meanwhile. `added`: sources that stand
    /// over the file by the word of this user, so that nobody is asked about them again.
    pub(crate) fn of(path: &Path, file: &mut Config, added: &[SourceId]) -> Option<Self> {
        file.hold();
        let own = file.without(added);
        let (lines, masked) = (own.reaches(Disclosure::Whole), own.reaches(Disclosure::Masked));
        if lines.is_empty() {
            return None;
        }
        // The same words mean other programs in another folder.
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let print = Fingerprint::of(&json!([whole.display().to_string(), lines]));
        let mark = state_folder().map(|state| state.join("trusted").join(print.to_string()));
        Some(Self { shown: path.display().to_string(), lines, masked, mark })
    }

    /// What must be trusted first. What was changed over the file needs no trust of its own where it
    /// only takes away from what the file does alone, and that is trusted.
    pub(crate) fn untrusted(path: &Path, file: &mut Config, over: OverFile<'_>) -> Option<Self> {
        let wishes =
            Self::of(path, file, &over.added(path)).filter(|wishes| !wishes.is_trusted())?;
        let alone = Config::read(over.text, &path.display().to_string()).config;
        let own = alone.and_then(|mut alone| Self::of(path, &mut alone, &[]));
        let is_less = own.is_some_and(|own| {
            own.is_trusted() && wishes.lines.iter().all(|line| own.lines.contains(line))
        });
        (!is_less).then_some(wishes)
    }

    /// All of them: who decides has to see them.
    pub(crate) fn whole(&self) -> String {
        self.told_of(&self.lines)
    }

    /// Whole for a person, and masked for what is kept or read by others.
    pub(crate) fn lines(&self) -> &[String] {
        if person_is_there() { &self.lines } else { &self.masked }
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.mark.as_ref().is_some_and(|mark| mark.exists())
    }

    pub(crate) fn trust(&self) -> Result<()> {
        let mark = self.mark.as_ref().context(
            "there is no place to remember it: set HOME, or name the file with `--config`",
        )?;
        let folder = mark.parent().unwrap_or(mark);
        let made = private_folder(folder).and_then(|()| File::create(mark));
        made.with_context(|| format!("cannot remember it in `{}`", folder.display()))?;
        Ok(())
    }

    pub(crate) fn forget(&self) -> Result<()> {
        match self.mark.as_ref().map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(anyhow!(error).context("cannot forget it"))
            }
            _ => Ok(()),
        }
    }

    /// What is said of a file that nobody trusts yet, for a log or another program.
    pub(crate) fn told(&self) -> String {
        self.told_of(&self.masked)
    }

    fn told_of(&self, lines: &[String]) -> String {
        let lines: Vec<_> = lines.iter().map(|line| format!("\n  {line}")).collect();
        format!("`{}` was found here and not named, and says:{}", self.shown, lines.concat())
    }

    pub(crate) fn cure(&self) -> String {
        format!("`toolcrib trust` if you know it, or name it: `--config {}`", self.shown)
    }
}
