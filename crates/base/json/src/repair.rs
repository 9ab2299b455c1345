//! JSON as models write it: valid text is read as it is, broken text where its intent is plain.
//!
//! Valid JSON never reaches the repair parser.
//! The repair parser is a tolerant recursive descent over `cursor` (the text and the work bound):
//! `document` finds the JSON in the text, `value`, `object` and `array` follow the grammar,
//! `lookahead` answers what comes next, `string` says where a string ends and what it says, and
//! `unquoted` reads what stands without quotes.
//! What it changed is told in `note`, what it cannot read in `unreadable`.

mod array;
pub(crate) mod bounds;
mod cursor;
mod document;
mod lookahead;
mod note;
mod object;
mod parser;
mod string;
mod unquoted;
mod unreadable;
mod value;

use serde_json::Value;

pub use self::bounds::RepairBounds;
pub use self::note::{Repair, RepairKind};
pub use self::unreadable::UnreadableJson;
use crate::strict::{self, StrictError, StrictErrorKind};

/// What was read, and what had to be changed to read it.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairedJson {
    /// The value; for valid JSON exactly what `serde_json` makes of it.
    pub value: Value,
    /// One entry for each kind of change, in the order of their first place; empty for valid JSON.
    pub repairs: Vec<Repair>,
}

impl RepairBounds {
    /// Reads JSON; repairs it where the intent is plain.
    ///
    /// Refused are text without JSON in it, text beyond these bounds, and an object that gives one
    /// key two different values: nothing says which of them is meant.
    pub fn read(&self, text: &str) -> Result<RepairedJson, UnreadableJson> {
        match self.read_strict(text) {
            Ok(value) => Ok(RepairedJson { value, repairs: Vec::new() }),
            Err(UnreadableJson::Syntax { .. }) => document::read(text, self),
            Err(refused) => Err(refused),
        }
    }

    /// Reads JSON and repairs nothing; bounds and the rule for repeated keys are the same.
    pub fn read_strict(&self, text: &str) -> Result<Value, UnreadableJson> {
        self.read_part(text, 0)
    }

    /// The same of a part of a larger text, which stands inside of so many objects and lists.
    pub fn read_part(&self, text: &str, inside: usize) -> Result<Value, UnreadableJson> {
        if text.len() > self.bytes {
            return Err(UnreadableJson::TooLong { bytes: text.len(), most: self.bytes });
        }
        strict::parse(text, inside, self).map_err(|StrictError { why, line, column }| match why {
            StrictErrorKind::Syntax(message) => UnreadableJson::Syntax { message },
            StrictErrorKind::TooDeep => UnreadableJson::TooDeep { most: self.depth, line, column },
            StrictErrorKind::TooMany => UnreadableJson::TooMany { most: self.values, line, column },
            StrictErrorKind::Duplicate(key) => UnreadableJson::duplicate(&key, line, column),
        })
    }
}

/// [`RepairBounds::read`] within the usual bounds.
pub fn read(text: &str) -> Result<RepairedJson, UnreadableJson> {
    RepairBounds::default().read(text)
}

/// [`RepairBounds::read_strict`] within the usual bounds.
pub fn read_strict(text: &str) -> Result<Value, UnreadableJson> {
    RepairBounds::default().read_strict(text)
}
