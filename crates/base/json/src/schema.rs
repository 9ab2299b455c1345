//! Schemas of tools: compiled once within bounds, checked with errors that a model can act on.

mod bounds;
mod coerce;
mod compiled;
mod error;
mod excerpt;
mod explain;
mod graph;
mod normalize;
mod references;
mod signature;
mod similar_names;
mod violation;

use std::fmt;
use std::sync::Arc;

use referencing::Registry;
use serde_json::Value;

use compiled::CompiledSchema;
use normalize::lenient::LenientSchema;

pub use bounds::SchemaBounds;
pub use coerce::coercion::Coercion;
pub use error::SchemaError;
pub use normalize::lenient::UncheckedKeyword;
pub use normalize::tidy::tidied;
pub use references::SchemaDocuments;
pub use signature::signature;
pub use violation::{Violation, Violations};

/// A compiled JSON Schema; cloning shares it.
///
/// The draft is what `$schema` says: 2020-12 if it says nothing, 2019-09, 7, 6 or 4.
/// `format`, `contentEncoding` and `contentMediaType` are annotations and refuse nothing.
/// Nothing is ever fetched: a reference leads into the document, into the meta-schemas of the
/// drafts, or into [`SchemaDocuments`] that were handed in.
#[derive(Clone)]
pub struct Schema(Arc<CompiledSchema>);

impl Schema {
    /// Compiles a schema within [`SchemaBounds::default`].
    pub fn compile(source: &Value) -> Result<Schema, SchemaError> {
        Schema::compile_within(source, &SchemaBounds::default())
    }

    /// Compiles a schema within `bounds`.
    pub fn compile_within(source: &Value, bounds: &SchemaBounds) -> Result<Schema, SchemaError> {
        compile(source, bounds, SchemaDocuments::meta_schemas())
    }

    /// Compiles a schema whose references may lead into `documents`.
    pub fn compile_with(
        source: &Value,
        bounds: &SchemaBounds,
        documents: &SchemaDocuments,
    ) -> Result<Schema, SchemaError> {
        compile(source, bounds, documents.registry())
    }

    /// The schema as it was written.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// Keywords that cannot be used and are not checked: whoever gets the value may.
    pub fn left(&self) -> &[UncheckedKeyword] {
        &self.0.left
    }

    /// Whether a value satisfies the schema. A value that is too deep or too large for the
    /// bounds does not.
    pub fn is_valid(&self, instance: &Value) -> bool {
        self.0.is_valid(instance)
    }

    /// Says what is wrong with a value: at most [`Violations::MOST`] places.
    pub fn check(&self, instance: &Value) -> Result<(), Violations> {
        if self.is_valid(instance) { Ok(()) } else { Err(explain::explain(&self.0, instance)) }
    }

    /// Makes of a value what the schema leaves no doubt about, and says what was changed.
    ///
    /// The result validates, or it is the value that came in and nothing was changed.
    pub fn coerce(&self, instance: Value) -> (Value, Vec<Coercion>) {
        if self.is_valid(&instance) {
            return (instance, Vec::new());
        }
        match coerce::coerce(&self.0, &instance) {
            Some((value, coercions)) => (value, coercions),
            None => (instance, Vec::new()),
        }
    }

    /// The schema as the parameters of a function called `name`, on one line.
    pub fn signature(&self, name: &str) -> String {
        signature(name, &self.0.source)
    }
}

/// Compiles a schema, once more in the later form where an old habit is why it was refused, and
/// without what cannot be used.
fn compile(
    source: &Value,
    bounds: &SchemaBounds,
    documents: &Registry<'static>,
) -> Result<Schema, SchemaError> {
    bounds::check_document(source, bounds)?;
    let mut compiled = match compile_once(source, bounds, documents) {
        Ok(compiled) => compiled,
        Err(refusal) => {
            // Rare, and large.
            eased(source, refusal, &|schema| compile_once(schema, bounds, documents), bounds)?
        }
    };
    compiled.source.clone_from(source);
    Ok(Schema(Arc::new(compiled)))
}

/// What is left of a schema that was refused. `Err`: why nothing is, as it was first.
fn eased(
    source: &Value,
    refusal: SchemaError,
    compile: &dyn Fn(&Value) -> Result<CompiledSchema, SchemaError>,
    bounds: &SchemaBounds,
) -> Result<CompiledSchema, SchemaError> {
    let mut easing = LenientSchema::of(source);
    let (mut found, mut was_adapted) = (None, false);
    loop {
        let refused = found.as_ref().unwrap_or(&refusal);
        // Once: what was refused all the same would be adapted for ever.
        let adapted = normalize::draft4::adapted(&easing.schema, refused).filter(|_| !was_adapted);
        match adapted {
            Some(adapted) => (easing.schema, was_adapted) = (adapted, true),
            None if easing.takes_out(refused, bounds) => {}
            None => return Err(refusal),
        }
        match compile(&easing.schema) {
            Ok(compiled) => {
                let mut left = easing.left;
                for left in &mut left {
                    left.at = normalize::lenient::as_written(source, &left.at);
                }
                return Ok(CompiledSchema { left, ..compiled });
            }
            Err(refused) => found = Some(refused),
        }
    }
}

fn compile_once(
    source: &Value,
    bounds: &SchemaBounds,
    documents: &Registry<'static>,
) -> Result<CompiledSchema, SchemaError> {
    let (start, registry) = references::prepare(source, documents)?;
    let (graph, patterns) = graph::explore::explore(start, &registry, bounds)?;
    let total = bounds::unfold::check(&graph, bounds)?;
    bounds::scopes::check(&graph, bounds)?;
    let validator =
        references::options().with_registry(documents).build(source).map_err(|error| {
            let refused = patterns.iter().find_map(bounds::pattern::SchemaPattern::refusal);
            refused.unwrap_or_else(|| references::refusal(source, &error))
        })?;
    let (source, bounds, left) = (Value::Null, bounds.clone(), Vec::new());
    Ok(CompiledSchema { source, validator, graph, total, bounds, left })
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Schema").field(&self.0.source).finish()
    }
}
