//! The only place that prints: JSON, tables and texts on standard output, the rest on standard
//! error. Colour only where a person sees it.
//!
//! Whatever is printed may come from a tool or a model, so no character of it may steer the
//! terminal: `harmless` and `escaped` see to that. Nor may it tell a secret of the configuration:
//! whoever knows them says so with `secrets::keep`.

pub(crate) mod terminal;
pub(crate) mod usage;

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{IsTerminal, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};
use toolcrib_config::LogLevel;
use toolcrib_json::invisible::{exact, exact_json, prose};

use crate::gateway::notices::{NoticeReporter, Notices};
use crate::secrets;
use crate::telemetry::log;

/// Lines of somebody else's words that a person is shown.
const QUOTED_LINES: usize = 20;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// A terminal has one person, who answers one question.
static ASKING: AtomicBool = AtomicBool::new(false);

/// Where the answer of a command goes.
#[derive(Clone)]
pub(super) struct Output {
    pub(super) json: bool,
}

impl NoticeReporter for Output {
    fn note(&self, text: &str) {
        Self::note(self, text);
    }

    fn warning(&self, text: &str) {
        self.warn(&[text]);
    }

    fn error(&self, error: &anyhow::Error) {
        Self::error(self, error);
    }
}

#[expect(clippy::unused_self, reason = "whoever prints holds the output")]
impl Output {
    /// For what serves and does not print.
    pub(super) fn notices(&self) -> Notices {
        Notices::to(self.clone())
    }

    /// A value as readable JSON.
    pub(super) fn value(&self, value: &Value) -> Result<()> {
        let mut value = Cow::Borrowed(value);
        if secrets::are_known() {
            secrets::mask(value.to_mut());
        }
        write(&escaped(&serde_json::to_string_pretty(&value)?))
    }

    /// A value as JSON on one line.
    pub(super) fn line(&self, value: &Value) -> Result<()> {
        let mut value = Cow::Borrowed(value);
        if secrets::are_known() {
            secrets::mask(value.to_mut());
        }
        write(&escaped(&value.to_string()))
    }

    /// A text, ended by one line break.
    pub(super) fn text(&self, text: &str) -> Result<()> {
        write(&harmless(text))
    }

    /// A piece of a text that goes on, seen at once.
    pub(super) fn words(&self, text: &str) -> Result<()> {
        let mut out = stdout().lock();
        out.write_all(harmless(text).as_bytes())?;
        Ok(out.flush()?)
    }

    /// The text of a file, byte for byte where a program or a file takes it: at a terminal it is a
    /// text like any other.
    pub(super) fn file(&self, text: &str) -> Result<()> {
        if stdout().is_terminal() {
            return self.text(&text.replace("\r\n", "\n"));
        }
        let mut out = stdout().lock();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// A text below a heading.
    pub(super) fn indented(&self, text: &str) -> Result<()> {
        let lines = text.trim_end().lines().map(|line| format!("  {line}").trim_end().to_owned());
        self.text(&lines.collect::<Vec<_>>().join("\n"))
    }

    /// A heading, where there is more than one thing to show.
    pub(super) fn heading(&self, text: &str) -> Result<()> {
        write(&format!("{BOLD}{}{BOLD:#}", one_line(text)))
    }

    /// Columns under headings; fitted to the terminal if there is one, else every row on a line.
    pub(super) fn table<const N: usize>(
        &self,
        headings: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(headings);
        for row in rows {
            table.add_row(row.map(|cell| one_line(&cell)));
        }
        let width = terminal_size::terminal_size().filter(|_| stdout().is_terminal());
        if let Some((terminal_size::Width(width), _)) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        if let Some(first) = table.column_mut(0) {
            first.set_padding((0, 1));
        }
        let text = table.to_string();
        let mut lines = text.lines().map(str::trim_end);
        let head = lines.next().unwrap_or_default();
        let body: String = lines.flat_map(|line| ["\n", line]).collect();
        write(&format!("{BOLD}{head}{BOLD:#}{body}"))
    }

    /// A word beside the answer.
    pub(super) fn note(&self, text: &str) {
        if log::is_json() {
            return log::line(LogLevel::Info, "note", json!({ "message": text }));
        }
        tell(&format!("{}\n", harmless(text)));
    }

    /// A line that takes the place of the one before, where a person sees it.
    pub(super) fn status(&self, text: &str) {
        tell(&format!("\r\u{1b}[K{}", one_line(text)));
    }

    /// The line of [`Self::status`] is over.
    pub(super) fn end_status(&self) {
        tell("\r\u{1b}[K");
    }

    /// The words of somebody else, marked so that they pass for none of ours.
    pub(super) fn quote(&self, text: &str) {
        let lines: Vec<_> =
            text.lines().take(QUOTED_LINES).map(|line| format!("> {line}")).collect();
        self.note(&lines.join("\n"));
    }

    /// Whether a person sees what is told beside the answer.
    pub(super) fn is_watched(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// Whether a question stands on the last line.
    pub(super) fn asks(&self) -> bool {
        ASKING.load(Ordering::Relaxed)
    }

    /// The person has answered.
    pub(super) fn answered(&self) {
        ASKING.store(false, Ordering::Relaxed);
    }

    /// A question, answered on the same line.
    pub(super) fn prompt(&self, text: &str) {
        ASKING.store(true, Ordering::Relaxed);
        tell(&one_line(text));
        tell(" ");
    }

    pub(super) fn warn(&self, warnings: &[impl Display]) {
        for warning in warnings {
            if log::is_json() {
                let message = warning.to_string();
                log::line(LogLevel::Warn, "warning", json!({ "message": message }));
                continue;
            }
            tell(&format!("{YELLOW}warning{YELLOW:#}: {}\n", harmless(&warning.to_string())));
        }
    }

    /// An error with its causes, each once.
    pub(super) fn error(&self, error: &anyhow::Error) {
        if self.json {
            let because: Vec<_> = error.chain().skip(1).map(ToString::to_string).collect();
            self.failure(&error.to_string(), &because);
        }
        if log::is_json() {
            return log::line(LogLevel::Error, "error", json!({ "message": format!("{error:#}") }));
        }
        let mut said = harmless(&error.to_string());
        tell(&format!("{RED}error{RED:#}: {said}\n"));
        for cause in error.chain().skip(1) {
            let cause = harmless(&cause.to_string());
            // Some errors tell their cause themselves.
            if !said.contains(&cause) {
                tell(&format!("  because {cause}\n"));
            }
            said = cause;
        }
    }

    /// What went wrong, for a program that reads us.
    pub(super) fn failure(&self, message: &str, because: &[String]) {
        let value = json!({ "error": { "message": message, "because": because } });
        // Whoever closed standard output is still told on standard error.
        let _ = self.value(&value);
    }

    /// A fault of ours or of a tool, on one line.
    pub(super) fn crash(&self, text: &str) {
        if log::is_json() {
            return log::line(LogLevel::Error, "crash", json!({ "message": text }));
        }
        tell(&format!("{RED}crash{RED:#}: {}\n", one_line(text)));
    }
}

fn write(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n'))?;
    Ok(out.flush()?)
}

fn tell(text: &str) {
    let mut err = anstream::stderr().lock();
    // There is nobody to tell if standard error is closed.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Lines stay lines, and whatever steers a terminal or is not seen is written out.
fn harmless(text: &str) -> String {
    prose(&secrets::masked(text)).into_owned()
}

/// The same for JSON, which stays the same JSON.
pub(crate) fn escaped(json: &str) -> Cow<'_, str> {
    exact_json(json)
}

/// A cell or a heading is one line, whatever a tool or a model wrote into it: what it breaks into
/// lines stands behind spaces.
fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.split(['\n', '\r', '\t']).map(str::trim_ascii).collect();
    let line = lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    exact(&secrets::masked(&line)).into_owned()
}
