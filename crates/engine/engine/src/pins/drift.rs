//! How a tool differs from its pin.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcrib_core::{Effect, ToolName, ToolSpec, Validation, canonical};

use super::compare::compare;
use super::drift_findings::{DriftFindings, DriftKind, changed};
use super::pin::{Pin, recorded};
use super::terminal_text;

/// A tool that is not as it was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drift {
    pub tool: ToolName,
    /// Of all differences together.
    pub kind: DriftKind,
    /// One sentence for each difference, with its own kind; foreign text in it is escaped.
    pub details: Vec<String>,
}

impl DriftFindings {
    fn finish(mut self, tool: &ToolName) -> Option<Drift> {
        if self.untold > 0 {
            self.details.push(format!("and {} more", self.untold));
        }
        Some(Drift { tool: tool.clone(), kind: self.kind?, details: self.details })
    }
}

impl Drift {
    pub(super) fn added(tool: &ToolName) -> Self {
        Self { tool: tool.clone(), kind: DriftKind::Added, details: Vec::new() }
    }

    pub(super) fn removed(tool: &ToolName) -> Self {
        Self { tool: tool.clone(), kind: DriftKind::Removed, details: Vec::new() }
    }

    /// `None` if the tool is the one that was accepted.
    pub(super) fn between(pin: &Pin, spec: &ToolSpec) -> Option<Self> {
        let mut findings = DriftFindings::default();
        if pin.source != spec.origin.source {
            let before = terminal_text::word(pin.source.as_str());
            let after = terminal_text::word(spec.origin.source.as_str());
            findings
                .note(DriftKind::Breaking, format!("it came from `{before}`, now from `{after}`"));
        }
        if pin.fingerprint != spec.fingerprint() {
            let now = recorded(spec);
            let added = now.keys().filter(|key| !pin.spec.contains_key(*key));
            for key in pin.spec.keys().chain(added) {
                let null = &Value::Null;
                let sides = (pin.spec.get(key).unwrap_or(null), now.get(key).unwrap_or(null));
                if !canonical::same(sides.0, sides.1) {
                    field(key, sides, &mut findings);
                }
            }
            if findings.kind.is_none() {
                findings.note(DriftKind::Breaking, "something changed that the pin does not show");
            }
        }
        findings.finish(&spec.name)
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.tool, self.kind.as_str())?;
        self.details.iter().try_for_each(|detail| write!(f, "\n  {detail}"))
    }
}

/// One field of a spec, of which both sides differ.
pub(super) fn field(key: &str, (before, after): (&Value, &Value), findings: &mut DriftFindings) {
    match key {
        "input" => findings.absorb(compare(key, before, after)),
        "output" => output(before, after, findings),
        "title" | "summary" | "description" | "deprecated" | "extra" => {
            findings.note(DriftKind::Cosmetic, changed(key, before, after));
        }
        "guidance" => match (before.as_object(), after.as_object()) {
            (Some(before), Some(after)) => guidance(before, after, findings),
            _ => findings.note(DriftKind::Cosmetic, changed(key, before, after)),
        },
        "effect" => ordered::<Effect>(key, (before, after), findings, |raised| {
            if raised { DriftKind::Breaking } else { DriftKind::Widened }
        }),
        "validation" => ordered::<Looseness>(key, (before, after), findings, |raised| {
            if raised { DriftKind::Widened } else { DriftKind::Narrowed }
        }),
        "idempotent" => ordered::<bool>(key, (before, after), findings, |raised| {
            if raised { DriftKind::Widened } else { DriftKind::Narrowed }
        }),
        "approval" => {
            let kind = match (before, after) {
                (Value::Null, _) => DriftKind::Narrowed,
                (_, Value::Null) => DriftKind::Widened,
                _ => DriftKind::Cosmetic,
            };
            findings.note(kind, changed(key, before, after));
        }
        _ => findings.note(DriftKind::Breaking, changed(key, before, after)),
    }
}

/// A result that is wider can surprise its reader as much as a narrower one.
fn output(before: &Value, after: &Value, findings: &mut DriftFindings) {
    let compared = compare("output", before, after);
    if compared.kind() == Some(DriftKind::Cosmetic) {
        findings.absorb(compared);
    } else {
        findings.note(DriftKind::Breaking, "the schema of its output changed");
    }
}

fn guidance(before: &Map<String, Value>, after: &Map<String, Value>, findings: &mut DriftFindings) {
    let added = after.keys().filter(|key| !before.contains_key(*key));
    for key in before.keys().chain(added) {
        let none = &Value::from("");
        let (before, after) = (before.get(key).unwrap_or(none), after.get(key).unwrap_or(none));
        if before != after {
            let text = changed(&format!("guidance.{key}"), before, after);
            findings.note(DriftKind::Cosmetic, text);
        }
    }
}

/// How strict arguments are looked at, the loosest last.
#[derive(PartialEq, PartialOrd)]
struct Looseness(u8);

impl<'de> Deserialize<'de> for Looseness {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Validation::deserialize(deserializer)? {
            Validation::Strict => 0,
            Validation::Coerce => 1,
            Validation::Off => 2,
        }))
    }
}

fn ordered<'v, T: Deserialize<'v> + PartialOrd>(
    key: &str,
    (before, after): (&'v Value, &'v Value),
    findings: &mut DriftFindings,
    kind: impl Fn(bool) -> DriftKind,
) {
    let kind = match (T::deserialize(before), T::deserialize(after)) {
        (Ok(before), Ok(after)) => kind(after > before),
        _ => DriftKind::Breaking,
    };
    findings.note(kind, changed(key, before, after));
}
