//! Which regular expressions are taken: those that a linear engine runs within small memory.

use jsonschema::{PatternOptions, Regex};
use serde_json::json;

use crate::schema::error::SchemaError;
use crate::schema::excerpt;

/// Bytes that one compiled expression may take; `^\p{L}{1,9}$` fits, `a{1,1000}{1,1000}` never.
const COMPILED_BYTES: usize = 512 * 1024;

/// The engine of every pattern: no look-around, no back-references, linear time.
pub(crate) fn engine() -> PatternOptions<Regex> {
    PatternOptions::regex().size_limit(COMPILED_BYTES).dfa_size_limit(COMPILED_BYTES)
}

/// A regular expression and its place in the schema.
pub(crate) struct SchemaPattern {
    pub(crate) at: String,
    pub(crate) text: String,
}

impl SchemaPattern {
    /// The pattern, unless it is longer than `limit` bytes.
    pub(crate) fn no_longer_than(self, limit: usize) -> Result<SchemaPattern, SchemaError> {
        if self.text.len() <= limit { Ok(self) } else { Err(self.refused(TOO_LONG)) }
    }

    /// Why the engine does not take it, if it does not.
    pub(crate) fn refusal(&self) -> Option<SchemaError> {
        unusable(&self.text, usize::MAX).map(|reason| self.refused(reason))
    }

    fn refused(&self, reason: &str) -> SchemaError {
        SchemaError::Pattern {
            at: self.at.clone(),
            pattern: excerpt::shorten(&self.text, 60),
            reason: format!("{reason}: check the value in the tool"),
        }
    }
}

const TOO_LONG: &str = "it is too long";

/// Why a pattern cannot be used, if so; `longest`: bytes of one.
pub(crate) fn unusable(pattern: &str, longest: usize) -> Option<&'static str> {
    if pattern.len() > longest {
        return Some(TOO_LONG);
    }
    let alone = json!({ "pattern": pattern });
    let options = jsonschema::draft202012::options().with_pattern_options(engine());
    options.build(&alone).err()?;
    let looks_around = ["(?=", "(?!", "(?<=", "(?<!"];
    Some(if looks_around.iter().any(|opening| pattern.contains(opening)) {
        "look-around needs a backtracking engine"
    } else if has_back_reference(pattern) {
        "back-references need a backtracking engine"
    } else {
        "it is no regular expression that is read here, or its repetitions are too large"
    })
}

/// Whether `\1` to `\9` or `\k` stands in an expression, outside an escaped backslash.
fn has_back_reference(text: &str) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\' && matches!(characters.next(), Some('1'..='9' | 'k')) {
            return true;
        }
    }
    false
}
