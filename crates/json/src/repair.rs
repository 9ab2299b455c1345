//! JSON as models write it: valid text is read as it is, broken text where its intent is plain.
//!
//! Valid JSON never reaches the repair parser.
//! The repair parser is a tolerant recursive descent over `cursor` (the text and the work bound):
//! `document` finds the JSON in the text, `value`, `object` and `array` follow the grammar,
//! `look` answers what comes next, `ending` and `cut` say where a string ends, `escape` what it
//! says, and
//! `bare` reads what stands without quotes.
//! What it changed is told in `note`, what it cannot read in `unreadable`.

mod array;
mod bare;
mod cursor;
mod cut;
mod document;
mod ending;
mod escape;
mod look;
mod note;
mod object;
mod unreadable;
mod value;

use serde_json::Value;

pub use self::note::{Change, Repair};
pub use self::unreadable::Unreadable;
use crate::strict::{self, Refusal, Why};

/// The longest text that is read, in bytes.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// What was read, and what had to be changed to read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The value; for valid JSON exactly what `serde_json` makes of it.
    pub value: Value,
    /// One entry for each kind of change, in the order of their first place; empty for valid JSON.
    pub repairs: Vec<Repair>,
}

/// Reads JSON; repairs it where the intent is plain.
///
/// Refused are text without JSON in it, text over [`MAX_BYTES`] or nested deeper than 64, and an
/// object that gives one key two different values: nothing says which of them is meant.
pub fn read(text: &str) -> Result<Read, Unreadable> {
    match parse(text) {
        Ok(value) => Ok(Read { value, repairs: Vec::new() }),
        Err(Unreadable::Syntax { .. }) => document::read(text),
        Err(refused) => Err(refused),
    }
}

/// Reads JSON and repairs nothing; the bounds and the rule for repeated keys are those of [`read`].
pub fn read_strict(text: &str) -> Result<Value, Unreadable> {
    parse(text)
}

/// The same of a part of a larger text, which stands inside of so many objects and lists.
pub fn read_part(text: &str, inside: usize) -> Result<Value, Unreadable> {
    parse_inside(text, inside)
}

fn parse(text: &str) -> Result<Value, Unreadable> {
    parse_inside(text, 0)
}

fn parse_inside(text: &str, inside: usize) -> Result<Value, Unreadable> {
    if text.len() > MAX_BYTES {
        return Err(Unreadable::TooLong { bytes: text.len() });
    }
    strict::parse(text, inside).map_err(|Refusal { why, line, column }| match why {
        Why::Syntax(message) => Unreadable::Syntax { message },
        Why::TooDeep => Unreadable::TooDeep { line, column },
        Why::TooMany => Unreadable::TooMany { line, column },
        Why::Duplicate(key) => Unreadable::duplicate(&key, line, column),
    })
}
