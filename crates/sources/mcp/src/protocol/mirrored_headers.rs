//! Arguments that a call repeats in `Mcp-Param-*` headers, for those who stand between and route by
//! them.
//!
//! Source: Model Context Protocol 2026-07-28, Streamable HTTP, `x-mcp-header`.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// In a schema, the header that an argument travels in.
pub(crate) const MARK: &str = "x-mcp-header";

/// What stands around a text in base64.
const OPENS: &str = "=?base64?";
const CLOSES: &str = "?=";

/// Tools of a list that want arguments repeated, by their names at the server.
pub(crate) type MirroredArguments = Vec<(String, Vec<MirroredArgument>)>;

/// One argument, by its path in the arguments, and the header that repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MirroredArgument {
    path: Vec<String>,
    header: HeaderName,
}

/// What a schema wants repeated, or why it may not want that; then the tool is left out.
pub(crate) fn of(schema: &Value) -> Result<Vec<MirroredArgument>, String> {
    let mut found = Vec::new();
    if let Value::Object(schema) = schema {
        if schema.contains_key(MARK) {
            return Err(format!("`{MARK}` stands at the root of its schema"));
        }
        look(schema, &mut Vec::new(), true, &mut found)?;
    }
    let mut seen = HashSet::new();
    match found.iter().find(|one| !seen.insert(&one.header)) {
        Some(twice) => Err(format!("two arguments want the header `{}`", twice.header)),
        None => Ok(found),
    }
}

/// `reachable`: the path from the root leads through `properties` alone.
fn look(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    reachable: bool,
    found: &mut Vec<MirroredArgument>,
) -> Result<(), String> {
    for (key, value) in schema {
        match (key.as_str(), value) {
            (MARK, _) if !reachable => {
                return Err(format!("`{MARK}` stands where no single argument is meant"));
            }
            (MARK, header) => found.push(mirrored(schema, header, path)?),
            ("default" | "const" | "enum" | "examples", _) => {}
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    if let Value::Object(property) = property {
                        path.push(name.clone());
                        look(property, path, reachable, found)?;
                        path.pop();
                    }
                }
            }
            (_, other) => inside(other, path, found)?,
        }
    }
    Ok(())
}

/// Looks for marks where none may be.
fn inside(
    value: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<MirroredArgument>,
) -> Result<(), String> {
    match value {
        Value::Object(schema) => look(schema, path, false, found),
        Value::Array(items) => items.iter().try_for_each(|item| inside(item, path, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn mirrored(
    schema: &Map<String, Value>,
    header: &Value,
    path: &[String],
) -> Result<MirroredArgument, String> {
    let wrong = |what: &str| format!("`{MARK}` of the argument `{}` {what}", path.join("."));
    let name = header.as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| wrong("is no text"))?;
    let header = HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes())
        .map_err(|_| wrong("is no name of a header"))?;
    match schema.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => {
            Ok(MirroredArgument { path: path.to_vec(), header })
        }
        _ => Err(wrong("stands on something that is no text, whole number or flag")),
    }
}

/// Writes the headers of one call.
pub(crate) fn write(
    wanted: &[MirroredArgument],
    arguments: &Map<String, Value>,
    headers: &mut HeaderMap,
) {
    for one in wanted {
        let text = one.text(arguments).map(|text| encoded(&text));
        if let Some(Ok(value)) = text.map(|text| HeaderValue::from_str(&text)) {
            headers.insert(one.header.clone(), value);
        }
    }
}

/// Why the headers of a call do not say what its arguments say, if they do not: whoever routes by
/// the first must not be shown others than whoever runs the second.
pub(crate) fn differing(
    wanted: &[MirroredArgument],
    arguments: Option<&Value>,
    headers: &HeaderMap,
) -> Option<String> {
    wanted.iter().find_map(|one| {
        let mut said = headers.get_all(&one.header).iter();
        let (said, again) = (said.next(), said.next());
        let argument = arguments.and_then(Value::as_object).and_then(|all| one.text(all));
        let what = match (said, argument) {
            _ if again.is_some() => "came twice for",
            (None, None) => return None,
            (None, Some(_)) => "is missing for",
            (Some(_), None) => "came without",
            (Some(said), Some(argument)) => {
                if said.to_str().ok().and_then(decoded).as_ref() == Some(&argument) {
                    return None;
                }
                "does not repeat"
            }
        };
        Some(format!("the header `{}` {what} the argument `{}`", one.header, one.path.join(".")))
    })
}

impl MirroredArgument {
    /// The argument as text, before it is encoded; `None`: a call without it.
    fn text(&self, arguments: &Map<String, Value>) -> Option<String> {
        let mut path = self.path.iter();
        let first = arguments.get(path.next()?)?;
        match path.try_fold(first, |value, key| value.get(key))? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// As it is where a header can hold it, else in base64 between marks.
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !text.starts_with(OPENS);
    if plain { text.to_owned() } else { format!("{OPENS}{}{CLOSES}", STANDARD.encode(text)) }
}

/// The text that [`encoded`] made this of; `None`: it made none of it.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let inside = text.strip_prefix(OPENS).and_then(|text| text.strip_suffix(CLOSES));
    match inside {
        Some(inside) => String::from_utf8(STANDARD.decode(inside).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marked_arguments_become_headers_and_odd_marks_are_refused() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {
                "n": {"type": "integer", "x-mcp-header": "N"},
            }},
        }});
        let mut headers = HeaderMap::new();
        let arguments = json!({"region": "Zürich", "deep": {"n": 7}});
        write(&of(&schema).unwrap(), arguments.as_object().unwrap(), &mut headers);
        assert_eq!(headers["mcp-param-region"], "=?base64?WsO8cmljaA==?=");
        assert_eq!(headers["mcp-param-n"], "7");
        let odd = [
            json!({"x-mcp-header": "A"}),
            json!({"properties": {"a": {"type": "object", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}),
            json!({"items": {"type": "string", "x-mcp-header": "A"}}),
            json!({"properties": {
                "a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"},
            }}),
        ];
        for schema in odd {
            assert!(of(&schema).is_err(), "{schema}");
        }
    }
}
