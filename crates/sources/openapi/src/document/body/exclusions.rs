//! Rules of which fields of a body may not come together: what `not` says of nothing but whether
//! fields are there means the same of the arguments that the fields become.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// Deepest nesting of a rule.
const DEEPEST: usize = 8;
/// Words of a rule, names of fields among them.
const MOST: usize = 200;

/// The rule with other names of the fields; `None`: it says more, or names fields that are none of
/// these.
pub(crate) fn renamed(rule: &Value, names: &HashMap<&str, &str>) -> Option<Value> {
    let mut left = MOST;
    walk(rule, names, &mut left, 0)
}

fn walk(
    rule: &Value,
    names: &HashMap<&str, &str>,
    left: &mut usize,
    depth: usize,
) -> Option<Value> {
    let rule = rule.as_object().filter(|_| depth < DEEPEST)?;
    let mut said = Map::new();
    for (keyword, value) in rule {
        *left = left.checked_sub(1)?;
        let mut within = |value: &Value| walk(value, names, left, depth + 1);
        let value = match keyword.as_str() {
            // The body is an object, and so are the arguments.
            "type" if value == "object" => continue,
            "title" | "description" | "$comment" => continue,
            "not" => within(value)?,
            "allOf" | "anyOf" | "oneOf" => {
                let parts = value.as_array().filter(|parts| !parts.is_empty())?;
                parts.iter().map(within).collect::<Option<Value>>()?
            }
            "required" => {
                let fields = value.as_array()?;
                *left = left.checked_sub(fields.len())?;
                let name = |field: &Value| names.get(field.as_str()?).map(|name| json!(name));
                fields.iter().map(name).collect::<Option<Value>>()?
            }
            _ => return None,
        };
        said.insert(keyword.clone(), value);
    }
    Some(Value::Object(said))
}

/// Whether such a rule holds where no field is there.
pub(crate) fn holds_of_nothing(rule: &Value) -> bool {
    fn parts(value: &Value) -> impl Iterator<Item = bool> {
        value.as_array().into_iter().flatten().map(holds_of_nothing)
    }
    rule.as_object().into_iter().flatten().all(|(keyword, value)| match keyword.as_str() {
        "not" => !holds_of_nothing(value),
        "allOf" => parts(value).all(|holds| holds),
        "anyOf" => parts(value).any(|holds| holds),
        "oneOf" => parts(value).filter(|holds| *holds).count() == 1,
        "required" => value.as_array().is_none_or(Vec::is_empty),
        _ => true,
    })
}
