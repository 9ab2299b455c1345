//! The bounds of a schema document that need no knowledge of JSON Schema: bytes and nesting.

pub(crate) mod pattern;
pub(crate) mod scopes;
pub(crate) mod unfold;
pub(crate) mod work;

use std::io::{self, Write};

use serde_json::Value;

use super::error::SchemaError;

/// What a schema may cost. The defaults are for schemas that strangers send.
///
/// Of 3,253 tools of real servers the largest schema is 10 KB, 10 levels deep and below 200
/// subschemas, so every default leaves room for a factor of three or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaBounds {
    /// Bytes of the document, written without blanks.
    pub bytes: usize,
    /// Levels of objects and arrays in the document.
    pub depth: usize,
    /// Subschemas reached from the root, in all documents; also the ways to them where parts
    /// with an `$id` refer to each other.
    pub subschemas: usize,
    /// Subschemas that one place of a value is checked against.
    pub unfold: u64,
    /// Bytes of one regular expression.
    pub pattern_bytes: usize,
    /// Regular expressions that differ, in all; each may take some milliseconds to compile, and a
    /// megabyte.
    pub patterns: usize,
    /// Levels of objects and arrays in a value that is checked.
    pub instance_depth: usize,
    /// Steps one check may take; a step is some ten nanoseconds.
    pub steps: u64,
}

impl Default for SchemaBounds {
    fn default() -> Self {
        SchemaBounds {
            bytes: 256 * 1024,
            depth: 32,
            subschemas: 2_000,
            unfold: 20_000,
            pattern_bytes: 1024,
            patterns: 32,
            instance_depth: 128,
            steps: 1_000_000,
        }
    }
}

/// Refuses a document that is too deep or too large, before anything else reads it.
pub(super) fn check_document(source: &Value, bounds: &SchemaBounds) -> Result<(), SchemaError> {
    if let Some(at) = too_deep(source, bounds.depth, &mut String::new()) {
        return Err(SchemaError::TooDeep { at, limit: bounds.depth });
    }
    let mut room = SizeCounter(bounds.bytes);
    serde_json::to_writer(&mut room, source)
        .map_err(|_| SchemaError::TooLarge { limit: bounds.bytes })
}

/// The place that is nested deeper than `levels`, if there is one; recursion ends there.
fn too_deep(value: &Value, levels: usize, at: &mut String) -> Option<String> {
    let mut inside = |token: &str, child: &Value| {
        let length = at.len();
        push_token(at, token);
        let found = too_deep(child, levels.saturating_sub(1), at);
        at.truncate(length);
        found
    };
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => Some(at.clone()),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| inside(&index.to_string(), item))
        }
        Value::Object(members) => members.iter().find_map(|(key, member)| inside(key, member)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Adds a token to a JSON Pointer, escaped as RFC 6901 says.
pub(super) fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Counts what is written and fails when the room is used up.
struct SizeCounter(usize);

impl Write for SizeCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
