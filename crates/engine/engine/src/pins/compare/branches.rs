//! `anyOf`, `oneOf`, `allOf`, and a `$ref` beside other keywords.

use serde_json::{Map, Value};

use super::super::drift_findings::DriftKind;
use super::keywords::{PropertyReading, only_choice};
use super::resolve::SchemaDocument;
use super::types::{OBJECT, TypeSet, values};
use super::{BeforeAfter, ComparedPosition, Comparison, EMPTY, Keywords, ResolvedSchema, node};

/// More branches than this are not proved to exclude each other.
const MOST_DISJOINT: usize = 64;

/// The branches of one keyword.
type Branches<'v> = BeforeAfter<Vec<&'v Value>>;

impl<'v> Comparison<'v> {
    pub(super) fn branches(&mut self, at: &ComparedPosition, keywords: Keywords<'v>) {
        self.conjunction(at, keywords);
        for key in ["anyOf", "oneOf"] {
            let sides = keywords.get(key);
            let list = |value: &'v Value| value.as_array().map(|list| list.iter().collect());
            let (before, after) = match (sides.before, sides.after) {
                (None, None) => continue,
                (None, Some(_)) => {
                    self.note(at, DriftKind::Narrowed, format!("`{key}` is new"));
                    continue;
                }
                (Some(_), None) => {
                    self.note(at, DriftKind::Widened, format!("`{key}` is gone"));
                    continue;
                }
                (Some(before), Some(after)) => (list(before), list(after)),
            };
            let (Some(before), Some(after)) = (before, after) else {
                self.note(at, DriftKind::Breaking, format!("`{key}` cannot be compared"));
                continue;
            };
            let alone = [keywords.before, keywords.after].iter().all(|side| only_choice(side, key));
            let reading = if alone { at.reading } else { PropertyReading::Literal };
            let at = at.within(&format!(" ({key})"), reading);
            let branches = BeforeAfter { before, after };
            if key == "oneOf" && !self.exclusive(&branches) {
                self.same_or_breaking(&at, branches);
            } else {
                self.choice(&at, branches);
            }
        }
    }

    /// `allOf`, and the target of a reference as one more of its branches.
    fn conjunction(&mut self, at: &ComparedPosition, keywords: Keywords<'v>) {
        let BeforeAfter { before, after } = self.documents;
        let (Some(before), Some(after)) =
            (conjuncts(before, keywords.before), conjuncts(after, keywords.after))
        else {
            return self.note(at, DriftKind::Breaking, "refers to what cannot be compared");
        };
        let at = at.within(" (allOf)", PropertyReading::Literal);
        let left = self.unmatched(BeforeAfter { before, after });
        match (left.before.len(), left.after.len()) {
            (before, after) if before == after => self.in_pairs(&at, left),
            (0, _) => self.note(&at, DriftKind::Narrowed, "one more condition"),
            (_, 0) => self.note(&at, DriftKind::Widened, "one condition less"),
            (..) => self.note(&at, DriftKind::Breaking, "the conditions cannot be compared"),
        }
    }

    /// What any branch accepts is accepted.
    fn choice(&mut self, at: &ComparedPosition, branches: Branches<'v>) {
        let left = self.unmatched(branches);
        match (left.before.len(), left.after.len()) {
            (before, after) if before == after => self.in_pairs(at, left),
            (0, _) => self.note(at, DriftKind::Widened, "one more form"),
            (_, 0) => self.note(at, DriftKind::Narrowed, "one form less"),
            (..) => self.note(at, DriftKind::Breaking, "the forms cannot be compared"),
        }
    }

    fn in_pairs(&mut self, at: &ComparedPosition, branches: Branches<'v>) {
        for (before, after) in branches.before.into_iter().zip(branches.after) {
            self.schema(at, BeforeAfter { before, after });
        }
    }

    /// A wider branch of `oneOf` may overlap with another and so shut out what was accepted.
    fn same_or_breaking(&mut self, at: &ComparedPosition, branches: Branches<'v>) {
        if branches.before.len() != branches.after.len() {
            return self.note(at, DriftKind::Breaking, "the forms cannot be compared");
        }
        // Pairs that are being compared may turn out to differ, so nothing seen counts here.
        let seen = std::mem::take(&mut self.seen);
        let known = std::mem::take(&mut self.findings);
        let left = self.unmatched(branches);
        self.in_pairs(at, left);
        self.seen = seen;
        let found = std::mem::replace(&mut self.findings, known);
        if found.kind().is_some_and(|kind| kind != DriftKind::Cosmetic) {
            self.note(at, DriftKind::Breaking, "one of the forms changed, and they may overlap");
        }
        self.findings.absorb(found);
    }

    /// Takes out the branches that both have.
    fn unmatched(&mut self, branches: Branches<'v>) -> Branches<'v> {
        let BeforeAfter { before, mut after } = branches;
        let mut left = Vec::new();
        for branch in before {
            self.steps = self.steps.saturating_sub(after.len());
            // Out of steps, nothing is found equal, and comparing the rest says so.
            let twin = if self.steps == 0 {
                None
            } else {
                after.iter().position(|other| self.alike(branch, other))
            };
            match twin {
                Some(twin) => drop(after.remove(twin)),
                None => left.push(branch),
            }
        }
        BeforeAfter { before: left, after }
    }

    /// Whether no instance can fit two branches, on either side.
    fn exclusive(&mut self, branches: &Branches<'v>) -> bool {
        let BeforeAfter { before, after } = self.documents;
        [(before, &branches.before), (after, &branches.after)].into_iter().all(
            |(document, branches)| {
                let branches: Vec<_> =
                    branches.iter().map(|branch| keywords(document, branch)).collect();
                branches.len() <= MOST_DISJOINT
                    && branches.iter().enumerate().all(|(place, branch)| {
                        let rest = branches.iter().skip(place + 1);
                        rest.into_iter().all(|other| disjoint(document, branch, other))
                    })
            },
        )
    }
}

fn conjuncts<'v>(
    document: SchemaDocument<'v>,
    keywords: &'v Map<String, Value>,
) -> Option<Vec<&'v Value>> {
    let mut branches = match keywords.get("allOf") {
        Some(all) => all.as_array()?.iter().collect(),
        None => Vec::new(),
    };
    if let Some(reference) = keywords.get("$ref") {
        branches.push(document.target(reference)?);
    }
    Some(branches)
}

/// The keywords of a branch; none if they cannot be told.
fn keywords<'v>(document: SchemaDocument<'v>, branch: &'v Value) -> &'v Map<String, Value> {
    match document.settle(branch).map(node) {
        Some(ResolvedSchema::Keywords(keywords)) => keywords,
        Some(ResolvedSchema::Nothing | ResolvedSchema::Unknown) | None => &EMPTY,
    }
}

/// Whether the types, the values or the values of a required property are all different.
fn disjoint<'v>(
    document: SchemaDocument<'v>,
    left: &'v Map<String, Value>,
    right: &'v Map<String, Value>,
) -> bool {
    let types = (TypeSet::of(left), TypeSet::of(right));
    let differ = |left: &Map<String, Value>, right: &Map<String, Value>| {
        let values = (values(left), values(right));
        matches!(values, (Some(left), Some(right)) if left.is_disjoint(&right))
    };
    if left.contains_key("$ref") || right.contains_key("$ref") {
        // An old draft does not look at what stands beside a reference.
        return false;
    }
    if !types.0.contains(types.1) || differ(left, right) {
        return true;
    }
    let property = |side: &'v Map<String, Value>, name: &str| {
        side.get("properties")?.get(name).map(|schema| keywords(document, schema))
    };
    let required = |side: &'v Map<String, Value>| {
        let list = side.get("required").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str)
    };
    types.0 == OBJECT
        && types.1 == OBJECT
        && required(left).filter(|name| required(right).any(|other| other == *name)).any(|name| {
            let sides = (property(left, name), property(right, name));
            matches!(sides, (Some(left), Some(right)) if differ(left, right))
        })
}
