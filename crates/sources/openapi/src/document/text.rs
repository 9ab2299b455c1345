//! Foreign texts as they may stand in specs, names and errors.

use serde_json::Value;
use toolcrib_core::Fingerprint;

/// A text on one line, of at most `longest` characters.
pub(super) fn line(text: &str, longest: usize) -> String {
    let words = start(text).split(|c: char| c.is_whitespace() || c.is_control());
    let mut line = String::new();
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > longest * 4 {
            break;
        }
    }
    cut(&line, longest)
}

/// The beginning of a text: more of it is never looked at.
pub(super) fn start(text: &str) -> &str {
    const MOST_BYTES: usize = 40_000;
    text.get(..text.floor_char_boundary(MOST_BYTES)).unwrap_or(text)
}

/// A text of at most `longest` characters; what was cut shows as `…`.
pub(super) fn cut(text: &str, longest: usize) -> String {
    if text.char_indices().nth(longest).is_none() {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// The first sentence of a text, on one line.
pub(super) fn sentence(text: &str, longest: usize) -> String {
    let paragraph = start(text).trim().split("\n\n").next().unwrap_or_default();
    let sentence = paragraph.split_once(". ").map_or(paragraph, |(first, _)| first);
    line(sentence, longest)
}

/// The first digits of a hash of a text.
pub(super) fn hash(text: &str, digits: usize) -> String {
    let mut hash = Fingerprint::of(&Value::String(text.to_owned())).to_string();
    hash.truncate(digits);
    hash
}

/// The text of a member.
pub(super) fn member<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// Whether a member is there and true.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}
