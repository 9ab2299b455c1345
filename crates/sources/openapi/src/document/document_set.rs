//! The documents of an API, and where a reference leads among them.

pub(crate) mod references;
pub(crate) mod subtype_family;
pub(crate) mod subtypes;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::text::member;
use subtype_family::SubtypeFamilies;

/// The document itself, and those that it refers to.
pub(crate) struct DocumentSet {
    documents: Vec<LoadedDocument>,
    by_address: HashMap<String, usize>,
    /// What was looked at so far.
    steps: AtomicU64,
    /// What may be.
    most_steps: AtomicU64,
    /// Looked for once somebody asks.
    families: OnceLock<SubtypeFamilies>,
}

struct LoadedDocument {
    /// What relative references in it are relative to.
    base: Option<Url>,
    value: Value,
    /// Where its anchors are; looked for once somebody asks.
    anchors: OnceLock<HashMap<String, String>>,
}

/// A part of a document. References in it are relative to its document.
#[derive(Clone, Copy)]
pub(super) struct DocumentSite<'l> {
    pub(super) document: usize,
    pub(super) value: &'l Value,
}

impl<'l> DocumentSite<'l> {
    pub(super) fn at(self, value: &'l Value) -> Self {
        Self { document: self.document, value }
    }

    pub(super) fn get(self, key: &str) -> Option<Self> {
        self.value.get(key).map(|value| self.at(value))
    }

    /// The members of an object; none for everything else.
    pub(super) fn members(self) -> impl Iterator<Item = (&'l String, Self)> {
        let members = self.value.as_object().into_iter().flatten();
        members.map(move |(key, value)| (key, self.at(value)))
    }

    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        self.value.as_array().into_iter().flatten().map(move |value| self.at(value))
    }
}

/// References to references are followed this far.
const LONGEST_CHAIN: usize = 16;

/// Some forty times what the largest real documents take; a step is up to a microsecond.
const MOST_STEPS: u64 = 4_000_000;
/// What each operation adds to that.
const STEPS_OF_ONE: u64 = 200;

impl DocumentSet {
    pub(super) fn new(address: Option<Url>, value: Value) -> Self {
        let mut library = Self {
            documents: Vec::new(),
            by_address: HashMap::new(),
            steps: AtomicU64::new(0),
            most_steps: AtomicU64::new(MOST_STEPS),
            families: OnceLock::new(),
        };
        library.add(address, value);
        library
    }

    /// Adds a document. `OpenAPI` 3.2 lets it say itself what its references are relative to.
    pub(super) fn add(&mut self, address: Option<Url>, value: Value) {
        let place = self.documents.len();
        let own = member(&value, "$self").and_then(|own| match &address {
            Some(address) => address.join(own).ok(),
            None => Url::parse(own).ok(),
        });
        for known in [address.as_ref(), own.as_ref()].into_iter().flatten() {
            self.by_address.entry(without_fragment(known)).or_insert(place);
        }
        let base = own.or(address);
        self.documents.push(LoadedDocument { base, value, anchors: OnceLock::new() });
    }

    /// Counts work: parts that many operations share are looked at for each of them.
    pub(super) fn step(&self, steps: usize) {
        self.steps.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// Lets a document of many operations take more work than others.
    pub(super) fn expect(&self, operations: usize) {
        let more = STEPS_OF_ONE.saturating_mul(operations as u64);
        self.most_steps.store(MOST_STEPS.saturating_add(more), Ordering::Relaxed);
    }

    /// Whether a document took more work than any real one does.
    pub(super) fn is_tired(&self) -> bool {
        self.steps.load(Ordering::Relaxed) > self.most_steps.load(Ordering::Relaxed)
    }

    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }

    pub(super) fn root(&self, document: usize) -> DocumentSite<'_> {
        let value = self.documents.get(document).map_or(&Value::Null, |held| &held.value);
        DocumentSite { document, value }
    }

    pub(super) fn holds(&self, address: &Url) -> bool {
        self.by_address.contains_key(&without_fragment(address))
    }

    /// The address of the document that a reference leads to; `None` for its own.
    pub(super) fn address_of(&self, from: usize, reference: &str) -> Option<Url> {
        let document = reference.split('#').next().filter(|document| !document.is_empty())?;
        let base = self.documents.get(from).and_then(|held| held.base.as_ref());
        base.map_or_else(|| Url::parse(document), |base| base.join(document)).ok()
    }

    /// What a reference means: the part, and the pointer to it in its document.
    pub(super) fn resolve<'l, 'r>(
        &'l self,
        from: usize,
        reference: &'r str,
    ) -> Option<(DocumentSite<'l>, Cow<'r, str>)> {
        self.step(1 + reference.len() / 64);
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = if document.is_empty() {
            from
        } else {
            let address = self.address_of(from, document)?;
            *self.by_address.get(&without_fragment(&address))?
        };
        let held = self.documents.get(document)?;
        let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
        let pointer = if fragment.is_empty() || fragment.starts_with('/') {
            fragment
        } else {
            let anchors = held.anchors.get_or_init(|| anchors(&held.value));
            Cow::Owned(anchors.get(fragment.as_ref())?.clone())
        };
        let value = held.value.pointer(&pointer)?;
        Some((DocumentSite { document, value }, pointer))
    }

    /// The part itself, or what it refers to in the end.
    pub(super) fn follow<'l>(&'l self, site: DocumentSite<'l>) -> Result<DocumentSite<'l>, String> {
        let mut site = site;
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = member(site.value, "$ref") else {
                return Ok(site);
            };
            let shown = super::text::line(reference, 120);
            let target = self.resolve(site.document, reference);
            site = target.ok_or_else(|| format!("its reference `{shown}` leads nowhere"))?.0;
        }
        Err("its references lead in a circle".to_owned())
    }
}

fn without_fragment(address: &Url) -> String {
    let mut address = address.clone();
    address.set_fragment(None);
    address.into()
}

/// The `$anchor`s and `$dynamicAnchor`s of a document, with the pointers to their schemas.
fn anchors(document: &Value) -> HashMap<String, String> {
    let mut found = HashMap::new();
    find_anchors(document, &mut String::new(), &mut found);
    found
}

/// The depth is bounded with that of the document.
fn find_anchors(value: &Value, at: &mut String, found: &mut HashMap<String, String>) {
    /// Anchors of one document, and bytes of a pointer to one.
    const MOST: (usize, usize) = (10_000, 1_000);
    if found.len() >= MOST.0 || at.len() > MOST.1 {
        return;
    }
    for keyword in ["$anchor", "$dynamicAnchor"] {
        if let Some(name) = member(value, keyword) {
            found.entry(name.to_owned()).or_insert_with(|| at.clone());
        }
    }
    let length = at.len();
    let mut inside = |token: &str, child: &Value| {
        at.push('/');
        at.push_str(token);
        find_anchors(child, at, found);
        at.truncate(length);
    };
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                inside(&key.replace('~', "~0").replace('/', "~1"), member);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                inside(&index.to_string(), item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
