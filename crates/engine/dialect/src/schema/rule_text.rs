//! Rules of a schema in words, for APIs that do not take them as rules.

use serde_json::Value;

/// Longest piece of JSON that is quoted to a model.
const LONGEST: usize = 160;

/// What a keyword asks for: `at least 1 item`.
pub(super) fn rule(keyword: &str, value: &Value) -> String {
    let quoted = quote(value);
    match keyword {
        "minimum" => format!("at least {quoted}"),
        "maximum" => format!("at most {quoted}"),
        "exclusiveMinimum" => format!("more than {quoted}"),
        "exclusiveMaximum" => format!("less than {quoted}"),
        "multipleOf" => format!("a multiple of {quoted}"),
        "minLength" => format!("at least {}", count(value, "character")),
        "maxLength" => format!("at most {}", count(value, "character")),
        "minItems" => format!("at least {}", count(value, "item")),
        "maxItems" => format!("at most {}", count(value, "item")),
        "minProperties" => format!("at least {}", count(value, "field")),
        "maxProperties" => format!("at most {}", count(value, "field")),
        "uniqueItems" => "no item twice".to_owned(),
        "const" => format!("always {quoted}"),
        "enum" => format!("one of {quoted}"),
        "examples" | "example" => format!("for example {quoted}"),
        "oneOf" => "exactly one of these forms".to_owned(),
        "propertyNames" => format!("names of fields: {quoted}"),
        "additionalProperties" => format!("further fields: {quoted}"),
        "patternProperties" => format!("fields by pattern of their name: {quoted}"),
        "contains" => format!("with an item {quoted}"),
        "prefixItems" => format!("items in order: {quoted}"),
        _ => format!("{keyword} {quoted}"),
    }
}

/// `if` with its `then` and `else`.
pub(super) fn condition(test: &Value, then: Option<&Value>, otherwise: Option<&Value>) -> String {
    let mut words = vec![format!("if {}", quote(test))];
    words.extend(then.map(|then| format!("then {}", quote(then))));
    words.extend(otherwise.map(|otherwise| format!("else {}", quote(otherwise))));
    words.join(" ")
}

/// A string without quotation marks, anything else as JSON, cut at a bound.
pub(super) fn quote(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn count(value: &Value, what: &str) -> String {
    let plural = if value.as_f64() == Some(1.0) { "" } else { "s" };
    format!("{} {what}{plural}", quote(value))
}

/// A text with notes behind it: `The list. (at least 1 item; no item twice)`.
pub(crate) fn annotate(text: &str, notes: &[String]) -> String {
    let separator = if text.is_empty() { "" } else { " " };
    if notes.is_empty() {
        return text.to_owned();
    }
    format!("{text}{separator}({})", notes.join("; "))
}
