//! The snapshot of all libraries: who offers what, each name and each address once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::address::Address;
use super::kind::Kind;
use super::resources::{Holdings, Library};
use super::template::Pattern;
use crate::call::caller::Caller;
use crate::call::json_fields::Fields;
use crate::call::name::{SourceId, ToolName};
use crate::policy::Policy;
use crate::tool::effect::Effect;
use crate::tool::spec::ToolSpec;

/// Longest name or address of an offer, in bytes.
const LONGEST_KEY: usize = 2_048;

/// Everything that the libraries offer, in the order of their sources.
#[derive(Default)]
pub struct Stock {
    pub(super) libraries: Vec<Arc<Held>>,
    offers: Vec<Offer>,
    index: HashMap<(Kind, String), usize>,
    /// What waits for its owner of before.
    reserved: HashMap<(Kind, String), SourceId>,
    kept_out: Vec<KeptOut>,
}

/// A library with its last good lists.
pub struct Held {
    pub source: SourceId,
    pub library: Arc<dyn Library>,
    pub holdings: Arc<Holdings>,
    /// It does not answer now.
    pub stale: bool,
}

/// One prompt, resource or template.
pub struct Offer {
    pub kind: Kind,
    /// What rules are asked about: a reader of the category `prompt` or `resource`.
    pub spec: Arc<ToolSpec>,
    pub definition: Arc<Fields>,
    pub(super) pattern: Option<Pattern>,
    /// What a resource may be spelled like, once somebody wants to know.
    address: OnceLock<Address>,
    pub(super) from: Arc<Held>,
}

/// An offer whose name or address cannot be used, or is another source's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOut {
    pub kind: Kind,
    pub source: SourceId,
    pub key: String,
    pub reason: String,
}

impl Holdings {
    fn offers(&self) -> impl Iterator<Item = (Kind, &Arc<Fields>)> {
        let of = |kind, list| std::iter::repeat(kind).zip(list);
        of(Kind::Prompt, &self.prompts)
            .chain(of(Kind::Resource, &self.resources))
            .chain(of(Kind::Template, &self.templates))
    }
}

impl Stock {
    /// Puts the libraries together in the order of their sources. What two of them have stays with
    /// its owner of before if `settled`, also while that one is `awaited` (it has no lists now, and
    /// may have some soon); else the earlier source has it.
    pub fn assemble(
        previous: &Self,
        settled: bool,
        awaited: &[SourceId],
        libraries: Vec<Held>,
    ) -> Self {
        let libraries: Vec<_> = libraries.into_iter().map(Arc::new).collect();
        let mut stock = Self { libraries: libraries.clone(), ..Self::default() };
        let has = |held: &Held, kind, key: &str| {
            let mut all = held.holdings.offers();
            all.any(|(other, offer)| other == kind && named(kind, offer) == Some(key))
        };
        for held in &libraries {
            for (kind, definition) in held.holdings.offers() {
                let key = named(kind, definition).unwrap_or_default();
                let before = previous.owner(kind, key).filter(|_| settled);
                let owner = before.filter(|before| **before != held.source).filter(|before| {
                    let mut now = libraries.iter().filter(|now| now.source == **before);
                    awaited.contains(before) || now.any(|now| has(now, kind, key))
                });
                let owner = owner.or_else(|| Some(&stock.get(kind, key)?.from.source));
                let reason = match (key, owner) {
                    ("", _) => Some(format!("it has no `{}`", kind.key())),
                    _ if key.len() > LONGEST_KEY => Some("its name is too long".to_owned()),
                    (_, Some(owner)) => Some(format!("`{owner}` has it already")),
                    (_, None) => None,
                };
                match reason {
                    Some(reason) => stock.kept_out.push(KeptOut {
                        kind,
                        source: held.source.clone(),
                        key: shown(key),
                        reason,
                    }),
                    None => stock.take(kind, key.to_owned(), definition, held),
                }
            }
        }
        let waits = |(_, source): &(&(Kind, String), &SourceId)| awaited.contains(source);
        let reserved = previous.owned().filter(|_| settled).filter(waits);
        stock.reserved = reserved.map(|(key, source)| (key.clone(), source.clone())).collect();
        stock
    }

    fn owned(&self) -> impl Iterator<Item = (&(Kind, String), &SourceId)> {
        let offered = self.index.iter().filter_map(|(key, place)| {
            let offer = self.offers.get(*place)?;
            Some((key, &offer.from.source))
        });
        offered.chain(&self.reserved)
    }

    fn owner(&self, kind: Kind, key: &str) -> Option<&SourceId> {
        let offered = self.get(kind, key).map(|offer| &offer.from.source);
        offered.or_else(|| self.reserved.get(&(kind, key.to_owned())))
    }

    fn take(&mut self, kind: Kind, key: String, definition: &Arc<Fields>, from: &Arc<Held>) {
        let mut spec = from.spec(kind, &key, definition);
        spec.title = text(definition, "title");
        let pattern = (kind == Kind::Template).then(|| Pattern::new(&key));
        self.index.insert((kind, key), self.offers.len());
        self.offers.push(Offer {
            kind,
            spec: Arc::new(spec),
            definition: Arc::clone(definition),
            pattern,
            address: OnceLock::new(),
            from: Arc::clone(from),
        });
    }

    pub(super) fn get(&self, kind: Kind, key: &str) -> Option<&Offer> {
        self.offers.get(*self.index.get(&(kind, key.to_owned()))?)
    }

    /// Whether a source lists a resource that may be the same under another spelling.
    pub(super) fn lists_like(&self, source: &SourceId, address: &Address) -> bool {
        let mut own = self.all(Kind::Resource).filter(|offer| offer.from.source == *source);
        own.any(|offer| {
            let uri = || text(&offer.definition, Kind::Resource.key()).unwrap_or_default();
            offer.address.get_or_init(|| Address::new(&uri())).is_like(address)
        })
    }

    /// All of a kind, in the order of the sources.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = &Offer> {
        self.offers.iter().filter(move |offer| offer.kind == kind)
    }

    /// Those that exist for this caller.
    pub fn seen<'a>(
        &'a self,
        kind: Kind,
        caller: &'a Caller,
        policy: &'a dyn Policy,
    ) -> impl Iterator<Item = &'a Offer> {
        self.all(kind).filter(move |offer| policy.sees(caller, &offer.spec))
    }

    pub fn kept_out(&self) -> &[KeptOut] {
        &self.kept_out
    }

    /// Whether something of this name is listed and cannot be used.
    pub(super) fn keeps_out(&self, kind: Kind, key: &str) -> bool {
        let shown = shown(key);
        self.kept_out.iter().any(|out| out.kind == kind && out.key == shown)
    }

    pub fn libraries(&self) -> &[Arc<Held>] {
        &self.libraries
    }

    /// Whether what it has of a kind is said alike by the other.
    pub fn says_the_same(&self, other: &Self, kind: Kind) -> bool {
        let of = |stock: &Self| {
            let one = |offer: &Offer| (offer.from.source.clone(), Arc::clone(&offer.definition));
            stock.all(kind).map(one).collect::<Vec<_>>()
        };
        of(self) == of(other)
    }
}

impl Held {
    /// What rules are asked about something of this library.
    pub(super) fn spec(&self, kind: Kind, key: &str, definition: &Fields) -> ToolSpec {
        let stem = if kind == Kind::Prompt { "" } else { &self.holdings.stem };
        let name = ToolName::whole(&format!("{stem}{key}"));
        let mut spec = ToolSpec::reader(name, &self.source);
        spec.description = text(definition, "description").unwrap_or_default();
        spec.category = Some(kind.category().to_owned());
        spec.limits.timeout = self.holdings.timeout;
        debug_assert!(spec.effect == Effect::Read, "whoever reads changes nothing");
        spec
    }
}

/// As much of a name as is told.
fn shown(key: &str) -> String {
    key.chars().take(200).collect()
}

fn named(kind: Kind, definition: &Fields) -> Option<&str> {
    definition.get(kind.key()).and_then(Value::as_str)
}

fn text(definition: &Fields, key: &str) -> Option<String> {
    definition.get(key).and_then(Value::as_str).map(str::to_owned)
}
