//! What a test expects of a value, compared with the value.

use serde_json::{Map, Value, json};
use toolcrib_json::schema::Schema;

/// Words that say something of a value; all others name a field of it.
const OPERATORS: [&str; 20] = [
    "type",
    "exists",
    "absent",
    "contains",
    "matches",
    "starts_with",
    "ends_with",
    "gte",
    "lte",
    "gt",
    "lt",
    "count",
    "count_gte",
    "count_lte",
    "one_of",
    "any_of",
    "all_of",
    "not",
    "items",
    "description",
];
/// Characters of a value that a fault shows.
const SHOWN: usize = 160;

/// What differs, each with its place; nothing if all is as expected. `found`: nothing, if the field
/// is not there.
pub(super) fn faults(expected: &Value, found: Option<&Value>, at: &str) -> Vec<String> {
    match expected {
        Value::Object(members) => {
            members.iter().flat_map(|(word, value)| of_word(word, value, found, at)).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, item)| {
                let own = found.and_then(Value::as_array).and_then(|all| all.get(index));
                faults(item, own, &format!("{at}[{index}]"))
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let is_equal = found == Some(expected);
            unless(is_equal, || format!("{at} is {}, not {expected}", shown(found)))
        }
    }
}

fn of_word(word: &str, value: &Value, found: Option<&Value>, at: &str) -> Vec<String> {
    // A field may have the name of an operator: then what is expected of it is a map.
    let is_field = !OPERATORS.contains(&word)
        || (value.is_object() && !matches!(word, "not" | "items"))
        || (word == "description" && found.is_some_and(|found| found.get(word).is_some()));
    if is_field {
        let own = found.and_then(|found| found.get(word));
        return faults(value, own, &format!("{at}.{word}"));
    }
    let told = || format!("{at} is {}", shown(found));
    match word {
        "description" => Vec::new(),
        "absent" => unless(found.is_none() == (*value == json!(true)), told),
        "exists" => unless(found.is_some() == (*value == json!(true)), told),
        "one_of" | "any_of" => {
            let options = value.as_array().map_or(&[][..], Vec::as_slice);
            let is_met = options.iter().any(|option| faults(option, found, at).is_empty());
            unless(is_met, || format!("{}, and none of {}", told(), shown(Some(value))))
        }
        "all_of" => {
            let all = value.as_array().map_or(&[][..], Vec::as_slice);
            all.iter().flat_map(|one| faults(one, found, at)).collect()
        }
        "not" => unless(!faults(value, found, at).is_empty(), told),
        other => match found {
            None => vec![format!("{at} is missing")],
            Some(found) => of_value(other, value, found, at),
        },
    }
}

/// What is said of a value that is there.
fn of_value(word: &str, value: &Value, found: &Value, at: &str) -> Vec<String> {
    let text = found.as_str().unwrap_or_default();
    let wanted = value.as_str().unwrap_or_default();
    let length = found.as_array().map(Vec::len);
    let wanted_length = value.as_u64().and_then(|count| usize::try_from(count).ok());
    let numbers = found.as_f64().zip(value.as_f64());
    let holds = match word {
        "type" => is_kind(found, wanted),
        "contains" => match found.as_array() {
            Some(items) => items.contains(value),
            None => found.is_string() && text.contains(wanted),
        },
        "matches" => found.is_string() && does_match(text, wanted),
        "starts_with" => found.is_string() && text.starts_with(wanted),
        "ends_with" => found.is_string() && text.ends_with(wanted),
        "count" => length.is_some() && length == wanted_length,
        "count_gte" => length.is_some() && length >= wanted_length,
        "count_lte" => length.is_some() && length <= wanted_length,
        "gte" => numbers.is_some_and(|(own, bound)| own >= bound),
        "lte" => numbers.is_some_and(|(own, bound)| own <= bound),
        "gt" => numbers.is_some_and(|(own, bound)| own > bound),
        "lt" => numbers.is_some_and(|(own, bound)| own < bound),
        "items" => return of_items(value, found, at),
        _ => false,
    };
    unless(holds, || match length {
        Some(length) => format!("{at} has {length} items, not `{word}` {value}"),
        None => format!("{at} is {}, not `{word}` {value}", shown(Some(found))),
    })
}

/// A list says what is expected of each in turn, a map what is expected of all.
fn of_items(value: &Value, found: &Value, at: &str) -> Vec<String> {
    let Some(items) = found.as_array() else { return vec![format!("{at} is no list")] };
    if value.is_array() {
        return faults(value, Some(found), at);
    }
    let each = |(index, item)| faults(value, Some(item), &format!("{at}[{index}]"));
    items.iter().enumerate().flat_map(each).collect()
}

fn is_kind(found: &Value, kind: &str) -> bool {
    let own = match found {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if kind == "integer" && (number.is_i64() || number.is_u64()) => {
            "integer"
        }
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    own == kind
}

/// By the rules of ECMA-262, which are those of a schema.
fn does_match(text: &str, pattern: &str) -> bool {
    let schema = Schema::compile(&json!({ "type": "string", "pattern": pattern }));
    schema.is_ok_and(|schema| schema.left().is_empty() && schema.is_valid(&json!(text)))
}

fn unless(holds: bool, fault: impl FnOnce() -> String) -> Vec<String> {
    if holds { Vec::new() } else { vec![fault()] }
}

/// A value as a fault shows it.
pub(super) fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else { return "missing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// An object of these members, for a place where only some are looked at.
pub(super) fn without(members: &Map<String, Value>, left: &[&str]) -> Value {
    let kept = members.iter().filter(|(name, _)| !left.contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::faults;

    #[test]
    fn each_operator_holds_for_what_it_says_and_for_nothing_else() {
        let found = json!({
            "text": "not found", "list": [1, 2], "number": 7, "nothing": null, "type": "about:blank",
        });
        let holds = |expected| faults(&expected, Some(&found), "body").is_empty();
        for (right, wrong) in [
            (json!({ "text": "not found" }), json!({ "text": "found" })),
            (json!({ "text": { "type": "string" } }), json!({ "text": { "type": "number" } })),
            (json!({ "type": { "type": "string" } }), json!({ "title": { "type": "string" } })),
            (json!({ "text": { "contains": "found" } }), json!({ "text": { "contains": "lost" } })),
            (
                json!({ "text": { "matches": "^not .{5}$" } }),
                json!({ "text": { "matches": "^f" } }),
            ),
            (
                json!({ "text": { "starts_with": "not" } }),
                json!({ "text": { "ends_with": "not" } }),
            ),
            (json!({ "list": { "count": 2 } }), json!({ "list": { "count": 3 } })),
            (json!({ "list": { "count_gte": 2 } }), json!({ "list": { "count_gte": 3 } })),
            (json!({ "list": { "count_lte": 2 } }), json!({ "text": { "count_lte": 2 } })),
            (json!({ "list": [1] }), json!({ "list": [2] })),
            (
                json!({ "list": { "items": { "type": "number" } } }),
                json!({ "list": { "items": { "gt": 1 } } }),
            ),
            (json!({ "number": { "one_of": [6, 7] } }), json!({ "number": { "one_of": [6, 8] } })),
            (json!({ "number": { "not": { "lt": 7 } } }), json!({ "number": { "not": 7 } })),
            (json!({ "other": { "absent": true } }), json!({ "text": { "absent": true } })),
            (json!({ "nothing": { "exists": true } }), json!({ "other": { "exists": true } })),
            (
                json!({ "any_of": [{ "other": 1 }, { "number": 7 }] }),
                json!({ "all_of": [{ "other": 1 }, { "number": 7 }] }),
            ),
        ] {
            assert!(holds(right.clone()), "{right}");
            assert!(!holds(wrong.clone()), "{wrong}");
        }
        let told = faults(&json!({ "a": { "b": 1 } }), Some(&found), "body");
        assert_eq!(told, ["body.a.b is missing, not 1"]);
    }
}
