//! The pin file `crib.lock`: which tools a person accepted, and what has changed since.
//!
//! The file is JSON, since schemas hold `null`, which TOML cannot say: one tool under its name,
//! sorted, keys sorted, one value a line, so that a change of one word is a change of one line.
//! A pin holds the tool's source, the fingerprint that decides, and the spec that explains.
//!
//! A tool without a pin, with another fingerprint or from another source is quarantined by
//! [`Lock::judge`], whatever the kind of its drift; the kind is for the person who looks at it:
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
mod drift;
mod file;
mod shown;

use std::collections::{BTreeMap, HashMap};

use toolcrib_core::{Catalog, Fingerprint, Quarantine, SourceId, ToolName, ToolSpec};

pub use self::drift::{Drift, DriftKind};
pub use self::file::LockError;
use self::file::Pin;
use crate::catalog::Judge;

/// The accepted tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lock {
    pins: BTreeMap<ToolName, Pin>,
}

impl Lock {
    /// Accepts every listed tool, and those that are kept out only for want of a pin.
    ///
    /// A tool of a source that has given no list yet is not in the catalog, and its pin is lost.
    pub fn of(catalog: &Catalog) -> Self {
        let listed = catalog.tools().iter().map(|tool| (&tool.spec, tool.fingerprint));
        let kept_out = catalog.quarantined().iter().filter_map(|tool| match tool.reason {
            Quarantine::Changed { .. } | Quarantine::NotPinned => {
                Some((&tool.spec, tool.fingerprint))
            }
            Quarantine::NameTaken { .. }
            | Quarantine::BadSchema { .. }
            | Quarantine::NotJudged
            | Quarantine::TooMany { .. }
            | Quarantine::LongName { .. } => None,
        });
        let mut lock = Self::default();
        for (spec, fingerprint) in listed.chain(kept_out) {
            // Of two that want one name the earlier gets it, as in the catalog.
            let pin = || Pin::of(spec, fingerprint);
            lock.pins.entry(spec.name.clone()).or_insert_with(pin);
        }
        lock
    }

    /// Accepts one tool as it is now.
    pub fn accept(&mut self, spec: &ToolSpec) {
        self.pins.insert(spec.name.clone(), Pin::of(spec, spec.fingerprint()));
    }

    /// Keeps out what is not accepted, for [`CribBuilder::judge`](crate::CribBuilder::judge).
    pub fn judge(&self) -> Judge {
        let pins = self.pins.iter();
        let pins: HashMap<ToolName, (SourceId, Fingerprint)> =
            pins.map(|(name, pin)| (name.clone(), (pin.source.clone(), pin.fingerprint))).collect();
        Box::new(move |spec, now| match pins.get(&spec.name) {
            // The same words from another source are another tool.
            Some((source, pinned)) if *source == spec.origin.source => {
                (*pinned != now).then_some(Quarantine::Changed { pinned: *pinned, now })
            }
            Some(_) | None => Some(Quarantine::NotPinned),
        })
    }

    /// What differs between the pins and the tools of now, by name; what does not is left out.
    pub fn drift<'a>(&self, specs: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<Drift> {
        let mut now: BTreeMap<&ToolName, &ToolSpec> = BTreeMap::new();
        for spec in specs {
            let pinned = self.pins.get(&spec.name);
            // Of several with one name, the one of the pinned source is meant.
            if !now.contains_key(&spec.name)
                || pinned.is_some_and(|pin| pin.source == spec.origin.source)
            {
                now.insert(&spec.name, spec);
            }
        }
        let gone = self.pins.keys().filter(|name| !now.contains_key(name)).map(Drift::removed);
        let present = now.values().filter_map(|spec| match self.pins.get(&spec.name) {
            Some(pin) => Drift::between(pin, spec),
            None => Some(Drift::added(&spec.name)),
        });
        let mut drift: Vec<_> = gone.chain(present).collect();
        drift.sort_by(|left, right| left.tool.cmp(&right.tool));
        drift
    }

    pub fn names(&self) -> impl ExactSizeIterator<Item = &ToolName> {
        self.pins.keys()
    }
}
