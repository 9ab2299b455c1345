//! Which regular expressions are taken: those that a linear engine runs within small memory.

use jsonschema::{PatternOptions, Regex};
use serde_json::json;

use super::{Bounds, SchemaError};

/// Bytes that one compiled expression may take; `^\p{L}{1,20}$` fits, `a{1,1000}{1,1000}` never.
const COMPILED_BYTES: usize = 1024 * 1024;

/// The engine of every pattern: no look-around, no back-references, linear time.
pub(super) fn engine() -> PatternOptions<Regex> {
    PatternOptions::regex()
        .size_limit(COMPILED_BYTES)
        .dfa_size_limit(COMPILED_BYTES)
}

/// Refuses an expression that is too long or that the engine does not take.
pub(super) fn check(text: &str, at: &str, bounds: &Bounds) -> Result<(), SchemaError> {
    let refuse = |reason: &str| {
        let pattern = super::text::shorten(text, 60);
        Err(SchemaError::Pattern {
            at: at.to_owned(),
            pattern,
            reason: reason.to_owned(),
        })
    };
    if text.len() > bounds.pattern_bytes {
        return refuse("it is too long: shorten it, or check the value in the tool");
    }
    let alone = json!({ "pattern": text });
    let taken = jsonschema::draft202012::options()
        .with_pattern_options(engine())
        .build(&alone);
    if taken.is_ok() {
        return Ok(());
    }
    if ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|opening| text.contains(opening))
    {
        refuse("look-around needs a backtracking engine: write it without")
    } else if has_back_reference(text) {
        refuse("back-references need a backtracking engine: write it without")
    } else {
        refuse("it is no regular expression, or its repetitions are too large: simplify it")
    }
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
