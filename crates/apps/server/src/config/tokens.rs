//! Tokens on disk: one file for each caller, for its owner's eyes alone.

mod token_file;
mod token_folder;

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use toolcrib_core::Secret;
use uuid::Uuid;

pub(super) use token_file::is_private;
use token_file::read;
pub(crate) use token_folder::{CallerToken, TokenFolder, TokenScan};

/// The caller that the first start makes a token for: the person at the machine.
pub(crate) const LOCAL: &str = "local";

/// Where the tokens are kept.
pub(crate) fn folder() -> Result<PathBuf> {
    let state = super::state_folder().context(
        "there is no place to keep a token: set `HOME` or `XDG_STATE_HOME` to an absolute path",
    )?;
    Ok(state.join("keys"))
}

/// The token of a caller, made if there is none.
pub(crate) fn token(folder: &Path, name: &str) -> Result<Secret> {
    let usable = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(usable) {
        bail!("`{name}` cannot name a caller: use letters, digits, `-` and `_`, 64 at the most");
    }
    let path = folder.join(name);
    if !path.exists() {
        make(folder, &path).with_context(|| format!("cannot make `{}`", path.display()))?;
    }
    read(&path)
}

/// Writes a new token beside its place and links it there: nobody reads half of one, and of two
/// who make it at once both go on with the first.
fn make(folder: &Path, path: &Path) -> std::io::Result<()> {
    super::private_folder(folder)?;
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let beside = folder.join(format!(".{}", Uuid::new_v4().simple()));
    let mut file = options.write(true).create_new(true).open(&beside)?;
    let written = writeln!(file, "{}", random()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| match fs::hard_link(&beside, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    fs::remove_file(&beside).and(linked)
}

/// A token of 256 bits, from 366 random ones of the operating system.
pub(crate) fn random() -> String {
    let mut hash = Sha256::new();
    for _ in 0..3 {
        hash.update(Uuid::new_v4().as_bytes());
    }
    let bytes: [u8; 32] = hash.finalize().into();
    bytes.iter().fold("tc_".to_owned(), |token, byte| format!("{token}{byte:02x}"))
}
