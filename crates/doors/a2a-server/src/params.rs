//! Fields of what is asked, under the spellings of both versions, and as a query writes them.

use serde_json::Value;

use crate::fault::A2aFault;

/// The first of these that is there and is not `null`.
pub(crate) fn field<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    let fields = value.as_object()?;
    names.iter().find_map(|name| fields.get(*name).filter(|value| !value.is_null()))
}

/// A text; an empty one is none, as in the JSON of protocol buffers.
pub(crate) fn text(value: &Value, names: &[&'static str]) -> Result<Option<String>, A2aFault> {
    let Some(found) = field(value, names) else { return Ok(None) };
    let text = found.as_str().ok_or_else(|| wrong(names, "a text"))?;
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// A whole number that is not negative; a query has it as a text.
pub(crate) fn count(value: &Value, names: &[&'static str]) -> Result<Option<u64>, A2aFault> {
    let Some(found) = field(value, names) else { return Ok(None) };
    let number = found.as_u64().or_else(|| found.as_str().and_then(|text| text.parse().ok()));
    number.map(Some).ok_or_else(|| wrong(names, "a whole number that is not negative"))
}

pub(crate) fn flag(value: &Value, names: &[&'static str]) -> Result<Option<bool>, A2aFault> {
    let Some(found) = field(value, names) else { return Ok(None) };
    let said = match found {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    };
    said.map(Some).ok_or_else(|| wrong(names, "true or false"))
}

fn wrong(names: &[&'static str], what: &str) -> A2aFault {
    let name = names.first().copied().unwrap_or_default();
    A2aFault::params(format!("`{name}` must be {what}")).telling("field", name)
}
