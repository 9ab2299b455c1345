//! What the search reads of a tool.

use std::borrow::Cow;

use serde_json::Value;
use toolcrib_core::{Effect, ToolSpec};
use toolcrib_search::{DocumentArgument, ToolDocument};

/// How deep fields of fields are read.
const DEEPEST: usize = 3;
/// Arguments of one tool that are read.
const MOST: usize = 128;

pub(crate) fn document(spec: &ToolSpec) -> ToolDocument<'_> {
    let mut arguments = Vec::new();
    take(&spec.input.value(), DEEPEST, &mut arguments);
    let mut results = Vec::new();
    if let Some(output) = &spec.output {
        let mut fields = Vec::new();
        take(&output.value(), 2, &mut fields);
        results = fields.into_iter().map(|field| field.name).collect();
    }
    let origin = spec.origin.name.as_deref().into_iter().chain(spec.title.as_deref());
    let aliases = origin.chain(spec.aliases.iter().map(String::as_str));
    ToolDocument {
        name: spec.name.as_str().into(),
        summary: spec.summary.as_str().into(),
        description: spec.description.as_str().into(),
        category: spec.category.as_deref().map(Cow::from),
        actions: spec.actions.iter().map(|action| action.as_str().into()).collect(),
        source: spec.origin.source.as_str().into(),
        tags: spec.tags.iter().map(|tag| tag.as_str().into()).collect(),
        arguments,
        results,
        examples: spec.examples.iter().map(|example| example.as_str().into()).collect(),
        aliases: aliases.map(Cow::from).collect(),
        writes: spec.effect != Effect::Read,
        ..ToolDocument::default()
    }
}

/// The fields of a schema, those within them after them.
fn take(schema: &Value, deep: usize, into: &mut Vec<DocumentArgument<'static>>) {
    let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array);
    for (name, field) in fields {
        if into.len() >= MOST {
            return;
        }
        let text = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let values = field.get("enum").and_then(Value::as_array).into_iter().flatten();
        let values = values.filter_map(Value::as_str).take(32);
        into.push(DocumentArgument {
            name: name.clone().into(),
            description: text.to_owned().into(),
            values: values.map(|value| value.to_owned().into()).collect(),
            required: required.is_some_and(|all| all.iter().any(|one| one == name)),
        });
        if deep > 1 {
            take(field, deep - 1, into);
            if let Some(items) = field.get("items") {
                take(items, deep - 1, into);
            }
        }
    }
}
