//! Makes of a value what its schema leaves no doubt about.
//!
//! The validator says what is wrong; each complaint has at most one remedy; the remedies are
//! applied and the value is checked again.
//! What still does not validate is given back as it came.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of errors are the validator's: a new one is met in general words"
)]

pub(crate) mod coercion;
mod container;
mod remedy;
mod sole_type;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::compiled::CompiledSchema;
use super::explain;
use super::graph::SchemaGraph;
use coercion::Coercion;
use remedy::Remedy;
use sole_type::SoleType;

/// Rounds of remedies: text that holds a value, that holds text that holds a value, ends here.
const ROUNDS: usize = 6;
/// Remedies in all.
const MOST: usize = 256;
/// Alternatives within alternatives that are looked into.
const NESTED_UNIONS: usize = 4;

/// The value with all remedies, if it then validates.
pub(super) fn coerce(schema: &CompiledSchema, instance: &Value) -> Option<(Value, Vec<Coercion>)> {
    let mut value = instance.clone();
    let mut coercions = Vec::new();
    for _ in 0..ROUNDS {
        let remedies = {
            let errors = explain::list(schema, &value)?;
            let mut finder =
                RemedyFinder { graph: &schema.graph, whole: &value, found: Vec::new() };
            for error in &errors {
                finder.add(error, NESTED_UNIONS);
            }
            finder.found
        };
        for (path, remedy) in remedies {
            if let Some(coercion) = remedy.apply(&mut value, &path) {
                coercions.push(coercion);
            }
        }
        if coercions.is_empty() || coercions.len() > MOST {
            return None;
        }
        if schema.is_valid(&value) {
            return Some((value, coercions));
        }
    }
    None
}

struct RemedyFinder<'e> {
    graph: &'e SchemaGraph,
    whole: &'e Value,
    /// The place of each remedy, one remedy a place.
    found: Vec<(String, Remedy)>,
}

impl RemedyFinder<'_> {
    fn add(&mut self, error: &ValidationError<'_>, nested: usize) {
        if self.found.len() >= MOST {
            return;
        }
        for (path, remedy) in self.remedies(error, nested, SoleType::Yes).unwrap_or_default() {
            if !self.found.iter().any(|(known, _)| *known == path) {
                self.found.push((path, remedy));
            }
        }
    }

    /// What mends an error; nothing if there is doubt.
    fn remedies(
        &self,
        error: &ValidationError<'_>,
        nested: usize,
        alone: SoleType,
    ) -> Option<Vec<(String, Remedy)>> {
        match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.of_union(context, nested.checked_sub(1)?)
            }
            Kind::AdditionalProperties { unexpected } => {
                let node = self.graph.holder(error.evaluation_path().as_str())?;
                let known: Vec<&str> = node.properties().collect();
                remedy::renames(error, unexpected, &known)
            }
            _ => {
                let path = error.instance_path().as_str().to_owned();
                let remedy = self.null_member(error).or_else(|| remedy::of_value(error, alone))?;
                Some(vec![(path, remedy)])
            }
        }
    }

    /// The remedies of the one branch that all its errors can be mended for. If several can,
    /// they must come to the same.
    fn of_union(
        &self,
        branches: &[Vec<ValidationError<'static>>],
        nested: usize,
    ) -> Option<Vec<(String, Remedy)>> {
        let only_null = |errors: &&Vec<ValidationError<'static>>| !remedy::wants_only_null(errors);
        let alone = match branches.iter().filter(only_null).count() {
            0 | 1 => SoleType::Yes,
            _ => SoleType::No,
        };
        let mut meant: Option<Vec<(String, Remedy)>> = None;
        for errors in branches {
            let mended: Option<Vec<_>> =
                errors.iter().map(|error| self.remedies(error, nested, alone)).collect();
            let Some(mended) = mended else { continue };
            let mended: Vec<(String, Remedy)> = mended.into_iter().flatten().collect();
            match &meant {
                None => meant = Some(mended),
                Some(other) if *other == mended => {}
                Some(_) => return None,
            }
        }
        meant
    }

    /// A declared member that is null where null is not admitted is dropped; if the object
    /// requires it, the next check says so.
    fn null_member(&self, error: &ValidationError<'_>) -> Option<Remedy> {
        let path = error.instance_path().as_str();
        let (holder, name) = path.rsplit_once('/')?;
        let is_null = error.instance().is_null() && self.whole.pointer(holder)?.is_object();
        let declared = format!("/properties/{name}/");
        let is_value =
            matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. });
        let is_declared = error.evaluation_path().as_str().contains(&declared);
        (is_null && is_value && is_declared).then_some(Remedy::Drop)
    }
}
