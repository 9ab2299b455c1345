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
    #[error(
        "more than {limit} operations of the document are wanted: name in `include` those that are \
         used"
    )]
    TooManyOperations { limit: usize },
}

/// What was made of a document, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentReport {
    pub title: String,
    /// Of the API, as its owner counts.
    pub version: String,
    /// Of the format: `3.0.3`, or `2.0` for Swagger.
    pub format: String,
    /// Operations of the document that are wanted; those that are not refused have a tool each.
    pub operations: usize,
    pub refused: Vec<RefusedOperation>,
    /// What was changed or left out on the way; the first thousand.
    pub notes: Vec<DocumentNote>,
    /// Those of the notes that are about words of YAML which others read otherwise.
    pub words: Vec<String>,
}

/// An operation that has no tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedOperation {
    /// Its id, else `METHOD /path`.
    pub key: String,
    pub reason: String,
}

/// A change that costs no tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentNote {
    /// The operation, the definition or the reference it is about.
    pub about: String,
    pub text: String,
}

/// Notes on their way into a report.
#[derive(Debug, Default)]
pub(super) struct DocumentNotes {
    all: Vec<DocumentNote>,
    pub(super) words: Vec<String>,
}

impl DocumentNotes {
    pub(super) const MOST: usize = 1_000;

    pub(super) fn add(&mut self, about: &str, text: impl Into<String>) {
        if self.all.len() < Self::MOST {
            let note = DocumentNote { about: super::text::line(about, 120), text: text.into() };
            if self.all.last() != Some(&note) {
                self.all.push(note);
            }
        }
    }

    pub(super) fn into_vec(self) -> Vec<DocumentNote> {
        self.all
    }
}
