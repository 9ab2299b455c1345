//! What changed of a tool, field by field and in lines: for a person who accepts it or does not.

use serde::Serialize;
use serde_json::Value;
use toolcrib_core::{Fingerprint, SourceId, ToolName, ToolSpec, canonical};

use super::drift::field;
use super::drift_findings::{DriftFindings, DriftKind};
use super::line_difference::{DifferenceLine, lines};
use super::pin::{Pin, recorded};

/// A tool that is not as it was accepted, or that nobody has accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PinDifference {
    pub tool: ToolName,
    pub source: SourceId,
    /// Of all fields together.
    pub kind: DriftKind,
    /// Of the tool as it is: what is accepted.
    pub fingerprint: Fingerprint,
    /// Of the one that was accepted.
    pub pinned: Option<Fingerprint>,
    /// Those that changed, in the order of the alphabet.
    pub fields: Vec<FieldDifference>,
}

/// One field of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldDifference {
    pub field: String,
    pub kind: DriftKind,
    pub lines: Vec<DifferenceLine>,
    /// Whether there is more of it than the lines tell.
    pub is_cut: bool,
}

impl PinDifference {
    pub(super) fn between(pin: Option<&Pin>, spec: &ToolSpec) -> Option<Self> {
        let fingerprint = spec.fingerprint();
        if pin.is_some_and(|pin| pin.fingerprint == fingerprint) {
            return None;
        }
        let now = recorded(spec);
        let none = serde_json::Map::new();
        let before = pin.map_or(&none, |pin| &pin.spec);
        let gone = before.keys().filter(|key| !now.contains_key(*key));
        let mut keys: Vec<_> = now.keys().chain(gone).collect();
        keys.sort();
        let mut all = DriftFindings::default();
        let mut fields = Vec::new();
        for key in keys {
            let null = &Value::Null;
            let sides = (before.get(key).unwrap_or(null), now.get(key).unwrap_or(null));
            if canonical::same(sides.0, sides.1) {
                continue;
            }
            let mut findings = DriftFindings::default();
            field(key, sides, &mut findings);
            let kind = match pin {
                Some(_) => findings.kind.unwrap_or(DriftKind::Breaking),
                None => DriftKind::Added,
            };
            all.absorb(findings);
            let (lines, is_cut) = lines(sides.0, sides.1);
            fields.push(FieldDifference { field: key.clone(), kind, lines, is_cut });
        }
        let kind = match pin {
            // Something may have changed that the pin does not show.
            Some(_) => all.kind.unwrap_or(DriftKind::Breaking),
            None => DriftKind::Added,
        };
        let (tool, source) = (spec.name.clone(), spec.origin.source.clone());
        Some(Self {
            tool,
            source,
            kind,
            fingerprint,
            pinned: pin.map(|pin| pin.fingerprint),
            fields,
        })
    }
}
