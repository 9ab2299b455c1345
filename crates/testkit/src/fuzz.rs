//! What the fuzz targets do with their bytes; tests run the same over the seeds of `fuzz/corpus`.

use serde_json::Value;
use toolcrib_json::repair::{self, MAX_BYTES};
use toolcrib_json::schema::Schema;

/// What a target does with the fuzzer's bytes; a panic is a find.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: &[(&str, Target)] = &[("arguments", arguments), ("schemas", schemas)];

/// Arguments as a model may write them: any text.
///
/// What was read can be written and read again, then with nothing left to repair; and what is
/// plain JSON within the bounds is read as it is.
pub fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let strict = repair::read_strict(&text);
    let read = repair::read(&text);
    let Ok(read) = read else {
        assert_eq!(strict.ok(), None, "refused, though it is plain JSON");
        return;
    };
    if let Ok(value) = strict {
        assert_eq!(
            (&read.value, read.repairs.len()),
            (&value, 0),
            "plain JSON was changed"
        );
    }
    let written = read.value.to_string();
    if written.len() <= MAX_BYTES {
        let again = repair::read(&written).map(|again| (again.repairs, again.value));
        let value = again
            .as_ref()
            .map_or(&Value::Null, |(_, value)| value)
            .clone();
        // A fraction may come back changed in its last bit, which is a bound of the number reader.
        let expected = if has_fraction(&read.value) {
            value
        } else {
            read.value
        };
        assert_eq!(
            again,
            Ok((Vec::new(), expected)),
            "what was read is no plain JSON"
        );
    }
}

/// A schema as a stranger may write it, on the first line, and a value for it on the others.
///
/// The ways to ask about a value agree, and what was coerced validates.
pub fn schemas(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (source, value) = text.split_once('\n').unwrap_or((&text, "null"));
    let Ok(source) = serde_json::from_str::<Value>(source) else {
        return;
    };
    let Ok(schema) = Schema::compile(&source) else {
        return;
    };
    assert!(
        !schema.signature("tool").contains('\n'),
        "a signature is one line"
    );
    let Ok(value) = serde_json::from_str::<Value>(value) else {
        return;
    };
    let is_valid = schema.is_valid(&value);
    assert_eq!(
        schema.check(&value).is_ok(),
        is_valid,
        "`check` and `is_valid` disagree"
    );
    let (coerced, coercions) = schema.coerce(value.clone());
    if coercions.is_empty() {
        assert_eq!(coerced, value, "changed without a word");
    } else {
        assert!(!is_valid && schema.is_valid(&coerced), "coerced in vain");
    }
}

fn has_fraction(value: &Value) -> bool {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Number(number) if number.is_f64() => return true,
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => waiting.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}
