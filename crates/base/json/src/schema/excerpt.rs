//! Foreign text on one short line.

use serde_json::Value;

use crate::invisible::exact;

/// A place in a schema on one line.
pub(super) fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the root".to_owned() } else { format!("`{}`", line(pointer)) }
}

/// A pointer or a reference on one line.
pub(super) fn line(text: &str) -> String {
    shorten(text, 200)
}

/// A text on one line of at most `limit` characters, with all that is not seen written out.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    let begin: String = text.chars().take(limit).collect();
    let more = if text.chars().nth(limit).is_some() { "…" } else { "" };
    exact(&begin).into_owned() + more
}

/// A value as JSON on one line of at most `limit` characters. Only what is shown is written.
pub(super) fn show(value: &Value, limit: usize) -> String {
    let mut json = String::new();
    write_value(value, limit.saturating_mul(4), &mut json);
    shorten(&json, limit)
}

/// Writes JSON until `enough` bytes are there. The depth is bounded by what is written.
fn write_value(value: &Value, enough: usize, json: &mut String) {
    if json.len() > enough {
        return;
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => json.push_str(&value.to_string()),
        Value::String(text) => {
            let shown: String = text.chars().take(enough).collect();
            json.push_str(&Value::String(shown).to_string());
        }
        Value::Array(items) => {
            json.push('[');
            for (index, item) in items.iter().enumerate() {
                json.push_str(if index > 0 { "," } else { "" });
                write_value(item, enough, json);
                if json.len() > enough {
                    return;
                }
            }
            json.push(']');
        }
        Value::Object(members) => {
            json.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                json.push_str(if index > 0 { "," } else { "" });
                let key: String = key.chars().take(enough).collect();
                json.push_str(&Value::String(key).to_string());
                json.push(':');
                write_value(member, enough, json);
                if json.len() > enough {
                    return;
                }
            }
            json.push('}');
        }
    }
}
