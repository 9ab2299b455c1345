//! Single fields and whole sources that hold over the file: changed while it serves, dated, and taken back at will.
//! The file itself is never written.

mod added_source;
mod fold;
mod path;
pub(super) mod rows;
mod toml_value;
mod written;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use added_source::{AddedSource, AddedSources, added_sources};
pub use path::OverlayPath;

use super::foreign::own_words;

/// Changes that hold over one file, in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// Counts the changes of it: whoever changes it says which one it has seen.
    pub version: u64,
    #[serde(default)]
    pub rows: Vec<OverlayRow>,
}

/// One field, and who has changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverlayRow {
    /// The version that it came with.
    pub id: u64,
    /// As the file would name it: `tool.github__delete_repo.enabled`.
    pub path: OverlayPath,
    /// What it says now; `null` takes the field away. At `allow`, `ask` and `deny` of the top a
    /// list, whose entries stand behind those of the file; of a whole source its table, without `id`.
    pub value: Value,
    /// What the file said when the row was made; `null`: nothing.
    #[serde(default)]
    pub was: Value,
    /// Who made it.
    pub by: String,
    /// When it was made, in seconds since 1970.
    pub at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When it ends by itself, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

/// What a row comes to, over one text of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlayStanding {
    InForce,
    /// It is in force, and the file no longer says what it said when the row was made.
    FileDiffers,
    /// The file says the same by now, or has a source of this id: the row does nothing.
    Landed,
    /// The source or the profile of it is gone: it does nothing until that is there again.
    Orphan,
    /// Its time is over: it does nothing.
    Over,
}

/// A field as a file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenField {
    pub value: Value,
    /// The line that its value begins in, from one; `None`: the file is of another program, and
    /// says it in other words.
    pub line: Option<usize>,
}

impl Overlay {
    /// What each row comes to over the text of a file, at a time in seconds since 1970, in the
    /// order of the rows. A text that cannot be read gives nothing.
    pub fn standings(&self, text: &str, file: &str, now: u64) -> Vec<OverlayStanding> {
        let own = own_words(text, file);
        fold::over(self, &own, now).map(|folded| folded.standings).unwrap_or_default()
    }

    /// The text of a file with the rows that are in force, its comments and its order kept; the
    /// file of another program in our words. A text that cannot be read stays as it is.
    pub fn folded(&self, text: &str, file: &str, now: u64) -> String {
        let own = own_words(text, file);
        fold::over(self, &own, now).map_or_else(|| own.into_owned(), |folded| folded.text)
    }

    /// What a file says at a place of the overlay; `null`: nothing.
    pub fn said(path: &OverlayPath, text: &str, file: &str) -> Value {
        fold::said(path, &own_words(text, file))
    }

    /// The same at the place of each row, in the order of the rows; the text is read once.
    pub fn said_of_each(&self, text: &str, file: &str) -> Vec<Value> {
        fold::said_of_each(self, &own_words(text, file))
    }

    /// What a file says at places of it, each by its keys from the top, in their order; `None`:
    /// nothing. A source is named by its id: `source`, `github`, `validate`.
    pub fn written_at(places: &[&[&str]], text: &str, file: &str) -> Vec<Option<WrittenField>> {
        written::at(places, text, file)
    }

    /// The rows that add a source to the text of a file, at a time in seconds since 1970.
    pub fn sources(&self, text: &str, file: &str, now: u64) -> Vec<&OverlayRow> {
        let standings = self.standings(text, file, now);
        let rows = self.rows.iter().zip(standings).filter(|(row, standing)| {
            row.path.is_source() && *standing == OverlayStanding::InForce
        });
        rows.map(|(row, _)| row).collect()
    }

    /// When the next row ends by itself, in seconds since 1970.
    pub fn next_end(&self, now: u64) -> Option<u64> {
        self.rows.iter().filter_map(|row| row.until).filter(|until| *until > now).min()
    }
}
