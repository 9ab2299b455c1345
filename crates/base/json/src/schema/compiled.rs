//! A schema made ready for checks: the validator, and what bounds its work.

use serde_json::Value;

use super::bounds::unfold::UnfoldTotal;
use super::bounds::{SchemaBounds, work};
use super::graph::SchemaGraph;
use super::normalize::lenient::UncheckedKeyword;

pub(super) struct CompiledSchema {
    pub(super) source: Value,
    pub(super) validator: jsonschema::Validator,
    pub(super) graph: SchemaGraph,
    /// What a check takes whatever the value; nothing for recursive schemas.
    pub(super) total: Option<UnfoldTotal>,
    pub(super) bounds: SchemaBounds,
    /// What of the source is not checked.
    pub(super) left: Vec<UncheckedKeyword>,
}

impl CompiledSchema {
    /// Whether a check of the value stays within the bounds.
    pub(super) fn admits(&self, instance: &Value) -> bool {
        work::admit(&self.graph, self.total, instance, &self.bounds).is_ok()
    }

    pub(super) fn is_valid(&self, instance: &Value) -> bool {
        self.admits(instance) && self.validator.is_valid(instance)
    }
}
