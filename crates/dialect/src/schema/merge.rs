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
        match combine(key, old, new) {
            Some(both) => *old = both,
            None => unmerged.push((key.clone(), new.clone())),
        }
    }
    left
}

/// One value of a keyword that asks for what both values ask for.
fn combine(key: &str, old: &Value, new: &Value) -> Option<Value> {
    match key {
        "properties" | "patternProperties" | "$defs" | "definitions" => {
            let mut all = old.as_object()?.clone();
            for (name, schema) in new.as_object()? {
                match all.get_mut(name) {
                    None => {
                        all.insert(name.clone(), schema.clone());
                    }
                    Some(same) if same == schema => {}
                    Some(other) => *other = json!({ "allOf": [other.clone(), schema] }),
                }
            }
            Some(Value::Object(all))
        }
        "required" => Some(union(old.as_array()?, new.as_array()?)),
        "enum" => intersection(old.as_array()?, new.as_array()?),
        "type" => types(old, new),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => Some(
            if new.as_f64()? > old.as_f64()? {
                new
            } else {
                old
            }
            .clone(),
        ),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => Some(
            if new.as_f64()? < old.as_f64()? {
                new
            } else {
                old
            }
            .clone(),
        ),
        "additionalProperties" | "items" => match (old, new) {
            (Value::Bool(true), other) | (other, Value::Bool(true)) => Some(other.clone()),
            (Value::Bool(false), _) | (_, Value::Bool(false)) => Some(Value::Bool(false)),
            _ => Some(json!({ "allOf": [old, new] })),
        },
        "allOf" => {
            let (mut all, more) = (old.as_array()?.clone(), new.as_array()?);
            all.extend(more.iter().cloned());
            Some(Value::Array(all))
        }
        "description" => Some(format!("{} {}", old.as_str()?, new.as_str()?).into()),
        // Of a text or an example the outer one stays: it was written for this place.
        "title" | "default" | "examples" | "$schema" | "$id" | "$comment" | "$anchor" => {
            Some(old.clone())
        }
        _ => None,
    }
}

pub(super) fn union(left: &[Value], right: &[Value]) -> Value {
    let mut all = left.to_vec();
    all.extend(right.iter().filter(|new| !left.contains(new)).cloned());
    Value::Array(all)
}

fn intersection(left: &[Value], right: &[Value]) -> Option<Value> {
    let both: Vec<_> = left
        .iter()
        .filter(|one| right.contains(one))
        .cloned()
        .collect();
    (!both.is_empty()).then_some(Value::Array(both))
}

/// The types that both allow; an integer is a number too.
fn types(old: &Value, new: &Value) -> Option<Value> {
    let (old, new) = (super::type_list(old), super::type_list(new));
    let within = |list: &[&str], name: &str| {
        list.contains(&name) || (name == "integer" && list.contains(&"number"))
    };
    let mut both: Vec<&str> = old
        .iter()
        .copied()
        .filter(|name| within(&new, name))
        .collect();
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
        assert_eq!(
            (both, unmerged),
            (expected, vec![("pattern".to_owned(), json!("y"))])
        );
    }
}
