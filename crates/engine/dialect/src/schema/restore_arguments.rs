//! Arguments as the tool's own schema means them, from the form that a model was shown.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{DEEPEST, FieldNamer, resolve, type_list};

/// Most schemas that are looked at for one value.
const MOST_VIEWS: usize = 200;
/// Most schemas that are asked whether they admit `null`, for one call.
const MOST_QUESTIONS: usize = 100_000;

/// Gives fields their own names again, and drops each `null` that only says "not given": strict
/// `OpenAI` schemas have the model send every field.
pub(crate) fn restore(arguments: &mut Value, source: &Value, key: FieldNamer) {
    ArgumentRestorer { document: source, key, questions: Cell::new(MOST_QUESTIONS) }.walk(
        arguments,
        vec![source],
        0,
    );
}

struct ArgumentRestorer<'a> {
    document: &'a Value,
    key: FieldNamer,
    /// Schemas that may still be asked whether they admit `null`.
    questions: Cell<usize>,
}

/// A schema that a value may have to meet.
struct CandidateSchema<'a> {
    fields: &'a Map<String, Value>,
    /// It must meet it, and not perhaps another one instead.
    certain: bool,
}

impl<'a> ArgumentRestorer<'a> {
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
                    let of_item = |view: &CandidateSchema<'a>| {
                        let ordered =
                            view.fields.get("prefixItems").and_then(|list| list.get(place));
                        ordered.or_else(|| view.fields.get("items"))
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
        views: &[CandidateSchema<'a>],
        depth: usize,
    ) -> Map<String, Value> {
        let mut declared: HashMap<&str, Vec<&'a Value>> = HashMap::new();
        let mut by_wire: HashMap<String, &str> = HashMap::new();
        for view in views {
            let properties = view.fields.get("properties").and_then(Value::as_object);
            for (name, schema) in properties.into_iter().flatten() {
                declared.entry(name).or_default().push(schema);
                by_wire.insert((self.key)(name).into_owned(), name);
            }
        }
        let is_required = |name: &str| {
            views.iter().filter(|view| view.certain).any(|view| {
                let required = view.fields.get("required").and_then(Value::as_array);
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
                let further =
                    views.iter().filter_map(|view| view.fields.get("additionalProperties"));
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
    fn views(&self, schemas: Vec<&'a Value>) -> Vec<CandidateSchema<'a>> {
        let mut views = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<_> = schemas.into_iter().map(|schema| (schema, true)).collect();
        while let Some((schema, certain)) = open.pop() {
            let Value::Object(fields) = schema else {
                continue;
            };
            if seen.len() >= MOST_VIEWS || !seen.insert(std::ptr::from_ref(fields)) {
                continue;
            }
            views.push(CandidateSchema { fields, certain });
            let reference = fields.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|to| resolve(self.document, to));
            open.extend(target.map(|target| (target, certain)));
            for (keyword, holds) in [("allOf", certain), ("anyOf", false), ("oneOf", false)] {
                let members = fields.get(keyword).and_then(Value::as_array);
                open.extend(members.into_iter().flatten().map(|member| (member, holds)));
            }
            let branches = ["then", "else"].into_iter().filter_map(|keyword| fields.get(keyword));
            open.extend(branches.map(|branch| (branch, false)));
        }
        views
    }

    fn admits_null(&self, schema: &'a Value, depth: usize) -> bool {
        let Value::Object(fields) = schema else {
            return schema != &Value::Bool(false);
        };
        let left = self.questions.get();
        if depth > DEEPEST || left == 0 {
            return true;
        }
        self.questions.set(left - 1);
        let every = |keyword: &str| fields.get(keyword).and_then(Value::as_array);
        let inner = |schema: &'a Value| self.admits_null(schema, depth + 1);
        let target = fields.get("$ref").and_then(Value::as_str);
        fields.get("type").is_none_or(|types| type_list(types).contains(&"null"))
            && fields.get("const").is_none_or(Value::is_null)
            && every("enum").is_none_or(|values| values.contains(&Value::Null))
            && every("allOf").is_none_or(|all| all.iter().all(inner))
            && every("anyOf").is_none_or(|any| any.iter().any(inner))
            && every("oneOf").is_none_or(|one| one.iter().any(inner))
            && target.and_then(|to| resolve(self.document, to)).is_none_or(inner)
    }
}
