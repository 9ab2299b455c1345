//! The one place that reads what is outside of the process: files and standard input.

use std::fs::File;
use std::io::{BufRead, ErrorKind, IsTerminal, Read, stdin};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Largest file or message that is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The text of a file.
pub(crate) fn file(path: &Path) -> Result<String> {
    let shown = path.display();
    let file =
        File::open(path).with_context(|| format!("cannot open `{shown}`: check the path"))?;
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

/// Whether a person can be asked.
pub(crate) fn person_is_there() -> bool {
    stdin().is_terminal()
}

/// What the person writes on one line; empty if the input ends.
pub(crate) fn line() -> Result<String> {
    let mut line = Vec::new();
    stdin().lock().take(1024).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let context = || format!("cannot write `{}`", path.display());
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // What is left of the attempt is of no use.
        let _ = std::fs::remove_file(&beside);
    }
    written.with_context(context)
}

fn text(from: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        bail!("it is longer than {LARGEST} bytes: split it");
    }
    String::from_utf8(bytes).context("it is no UTF-8 text: convert it")
}
