//! One message as it came in: bounded in size and depth before anything is made of it.

mod outline;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolcrib_json::broken_strings;

pub(crate) use outline::MessageOutline;

/// What is said of a message that is longer than it may be.
pub(crate) const TOO_LARGE: &str = "it is larger than `limits.message` allows";
/// What is said of one that is nested deeper.
pub(crate) const TOO_DEEP: &str = "it is nested deeper than `limits.depth` allows";
/// Messages of one batch array that are taken in.
const MOST_IN_BATCH: usize = 1_000;

/// What is said of one that no reader of JSON takes.
pub(crate) const NO_JSON: &str = "it is no JSON";

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnreadableMessage {
    #[error("{TOO_DEEP}")]
    TooDeep,
    #[error("{NO_JSON}")]
    NoJson,
}

impl UnreadableMessage {
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Self::TooDeep => TOO_DEEP,
            Self::NoJson => NO_JSON,
        }
    }
}

/// `most`: levels of objects and arrays. A string that cannot be read costs itself alone.
pub(crate) fn read(text: &[u8], most: usize) -> Result<Value, UnreadableMessage> {
    let text = readable(text, most)?;
    serde_json::from_slice(text).or_else(|_| {
        let mended = broken_strings::mended(text).ok_or(UnreadableMessage::NoJson)?;
        serde_json::from_slice(&mended).map_err(|_| UnreadableMessage::NoJson)
    })
}

/// One entry of a list, which stands within three levels of its message.
pub(crate) fn read_entry(text: &RawValue, most: usize) -> Result<Value, UnreadableMessage> {
    read(text.get().as_bytes(), most.saturating_sub(3))
}

/// The messages of one text: revision 2025-03-26 has arrays of them.
pub(crate) fn each(message: Value) -> impl Iterator<Item = Value> {
    let messages = if let Value::Array(messages) = message { messages } else { vec![message] };
    messages.into_iter().take(MOST_IN_BATCH)
}

/// Reads a page of a list, whose entries under this key of the result are kept as the text
/// that they came as, in one string: their trees would take ten times its memory. Each of them may
/// be nested too deep, which costs that one alone.
pub(crate) fn read_page(text: &[u8], key: &str) -> Result<Value, UnreadableMessage> {
    let text = without_mark(text);
    let mended = if str::from_utf8(text).is_err() { broken_strings::mended(text) } else { None };
    let text = mended.map_or(Cow::Borrowed(text), Cow::Owned);
    let mut reader = serde_json::Deserializer::from_slice(&text);
    let path = &["result", key];
    let message = PartialValueSeed { path }.deserialize(&mut reader);
    let message = message.map_err(|_| UnreadableMessage::NoJson)?;
    reader.end().map_err(|_| UnreadableMessage::NoJson)?;
    Ok(message)
}

/// What of a message is to be read, if it is not nested too deep.
pub(crate) fn readable(text: &[u8], most: usize) -> Result<&[u8], UnreadableMessage> {
    let text = without_mark(text);
    if is_deeper_than(text, most) { Err(UnreadableMessage::TooDeep) } else { Ok(text) }
}

/// A byte order mark is allowed to be there, and to be ignored.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}

/// Reads a value of which what stands at the end of this path is left as text.
struct PartialValueSeed<'a> {
    path: &'a [&'a str],
}

impl<'de> DeserializeSeed<'de> for PartialValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.path.is_empty() {
            let text = Box::<RawValue>::deserialize(deserializer)?;
            return Ok(Value::String(Box::<str>::from(text).into()));
        }
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PartialValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = match self.path.split_first() {
                Some((next, rest)) if key == *next => {
                    entries.next_value_seed(PartialValueSeed { path: rest })?
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
        assert!(matches!(
            read(nested(DEEPEST + 1).as_bytes(), DEEPEST),
            Err(UnreadableMessage::TooDeep)
        ));
        let text = format!(r#""\"{}""#, "[".repeat(200));
        assert!(read(text.as_bytes(), DEEPEST).is_ok());
        assert_eq!(read(b"{", DEEPEST), Err(UnreadableMessage::NoJson));
    }

    #[test]
    fn an_entry_that_is_nested_too_deep_costs_itself_alone() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let page = format!(r#"{{"result":{{"tools":[[1],{deep},[2]]}}}}"#);
        let read = read_page(page.as_bytes(), "tools").unwrap();
        let entries: Vec<Box<RawValue>> =
            serde_json::from_str(read["result"]["tools"].as_str().unwrap()).unwrap();
        let entries: Vec<_> = entries.iter().map(|entry| read_entry(entry, DEEPEST)).collect();
        let expected = [Ok([1].into()), Err(UnreadableMessage::TooDeep), Ok([2].into())];
        assert_eq!(entries, expected.map(|entry: Result<Vec<i32>, _>| entry.map(Value::from)));
        let besides = format!(r#"{{"result":{{"tools":[],"x":{deep}}}}}"#);
        assert!(read_page(besides.as_bytes(), "tools").is_err());
    }

    #[test]
    fn the_entries_of_a_page_are_kept_as_they_came_and_all_else_is_read() {
        let page = r#"{"id":1,"tools":[1],"result":{"nextCursor":"b","tools": [{"a" :1}], "_meta":{"tools":[2]}}}"#;
        let read = read_page(page.as_bytes(), "tools").unwrap();
        let expected = serde_json::json!({ "id": 1, "tools": [1], "result": {
            "nextCursor": "b", "tools": r#"[{"a" :1}]"#, "_meta": { "tools": [2] } } });
        assert_eq!(read, expected);
        let refused = r#"{"id":1,"error":{"code":1,"message":"no"}}"#;
        assert_eq!(
            read_page(refused.as_bytes(), "tools").ok(),
            self::read(refused.as_bytes(), DEEPEST).ok()
        );
        for broken in ["{", "[]", r#"{"result":[]}"#, r#"{"result":{"tools":[}}"#, "{} {}"] {
            assert!(read_page(broken.as_bytes(), "tools").is_err(), "{broken}");
        }
        let bad = b"{\"result\":{\"tools\":[\"\xff\", \"\\ud800\"]}}";
        let read = read_page(bad, "tools").unwrap();
        assert_eq!(read["result"]["tools"], r#"["\ufffd", "\ufffd"]"#);
    }

    #[test]
    fn a_string_that_cannot_be_read_costs_itself_alone_and_all_else_its_message() {
        let answer = |value: &str| {
            let text = format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"x": {value}}}}}"#);
            read(text.as_bytes(), DEEPEST).map(|read| read["result"]["x"].clone())
        };
        assert_eq!(answer(r#""a\ud800b""#), Ok("a\u{fffd}b".into()));
        for spoilt in ["NaN", "-Infinity", "'a'", "01", "[1,]", ""] {
            assert_eq!(answer(spoilt), Err(UnreadableMessage::NoJson), "{spoilt}");
        }
    }
}
