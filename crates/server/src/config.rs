//! The one place that reads what is outside of the process: files and standard input.

use std::fs::File;
use std::io::{ErrorKind, Read, stdin};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Largest file or message that is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The text of a file.
pub(crate) fn file(path: &Path) -> Result<String> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open `{shown}`"))?;
    text(file).with_context(|| format!("cannot read `{shown}`"))
}

/// The text of a file, or `None` if there is no such file.
pub(crate) fn file_if_any(path: &Path) -> Result<Option<String>> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => file(path).map(Some),
    }
}

/// All of standard input.
pub(crate) fn standard_input() -> Result<String> {
    text(stdin().lock()).context("cannot read standard input")
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

fn text(from: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        bail!("it is longer than {LARGEST} bytes: split it");
    }
    String::from_utf8(bytes).context("it is no UTF-8 text: convert it")
}
