//! The one place that reads what is outside of the process: files, standard input, the environment.

pub(crate) mod freezes;
pub(crate) mod history;
pub(crate) mod kept_file;
pub(crate) mod mcp_instances;
pub(crate) mod overlays;
pub(crate) mod record;
pub(crate) mod registry;
pub(crate) mod servers;
pub(crate) mod tokens;
pub(crate) mod trust;

use std::fs::File;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Read, stdin};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use toolcrib_config::open_ordinary_file;
pub(crate) use toolcrib_config::{ProcessLookup, inherited_variables};

/// The configuration that is looked for where a command is run.
pub(crate) const CONFIG: &str = "crib.toml";
/// The pin file that is looked for beside the configuration.
pub(crate) const LOCK: &str = "crib.lock";

/// Largest file or message that is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The text of a file.
pub(crate) fn file(path: &Path) -> Result<String> {
    let shown = path.display();
    let file = open_ordinary_file(path)
        .with_context(|| format!("cannot open `{shown}`: check the path"))?;
    text(file).with_context(|| format!("cannot read `{shown}`"))
}

/// What a file has, be it a text or not.
pub(crate) fn octets(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    let file = open_ordinary_file(path)
        .with_context(|| format!("cannot open `{shown}`: check the path"))?;
    bytes(file).with_context(|| format!("cannot read `{shown}`"))
}

/// The text of a file, or `None` if there is no such file.
pub(crate) fn file_if_any(path: &Path) -> Result<Option<String>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => file(path).map(Some),
    }
}

/// When a file was written and how long it is; `None`: there is none.
pub(crate) fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// All of standard input.
pub(crate) fn standard_input() -> Result<String> {
    text(stdin().lock()).context("cannot read standard input")
}

/// Whether a person can be asked: at a terminal, and in its foreground.
///
/// The system stops a command of the background that reads the terminal, also one that was told
/// to end and waits for what it started.
pub(crate) fn person_is_there() -> bool {
    stdin().is_terminal() && is_in_foreground()
}

#[cfg(unix)]
fn is_in_foreground() -> bool {
    // A terminal that does not control this process stops nobody.
    rustix::termios::tcgetpgrp(stdin())
        .map_or(true, |foreground| foreground == rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn is_in_foreground() -> bool {
    true
}

/// Longest line of a person, in bytes.
const LONGEST_LINE: u64 = 1024;

/// Forgets what was typed before anybody was asked: it answers nothing.
pub(crate) fn forget_typed() {
    #[cfg(unix)]
    if person_is_there() {
        let queue = rustix::termios::QueueSelector::IFlush;
        // Where it cannot be done, the answer that is read may be an old one, as everywhere else.
        let _ = rustix::termios::tcflush(stdin(), queue);
    }
}

/// Whether a program or a file is behind standard input, and no person.
pub(crate) fn is_piped() -> bool {
    !stdin().is_terminal()
}

/// What the person writes on one line; empty if the input ends.
pub(crate) fn line() -> Result<String> {
    line_within(LONGEST_LINE)
}

/// The same for a line of up to so many bytes.
pub(crate) fn line_within(longest: u64) -> Result<String> {
    let mut line = Vec::new();
    let mut input = stdin().lock();
    input.by_ref().take(longest).read_until(b'\n', &mut line)?;
    if line.ends_with(b"\n") || (line.len() as u64) < longest {
        return Ok(String::from_utf8_lossy(&line).into_owned());
    }
    // What is left of a line that is too long must not answer the next question.
    while !input.fill_buf()?.is_empty() {
        let (taken, is_end) = match input.fill_buf()?.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (input.fill_buf()?.len(), false),
        };
        input.consume(taken);
        if is_end {
            break;
        }
    }
    bail!("the line is longer than {longest} bytes")
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

/// Puts another text in the place of a file that a person wrote, if it still says what was read of
/// it: whole or not at all, with the rights that it has, and behind the links that lead to it.
pub(crate) fn replace(path: &Path, before: &str, after: &str) -> Result<()> {
    let context = || format!("cannot write `{}`", path.display());
    let place = std::fs::canonicalize(path).with_context(context)?;
    let known = std::fs::metadata(&place).with_context(context)?;
    if known.permissions().readonly() {
        bail!(
            "cannot write `{}`: it is read-only: permit that, or write it by hand",
            path.display()
        );
    }
    let mut beside = place.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = written_as(&beside, &known, after).with_context(context).and_then(|()| {
        if file(&place)? != before {
            bail!("`{}` was changed meanwhile: run the command again", path.display());
        }
        std::fs::rename(&beside, &place).with_context(context)
    });
    if written.is_err() {
        // What is left of the attempt is of no use.
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// A new file with the rights and the owner of another, on the disk.
fn written_as(path: &Path, like: &std::fs::Metadata, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    let mut file = File::options().write(true).create_new(true).open(path)?;
    file.set_permissions(like.permissions())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (like.uid(), like.gid()) {
            fchown(&file, Some(like.uid()), Some(like.gid()))?;
        }
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The folder for what is kept between runs, as the XDG directories name it.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME");
    let state = state.or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("toolcrib"))
}

/// The time zone of this machine by its IANA name, as `TZ` or the system says; else `UTC`.
pub(crate) fn time_zone() -> String {
    let zone = jiff::tz::TimeZone::system();
    zone.iana_name().filter(|name| *name != "Etc/Unknown").unwrap_or("UTC").to_owned()
}

/// Makes a folder that only its owner can look into, unless it is there.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    let mut folders = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.recursive(true).create(path)
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads it")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn text(from: impl Read) -> Result<String> {
    String::from_utf8(bytes(from)?).context("it is no UTF-8 text: convert it")
}

fn bytes(from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        bail!("it is longer than {LARGEST} bytes: split it");
    }
    Ok(bytes)
}

/// Has a test end this process at a moment of its choice: `TOOLCRIB_TEST_DIES_AT=planned#3` at the
/// third time that a call is planned.
#[cfg(all(debug_assertions, unix, feature = "cli"))]
pub(crate) fn dies_at() {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static MOMENT: OnceLock<(String, AtomicU32)> = OnceLock::new();
    let Some(text) = variable("TOOLCRIB_TEST_DIES_AT") else { return };
    let (moment, time) = text.split_once('#').unwrap_or((&text, "1"));
    let time = time.parse().unwrap_or(1);
    let _ = MOMENT.set((moment.to_owned(), AtomicU32::new(time)));
    toolcrib_core::failpoint::watch(|reached| {
        let Some((moment, left)) = MOMENT.get() else { return };
        if moment == reached && left.fetch_sub(1, Ordering::AcqRel) == 1 {
            anstream::eprintln!("dies at a moment of a test");
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    });
}
