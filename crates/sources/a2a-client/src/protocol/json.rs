//! Reading of objects whose fields have several spellings.

use serde_json::{Map, Value};

/// The first of these fields that is there and is not `null`.
pub(crate) fn field<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    let fields = value.as_object()?;
    names.iter().find_map(|name| fields.get(*name).filter(|value| !value.is_null()))
}

/// A text that is not empty: the JSON of protocol buffers writes what is not set as `""`.
pub(crate) fn text(value: &Value, names: &[&str]) -> Option<String> {
    let text = field(value, names)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

pub(crate) fn flag(value: &Value, names: &[&str]) -> bool {
    field(value, names).and_then(Value::as_bool).unwrap_or(false)
}

pub(crate) fn list<'v>(value: &'v Value, names: &[&str]) -> &'v [Value] {
    field(value, names).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn texts(value: &Value, names: &[&str]) -> Vec<String> {
    list(value, names).iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Sets a field that has something in it.
pub(crate) fn set(fields: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value.into());
    }
}
