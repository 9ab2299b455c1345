//! The only place that prints: JSON, tables and texts on standard output, the rest on standard
//! error. Colour only where a person sees it.
//!
//! Whatever is printed may come from a tool or a model, so no character of it may steer the
//! terminal: `harmless` and `escaped` see to that.

use std::fmt::{Display, Write as _};
use std::io::{IsTerminal, Write, stdout};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Where the answer of a command goes.
pub(super) struct Output {
    pub(super) json: bool,
}

#[expect(clippy::unused_self, reason = "whoever prints holds the output")]
impl Output {
    /// A value as readable JSON.
    pub(super) fn value(&self, value: &Value) -> Result<()> {
        write(&escaped(&serde_json::to_string_pretty(value)?))
    }

    /// A text, ended by one line break.
    pub(super) fn text(&self, text: &str) -> Result<()> {
        write(&harmless(text))
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
        tell(&format!("{}\n", harmless(text)));
    }

    /// A question, answered on the same line.
    pub(super) fn prompt(&self, text: &str) {
        tell(&one_line(text));
        tell(" ");
    }

    pub(super) fn warn(&self, warnings: &[impl Display]) {
        for warning in warnings {
            tell(&format!("{YELLOW}warning{YELLOW:#}: {}\n", harmless(&warning.to_string())));
        }
    }

    /// An error with its causes, each once.
    pub(super) fn error(&self, error: &anyhow::Error) {
        if self.json {
            let because: Vec<_> = error.chain().skip(1).map(ToString::to_string).collect();
            let value = json!({ "error": { "message": error.to_string(), "because": because } });
            // Whoever closed standard output is still told on standard error.
            let _ = self.value(&value);
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

    /// A fault of ours or of a tool, on one line.
    pub(super) fn crash(&self, text: &str) {
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

/// Steers a terminal, or the direction in which it shows text.
fn steers(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\n' && c != '\t')
}

fn harmless(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if steers(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        shown
    })
}

/// The same for JSON, which stays the same JSON: only a string can hold such characters.
fn escaped(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut shown, c| {
        if steers(c) {
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
        shown
    })
}

/// A cell or a heading is one line, whatever a tool or a model wrote into it.
fn one_line(text: &str) -> String {
    harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
