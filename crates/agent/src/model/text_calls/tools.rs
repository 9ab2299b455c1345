//! The tools that a model is told of in its instructions.

use std::collections::BTreeMap;

use serde_json::Value;
use toolcrib_core::Plan;
use toolcrib_dialect::{Dialect as _, OpenAiChat};

/// Tools in the form that most models learned: `{"type": "function", "function": {..}}`.
#[derive(Debug, Default)]
pub(crate) struct TextTools {
    definitions: Vec<Value>,
    places: BTreeMap<String, usize>,
}

/// One tool, as it is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a Value,
}

impl TextTools {
    /// Those of a plan, then these of the caller.
    pub(crate) fn of(plan: &Plan, further: impl IntoIterator<Item = Value>) -> Self {
        let rendering = OpenAiChat::default().rendering(plan);
        let own = rendering.tools.as_array().into_iter().flatten().cloned();
        let is_function = |tool: &Value| tool.pointer("/function/name").is_some();
        let definitions: Vec<_> = own.chain(further).filter(is_function).collect();
        let names = definitions.iter().enumerate().filter_map(|(place, tool)| {
            Some((tool.pointer("/function/name")?.as_str()?.to_owned(), place))
        });
        Self { places: names.collect(), definitions }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    pub(crate) fn definitions(&self) -> &[Value] {
        &self.definitions
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = TextTool<'_>> {
        self.definitions.iter().filter_map(told)
    }

    pub(crate) fn get(&self, name: &str) -> Option<TextTool<'_>> {
        told(self.definitions.get(*self.places.get(name)?)?)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }
}

impl<'a> TextTool<'a> {
    /// Its parameters with their schemas, and whether each must be there.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'a str, &'a Value, bool)> {
        let parameters = self.parameters;
        let required = parameters.get("required").and_then(Value::as_array);
        let is_required =
            move |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let fields = parameters.get("properties").and_then(Value::as_object);
        fields
            .into_iter()
            .flatten()
            .map(move |(name, schema)| (name.as_str(), schema, is_required(name)))
    }

    /// The schema of a parameter.
    pub(crate) fn field(&self, name: &str) -> Option<&'a Value> {
        self.parameters.get("properties")?.get(name)
    }
}

fn told(definition: &Value) -> Option<TextTool<'_>> {
    let function = definition.get("function")?;
    Some(TextTool {
        name: function.get("name")?.as_str()?,
        description: function.get("description").and_then(Value::as_str).unwrap_or_default(),
        parameters: function.get("parameters").unwrap_or(&Value::Null),
    })
}

/// The types that a schema lets a value have; empty where it does not say.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    let branches = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    for schema in std::iter::once(schema).chain(branches.flatten()) {
        match schema.get("type") {
            Some(Value::Array(list)) => all.extend(list.iter().filter_map(Value::as_str)),
            said => all.extend(said.and_then(Value::as_str)),
        }
    }
    all
}
