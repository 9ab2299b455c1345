//! Two schemas that both must hold, as one.

use serde_json::{Map, Value, json};

/// Merges `right` into `left`. What cannot be said in one schema is added to `unmerged` with its
/// value; such a rule of `right` is missing from the result.
pub(super) fn merge(
    mut left: Map<String, Value>,
    right: &Map<String, Value>,
    unmerged: &mut Vec<(String, Value)>,
) -> Map<String, Value> {
    let conditional = left.contains_key("if");
    for (key, new) in right {
        if conditional && matches!(key.as_str(), "if" | "then" | "else") {
            // A condition is one rule of three keywords, and there is one already.
            unmerged.push((key.clone(), new.clone()));
            continue;
        }
        let Some(old) = left.get_mut(key) else {
            left.insert(key.clone(), new.clone());
            continue;
        };
        if old == new {
            continue;
        }
        if combine(key, old, new).is_none() {
            unmerged.push((key.clone(), new.clone()));
        }
    }
    left
}

/// Makes `old` ask for what both values of a keyword ask for; changed in place, since a schema
/// may have many hundred members. `None`: it cannot be said, and `old` is as it was.
fn combine(key: &str, old: &mut Value, new: &Value) -> Option<()> {
    let combined = match key {
        "properties" | "patternProperties" | "$defs" | "definitions" => {
            join_named(old.as_object_mut()?, new.as_object()?);
            return Some(());
        }
        "allOf" => {
            old.as_array_mut()?.extend(new.as_array()?.iter().cloned());
            return Some(());
        }
        "additionalProperties" | "items" => {
            join(old, new);
            return Some(());
        }
        "required" => union(old.as_array()?, new.as_array()?),
        "enum" => intersection(old.as_array()?, new.as_array()?)?,
        "type" => types(old, new)?,
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            if new.as_f64()? <= old.as_f64()? {
                return Some(());
            }
            new.clone()
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            if new.as_f64()? >= old.as_f64()? {
                return Some(());
            }
            new.clone()
        }
        "description" => format!("{} {}", old.as_str()?, new.as_str()?).into(),
        // Of a text or an example the outer one stays: it was written for this place.
        "title" | "default" | "examples" | "$schema" | "$id" | "$comment" | "$anchor" => {
            return Some(());
        }
        _ => return None,
    };
    *old = combined;
    Some(())
}

fn join_named(all: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, schema) in more {
        match all.get_mut(name) {
            Some(known) => join(known, schema),
            None => drop(all.insert(name.clone(), schema.clone())),
        }
    }
}

/// Makes a schema ask for another one too. A long row of these makes a long list and no deep
/// nest.
fn join(old: &mut Value, new: &Value) {
    match (&mut *old, new) {
        (known, new) if known == new => {}
        (Value::Bool(false), _) | (_, Value::Bool(true)) => {}
        (_, Value::Bool(false)) | (Value::Bool(true), _) => *old = new.clone(),
        (Value::Object(fields), new) if fields.len() == 1 && fields.contains_key("allOf") => {
            if let Some(Value::Array(members)) = fields.get_mut("allOf") {
                members.push(new.clone());
            }
        }
        _ => *old = json!({ "allOf": [old.take(), new] }),
    }
}

pub(super) fn union(left: &[Value], right: &[Value]) -> Value {
    let mut all = left.to_vec();
    all.extend(right.iter().filter(|new| !left.contains(new)).cloned());
    Value::Array(all)
}

fn intersection(left: &[Value], right: &[Value]) -> Option<Value> {
    let both: Vec<_> = left.iter().filter(|one| right.contains(one)).cloned().collect();
    (!both.is_empty()).then_some(Value::Array(both))
}

/// The types that both allow; an integer is a number too.
fn types(old: &Value, new: &Value) -> Option<Value> {
    let (old, new) = (super::type_list(old), super::type_list(new));
    let within = |list: &[&str], name: &str| {
        list.contains(&name) || (name == "integer" && list.contains(&"number"))
    };
    let mut both: Vec<&str> = old.iter().copied().filter(|name| within(&new, name)).collect();
    for name in new {
        if within(&old, name) && !both.contains(&name) {
            both.push(name);
        }
    }
    match both.as_slice() {
        [] => None,
        [one] => Some((*one).into()),
        many => Some(json!(many)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(left: &Value, right: &Value) -> (Value, Vec<(String, Value)>) {
        let mut unmerged = Vec::new();
        let left = left.as_object().cloned().unwrap_or_default();
        let right = right.as_object().cloned().unwrap_or_default();
        (merge(left, &right, &mut unmerged).into(), unmerged)
    }

    #[test]
    fn the_stricter_rule_of_two_stays() {
        let (both, unmerged) = merged(
            &json!({"type": ["number", "null"], "minimum": 1, "maximum": 9, "description": "A."}),
            &json!({"type": "integer", "minimum": 3, "maximum": 20, "description": "B."}),
        );
        let expected =
            json!({"type": "integer", "minimum": 3, "maximum": 9, "description": "A. B."});
        assert_eq!((both, unmerged), (expected, vec![]));
    }

    #[test]
    fn fields_of_both_objects_are_kept_and_what_clashes_is_named() {
        let (both, unmerged) = merged(
            &json!({"properties": {"a": {"type": "string"}}, "required": ["a"], "pattern": "x"}),
            &json!({"properties": {"a": {"minLength": 1}, "b": {}}, "required": ["b", "a"], "pattern": "y"}),
        );
        let expected = json!({
            "properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 1}]}, "b": {}},
            "required": ["a", "b"],
            "pattern": "x",
        });
        assert_eq!((both, unmerged), (expected, vec![("pattern".to_owned(), json!("y"))]));
    }
}
