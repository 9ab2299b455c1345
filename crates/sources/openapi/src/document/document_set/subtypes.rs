//! Schemas that only a discriminator, or an `allOf` elsewhere, leads to.
//!
//! A base says with `discriminator` that a value may be of any schema that has the base among its
//! `allOf`, or that is mapped to; also of those that build on these. Where a base is meant as a
//! value, all of them are alternatives. Where a schema builds on it, it is the base alone.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::subtype_family::{SchemaKey, Subtype, SubtypeFamilies, SubtypeFamily};
use super::{DocumentSet, DocumentSite};
use crate::document::text::member;

/// References to references are followed this far.
const LONGEST_CHAIN: usize = 16;

/// Alternatives of one base; what is left out, the base alone lets in.
const MOST: usize = 100;

impl DocumentSet {
    /// What a schema may be besides itself; asked once all documents are here.
    pub(crate) fn family(&self, at: &SchemaKey) -> Option<&SubtypeFamily> {
        self.families.get_or_init(|| SubtypeFamilies::find(self)).get(at)
    }
}

impl SubtypeFamilies {
    fn find(library: &DocumentSet) -> Self {
        let mut finder = SubtypeFinder::new(library);
        for document in 0..library.len() {
            finder.look(document);
        }
        finder.families()
    }
}

struct SubtypeFinder<'l> {
    library: &'l DocumentSet,
    /// What builds on a schema, in the order of the documents.
    heirs: HashMap<SchemaKey, Vec<SchemaKey>>,
    /// The bases in that order, each with its discriminator.
    bases: Vec<(SchemaKey, DocumentSite<'l>)>,
    /// What others call a schema, who have it elsewhere.
    names: HashMap<SchemaKey, String>,
}

impl<'l> SubtypeFinder<'l> {
    fn new(library: &'l DocumentSet) -> Self {
        Self { library, heirs: HashMap::new(), bases: Vec::new(), names: HashMap::new() }
    }

    fn look(&mut self, document: usize) {
        let root = self.library.root(document);
        let components = root.get("components").and_then(|components| components.get("schemas"));
        // Beside a document there are files of nothing but schemas, or of one.
        let own = (document > 0).then_some(root);
        let places = [
            ("/components/schemas/", components),
            ("/definitions/", root.get("definitions")),
            ("/", own),
        ];
        for (folder, schemas) in places {
            for (name, schema) in schemas.into_iter().flat_map(DocumentSite::members) {
                self.look_at(&(document, format!("{folder}{}", escaped(name))), schema);
            }
        }
        if let Some(schema) = own {
            self.look_at(&(document, String::new()), schema);
        }
    }

    fn look_at(&mut self, at: &SchemaKey, schema: DocumentSite<'l>) {
        self.library.step(1);
        if let Some(target) = named(self.library, schema) {
            self.names.entry(target).or_insert_with(|| last_word(&at.1));
        }
        if discriminator(schema.value).is_some() {
            self.bases.push((at.clone(), schema));
        }
        for part in schema.get("allOf").into_iter().flat_map(DocumentSite::items).take(64) {
            let base = member(part.value, "$ref").and_then(|to| self.place(at.0, to));
            if let Some(base) = base.filter(|base| base != at) {
                self.heirs.entry(base).or_default().push(at.clone());
            }
        }
    }

    fn place(&self, document: usize, reference: &str) -> Option<SchemaKey> {
        let (site, pointer) = self.library.resolve(document, reference)?;
        named(self.library, site).or_else(|| Some((site.document, pointer.into_owned())))
    }

    fn families(&self) -> SubtypeFamilies {
        let mut families = SubtypeFamilies::default();
        for (at, site) in &self.bases {
            let Some((property, mapping)) = discriminator(site.value) else { continue };
            // Branches that it names itself are the alternatives.
            if ["oneOf", "anyOf"].iter().any(|key| site.value.get(key).is_some()) {
                continue;
            }
            let mapped = self.mapped(site.document, mapping);
            let first: Vec<SchemaKey> =
                mapped.iter().map(|(_, to)| to.clone()).filter(|to| to != at).collect();
            let all = self.below(at, &first);
            let named = |at: &SchemaKey| {
                let mut values: Vec<String> = mapped
                    .iter()
                    .filter(|(_, to)| to == at)
                    .map(|(value, _)| value.clone())
                    .collect();
                if values.is_empty() {
                    values.extend(self.own_name(at));
                }
                Subtype { at: at.clone(), values }
            };
            for base in std::iter::once(at).chain(&all).take_while(|_| !self.library.is_tired()) {
                let below = self.below(base, &[]);
                let below = if base == at { &all } else { &below };
                let subtypes: Vec<Subtype> = below.iter().map(named).collect();
                if !subtypes.is_empty() {
                    let family = SubtypeFamily { property: property.to_owned(), subtypes };
                    // What a schema says of itself goes before what its base says.
                    if base == at {
                        families.0.insert(base.clone(), family);
                    } else {
                        families.0.entry(base.clone()).or_insert(family);
                    }
                }
            }
        }
        families
    }

    /// All that builds on a schema, however far, and what is said to.
    fn below(&self, base: &SchemaKey, first: &[SchemaKey]) -> Vec<SchemaKey> {
        let mut known: HashSet<&SchemaKey> = HashSet::from([base]);
        let mut open: VecDeque<&SchemaKey> = VecDeque::from([base]);
        let mut found = Vec::new();
        for key in first {
            if known.insert(key) {
                open.push_back(key);
                found.push(key.clone());
            }
        }
        while let Some(key) = open.pop_front() {
            for heir in self.heirs.get(key).into_iter().flatten() {
                self.library.step(1);
                if found.len() < MOST && known.insert(heir) {
                    open.push_back(heir);
                    found.push(heir.clone());
                }
            }
        }
        found
    }

    /// The values of a mapping, and the schemas that they mean, by their place or their name.
    fn mapped(&self, document: usize, mapping: Option<&Value>) -> Vec<(String, SchemaKey)> {
        let mapping = mapping.and_then(Value::as_object).into_iter().flatten().take(MOST);
        let place = |target: &str| {
            let is_name = !target.contains(['/', '#']);
            let named = is_name.then(|| format!("#/components/schemas/{}", escaped(target)));
            let named = named.and_then(|reference| self.place(document, &reference));
            named.or_else(|| self.place(document, target))
        };
        mapping
            .filter_map(|(value, target)| Some((value.clone(), place(target.as_str()?)?)))
            .collect()
    }

    /// The value that means a schema that is mapped nowhere.
    fn own_name(&self, at: &SchemaKey) -> Option<String> {
        let (document, pointer) = at;
        let site = self.library.root(*document).value.pointer(pointer)?;
        let said = member(site, "x-ms-discriminator-value").map(str::to_owned);
        let called = || self.names.get(at).cloned().unwrap_or_else(|| last_word(pointer));
        Some(said.unwrap_or_else(called)).filter(|name| !name.is_empty())
    }
}

fn last_word(pointer: &str) -> String {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    last.replace("~1", "/").replace("~0", "~")
}

/// Where the schema is that a reference means in the end; `None`: it is no reference.
pub(crate) fn named(library: &DocumentSet, site: DocumentSite<'_>) -> Option<SchemaKey> {
    let mut site = site;
    let mut found = None;
    for _ in 0..LONGEST_CHAIN {
        let Some(reference) = member(site.value, "$ref") else { break };
        let (target, pointer) = library.resolve(site.document, reference)?;
        found = Some((target.document, pointer.into_owned()));
        site = DocumentSite { document: target.document, value: target.value };
    }
    found
}

/// The property that tells subtypes apart, and what its values mean: Swagger 2 has the name alone.
fn discriminator(schema: &Value) -> Option<(&str, Option<&Value>)> {
    let said = schema.get("discriminator")?;
    match said.as_str() {
        Some(property) => Some((property, None)),
        None => Some((member(said, "propertyName")?, said.get("mapping"))),
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
