//! Why a text could not be read, said to the model that wrote it.

use thiserror::Error;

use crate::invisible::exact;

/// Characters of the input that a message may show.
const SHOWN: usize = 32;

/// A text that is not read; the message says what is wrong, where, and what to write instead.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreadableJson {
    /// Longer than is read.
    #[error("the text has {bytes} bytes, {most} are read: write a shorter text")]
    TooLong {
        /// The length of the text.
        bytes: usize,
        most: usize,
    },
    /// Containers nested deeper than is read.
    #[error("nested deeper than {most} levels at {line}:{column}: write a flatter JSON document")]
    TooDeep {
        most: usize,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// More values than are read.
    #[error("more than {most} values, the next at {line}:{column}: write a smaller document")]
    TooMany {
        most: usize,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// One key with two values.
    #[error(
        "the key `{key}` stands twice in one object with different values, again before \
         {line}:{column}: write it once"
    )]
    Duplicate {
        /// The key, escaped and cut for one line.
        key: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// Not valid JSON, and no repair was asked for.
    #[error(
        "not valid JSON: {message}: write strict JSON, with double quotes, without comments and \
         trailing commas"
    )]
    Syntax {
        /// What `serde_json` says, with the place.
        message: String,
    },
    /// Nothing but white space.
    #[error("the text is empty: write one JSON document, such as {{}}")]
    Empty,
    /// No JSON in the text.
    #[error("no JSON in the text, it begins with `{begins}`: write one JSON object and no prose")]
    NoJson {
        /// The first characters, escaped and cut for one line.
        begins: String,
    },
    /// Broken in a way whose intent is not plain.
    #[error(
        "cannot read the JSON at {line}:{column}: expected {expected}, found `{found}`: write \
         the whole document again as strict JSON"
    )]
    Unexpected {
        /// What the grammar asks for at this place.
        expected: &'static str,
        /// What stands there, escaped and cut for one line.
        found: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// So broken that the work bound of the repair was met.
    #[error("too damaged to repair: write the whole document again as strict JSON")]
    TooDamaged,
}

impl UnreadableJson {
    pub(super) fn duplicate(key: &str, line: usize, column: usize) -> Self {
        Self::Duplicate { key: excerpt(key), line, column }
    }

    pub(super) fn no_json(text: &str) -> Self {
        Self::NoJson { begins: excerpt(text.trim_start()) }
    }
}

/// The beginning of `text` on one line, at most 40 characters.
pub(super) fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    let mut width = 0;
    for character in text.chars() {
        let letter = character.to_string();
        let escaped = exact(&letter);
        width += escaped.chars().count();
        if width > SHOWN {
            shown.push_str("...");
            break;
        }
        shown.push_str(&escaped);
    }
    shown
}
