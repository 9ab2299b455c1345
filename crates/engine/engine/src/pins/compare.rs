//! Two schemas side by side: does the second accept more, less, or other than the first?
//!
//! A schema is the conjunction of its keywords, so if each keyword of the second accepts all
//! that the same keyword of the first accepts, the whole does too. Keywords of which this
//! cannot be told are compared as text. What is not certain is `Breaking`.

mod branches;
mod keywords;
mod objects;
mod resolve;
mod scalars;
mod types;

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};
use toolcrib_core::canonical;

use self::keywords::{PropertyReading, is_annotation, reading};
use self::resolve::SchemaDocument;
use super::drift_findings::{DriftFindings, DriftKind, changed};
use super::terminal_text;

/// How deep two schemas are followed, references and all.
const DEEPEST: usize = 64;
/// How many pairs of schemas are looked at.
const MOST_STEPS: usize = 10_000;

/// The differences of two schemas; `root` is what the whole is called.
pub(super) fn compare(root: &str, before: &Value, after: &Value) -> DriftFindings {
    let documents =
        BeforeAfter { before: SchemaDocument::new(before), after: SchemaDocument::new(after) };
    let mut comparison = Comparison {
        textual: documents.before.agrees_with(documents.after),
        documents,
        steps: MOST_STEPS,
        seen: HashSet::new(),
        findings: DriftFindings::default(),
    };
    let at =
        ComparedPosition { path: root.to_owned(), depth: 0, reading: PropertyReading::Documented };
    comparison.dialect(&at);
    comparison.schema(&at, BeforeAfter { before, after });
    if comparison.findings.kind().is_none() {
        let text =
            format!("`{}` is written differently and means the same", terminal_text::word(root));
        comparison.findings.note(DriftKind::Cosmetic, text);
    }
    comparison.findings
}

/// The same thing of both schemas.
#[derive(Debug, Clone, Copy)]
struct BeforeAfter<T> {
    before: T,
    after: T,
}

type Schemas<'v> = BeforeAfter<&'v Value>;
type Keywords<'v> = BeforeAfter<&'v Map<String, Value>>;

impl<'v> Keywords<'v> {
    fn get(self, key: &str) -> BeforeAfter<Option<&'v Value>> {
        BeforeAfter { before: self.before.get(key), after: self.after.get(key) }
    }
}

/// Where in the schemas.
#[derive(Debug, Clone)]
struct ComparedPosition {
    /// As a person would say it: `input.start.zone`, `input.tags[]`.
    path: String,
    depth: usize,
    reading: PropertyReading,
}

impl ComparedPosition {
    fn within(&self, step: &str, reading: PropertyReading) -> Self {
        let path = format!("{}{step}", self.path);
        Self { path, depth: self.depth + 1, reading }
    }
}

struct Comparison<'v> {
    documents: BeforeAfter<SchemaDocument<'v>>,
    /// Whether equal texts mean the same in both documents even where they refer to others.
    textual: bool,
    steps: usize,
    /// Pairs that are or were compared. Meeting one again adds nothing: instances are finite,
    /// so what holds for all smaller ones holds.
    seen: HashSet<(*const Value, *const Value, PropertyReading)>,
    findings: DriftFindings,
}

impl<'v> Comparison<'v> {
    fn schema(&mut self, at: &ComparedPosition, schemas: Schemas<'v>) {
        let Some(steps) = self.steps.checked_sub(1).filter(|_| at.depth <= DEEPEST) else {
            return self.note(at, DriftKind::Breaking, "too deep or too large to compare");
        };
        self.steps = steps;
        if self.alike(schemas.before, schemas.after) {
            return;
        }
        self.annotations(at, schemas);
        let settled = BeforeAfter {
            before: self.documents.before.settle(schemas.before),
            after: self.documents.after.settle(schemas.after),
        };
        let BeforeAfter { before: Some(before), after: Some(after) } = settled else {
            return self.note(at, DriftKind::Breaking, "refers to what cannot be compared");
        };
        if !self.seen.insert((before, after, at.reading)) {
            return;
        }
        let moved = !std::ptr::eq(before, schemas.before) || !std::ptr::eq(after, schemas.after);
        if moved {
            self.annotations(at, BeforeAfter { before, after });
        }
        match (node(before), node(after)) {
            (ResolvedSchema::Keywords(before), ResolvedSchema::Keywords(after)) => {
                self.keywords(at, BeforeAfter { before, after });
            }
            (ResolvedSchema::Nothing, ResolvedSchema::Nothing) => {}
            (ResolvedSchema::Nothing, ResolvedSchema::Keywords(_)) => {
                self.note(at, DriftKind::Widened, "is accepted now");
            }
            (ResolvedSchema::Keywords(_), ResolvedSchema::Nothing) => {
                self.note(at, DriftKind::Narrowed, "is refused now");
            }
            (ResolvedSchema::Unknown, _) | (_, ResolvedSchema::Unknown) => {
                self.note(at, DriftKind::Breaking, "changed in a way that cannot be compared");
            }
        }
    }

    fn keywords(&mut self, at: &ComparedPosition, keywords: Keywords<'v>) {
        for side in [keywords.before, keywords.after] {
            if let Some(key) = keywords::beyond_comparison(side) {
                let text = format!("uses `{key}`, which cannot be compared");
                return self.note(at, DriftKind::Breaking, text);
            }
        }
        let shared = self.types(at, keywords);
        self.values(at, keywords);
        self.scalars(at, keywords, shared);
        // Listed properties are all there are only if no other keyword lists more.
        let own = at.reading.and(reading(keywords.before)).and(reading(keywords.after));
        let own = ComparedPosition { reading: own, ..at.clone() };
        if shared.contains(types::OBJECT) {
            self.objects(&own, keywords);
        }
        if shared.contains(types::ARRAY) {
            self.arrays(&own, keywords);
        }
        self.branches(at, keywords);
        for group in keywords::AS_TEXT {
            self.as_text(at, keywords, group);
        }
    }

    /// Keywords of which only their presence and their text can be compared.
    fn as_text(&mut self, at: &ComparedPosition, keywords: Keywords<'v>, group: &[&str]) {
        let present = |side: &Map<String, Value>| group.iter().any(|key| side.contains_key(*key));
        let title = group.first().copied().unwrap_or_default();
        match (present(keywords.before), present(keywords.after)) {
            (false, false) => {}
            (false, true) => self.note(at, DriftKind::Narrowed, format!("`{title}` is new")),
            (true, false) => self.note(at, DriftKind::Widened, format!("`{title}` is gone")),
            (true, true) => {
                for key in group {
                    let sides = keywords.get(key);
                    let alike = match (sides.before, sides.after) {
                        (Some(before), Some(after)) => self.alike(before, after),
                        (None, None) => true,
                        (Some(_), None) | (None, Some(_)) => false,
                    };
                    if !alike {
                        let text = format!("`{key}` changed, which cannot be compared");
                        self.note(at, DriftKind::Breaking, text);
                    }
                }
            }
        }
    }

    /// Whether both are the same text, and mean the same by it.
    fn alike(&self, before: &Value, after: &Value) -> bool {
        canonical::same(before, after) && (self.textual || !resolve::refers(before))
    }

    /// Texts, and the default: a call that leaves the argument out means something else now.
    fn annotations(&mut self, at: &ComparedPosition, schemas: Schemas<'v>) {
        let empty = &*EMPTY;
        let before = schemas.before.as_object().unwrap_or(empty);
        let after = schemas.after.as_object().unwrap_or(empty);
        let added = after.keys().filter(|key| !before.contains_key(*key));
        for key in before.keys().chain(added).filter(|key| is_annotation(key)) {
            let null = &Value::Null;
            let (before, after) = (before.get(key).unwrap_or(null), after.get(key).unwrap_or(null));
            if !canonical::same(before, after) {
                let kind = if key == "default" { DriftKind::Breaking } else { DriftKind::Cosmetic };
                self.note(at, kind, changed(key, before, after));
            }
        }
    }

    /// What keywords mean depends on it.
    fn dialect(&mut self, at: &ComparedPosition) {
        if !self.documents.before.speaks_like(self.documents.after) {
            self.note(at, DriftKind::Breaking, "`$schema` changed");
        }
        if self.documents.before.embeds() || self.documents.after.embeds() {
            self.note(at, DriftKind::Breaking, "holds a schema with an `$id` of its own");
        }
    }

    fn note(&mut self, at: &ComparedPosition, kind: DriftKind, text: impl AsRef<str>) {
        self.findings.note(kind, format!("`{}`: {}", terminal_text::word(&at.path), text.as_ref()));
    }
}

enum ResolvedSchema<'v> {
    Keywords(&'v Map<String, Value>),
    /// The schema `false`.
    Nothing,
    Unknown,
}

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
static ANYTHING: Value = Value::Bool(true);
static NOTHING: Value = Value::Bool(false);

fn node(schema: &Value) -> ResolvedSchema<'_> {
    match schema {
        Value::Bool(true) => ResolvedSchema::Keywords(&EMPTY),
        Value::Bool(false) => ResolvedSchema::Nothing,
        Value::Object(keywords) => ResolvedSchema::Keywords(keywords),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            ResolvedSchema::Unknown
        }
    }
}
