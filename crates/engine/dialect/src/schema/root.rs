//! The root of a schema as an object without combinators, which every model API asks for.

use serde_json::{Map, Value, json};

use super::merge::merge;
use super::{
    FieldNamer, SchemaLoss, UnsupportedReason, field_names, is_bounded, pointer, resolve,
    rule_text, type_list,
};

/// Most steps that the combinators of one root may take.
const MOST_STEPS: usize = 1_000;
/// Deepest nesting of its forms.
const DEEPEST: usize = 8;
/// Most forms that a description lists.
const MOST_LISTED: usize = 20;

/// A schema whose root is an object.
pub(super) struct ObjectRoot {
    pub(super) schema: Map<String, Value>,
    /// The schema as it came, but for its keys: `$ref`s point into it.
    pub(super) document: Value,
    pub(super) lost: Vec<SchemaLoss>,
    pub(super) notes: Vec<String>,
    /// Some fields have other names on the wire.
    pub(super) renamed: bool,
}

pub(super) fn object(source: &Value, key: FieldNamer) -> Result<ObjectRoot, UnsupportedReason> {
    if !is_bounded(source) {
        return Err("its schema is too large or too deeply nested".to_owned());
    }
    let (document, renamed) = field_names::rename(source, key);
    let schema = match &document {
        Value::Object(schema) => schema.clone(),
        Value::Bool(true) => Map::new(),
        Value::Null
        | Value::Bool(false)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_) => {
            return Err("its schema allows no arguments at all".to_owned());
        }
    };
    let mut flattening = RootFlattener {
        document: &document,
        lost: Vec::new(),
        notes: Vec::new(),
        steps: 0,
        depth: 0,
    };
    for (key, wire) in renamed.iter().take(20) {
        flattening.notes.push(format!("`{wire}` stands for `{key}`"));
    }
    let schema = flattening.flatten(schema);
    if flattening.steps >= MOST_STEPS {
        return Err("its root has too many forms".to_owned());
    }
    let (lost, notes) = (flattening.lost, flattening.notes);
    let schema = as_object(schema)?;
    Ok(ObjectRoot { schema, lost, notes, renamed: !renamed.is_empty(), document })
}

/// Puts `type` and `properties` first, as object.
fn as_object(mut schema: Map<String, Value>) -> Result<Map<String, Value>, UnsupportedReason> {
    if let Some(types) = schema.shift_remove("type")
        && !type_list(&types).contains(&"object")
    {
        return Err(format!("its arguments would be no object but {}", rule_text::quote(&types)));
    }
    let mut object = Map::with_capacity(schema.len() + 2);
    object.insert("type".to_owned(), "object".into());
    let properties = schema.shift_remove("properties").filter(Value::is_object);
    object.insert("properties".to_owned(), properties.unwrap_or_else(|| json!({})));
    object.extend(schema);
    Ok(object)
}

struct RootFlattener<'a> {
    document: &'a Value,
    lost: Vec<SchemaLoss>,
    notes: Vec<String>,
    steps: usize,
    depth: usize,
}

impl RootFlattener<'_> {
    fn flatten(&mut self, mut schema: Map<String, Value>) -> Map<String, Value> {
        schema = self.join(schema);
        for combinator in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = schema.shift_remove(combinator) {
                schema = self.unite(schema, combinator, &branches);
            }
        }
        for keyword in ["not", "enum", "const"] {
            if let Some(rule) = schema.shift_remove(keyword) {
                self.lose(keyword, rule_text::rule(keyword, &rule));
            }
        }
        if let Some(test) = schema.shift_remove("if") {
            let then = schema.shift_remove("then");
            let otherwise = schema.shift_remove("else");
            self.lose("if", rule_text::condition(&test, then.as_ref(), otherwise.as_ref()));
        }
        schema
    }

    /// Resolves `$ref` and `allOf`, again and again, within a bound.
    fn join(&mut self, mut schema: Map<String, Value>) -> Map<String, Value> {
        let mut unmerged = Vec::new();
        while self.steps < MOST_STEPS {
            let mut members = Vec::new();
            if let Some(reference) = schema.shift_remove("$ref") {
                let target = reference.as_str().and_then(|to| resolve(self.document, to));
                match target {
                    Some(target) => members.push(target.clone()),
                    None => self.lose("$ref", rule_text::rule("$ref", &reference)),
                }
            }
            if let Some(Value::Array(all)) = schema.shift_remove("allOf") {
                members.extend(all);
            }
            if members.is_empty() {
                break;
            }
            for member in members.iter().filter_map(Value::as_object) {
                self.steps += 1;
                schema = merge(schema, member, &mut unmerged);
            }
        }
        for (keyword, rule) in unmerged {
            self.lose(&keyword, rule_text::rule(&keyword, &rule));
        }
        for left in ["$ref", "allOf"] {
            if let Some(rule) = schema.shift_remove(left) {
                self.lose(left, rule_text::rule(left, &rule));
            }
        }
        schema
    }

    /// One object that holds the fields of all branches; which belong together is said in words.
    /// Forms within forms that lie too deep use up all steps, and the schema is refused.
    fn unite(
        &mut self,
        base: Map<String, Value>,
        combinator: &str,
        branches: &[Value],
    ) -> Map<String, Value> {
        let mut forms: Vec<Map<String, Value>> = Vec::new();
        for branch in branches.iter().filter(|branch| **branch != Value::Bool(false)) {
            self.steps += 1;
            if self.depth > DEEPEST {
                self.steps = MOST_STEPS;
            }
            if self.steps >= MOST_STEPS {
                break;
            }
            let mut inner = RootFlattener {
                document: self.document,
                lost: Vec::new(),
                notes: Vec::new(),
                steps: self.steps,
                depth: self.depth + 1,
            };
            let form = inner.flatten(branch.as_object().cloned().unwrap_or_default());
            self.steps = inner.steps;
            self.lost.extend(inner.lost);
            self.notes.extend(inner.notes);
            if form.get("type").is_none_or(|types| type_list(types).contains(&"object")) {
                forms.push(form);
            }
        }
        let count = if combinator == "oneOf" { "exactly one" } else { "at least one" };
        let mut listed: Vec<_> = forms.iter().take(MOST_LISTED).map(in_words).collect();
        if let Some(more @ 1..) = forms.len().checked_sub(MOST_LISTED) {
            listed.push(format!("one of {more} more"));
        }
        self.lose(combinator, format!("give {count} of these forms: {}", listed.join(" or ")));
        let mut unmerged = Vec::new();
        let schema = merge(base, &either(&forms), &mut unmerged);
        for (keyword, rule) in unmerged {
            self.lose(&keyword, rule_text::rule(&keyword, &rule));
        }
        schema
    }

    fn lose(&mut self, what: &str, note: String) {
        let path = pointer("", what);
        self.lost.push(SchemaLoss { path, what: what.to_owned(), cure: "said in the description" });
        self.notes.push(note);
    }
}

/// The fields that a form asks for, or else those that it has.
fn in_words(form: &Map<String, Value>) -> String {
    let required = form.get("required").and_then(Value::as_array);
    let mut names: Vec<String> = required
        .map(|names| names.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect())
        .unwrap_or_default();
    let properties = form.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let fixed = schema.get("const").map(|value| format!("{name}={}", rule_text::quote(value)));
        match (names.iter().position(|known| known == name), fixed) {
            (Some(at), Some(fixed)) => {
                if let Some(known) = names.get_mut(at) {
                    *known = fixed;
                }
            }
            (None, _) if required.is_none() => names.push(name.clone()),
            _ => {}
        }
    }
    format!("({})", names.join(", "))
}

/// What an object of any of the forms may look like.
fn either(forms: &[Map<String, Value>]) -> Map<String, Value> {
    let mut schemas: Map<String, Value> = Map::new();
    for form in forms {
        let properties = form.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let kinds = schemas.entry(name.clone()).or_insert_with(|| json!([]));
            if let Value::Array(kinds) = kinds
                && !kinds.contains(schema)
            {
                kinds.push(schema.clone());
            }
        }
    }
    let properties: Map<String, Value> =
        schemas.into_iter().map(|(name, kinds)| (name, one_of_kinds(kinds))).collect();
    let names = |form: &Map<String, Value>| {
        form.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut required = forms.first().map(names).unwrap_or_default();
    for form in forms {
        let also = names(form);
        required.retain(|name| also.contains(name));
    }
    let mut united = Map::new();
    united.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        united.insert("required".to_owned(), Value::Array(required));
    }
    united
}

/// The schema of a field that is of one of these kinds: the values of a discriminator together.
fn one_of_kinds(kinds: Value) -> Value {
    let Value::Array(kinds) = kinds else {
        return kinds;
    };
    if let [one] = kinds.as_slice() {
        return one.clone();
    }
    let mut values = Vec::new();
    for kind in &kinds {
        let only_values = kind.as_object().is_some_and(|kind| {
            kind.keys().all(|key| matches!(key.as_str(), "const" | "enum" | "type" | "description"))
        });
        match (kind.get("const"), kind.get("enum").and_then(Value::as_array)) {
            (Some(value), None) if only_values => values.push(value.clone()),
            (None, Some(many)) if only_values => values.extend(many.iter().cloned()),
            _ => return json!({ "anyOf": kinds }),
        }
    }
    let mut distinct: Vec<Value> = Vec::with_capacity(values.len());
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    match kinds.first().and_then(|kind| kind.get("type")) {
        Some(types) if kinds.iter().all(|kind| kind.get("type") == Some(types)) => {
            json!({ "type": types, "enum": distinct })
        }
        _ => json!({ "enum": distinct }),
    }
}
