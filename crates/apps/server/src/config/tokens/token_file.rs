//! A file with one token in it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use toolcrib_core::Secret;

/// Longest file that is read, in bytes.
const LONGEST: u64 = 1024;

/// The token of a file that its owner alone can read.
pub(super) fn read(path: &Path) -> Result<Secret> {
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
pub(in crate::config) fn is_private(file: &File) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let of_others = file.metadata()?.permissions().mode() & 0o077;
    Ok(of_others == 0)
}

#[cfg(not(unix))]
pub(in crate::config) fn is_private(_file: &File) -> std::io::Result<bool> {
    Ok(true)
}
