//! JSON Schema nearly whole, for APIs that take it so.

use serde_json::{Map, Value, json};

use super::root::ObjectRoot;
use super::{DialectSchema, SchemaLoss, annotate, pointer, resolve, rule_text, type_list};

/// The root is an object already; below it, only forms that some APIs stumble over are rewritten,
/// and those mean the same afterwards, but for a `$ref` that leads out of the schema.
pub(super) fn compile(root: ObjectRoot) -> DialectSchema {
    let document = Value::Object(root.schema);
    let mut tidying = LenientWriter { document: &document, lost: root.lost };
    let mut schema = tidying.schema(&document, "");
    if let Value::Object(fields) = &mut schema {
        fields.shift_remove("$schema");
        fields.shift_remove("$id");
    }
    DialectSchema {
        schema,
        lost: tidying.lost,
        notes: root.notes,
        strict: false,
        altered: root.renamed,
        optional: 0,
        unions: 0,
    }
}

struct LenientWriter<'a> {
    document: &'a Value,
    lost: Vec<SchemaLoss>,
}

impl LenientWriter<'_> {
    /// `true` and `false` as objects, and `items` for every array.
    fn schema(&mut self, schema: &Value, at: &str) -> Value {
        let old = match schema {
            Value::Object(fields) => fields,
            Value::Bool(false) => return json!({ "not": {} }),
            Value::Null
            | Value::Bool(true)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => return json!({}),
        };
        let mut fields = Map::with_capacity(old.len());
        let mut notes = Vec::new();
        for (keyword, value) in old {
            if is_empty_list(keyword, value) {
                continue;
            }
            if keyword == "$ref" && !self.leads_somewhere(value) {
                notes.push(rule_text::rule(keyword, value));
                let path = pointer(at, keyword);
                let what = keyword.clone();
                self.lost.push(SchemaLoss { path, what, cure: "said in the description" });
                continue;
            }
            fields.insert(keyword.clone(), self.value(keyword, value, at));
        }
        let array = fields.get("type").is_some_and(|types| type_list(types).contains(&"array"));
        if array && !fields.contains_key("items") && !fields.contains_key("prefixItems") {
            fields.insert("items".to_owned(), json!({}));
        }
        annotate(&mut fields, &notes);
        Value::Object(fields)
    }

    fn value(&mut self, keyword: &str, value: &Value, at: &str) -> Value {
        let at = pointer(at, keyword);
        match (keyword, value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => named
                .iter()
                .map(|(name, schema)| (name.clone(), self.schema(schema, &pointer(&at, name))))
                .collect(),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => (0usize..)
                .zip(list)
                .map(|(place, schema)| self.schema(schema, &format!("{at}/{place}")))
                .collect(),
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames",
                Value::Object(_),
            )
            | ("items", Value::Bool(_)) => self.schema(value, &at),
            _ => value.clone(),
        }
    }

    fn leads_somewhere(&self, reference: &Value) -> bool {
        reference.as_str().is_some_and(|to| resolve(self.document, to).is_some())
    }
}

/// Lists of schemas hold at least one by the standard: an empty one says nothing, and some APIs
/// refuse it.
fn is_empty_list(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "anyOf" | "oneOf" | "allOf" | "prefixItems")
        && value.as_array().is_some_and(Vec::is_empty)
}
