//! JSON text for models: what the API wrote, without the blanks.

use std::borrow::Cow;

/// A JSON text with its numbers as they are, digit for digit, without blanks between its tokens,
/// and with each string in its one usual writing: a secret in it is found in no other.
///
/// The text is one that a JSON reader has taken.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let (before, from) = rest.split_at(start);
        push(&mut out, before);
        let (token, after) = from.split_at(end_of_string(from));
        out.push_str(&usual(token));
        rest = after;
    }
    push(&mut out, rest);
    out
}

fn push(out: &mut String, between: &str) {
    out.extend(between.split([' ', '\t', '\r', '\n']));
}

/// Where the string that a text begins with is over.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(place, _)| place + 1)
}

fn usual(token: &str) -> Cow<'_, str> {
    if !token.contains('\\') {
        return Cow::Borrowed(token);
    }
    let read = serde_json::from_str::<String>(token);
    let written = read.and_then(|text| serde_json::to_string(&text));
    written.map_or(Cow::Borrowed(token), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn digits_stay_and_strings_are_written_as_usual() {
        let table = [
            (" { \"a\" : [ 1 , 2.50 ] }\r\n", r#"{"a":[1,2.50]}"#),
            ("18446744073709551616123", "18446744073709551616123"),
            (r#"{"id": -12345678901234567890123}"#, r#"{"id":-12345678901234567890123}"#),
            (r#"["a\/b", "\u0061 \u00fc \"x\\"]"#, r#"["a/b","a ü \"x\\"]"#),
            (r#""a  b""#, r#""a  b""#),
            ("[true ,\tnull]", "[true,null]"),
            (r#"{"a": 1, "a": 2}"#, r#"{"a":1,"a":2}"#),
        ];
        for (text, expected) in table {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn it_means_the_same() {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        let value = leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        });
        proptest!(|(value in value)| {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(plain(&pretty), value.to_string());
        });
    }
}
