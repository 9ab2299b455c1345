//! Arguments as the tool's own schema means them, from the form that a model was shown.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{DEEPEST, Key, resolve, type_list};

/// Most schemas that are looked at for one value.
const MOST_VIEWS: usize = 200;

/// Gives fields their own names again, and drops each `null` that only says "not given": strict
/// OpenAI schemas have the model send every field.
pub(crate) fn restore(arguments: &mut Value, source: &Value, key: Key) {
    Restoring {
        document: source,
        key,
    }
    .walk(arguments, vec![source], 0);
}

struct Restoring<'a> {
    document: &'a Value,
    key: Key,
}

impl<'a> Restoring<'a> {
    fn walk(&self, value: &mut Value, schemas: Vec<&'a Value>, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        let views = self.views(schemas);
        match value {
            Value::Object(fields) => {
                *fields = self.object(std::mem::take(fields), &views, depth);
            }
            Value::Array(items) => {
                for (place, item) in items.iter_mut().enumerate() {
                    let of_item = |view: &&'a Map<String, Value>| {
                        let ordered = view.get("prefixItems").and_then(|list| list.get(place));
                        ordered.or_else(|| view.get("items"))
                    };
                    self.walk(item, views.iter().filter_map(of_item).collect(), depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn object(
        &self,
        fields: Map<String, Value>,
        views: &[&'a Map<String, Value>],
        depth: usize,
    ) -> Map<String, Value> {
        let mut declared: HashMap<&str, Vec<&'a Value>> = HashMap::new();
        let mut by_wire: HashMap<String, &str> = HashMap::new();
        for view in views {
            let properties = view.get("properties").and_then(Value::as_object);
            for (name, schema) in properties.into_iter().flatten() {
                declared.entry(name).or_default().push(schema);
                by_wire.insert((self.key)(name).into_owned(), name);
            }
        }
        let is_required = |name: &str| {
            views.iter().any(|view| {
                let required = view.get("required").and_then(Value::as_array);
                required.is_some_and(|names| names.iter().any(|known| known == name))
            })
        };
        let mut restored = Map::with_capacity(fields.len());
        for (name, mut value) in fields {
            let own = match by_wire.get(&name) {
                Some(own) if !declared.contains_key(name.as_str()) => (*own).to_owned(),
                _ => name,
            };
            let Some(schemas) = declared.get(own.as_str()) else {
                let further = views
                    .iter()
                    .filter_map(|view| view.get("additionalProperties"));
                self.walk(&mut value, further.collect(), depth + 1);
                restored.insert(own, value);
                continue;
            };
            let says_nothing = value.is_null()
                && !is_required(&own)
                && !schemas.iter().any(|schema| self.admits_null(schema, 0));
            if !says_nothing {
                self.walk(&mut value, schemas.clone(), depth + 1);
                restored.insert(own, value);
            }
        }
        restored
    }

    /// The schemas themselves and all that they are made of, each once.
    fn views(&self, mut open: Vec<&'a Value>) -> Vec<&'a Map<String, Value>> {
        let mut views: Vec<&'a Map<String, Value>> = Vec::new();
        while let Some(schema) = open.pop() {
            let Value::Object(fields) = schema else {
                continue;
            };
            if views.len() >= MOST_VIEWS || views.iter().any(|known| std::ptr::eq(*known, fields)) {
                continue;
            }
            views.push(fields);
            let reference = fields.get("$ref").and_then(Value::as_str);
            open.extend(reference.and_then(|to| resolve(self.document, to)));
            for keyword in ["allOf", "anyOf", "oneOf"] {
                open.extend(
                    fields
                        .get(keyword)
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten(),
                );
            }
            open.extend(
                ["then", "else"]
                    .iter()
                    .filter_map(|keyword| fields.get(*keyword)),
            );
        }
        views
    }

    fn admits_null(&self, schema: &'a Value, depth: usize) -> bool {
        let Value::Object(fields) = schema else {
            return schema != &Value::Bool(false);
        };
        if depth > DEEPEST {
            return true;
        }
        let every = |keyword: &str| fields.get(keyword).and_then(Value::as_array);
        let inner = |schema: &'a Value| self.admits_null(schema, depth + 1);
        let target = fields.get("$ref").and_then(Value::as_str);
        fields
            .get("type")
            .is_none_or(|types| type_list(types).contains(&"null"))
            && fields.get("const").is_none_or(Value::is_null)
            && every("enum").is_none_or(|values| values.contains(&Value::Null))
            && every("allOf").is_none_or(|all| all.iter().all(inner))
            && every("anyOf").is_none_or(|any| any.iter().any(inner))
            && every("oneOf").is_none_or(|one| one.iter().any(inner))
            && target
                .and_then(|to| resolve(self.document, to))
                .is_none_or(inner)
    }
}
