//! The snapshot of all libraries: who offers what, each name and each address once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::address::ResourceAddress;
use super::kind::ResourceKind;
use super::resources::{ResourceList, Resources};
use super::template::UriTemplate;
use crate::call::caller::Caller;
use crate::call::json_fields::JsonFields;
use crate::call::name::{SourceId, ToolName};
use crate::policy::Policy;
use crate::tool::effect::Effect;
use crate::tool::spec::ToolSpec;

/// Longest name or address of an offer, in bytes.
const LONGEST_KEY: usize = 2_048;

/// Everything that the libraries offer, in the order of their sources.
#[derive(Default)]
pub struct ResourceCatalog {
    pub(super) libraries: Vec<Arc<SourceResources>>,
    offers: Vec<ResourceEntry>,
    index: HashMap<(ResourceKind, String), usize>,
    /// What waits for its owner of before.
    reserved: HashMap<(ResourceKind, String), SourceId>,
    kept_out: Vec<QuarantinedResource>,
}

/// A library with its last good lists.
pub struct SourceResources {
    pub source: SourceId,
    pub library: Arc<dyn Resources>,
    pub holdings: Arc<ResourceList>,
    /// It does not answer now.
    pub stale: bool,
}

/// One prompt, resource or template.
pub struct ResourceEntry {
    pub kind: ResourceKind,
    /// What rules are asked about: a reader of the category `prompt` or `resource`.
    pub spec: Arc<ToolSpec>,
    pub definition: Arc<JsonFields>,
    pub(super) pattern: Option<UriTemplate>,
    /// What a resource may be spelled like, once somebody wants to know.
    address: OnceLock<ResourceAddress>,
    pub(super) from: Arc<SourceResources>,
}

/// An offer whose name or address cannot be used, or is another source's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedResource {
    pub kind: ResourceKind,
    pub source: SourceId,
    pub key: String,
    pub reason: String,
}

impl ResourceList {
    fn offers(&self) -> impl Iterator<Item = (ResourceKind, &Arc<JsonFields>)> {
        let of = |kind, list| std::iter::repeat(kind).zip(list);
        of(ResourceKind::Prompt, &self.prompts)
            .chain(of(ResourceKind::Resource, &self.resources))
            .chain(of(ResourceKind::Template, &self.templates))
    }
}

impl ResourceCatalog {
    /// Puts the libraries together in the order of their sources. What two of them have stays with
    /// its owner of before if `settled`, also while that one is `awaited` (it has no lists now, and
    /// may have some soon); else the earlier source has it.
    pub fn assemble(
        previous: &Self,
        settled: bool,
        awaited: &[SourceId],
        libraries: Vec<SourceResources>,
    ) -> Self {
        let libraries: Vec<_> = libraries.into_iter().map(Arc::new).collect();
        let mut stock = Self { libraries: libraries.clone(), ..Self::default() };
        let has = |held: &SourceResources, kind, key: &str| {
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
                    Some(reason) => stock.kept_out.push(QuarantinedResource {
                        kind,
                        source: held.source.clone(),
                        key: shown(key),
                        reason,
                    }),
                    None => stock.take(kind, key.to_owned(), definition, held),
                }
            }
        }
        let waits = |(_, source): &(&(ResourceKind, String), &SourceId)| awaited.contains(source);
        let reserved = previous.owned().filter(|_| settled).filter(waits);
        stock.reserved = reserved.map(|(key, source)| (key.clone(), source.clone())).collect();
        stock
    }

    fn owned(&self) -> impl Iterator<Item = (&(ResourceKind, String), &SourceId)> {
        let offered = self.index.iter().filter_map(|(key, place)| {
            let offer = self.offers.get(*place)?;
            Some((key, &offer.from.source))
        });
        offered.chain(&self.reserved)
    }

    fn owner(&self, kind: ResourceKind, key: &str) -> Option<&SourceId> {
        let offered = self.get(kind, key).map(|offer| &offer.from.source);
        offered.or_else(|| self.reserved.get(&(kind, key.to_owned())))
    }

    fn take(
        &mut self,
        kind: ResourceKind,
        key: String,
        definition: &Arc<JsonFields>,
        from: &Arc<SourceResources>,
    ) {
        let mut spec = from.spec(kind, &key, definition);
        spec.title = text(definition, "title");
        let pattern = (kind == ResourceKind::Template).then(|| UriTemplate::new(&key));
        self.index.insert((kind, key), self.offers.len());
        self.offers.push(ResourceEntry {
            kind,
            spec: Arc::new(spec),
            definition: Arc::clone(definition),
            pattern,
            address: OnceLock::new(),
            from: Arc::clone(from),
        });
    }

    pub(super) fn get(&self, kind: ResourceKind, key: &str) -> Option<&ResourceEntry> {
        self.offers.get(*self.index.get(&(kind, key.to_owned()))?)
    }

    /// Whether a source lists a resource that may be the same under another spelling.
    pub(super) fn lists_like(&self, source: &SourceId, address: &ResourceAddress) -> bool {
        let mut own = self.all(ResourceKind::Resource).filter(|offer| offer.from.source == *source);
        own.any(|offer| {
            let uri = || text(&offer.definition, ResourceKind::Resource.key()).unwrap_or_default();
            offer.address.get_or_init(|| ResourceAddress::new(&uri())).is_like(address)
        })
    }

    /// All of a kind, in the order of the sources.
    pub fn all(&self, kind: ResourceKind) -> impl Iterator<Item = &ResourceEntry> {
        self.offers.iter().filter(move |offer| offer.kind == kind)
    }

    /// Those that exist for this caller.
    pub fn seen<'a>(
        &'a self,
        kind: ResourceKind,
        caller: &'a Caller,
        policy: &'a dyn Policy,
    ) -> impl Iterator<Item = &'a ResourceEntry> {
        self.all(kind).filter(move |offer| policy.sees(caller, &offer.spec))
    }

    pub fn kept_out(&self) -> &[QuarantinedResource] {
        &self.kept_out
    }

    /// Whether something of this name is listed and cannot be used.
    pub(super) fn keeps_out(&self, kind: ResourceKind, key: &str) -> bool {
        let shown = shown(key);
        self.kept_out.iter().any(|out| out.kind == kind && out.key == shown)
    }

    pub fn libraries(&self) -> &[Arc<SourceResources>] {
        &self.libraries
    }

    /// Whether what it has of a kind is said alike by the other.
    pub fn says_the_same(&self, other: &Self, kind: ResourceKind) -> bool {
        let of = |stock: &Self| {
            let one =
                |offer: &ResourceEntry| (offer.from.source.clone(), Arc::clone(&offer.definition));
            stock.all(kind).map(one).collect::<Vec<_>>()
        };
        of(self) == of(other)
    }
}

impl SourceResources {
    /// What rules are asked about something of this library.
    pub(super) fn spec(&self, kind: ResourceKind, key: &str, definition: &JsonFields) -> ToolSpec {
        let stem = if kind == ResourceKind::Prompt { "" } else { &self.holdings.stem };
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

fn named(kind: ResourceKind, definition: &JsonFields) -> Option<&str> {
    definition.get(kind.key()).and_then(Value::as_str)
}

fn text(definition: &JsonFields, key: &str) -> Option<String> {
    definition.get(key).and_then(Value::as_str).map(str::to_owned)
}
