//! The pin file `crib.lock`: which tools a person accepted, and what has changed since.
//!
//! The file is JSON, since schemas hold `null`, which TOML cannot say: one tool under its name,
//! sorted, keys sorted, one value a line, so that a change of one word is a change of one line.
//! A pin holds the tool's source, the fingerprint that decides, and the spec that explains; where
//! profiles show tools of several sources under one name, there is a list of pins.
//!
//! A tool without a pin, with another fingerprint or from another source is quarantined by
//! [`PinFile::judge`], whatever the kind of its drift; the kind is for the person who looks at it:
//!
//! | kind | what changed |
//! |---|---|
//! | added, removed | the tool itself |
//! | cosmetic | texts: title, summary, description, guidance, texts within a schema; the mark of deprecation; what the origin says besides (`extra`) |
//! | widened | more is accepted: a new optional argument, one no longer required, another type or value, a looser bound or validation; it runs or repeats with less ado: a lower effect, idempotent now, no approval of its own any more |
//! | narrowed | less is accepted, but no argument is new or needed: an optional argument gone, a type or value gone, a tighter bound or validation, undocumented arguments refused; it runs or repeats with more ado: idempotent no longer, an approval of its own |
//! | breaking | a new or newly required argument, a required one gone, another type, a rename (which is one gone and one new), a new default, a higher effect, another source; everything that is both widened and narrowed; whatever rules and plans go by (category, actions, tags, traits, ...); and all that cannot be compared |
//!
//! Arguments are compared as they are documented: where a schema lists properties and does not
//! say `additionalProperties`, a name that is not listed counts as not accepted, though a
//! validator lets it pass. Only so is a new optional argument something that was added. Where
//! properties are spread over `allOf` and the like, a name may be listed elsewhere, and the
//! schema is read to the letter.

mod compare;
mod difference;
mod drift;
mod drift_findings;
mod file;
mod line_difference;
mod pin;
mod pin_file_error;
mod terminal_text;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use toolcrib_core::{Catalog, Fingerprint, QuarantineReason, SourceId, ToolName, ToolSpec};

pub use self::difference::{FieldDifference, PinDifference};
pub use self::drift::Drift;
pub use self::drift_findings::DriftKind;
pub use self::line_difference::{DifferenceLine, LineSide};
use self::pin::Pin;
pub use self::pin_file_error::PinFileError;
use crate::catalog::Judge;

/// The accepted tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PinFile {
    /// Those of one name by their sources: profiles may show one each.
    pins: BTreeMap<ToolName, BTreeMap<SourceId, Pin>>,
}

impl PinFile {
    /// Accepts every listed tool, and those that are kept out only for want of a pin.
    ///
    /// A tool of a source that has given no list yet is not in the catalog, and its pin is lost.
    pub fn of(catalog: &Catalog) -> Self {
        let mut lock = Self::default();
        lock.add(catalog, |_| true);
        lock
    }

    /// Accepts those of another catalog too that are of these sources: what a profile shows may be
    /// shown nowhere else.
    pub fn add(&mut self, catalog: &Catalog, is_shown: impl Fn(&SourceId) -> bool) {
        let listed = catalog.tools().iter().map(|tool| (&tool.spec, tool.fingerprint));
        let kept_out = catalog.quarantined().iter().filter_map(|tool| match tool.reason {
            QuarantineReason::Changed { .. } | QuarantineReason::NotPinned => {
                Some((&tool.spec, tool.fingerprint))
            }
            QuarantineReason::NameTaken { .. }
            | QuarantineReason::BadSchema { .. }
            | QuarantineReason::NotJudged
            | QuarantineReason::TooMany { .. }
            | QuarantineReason::LongName { .. }
            | QuarantineReason::Unusable { .. } => None,
        });
        let mut here = HashSet::new();
        for (spec, fingerprint) in listed.chain(kept_out) {
            // Of two that want one name here the earlier gets it, as in the catalog.
            if is_shown(&spec.origin.source) && here.insert(&spec.name) {
                let of_name = self.pins.entry(spec.name.clone()).or_default();
                let pin = || Pin::of(spec, fingerprint);
                of_name.entry(spec.origin.source.clone()).or_insert_with(pin);
            }
        }
    }

    /// Accepts one tool as it is now.
    pub fn accept(&mut self, spec: &ToolSpec) {
        let of_name = self.pins.entry(spec.name.clone()).or_default();
        of_name.insert(spec.origin.source.clone(), Pin::of(spec, spec.fingerprint()));
    }

    /// Forgets a tool: it is kept out, be it as it was or not. `false`: it was not accepted.
    pub fn forget(&mut self, spec: &ToolSpec) -> bool {
        let Some(of_name) = self.pins.get_mut(&spec.name) else { return false };
        let is_gone = of_name.remove(&spec.origin.source).is_some();
        if of_name.is_empty() {
            self.pins.remove(&spec.name);
        }
        is_gone
    }

    /// How a tool differs from its pin, field by field; one without a pin differs in all of them.
    /// `None`: it is the one that was accepted.
    pub fn difference(&self, spec: &ToolSpec) -> Option<PinDifference> {
        let of_name = self.pins.get(&spec.name);
        PinDifference::between(of_name.and_then(|of_name| of_name.get(&spec.origin.source)), spec)
    }

    /// Keeps out what is not accepted, for [`CribBuilder::judge`](crate::CribBuilder::judge).
    pub fn judge(&self) -> Judge {
        let pins = self.pins.iter().map(|(name, of_name)| {
            let pins = of_name.iter().map(|(source, pin)| (source.clone(), pin.fingerprint));
            (name.clone(), pins.collect())
        });
        let pins: HashMap<ToolName, Vec<(SourceId, Fingerprint)>> = pins.collect();
        Box::new(move |spec, now| {
            let mut of_name = pins.get(&spec.name).into_iter().flatten();
            // The same words from another source are another tool.
            match of_name.find(|(source, _)| *source == spec.origin.source) {
                Some((_, pinned)) => {
                    (*pinned != now).then_some(QuarantineReason::Changed { pinned: *pinned, now })
                }
                None => Some(QuarantineReason::NotPinned),
            }
        })
    }

    /// What differs between the pins and the tools of now, by name; what does not is left out.
    pub fn drift<'a>(&self, specs: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<Drift> {
        let mut now: BTreeMap<&ToolName, BTreeMap<&SourceId, &ToolSpec>> = BTreeMap::new();
        for spec in specs {
            now.entry(&spec.name).or_default().entry(&spec.origin.source).or_insert(spec);
        }
        let (no_pins, no_specs) = (BTreeMap::new(), BTreeMap::new());
        let names: BTreeSet<_> = self.pins.keys().chain(now.keys().copied()).collect();
        let of_name = |name| {
            let pins = self.pins.get(name).unwrap_or(&no_pins);
            between(name, pins, now.get(name).unwrap_or(&no_specs))
        };
        names.into_iter().flat_map(of_name).collect()
    }

    /// How many tools are accepted.
    pub fn len(&self) -> usize {
        self.pins.values().map(BTreeMap::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.pins.is_empty()
    }

    /// Whether a tool of this name and source is accepted, as it is or as it was.
    pub fn has(&self, spec: &ToolSpec) -> bool {
        let of_name = self.pins.get(&spec.name);
        of_name.is_some_and(|of_name| of_name.contains_key(&spec.origin.source))
    }

    pub fn names(&self) -> impl ExactSizeIterator<Item = &ToolName> {
        self.pins.keys()
    }
}

/// What differs of the tools of one name.
fn between(
    name: &ToolName,
    pins: &BTreeMap<SourceId, Pin>,
    now: &BTreeMap<&SourceId, &ToolSpec>,
) -> Vec<Drift> {
    let mut gone = pins.iter().filter(|(source, _)| !now.contains_key(source));
    let present = now.iter().filter_map(|(source, spec)| match pins.get(*source) {
        Some(pin) => Drift::between(pin, spec),
        // One that is gone from its source may have come here.
        None => match gone.next() {
            Some((_, pin)) => Drift::between(pin, spec),
            None => Some(Drift::added(name)),
        },
    });
    let mut drift: Vec<_> = present.collect();
    drift.extend(gone.map(|_| Drift::removed(name)));
    drift
}
