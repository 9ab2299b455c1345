//! Tokens on disk: one file for each caller, for its owner's eyes alone.

mod token_folder;

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use toolcrib::Secret;
use uuid::Uuid;

pub(crate) use token_folder::{TokenFolder, TokenScan};

/// The caller that the first start makes a token for: the person at the machine.
pub(crate) const LOCAL: &str = "local";
/// Longest file that is read, in bytes.
const LONGEST: u64 = 1024;
const MOST: usize = 1000;

/// A token and whose it is.
pub(crate) struct CallerToken {
    pub(crate) name: String,
    pub(crate) token: Secret,
}

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

fn read(path: &Path) -> Result<Secret> {
    let shown = path.display();
    let context = || format!("cannot read the token `{shown}`");
    let file = File::open(path).with_context(context)?;
    if !is_private(&file).with_context(context)? {
        bail!("others can read the token `{shown}`: `chmod 600` it, or remove it to get a new one");
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).with_context(context)?;
    let token = text.trim();
    if token.len() < 32 || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!("`{shown}` holds no token of 32 letters and more: remove it to get a new one");
    }
    Ok(Secret::new(token))
}

#[cfg(unix)]
pub(super) fn is_private(file: &File) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let of_others = file.metadata()?.permissions().mode() & 0o077;
    Ok(of_others == 0)
}

#[cfg(not(unix))]
pub(super) fn is_private(_file: &File) -> std::io::Result<bool> {
    Ok(true)
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
