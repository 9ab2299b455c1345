//! A tool's JSON Schema in the subset that a model API takes.
//!
//! Nothing is dropped without a word: what an API does not take is a [`SchemaLoss`], and stands in
//! a description instead. The executor enforces the whole schema all the same.

mod branches;
mod field_names;
mod fields;
mod lenient;
mod merge;
mod recursion;
pub(crate) mod restore_arguments;
mod root;
mod rule_text;
mod subset;
mod types;
mod writer;

use serde_json::{Map, Value};

pub(crate) use rule_text::annotate as annotated;
pub(crate) use subset::{ANTHROPIC_STRICT, GEMINI, OPENAI_STRICT, SchemaSubset};

/// Deepest nesting of a schema that is read.
const DEEPEST: usize = 64;
/// Most values that a schema may hold, and most that may be written for it.
const MOST_VALUES: usize = 20_000;

/// A rule or a text that an API does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaLoss {
    /// JSON pointer into the tool's input schema.
    pub(crate) path: String,
    pub(crate) what: String,
    pub(crate) cure: &'static str,
}

/// How a schema is sent.
#[derive(Debug)]
pub(crate) struct DialectSchema {
    pub(crate) schema: Value,
    pub(crate) lost: Vec<SchemaLoss>,
    /// What the description of the tool must add.
    pub(crate) notes: Vec<String>,
    /// The API was asked to hold the model to it.
    pub(crate) strict: bool,
    /// Arguments must be put back by `restore`.
    pub(crate) altered: bool,
    /// Arguments that may be left out, and those of several types: Anthropic counts them.
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// Says why a schema cannot be sent at all.
pub(crate) type UnsupportedReason = String;

/// How a field may be named: as `names::Alphabet::encode`.
pub(crate) type FieldNamer = fn(&str) -> std::borrow::Cow<'_, str>;

/// Compiles for an API that takes JSON Schema nearly whole.
pub(crate) fn loose(source: &Value, key: FieldNamer) -> Result<DialectSchema, UnsupportedReason> {
    let root = root::object(source, key)?;
    Ok(lenient::compile(root))
}

/// Compiles for a subset. A strict subset that cannot say the schema is left for the loose form.
pub(crate) fn within(
    source: &Value,
    subset: &SchemaSubset,
    key: FieldNamer,
) -> Result<DialectSchema, UnsupportedReason> {
    let root = root::object(source, key)?;
    match writer::compile(&root, subset) {
        Ok(compiled) => Ok(compiled),
        Err(unsayable) if subset.strict => {
            let mut compiled = lenient::compile(root);
            compiled.lost.push(SchemaLoss {
                path: unsayable.path,
                what: format!("strict: {}", unsayable.what),
                cure: "the tool is sent without strict",
            });
            Ok(compiled)
        }
        Err(unsayable) => Err(format!("{} at `{}`", unsayable.what, unsayable.path)),
    }
}

/// The types that a `type` keyword names.
fn type_list(types: &Value) -> Vec<&str> {
    match types {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// What a local `$ref` points to; anchors and other documents are not looked up.
fn resolve<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.contains('%') {
        return None;
    }
    document.pointer(pointer)
}

/// Whether a schema lies within the bounds of work; found without recursion.
fn is_bounded(source: &Value) -> bool {
    let mut open = vec![(source, 0usize)];
    let mut seen = 0usize;
    while let Some((value, depth)) = open.pop() {
        seen += 1;
        if depth > DEEPEST || seen > MOST_VALUES {
            return false;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => open.extend(fields.values().map(|item| (item, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

fn pointer(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Appends notes to the description of a schema.
fn annotate(schema: &mut Map<String, Value>, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    let old = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let new = rule_text::annotate(old, notes);
    schema.insert("description".to_owned(), new.into());
}
