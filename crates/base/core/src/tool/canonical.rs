//! One form for JSON that means the same: sorted keys, `1.0` as `1`.

use std::fmt::Write as _;
use std::hash::{BuildHasher, Hash, Hasher};

use serde_json::{Map, Number, Value};
use toolcrib_json::number::Decimal;

/// The canonical text of a value. Depth is bounded by what was parsed.
pub fn text(value: &Value) -> String {
    let mut out = String::with_capacity(USUAL);
    write(value, &mut out);
    out
}

/// The same of an object by its fields.
pub(crate) fn text_of_fields(fields: &Map<String, Value>) -> String {
    let mut out = String::with_capacity(USUAL);
    write_fields(fields, &mut out);
    out
}

/// Most arguments are no longer.
const USUAL: usize = 256;

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => write_fields(fields, out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Number(number) => {
            // Writing to a string does not fail.
            let _ = match whole(number) {
                Some(whole) => write!(out, "{whole}"),
                None => write!(out, "{}", literal(number)),
            };
        }
        Value::String(text) => write_text(text, out),
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
    }
}

fn write_fields(fields: &Map<String, Value>, out: &mut String) {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_unstable_by_key(|(key, _)| key.as_str());
    out.push('{');
    for (position, (key, value)) in fields.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

/// Most texts hold nothing that JSON escapes.
fn write_text(text: &str, out: &mut String) {
    if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        out.push_str(&Value::from(text).to_string());
        return;
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// A number without a fraction as an integer of 64 bits, so that `1`, `1.0` and `1e0` are one.
fn whole(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i64() {
        return Some(integer.into());
    }
    let whole = Decimal::of(number)?.whole()?;
    let is_usual = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole);
    is_usual.then_some(whole)
}

/// One literal for all numbers that are equal: that of a float where it is exactly this number.
fn literal(number: &Number) -> String {
    let Some(decimal) = Decimal::of(number) else {
        return number.to_string();
    };
    let float = number.as_f64().and_then(Number::from_f64);
    let is_exact = |float: &Number| Decimal::of(float) == Some(decimal);
    match float.filter(is_exact) {
        Some(float) => float.to_string(),
        None => decimal.literal(),
    }
}

/// Whether two numbers are one, to the last digit.
fn same_number(left: &Number, right: &Number) -> bool {
    left == right || Decimal::of(left).is_some_and(|left| Decimal::of(right) == Some(left))
}

/// Feeds a value to a hasher such that `same` values hash alike; allocates nothing. The fields of
/// an object are hashed each by itself with a hasher of `state`.
pub fn hash(value: &Value, state: &impl BuildHasher, hasher: &mut impl Hasher) {
    match value {
        Value::Null => 0u8.hash(hasher),
        Value::Bool(flag) => (1u8, flag).hash(hasher),
        Value::Number(number) => match whole(number) {
            Some(whole) => (2u8, whole).hash(hasher),
            None => (3u8, Decimal::of(number)).hash(hasher),
        },
        Value::String(text) => (4u8, text).hash(hasher),
        Value::Array(items) => {
            (5u8, items.len()).hash(hasher);
            for item in items {
                hash(item, state, hasher);
            }
        }
        Value::Object(fields) => hash_object(fields, state, hasher),
    }
}

/// The sum of the fields' own hashes: the order in which a model wrote them does not count.
pub fn hash_object(
    fields: &Map<String, Value>,
    state: &impl BuildHasher,
    hasher: &mut impl Hasher,
) {
    let mut sum = 0u64;
    for (key, value) in fields {
        let mut field = state.build_hasher();
        key.hash(&mut field);
        hash(value, state, &mut field);
        sum = sum.wrapping_add(field.finish());
    }
    (6u8, fields.len(), sum).hash(hasher);
}

/// Whether two values mean the same.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, l)| right.get(key).is_some_and(|r| same(l, r)))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use foldhash::fast::FixedState;
    use serde_json::json;

    use super::*;

    fn hashed(value: &Value) -> u64 {
        let state = FixedState::default();
        let mut hasher = state.build_hasher();
        hash(value, &state, &mut hasher);
        hasher.finish()
    }

    #[test]
    fn texts_are_escaped_as_json_has_it() {
        for said in ["", "plain é", "a \"b\"", "c\\d", "e\nf", "\u{7f}\u{0}"] {
            let value = json!({said: [said, true, false, null, -1.5, u64::MAX]});
            assert_eq!(text(&value), value.to_string());
            assert_eq!(text_of_fields(value.as_object().unwrap()), value.to_string());
        }
    }

    #[test]
    fn values_that_mean_the_same_have_one_text_and_one_hash() {
        let left = json!({"b": [1.0, {"x": null}], "a": "1"});
        let right = json!({"a": "1", "b": [1, {"x": null}]});
        assert_eq!(text(&left), r#"{"a":"1","b":[1,{"x":null}]}"#);
        assert_eq!((text(&left), hashed(&left)), (text(&right), hashed(&right)));
        assert!(same(&left, &right));
        for (alike, other) in [
            (["1e400", "10e399"], "1e401"),
            (["18446744073709551616", "18446744073709551616.0"], "18446744073709551617"),
            (["1.10", "1.1"], "1.11"),
            (["1e18", "1000000000000000000"], "1000000000000000001"),
            (["-0", "0"], "1"),
        ] {
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            let ([left, right], other) = (alike.map(read), read(other));
            assert_eq!((text(&left), hashed(&left)), (text(&right), hashed(&right)));
            assert!(same(&left, &right) && !same(&left, &other) && text(&left) != text(&other));
        }
        for other in [json!({"a": 1, "b": [1, {"x": null}]}), json!({"a": "1"}), json!(null)] {
            assert!(!same(&left, &other) && text(&left) != text(&other), "{other}");
        }
    }
}
