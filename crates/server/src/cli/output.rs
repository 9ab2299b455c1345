//! The only place that prints: JSON, tables and texts on standard output, the rest on standard
//! error. Colour only where a person sees it.

use std::io::{IsTerminal, Write, stdout};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();

/// Where the answer of a command goes.
pub(super) struct Output {
    pub(super) json: bool,
}

impl Output {
    /// A value as readable JSON.
    pub(super) fn value(&self, value: &Value) -> Result<()> {
        self.text(&serde_json::to_string_pretty(value)?)
    }

    /// A text, ended by one line break.
    #[expect(clippy::unused_self, reason = "whoever prints holds the output")]
    pub(super) fn text(&self, text: &str) -> Result<()> {
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}", text.trim_end_matches('\n'))?;
        Ok(out.flush()?)
    }

    /// A heading, where there is more than one thing to show.
    pub(super) fn heading(&self, text: &str) -> Result<()> {
        self.text(&format!("{BOLD}{text}{BOLD:#}"))
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
        let body: Vec<_> = lines.collect();
        self.text(&format!("{BOLD}{head}{BOLD:#}\n{}", body.join("\n")))
    }

    /// A word beside the answer.
    #[expect(clippy::unused_self, reason = "whoever prints holds the output")]
    pub(super) fn note(&self, text: &str) {
        // Nobody to tell if standard error is closed.
        let _ = writeln!(anstream::stderr(), "{text}");
    }

    /// An error with its causes, once.
    pub(super) fn error(&self, error: &anyhow::Error) {
        self.note(&format!("{RED}error{RED:#}: {error}"));
        for cause in error.chain().skip(1) {
            self.note(&format!("  because {cause}"));
        }
    }
}

/// A cell is one line, whatever a tool or a model wrote into it.
fn one_line(text: &str) -> String {
    let escaped = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    escaped.collect::<String>().trim().to_owned()
}
