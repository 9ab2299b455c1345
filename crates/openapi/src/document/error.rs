//! Why a document, or one operation of it, is not taken.

use serde::Serialize;

/// A document that gives no tools at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    #[error("the document is larger than {limit} bytes: split it, or take a smaller one")]
    TooLarge { limit: usize },
    #[error("the document is no text in UTF-8: save it as such")]
    NotText,
    #[error("the document cannot be read as {format}: {problem}")]
    Unreadable { format: &'static str, problem: String },
    #[error("the document says no version: begin it with `openapi: 3.1.0` (or `swagger: \"2.0\"`)")]
    NoVersion,
    #[error("the document is of version `{version}`: use OpenAPI 3.0 to 3.2, or Swagger 2.0")]
    UnknownVersion { version: String },
    #[error(
        "`paths` of the document is no object: write the paths below it, each with its methods"
    )]
    NoPaths,
    #[error("the document has more than {limit} operations: split it")]
    TooManyOperations { limit: usize },
}

/// What was made of a document, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub title: String,
    /// Of the API, as its owner counts.
    pub version: String,
    /// Of the format: `3.0.3`, or `2.0` for Swagger.
    pub format: String,
    /// Operations of the document; those that are not refused have a tool each.
    pub operations: usize,
    pub refused: Vec<Refused>,
    /// What was changed or left out on the way; the first thousand.
    pub notes: Vec<Note>,
}

/// An operation that has no tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Its id, else `METHOD /path`.
    pub key: String,
    pub reason: String,
}

/// A change that costs no tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The operation, the definition or the reference it is about.
    pub about: String,
    pub text: String,
}

/// Notes on their way into a report.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

impl Notes {
    const MOST: usize = 1_000;

    pub(super) fn add(&mut self, about: &str, text: impl Into<String>) {
        if self.0.len() < Self::MOST {
            let note = Note { about: super::text::line(about, 120), text: text.into() };
            if self.0.last() != Some(&note) {
                self.0.push(note);
            }
        }
    }

    pub(super) fn into_vec(self) -> Vec<Note> {
        self.0
    }
}
