//! Turns the validator's errors into violations: the path, what is expected, what is there.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of errors are the validator's: a new one is met in general words"
)]

pub(crate) mod expected;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::bounds::push_token;
use super::compiled::CompiledSchema;
use super::excerpt;
use super::graph::{SchemaGraph, SchemaNode};
use super::similar_names::nearest;
use super::violation::{Violation, Violations};
use crate::schema::bounds::work;
use expected::JOINED;

/// Characters of a value that are shown.
const SHOWN: usize = 60;
/// Violations that are looked at to find those that say most.
const LOOKED_AT: usize = 4 * Violations::MOST;
/// Alternatives within alternatives that are looked into.
const NESTED_UNIONS: usize = 4;
/// A check that lists errors may take fewer steps: each error takes room.
const LISTING_STEPS: u64 = 50_000;
/// For each error the validator may copy what is wrong, or a name as long as the whole value, so
/// checks times bytes are bounded. No check of real arguments comes near.
const LISTING_BYTES: u64 = 256 * 1024 * 1024;

/// What is wrong with a value that is not valid.
pub(super) fn explain(schema: &CompiledSchema, instance: &Value) -> Violations {
    if !schema.admits(instance) {
        let expected = "a value that is smaller or less deep".to_owned();
        return single(expected, "more than is checked".to_owned());
    }
    let Some(errors) = list(schema, instance) else {
        let expected = "a value that fits the schema".to_owned();
        return single(expected, "one too large to say where it does not".to_owned());
    };
    let mut found = ViolationCollector {
        graph: &schema.graph,
        whole: instance,
        violations: Vec::new(),
        more: 0,
    };
    for error in &errors {
        found.add(error, NESTED_UNIONS);
    }
    found.finish()
}

/// The validator's errors, if listing them stays within bounds.
pub(super) fn list<'i>(
    schema: &'i CompiledSchema,
    instance: &'i Value,
) -> Option<Vec<ValidationError<'i>>> {
    let bounds = &schema.bounds;
    work::measure(instance, bounds.instance_depth, bounds.steps)?;
    let cost = work::count(&schema.graph, instance, LISTING_STEPS).ok()?;
    let affordable = cost.checks.saturating_mul(work::bytes(instance)) <= LISTING_BYTES;
    affordable.then(|| schema.validator.iter_errors(instance).collect())
}

fn single(expected: String, got: String) -> Violations {
    Violations { places: vec![Violation { path: String::new(), expected, got }], more: 0 }
}

struct ViolationCollector<'g> {
    graph: &'g SchemaGraph,
    whole: &'g Value,
    /// Each with whether a listing of the admitted values makes it superfluous.
    violations: Vec<(Violation, ViolationRank)>,
    /// What is only counted.
    more: usize,
}

/// Which of two violations of one place says more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ViolationRank {
    /// Only the type is said.
    Type,
    /// The admitted values are said.
    Values,
    Other,
}

impl ViolationCollector<'_> {
    fn finish(mut self) -> Violations {
        let listed: Vec<String> = self
            .violations
            .iter()
            .filter(|(_, rank)| *rank == ViolationRank::Values)
            .map(|(violation, _)| violation.path.clone())
            .collect();
        self.violations.retain(|(violation, rank)| {
            *rank != ViolationRank::Type || !listed.contains(&violation.path)
        });
        let mut places: Vec<Violation> = Vec::new();
        let mut more = self.more;
        for (violation, _) in self.violations {
            if places.contains(&violation) {
                continue;
            }
            if places.len() < Violations::MOST {
                places.push(violation);
            } else {
                more += 1;
            }
        }
        Violations { places, more }
    }

    /// Whether so much is found that an error is only counted.
    fn is_enough(&mut self) -> bool {
        let is_enough = self.violations.len() >= LOOKED_AT;
        self.more += usize::from(is_enough);
        is_enough
    }

    fn add(&mut self, error: &ValidationError<'_>, nested: usize) {
        if self.is_enough() {
            return;
        }
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                self.push_below(error, name, "a required argument", "nothing");
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    if self.is_enough() {
                        continue;
                    }
                    let expected = self.unknown(error, name);
                    self.push_below(error, name, &expected, "");
                }
            }
            // Without `properties` the validator blames the first member, and not by its name.
            Kind::FalseSchema
                if error.evaluation_path().as_str().ends_with("/additionalProperties") =>
            {
                let holder = self.whole.pointer(error.instance_path().as_str());
                let members = holder.and_then(Value::as_object).into_iter().flatten();
                for (name, _) in members {
                    if self.is_enough() {
                        continue;
                    }
                    self.push_below(error, name, "not a known argument: leave it out", "");
                }
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.add_union(error, context, nested);
            }
            Kind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default().to_owned();
                let wanted = format!("a name that is {}", self.expected(inner));
                self.push_below(error, &name, &wanted, &excerpt::show(inner.instance(), SHOWN));
            }
            kind => {
                let rank = match kind {
                    Kind::Type { .. } => ViolationRank::Type,
                    Kind::Enum { .. } | Kind::Constant { .. } => ViolationRank::Values,
                    _ => ViolationRank::Other,
                };
                let violation = Violation {
                    path: error.instance_path().as_str().to_owned(),
                    expected: self.expected(error),
                    got: excerpt::show(error.instance(), SHOWN),
                };
                self.violations.push((violation, rank));
            }
        }
    }

    /// Tells of the branch that was most likely meant; of all of them if each asks for another
    /// value at the very place.
    fn add_union(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[Vec<ValidationError<'static>>],
        nested: usize,
    ) {
        let path = error.instance_path().as_str();
        let here = |error: &ValidationError<'_>| {
            error.instance_path().as_str() == path && expected::is_of_value(error.kind())
        };
        let best = branches.iter().filter(|errors| !errors.iter().any(here)).min_by_key(|errors| {
            let foreign = errors.iter().filter(|error| expected::tells_apart(error.kind()));
            (foreign.count(), errors.len())
        });
        if let (Some(errors), Some(nested)) = (best, nested.checked_sub(1)) {
            for error in errors {
                self.add(error, nested);
            }
            return;
        }
        let mut wanted: Vec<String> = Vec::new();
        for error in branches.iter().filter_map(|errors| errors.iter().find(|error| here(error))) {
            let one = self.expected(error);
            if !wanted.contains(&one) {
                wanted.push(one);
            }
        }
        let left_out = wanted.len() > JOINED;
        wanted.truncate(JOINED);
        let mut expected = wanted.join(" or ");
        expected.push_str(if left_out { " or more" } else { "" });
        if expected.is_empty() {
            "a value that fits one of the alternatives".clone_into(&mut expected);
        }
        let got = excerpt::show(error.instance(), SHOWN);
        self.violations
            .push((Violation { path: path.to_owned(), expected, got }, ViolationRank::Other));
    }

    fn expected(&self, error: &ValidationError<'_>) -> String {
        let node = self.graph.holder(error.evaluation_path().as_str());
        expected::expected(
            error.kind(),
            error.instance(),
            node.and_then(|node| node.format.as_deref()),
        )
    }

    /// Says that a member is unknown, and which name was meant or which there are.
    fn unknown(&self, error: &ValidationError<'_>, name: &str) -> String {
        const LISTED: usize = 8;
        let node = self.graph.holder(error.evaluation_path().as_str());
        let known: Vec<&str> = node.into_iter().flat_map(SchemaNode::properties).collect();
        let missing = |known: &&str| error.instance().get(*known).is_none();
        let meant = nearest(name, known.iter().copied().filter(missing));
        if let Some(meant) = meant {
            let meant = excerpt::shorten(meant, SHOWN);
            return format!("not a known argument, did you mean `{meant}`?");
        }
        let names: Vec<String> = known
            .iter()
            .take(LISTED)
            .map(|known| format!("`{}`", excerpt::shorten(known, SHOWN)))
            .collect();
        match (names.is_empty(), known.len() > LISTED) {
            (true, _) => "not a known argument: leave it out".to_owned(),
            (false, false) => format!("not a known argument, known are {}", names.join(", ")),
            (false, true) => format!("not a known argument, known are {}, …", names.join(", ")),
        }
    }

    fn push_below(&mut self, error: &ValidationError<'_>, name: &str, expected: &str, got: &str) {
        let mut path = error.instance_path().as_str().to_owned();
        push_token(&mut path, name);
        let violation = Violation { path, expected: expected.to_owned(), got: got.to_owned() };
        self.violations.push((violation, ViolationRank::Other));
    }
}
