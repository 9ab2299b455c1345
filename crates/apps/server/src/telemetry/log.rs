//! The log: one line for each thing that happened, on standard error.
//!
//! Whatever stands in a line may come from a tool or a model: no character of it ends the line or
//! steers a terminal, and no secret that is known stands in it. Lines are written by a thread of
//! their own, so that nobody waits for whoever reads them; what it cannot take is counted.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use toolcrib_config::{LogFormat, LogLevel};
use toolcrib_core::{CallFinished, ErrorKind, ToolError, ToolOutcome};
use toolcrib_json::invisible::exact_json;

use super::metrics::outcome;
use super::recent_calls::{cut, cut_to};

use crate::secrets;

/// Lines that wait to be written.
const WAITING: usize = 4096;
/// How long the last lines are waited for.
const LAST_LINES: Duration = Duration::from_secs(2);

static LOG: OnceLock<LogQueue> = OnceLock::new();
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Off as u8);
static IS_JSON: AtomicBool = AtomicBool::new(false);

struct LogQueue {
    lines: SyncSender<LogJob>,
    lost: AtomicU64,
}

enum LogJob {
    Line(String),
    /// Tells when all before it is written.
    Flush(std::sync::mpsc::Sender<()>),
}

/// Logs from now on so much and in this form; before the first call nothing is logged.
pub(super) fn start(level: LogLevel, form: LogFormat) -> std::io::Result<()> {
    let (lines, waiting) = sync_channel(WAITING);
    if LOG.set(LogQueue { lines, lost: AtomicU64::new(0) }).is_ok() {
        std::thread::Builder::new().name("toolcrib-log".into()).spawn(move || work(&waiting))?;
    }
    LEVEL.store(level as u8, Ordering::Relaxed);
    IS_JSON.store(form == LogFormat::Json, Ordering::Relaxed);
    Ok(())
}

fn work(waiting: &Receiver<LogJob>) {
    while let Ok(job) = waiting.recv() {
        match job {
            // There is nobody to tell if standard error is closed.
            LogJob::Line(line) => _ = std::io::stderr().write_all(line.as_bytes()),
            LogJob::Flush(done) => _ = done.send(()),
        }
    }
}

/// Whether lines of this level are written.
pub(crate) fn is_on(level: LogLevel) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

/// Whether all that goes to standard error is JSON.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Lines that nobody took.
pub(crate) fn lost() -> u64 {
    LOG.get().map_or(0, |log| log.lost.load(Ordering::Relaxed))
}

/// Waits until what was logged is written.
pub(crate) fn flush() {
    let Some(log) = LOG.get() else { return };
    let (done, wait) = channel();
    if log.lines.send(LogJob::Flush(done)).is_ok() {
        let _ = wait.recv_timeout(LAST_LINES);
    }
}

/// Writes a line. `fields` is an object.
pub(crate) fn line(level: LogLevel, event: &str, fields: Value) {
    let Some(log) = LOG.get().filter(|_| is_on(level)) else { return };
    let mut line = Map::new();
    line.insert("time".to_owned(), Timestamp::now().to_string().into());
    line.insert("level".to_owned(), level.as_str().into());
    line.insert("event".to_owned(), event.into());
    if let Value::Object(fields) = fields {
        line.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
    }
    let mut value = Value::Object(line);
    secrets::mask(&mut value);
    let text = if is_json() { exact_json(&value.to_string()).into_owned() } else { text(&value) };
    match log.lines.try_send(LogJob::Line(text + "\n")) {
        Ok(()) | Err(TrySendError::Disconnected(_)) => {}
        Err(TrySendError::Full(_)) => _ = log.lost.fetch_add(1, Ordering::Relaxed),
    }
}

/// Time, level and event, then `name=value`; a value is written as JSON where it is no plain word.
fn text(value: &Value) -> String {
    let fields = value.as_object().into_iter().flatten();
    let mut line = String::new();
    for (position, (name, value)) in fields.enumerate() {
        let plain = value.as_str().filter(|text| is_plain(text));
        let value = plain
            .map_or_else(|| Cow::Owned(exact_json(&value.to_string()).into_owned()), Cow::Borrowed);
        // A string takes whatever is written into it.
        let _ = match position {
            0 => write!(line, "{value}"),
            1 => write!(line, " {:<5}", value.to_uppercase()),
            2 => write!(line, " {value}"),
            _ => write!(line, " {name}={value}"),
        };
    }
    line
}

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\=".contains(&byte))
}

/// Most that a line says of the causes of a failure, in characters: they begin with paths and
/// addresses, and what went wrong comes last.
const LONGEST_CAUSE: usize = 1_000;

/// The line of a call that is over. `took`: from the decision to the end.
pub(super) fn call(call: &CallFinished<'_>, took: Duration) {
    let level = level_of(call.outcome);
    if !is_on(level) {
        return;
    }
    let cause = match call.outcome {
        ToolOutcome::Failed(error) if is_ours(error) || is_on(LogLevel::Debug) => {
            error.causes().map(|causes| cut_to(&causes, LONGEST_CAUSE))
        }
        ToolOutcome::Failed(_)
        | ToolOutcome::Done(_)
        | ToolOutcome::Denied { .. }
        | ToolOutcome::Pending(_) => None,
    };
    let spec = call.tool.map(|tool| tool.spec);
    let fields = json!({
        "tool": cut(call.name),
        "source": spec.map(|spec| &spec.origin.source),
        "effect": spec.map(|spec| spec.effect),
        "tenant": call.caller.tenant,
        "caller": call.caller.subject,
        "outcome": outcome(call.outcome),
        "took_us": microseconds(took),
        "waited_us": microseconds(call.waited),
        "ran_us": microseconds(call.ran),
        "attempts": call.attempts,
        "key": call.key,
        "request": call.trace.map(toolcrib_core::Trace::trace_id),
        "cause": cause,
    });
    line(level, "call", fields);
}

/// Whether the causes of a failure are in our own words: the line broke, say. What a tool or a
/// server says of its failure may repeat the arguments of the call, which are for no log.
fn is_ours(error: &ToolError) -> bool {
    let kind = error.kind;
    let is_of_the_way = kind.passes() || kind == ErrorKind::Timeout;
    is_of_the_way && kind != ErrorKind::RateLimited && error.refusal.is_none()
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// What the operator should look at is a warning; that a model errs is none.
fn level_of(outcome: &ToolOutcome) -> LogLevel {
    let ToolOutcome::Failed(error) = outcome else { return LogLevel::Info };
    match error.kind {
        ErrorKind::UnknownOutcome
        | ErrorKind::DuplicateOfUnknown
        | ErrorKind::Internal
        | ErrorKind::Unavailable
        | ErrorKind::Network
        | ErrorKind::Timeout
        | ErrorKind::Busy => LogLevel::Warn,
        ErrorKind::InvalidCall
        | ErrorKind::InvalidArguments
        | ErrorKind::UnknownTool
        | ErrorKind::SourceStarting
        | ErrorKind::NotLoaded
        | ErrorKind::OverLimit
        | ErrorKind::ControlConflict
        | ErrorKind::NotOurs
        | ErrorKind::RateLimited
        | ErrorKind::Cancelled
        | ErrorKind::Tool => LogLevel::Info,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_text_stays_one_line_whatever_it_holds() {
        let value = json!({
            "time": "2026-11-21T00:00:00Z",
            "level": "info",
            "event": "call",
            "tool": "a\nb\u{1b}[31m\u{202e}",
            "caller": "x=\"y",
            "took_us": 12,
            "plain": "word",
        });
        assert_eq!(
            text(&value),
            "2026-11-21T00:00:00Z INFO  call tool=\"a\\nb\\u001b[31m\\u202e\" \
             caller=\"x=\\\"y\" took_us=12 plain=word"
        );
    }
}
