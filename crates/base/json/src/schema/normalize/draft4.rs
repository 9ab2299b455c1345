//! Reads a draft-4 habit that lives on in documents that do not say their draft.
//!
//! There `exclusiveMinimum: true` makes `minimum` exclusive; later drafts write the number
//! itself. `OpenAPI` 3.0 kept the old form, and generators carry it into schemas of tools.

use serde_json::{Map, Value};

use crate::schema::error::SchemaError;

/// The same schema in the later form, if the old one is why it was refused.
pub(crate) fn adapted(source: &Value, refusal: &SchemaError) -> Option<Value> {
    let SchemaError::Invalid { at, .. } = refusal else {
        return None;
    };
    let is_old = PAIRS.iter().any(|(flag, _)| at.rsplit('/').next() == Some(flag));
    if !is_old || !source.pointer(at)?.is_boolean() {
        return None;
    }
    let mut adapted = source.clone();
    adapt(&mut adapted);
    Some(adapted)
}

const PAIRS: [(&str, &str); 2] = [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")];

/// Rewrites every schema, and no data. The depth is bounded with that of the document.
fn adapt(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (flag, limit) in PAIRS {
                adapt_pair(members, flag, limit);
            }
            let is_data = |key: &str| matches!(key, "const" | "enum" | "default" | "examples");
            for (_, member) in members.iter_mut().filter(|(key, _)| !is_data(key)) {
                adapt(member);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(adapt),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn adapt_pair(members: &mut Map<String, Value>, flag: &str, limit: &str) {
    let Some(Value::Bool(is_exclusive)) = members.get(flag) else {
        return;
    };
    if !is_exclusive {
        members.shift_remove(flag);
    } else if members.get(limit).is_some_and(Value::is_number)
        && let Some(number) = members.shift_remove(limit)
    {
        members.insert(flag.to_owned(), number);
    }
}
