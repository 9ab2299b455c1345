//! One message as it came in: bounded in size and depth before anything is made of it.

use std::fmt;

use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What is said of a message that is longer than it may be.
pub(crate) const TOO_LARGE: &str = "it is larger than `limits.message` allows";
/// What is said of one that is nested deeper.
pub(crate) const TOO_DEEP: &str = "it is nested deeper than `limits.depth` allows";
/// Messages of one batch array that are taken in.
const MOST_IN_BATCH: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("{TOO_DEEP}")]
    TooDeep,
    #[error("an answer is no JSON")]
    NoAnswer,
    #[error("a message is no JSON")]
    NoJson(#[source] serde_json::Error),
}

/// `most`: levels of objects and arrays.
pub(crate) fn read(text: &[u8], most: usize) -> Result<Value, Unreadable> {
    let text = readable(text, most)?;
    serde_json::from_slice(text).map_err(|error| {
        if looks_like_an_answer(text) { Unreadable::NoAnswer } else { Unreadable::NoJson(error) }
    })
}

/// The messages of one text: revision 2025-03-26 has arrays of them.
pub(crate) fn each(message: Value) -> impl Iterator<Item = Value> {
    let messages = if let Value::Array(messages) = message { messages } else { vec![message] };
    messages.into_iter().take(MOST_IN_BATCH)
}

/// Reads a page of a list, whose entries under this key of the result are kept as the text
/// that they came as, in one string: their trees would take ten times its memory.
pub(crate) fn read_page(text: &[u8], key: &str, most: usize) -> Result<Value, Unreadable> {
    let mut reader = serde_json::Deserializer::from_slice(readable(text, most)?);
    let path = &["result", key];
    let message = Folding { path }.deserialize(&mut reader).map_err(Unreadable::NoJson)?;
    reader.end().map_err(Unreadable::NoJson)?;
    Ok(message)
}

/// What of a message is to be read, if it is not nested too deep.
pub(crate) fn readable(text: &[u8], most: usize) -> Result<&[u8], Unreadable> {
    // A byte order mark is allowed to be there, and to be ignored.
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    if is_deeper_than(text, most) { Err(Unreadable::TooDeep) } else { Ok(text) }
}

/// Some writers of JSON let through what none may read, such as `NaN` and one half of a pair of
/// surrogates (Python's does both), and somebody waits for that answer. A line of a log that went
/// astray looks like none.
fn looks_like_an_answer(text: &[u8]) -> bool {
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    let text = text.trim_ascii();
    text.starts_with(b"{")
        && text.ends_with(b"}")
        && has(b"\"jsonrpc\"")
        && has(b"\"result\"")
        && !has(b"\"method\"")
}

/// Reads a value of which what stands at the end of this path is left as text.
struct Folding<'a> {
    path: &'a [&'a str],
}

impl<'de> DeserializeSeed<'de> for Folding<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.path.is_empty() {
            let text = Box::<RawValue>::deserialize(deserializer)?;
            return Ok(Value::String(Box::<str>::from(text).into()));
        }
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Folding<'_> {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = match self.path.split_first() {
                Some((next, rest)) if key == *next => {
                    entries.next_value_seed(Folding { path: rest })?
                }
                _ => entries.next_value()?,
            };
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

fn is_deeper_than(text: &[u8], most: usize) -> bool {
    // Most messages have fewer brackets than that.
    if text.iter().filter(|byte| matches!(byte, b'{' | b'[')).count() <= most {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > most {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEEPEST: usize = 5;

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_do_not_count() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(nested(DEEPEST).as_bytes(), DEEPEST).is_ok());
        assert!(matches!(read(nested(DEEPEST + 1).as_bytes(), DEEPEST), Err(Unreadable::TooDeep)));
        let text = format!(r#""\"{}""#, "[".repeat(200));
        assert!(read(text.as_bytes(), DEEPEST).is_ok());
        assert!(matches!(read(b"{", DEEPEST), Err(Unreadable::NoJson(_))));
        let page = format!(r#"{{"result":{{"tools":{}}}}}"#, nested(DEEPEST));
        assert!(matches!(read_page(page.as_bytes(), "tools", DEEPEST), Err(Unreadable::TooDeep)));
    }

    #[test]
    fn the_entries_of_a_page_are_kept_as_they_came_and_all_else_is_read() {
        let page = r#"{"id":1,"tools":[1],"result":{"nextCursor":"b","tools": [{"a" :1}], "_meta":{"tools":[2]}}}"#;
        let read = read_page(page.as_bytes(), "tools", DEEPEST).unwrap();
        let expected = serde_json::json!({ "id": 1, "tools": [1], "result": {
            "nextCursor": "b", "tools": r#"[{"a" :1}]"#, "_meta": { "tools": [2] } } });
        assert_eq!(read, expected);
        let refused = r#"{"id":1,"error":{"code":1,"message":"no"}}"#;
        assert_eq!(
            read_page(refused.as_bytes(), "tools", DEEPEST).ok(),
            self::read(refused.as_bytes(), DEEPEST).ok()
        );
        for broken in ["{", "[]", r#"{"result":[]}"#, r#"{"result":{"tools":[}}"#, "{} {}"] {
            assert!(read_page(broken.as_bytes(), "tools", DEEPEST).is_err(), "{broken}");
        }
    }

    #[test]
    fn an_answer_that_is_no_json_is_told_from_noise() {
        for spoilt in [r"NaN", r#""\ud800""#, "-Infinity"] {
            let answer = format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"x": {spoilt}}}}}"#);
            assert!(
                matches!(read(answer.as_bytes(), DEEPEST), Err(Unreadable::NoAnswer)),
                "{answer}"
            );
            let told = answer.replace("\"id\": 1", "\"method\": \"notifications/message\"");
            assert!(matches!(read(told.as_bytes(), DEEPEST), Err(Unreadable::NoJson(_))), "{told}");
        }
        for noise in ["{'jsonrpc': 'result'}", "INFO {\"jsonrpc\": \"result\"}", "{\"a\": NaN}"] {
            assert!(
                matches!(read(noise.as_bytes(), DEEPEST), Err(Unreadable::NoJson(_))),
                "{noise}"
            );
        }
    }
}
