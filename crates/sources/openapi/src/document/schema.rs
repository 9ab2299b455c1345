//! Schemas of a document as JSON Schema 2020-12: each converted once, shared by all operations.
//!
//! Nothing is dereferenced: a reference stays one, into `$defs`, and each tool takes along the
//! definitions that it reaches. So a recursive schema stays recursive, and the size of a document
//! is never multiplied by itself.

mod alternatives;
pub(super) mod annotations;
pub(super) mod assemble;
mod convert;
mod discriminator;
mod enum_types;
mod patterns;
mod soundness;
pub(super) mod values;

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::document_set::{DocumentSet, DocumentSite};
use super::error::DocumentNotes;
use super::text;
use crate::document::document_set::subtype_family::{SchemaKey, SubtypeFamily};
use crate::document::document_set::subtypes;

/// Which way a value goes: what is `readOnly` is never sent, what is `writeOnly` never comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaDirection {
    Request,
    Response,
}

/// The place of a definition on its shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DefinitionId(usize);

/// A converted schema whose references lead into `$defs`, and what it costs.
#[derive(Debug, Default)]
pub(super) struct SchemaPart {
    pub(super) schema: Value,
    /// Definitions it refers to, once each, in order.
    pub(super) refs: Vec<DefinitionId>,
    /// The root, and every other place that refers to definitions.
    places: Vec<PlaceChecks>,
    patterns: Vec<String>,
    bytes: usize,
    subschemas: usize,
}

/// What one place of a value is checked against.
#[derive(Debug, Default, Clone)]
struct PlaceChecks {
    /// Subschemas of the part itself.
    subschemas: u64,
    /// Levels of those.
    levels: u64,
    refs: Vec<DefinitionId>,
}

/// The definitions of a document, for one way.
pub(super) struct SchemaDefinitions<'l> {
    pub(super) library: &'l DocumentSet,
    pub(super) way: SchemaDirection,
    /// Before 3.1 what stands beside a `$ref` means nothing.
    ref_stands_alone: bool,
    definitions: Vec<SchemaDefinition<'l>>,
    by_reference: HashMap<(usize, &'l str), Option<DefinitionId>>,
    by_target: HashMap<SchemaKey, DefinitionId>,
    /// The definition of a schema and its subtypes, by that of the schema alone.
    families: HashMap<DefinitionId, Option<DefinitionId>>,
    by_name: HashMap<String, DefinitionId>,
    patterns: patterns::PatternCache,
    /// What was made of a schema as a whole result, by where it lies: operations share many.
    outputs: HashMap<usize, assemble::AssembledOutput>,
    pub(super) notes: DocumentNotes,
    /// Bytes of all schemas that were assembled, and what they may be.
    spent: usize,
    most: usize,
}

struct SchemaDefinition<'l> {
    name: String,
    site: DocumentSite<'l>,
    at: SchemaKey,
    /// The schema alone, and what else may stand for it; `None`: it is the schema alone.
    family: Option<(DefinitionId, &'l SubtypeFamily)>,
    part: Option<Rc<SchemaPart>>,
    soundness: soundness::Soundness,
    is_sound: bool,
}

impl<'l> SchemaDefinitions<'l> {
    pub(super) fn new(
        library: &'l DocumentSet,
        way: SchemaDirection,
        ref_stands_alone: bool,
        operations: usize,
    ) -> Self {
        Self {
            library,
            way,
            ref_stands_alone,
            definitions: Vec::new(),
            by_reference: HashMap::new(),
            by_target: HashMap::new(),
            families: HashMap::new(),
            by_name: HashMap::new(),
            patterns: patterns::PatternCache::default(),
            outputs: HashMap::new(),
            notes: DocumentNotes::default(),
            spent: 0,
            most: assemble::most(operations),
        }
    }

    /// Converts a schema that stands in an operation. `about` is whom a note is about.
    pub(super) fn part(&mut self, site: DocumentSite<'l>, about: &str) -> SchemaPart {
        convert::convert(self, site, None, about)
    }

    /// The definition that a reference means; `None` where it leads nowhere.
    fn definition(&mut self, from: usize, reference: &'l str) -> Option<DefinitionId> {
        if let Some(known) = self.by_reference.get(&(from, reference)) {
            return *known;
        }
        let library = self.library;
        let found = library.resolve(from, reference);
        let found = found.map(|(site, pointer)| self.intern(site, &pointer));
        self.by_reference.insert((from, reference), found);
        found
    }

    fn intern(&mut self, site: DocumentSite<'l>, pointer: &str) -> DefinitionId {
        let key = (site.document, pointer.to_owned());
        if let Some(known) = self.by_target.get(&key) {
            return *known;
        }
        let name = self.name(site.document, pointer, "");
        let id = self.define(name, site, (key.clone(), None));
        self.by_target.insert(key, id);
        id
    }

    fn define(
        &mut self,
        name: String,
        site: DocumentSite<'l>,
        (at, family): (SchemaKey, Option<(DefinitionId, &'l SubtypeFamily)>),
    ) -> DefinitionId {
        let id = DefinitionId(self.definitions.len());
        self.by_name.insert(name.clone(), id);
        let soundness = soundness::Soundness::Unknown;
        let (part, is_sound) = (None, false);
        self.definitions.push(SchemaDefinition {
            name,
            site,
            at,
            family,
            part,
            soundness,
            is_sound,
        });
        id
    }

    /// The definition of what may stand where a schema is meant: the schema, or a subtype of it.
    /// Results are described by what all of them have.
    fn with_subtypes(&mut self, id: DefinitionId) -> DefinitionId {
        if self.way == SchemaDirection::Response {
            return id;
        }
        if let Some(known) = self.families.get(&id) {
            return known.unwrap_or(id);
        }
        let library = self.library;
        let found = self.definitions.get(id.0).map(|base| {
            let at = subtypes::named(library, base.site).unwrap_or_else(|| base.at.clone());
            (at, base.site)
        });
        let found = found.and_then(|(at, site)| Some((library.family(&at)?, at, site)));
        let all = found.map(|(family, at, site)| {
            let name = self.name(at.0, &at.1, "_any");
            self.define(name, site, (at, Some((id, family))))
        });
        self.families.insert(id, all);
        all.unwrap_or(id)
    }

    /// The name of a schema among `components` or `definitions` where it is a plain word; else
    /// its last word with a hash of where it is.
    fn name(&self, document: usize, pointer: &str, end: &str) -> String {
        let plain = ["/components/schemas/", "/definitions/"]
            .iter()
            .find_map(|folder| pointer.strip_prefix(folder))
            .filter(|name| document == 0 && name.len() <= 100 && name.bytes().all(is_plain));
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let word: String = last.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
        let address = format!("{document}#{pointer}{end}");
        let hashed = (8..=64).step_by(8).map(|digits| {
            format!(
                "{word}{}{}",
                if word.is_empty() { "" } else { "_" },
                text::hash(&address, digits)
            )
        });
        let plain = plain.map(|plain| format!("{plain}{end}"));
        let mut names = plain.into_iter().chain(hashed);
        names.find(|name| !self.by_name.contains_key(name)).unwrap_or(address)
    }

    /// A definition, converted when it is first asked for.
    fn part_of(&mut self, id: DefinitionId) -> Rc<SchemaPart> {
        let Some(definition) = self.definitions.get(id.0) else {
            return Rc::default();
        };
        if let Some(part) = &definition.part {
            return Rc::clone(part);
        }
        let (site, name) = (definition.site, definition.name.clone());
        let part = match definition.family {
            Some((alone, family)) => alternatives::part(self, alone, family),
            None => convert::convert(self, site, Some(id), &name),
        };
        let part = Rc::new(part);
        if let Some(definition) = self.definitions.get_mut(id.0) {
            definition.part = Some(Rc::clone(&part));
        }
        part
    }

    /// Where the schema of a tool has a definition.
    fn place_of(&self, id: DefinitionId) -> String {
        format!("#/$defs/{}", self.name_of(id))
    }

    fn name_of(&self, id: DefinitionId) -> &str {
        self.definitions.get(id.0).map_or("", |definition| &definition.name)
    }

    /// Puts an open schema in the place of a definition.
    fn open(&mut self, id: DefinitionId, why: &str) {
        if let Some(definition) = self.definitions.get_mut(id.0) {
            let schema = values::open(definition.site.value);
            definition.part = Some(Rc::new(SchemaPart::of(schema)));
            let name = definition.name.clone();
            self.notes.add(&name, why);
        }
    }
}

impl SchemaPart {
    /// A part without references, and without schemas in its schema.
    pub(super) fn of(schema: Value) -> Self {
        let places = vec![PlaceChecks { subschemas: 1, levels: 1, refs: Vec::new() }];
        let bytes = values::bytes(&schema);
        Self { schema, bytes, subschemas: 1, places, ..Self::default() }
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

impl SchemaPart {
    /// Says what it is for, where that is said elsewhere than in the schema.
    pub(super) fn describe(&mut self, description: Option<&str>) {
        let description = text::cut(text::start(description.unwrap_or_default()).trim(), 1_000);
        if !description.is_empty() {
            self.set("description", Value::String(description));
        }
    }

    /// One of several; a part alone is itself.
    pub(super) fn any_of(mut parts: Vec<SchemaPart>) -> SchemaPart {
        if parts.len() < 2 {
            return parts.pop().unwrap_or_default();
        }
        let mut whole = Self::of(Value::Null);
        let mut root = PlaceChecks { subschemas: 1, levels: 1, refs: Vec::new() };
        let mut branches = Vec::new();
        let mut places = Vec::new();
        for part in parts {
            branches.push(part.schema);
            whole.subschemas += part.subschemas;
            let fresh = part.refs.into_iter().filter(|id| !whole.refs.contains(id));
            let fresh: Vec<DefinitionId> = fresh.collect();
            whole.refs.extend(fresh);
            whole.patterns.extend(part.patterns);
            let mut own = part.places.into_iter();
            if let Some(first) = own.next() {
                root.subschemas += first.subschemas;
                root.levels = root.levels.max(first.levels + 1);
                root.refs.extend(first.refs);
            }
            places.extend(own);
        }
        whole.places = std::iter::once(root).chain(places).collect();
        whole.schema = json!({ "anyOf": branches });
        whole.bytes = values::bytes(&whole.schema);
        whole
    }

    /// Adds a sentence to what the schema says of itself.
    pub(super) fn remark(&mut self, sentence: &str) {
        let said = self.schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let said = format!("{said}{}{sentence}", if said.is_empty() { "" } else { " " });
        self.set("description", Value::String(said));
    }

    /// Sets a keyword that checks nothing.
    pub(super) fn set(&mut self, keyword: &str, value: Value) {
        if let Value::Bool(true) = self.schema {
            self.schema = Value::Object(Map::new());
        }
        if let Value::Object(schema) = &mut self.schema {
            self.bytes += keyword.len() + 4 + values::bytes(&value);
            schema.insert(keyword.to_owned(), value);
        }
    }

    /// Bytes go into an argument as text.
    pub(super) fn hold_bytes(&mut self) {
        self.say_again(|said| {
            let description = format!("{said}Bytes in base64.");
            json!({ "type": "string", "description": description, "contentEncoding": "base64" })
        });
    }

    /// A file, or several: its bytes, or an object that names it as well.
    pub(super) fn hold_files(&mut self, are_many: bool) {
        self.say_again(|said| {
            let text = json!({ "type": "string" });
            let one = json!([
                { "type": "string", "contentEncoding": "base64" },
                {
                    "type": "object",
                    "properties": { "data": text, "name": text, "mime": text },
                    "required": ["data"],
                },
            ]);
            let said = format!("{said}Bytes in base64, or as `data` with a file name.");
            if are_many {
                json!({ "type": "array", "description": said, "items": { "anyOf": one } })
            } else {
                json!({ "description": said, "anyOf": one })
            }
        });
        // A list, its item, two branches and three members.
        self.subschemas = 7;
        self.places = vec![PlaceChecks { subschemas: 7, levels: 3, refs: Vec::new() }];
    }

    /// Another schema in place of this one, with what this one says of itself.
    ///
    /// What it checks is about the bytes, and not about the text that holds them.
    fn say_again(&mut self, schema: impl FnOnce(&str) -> Value) {
        let said = self.schema.get("description").and_then(Value::as_str);
        let said = said.map(|said| format!("{said} ")).unwrap_or_default();
        let deprecated = self.schema.get("deprecated").cloned();
        *self = Self::of(schema(&said));
        if let Some(deprecated) = deprecated {
            self.set("deprecated", deprecated);
        }
    }

    /// What the schema says of the value as a whole.
    pub(super) fn outline(&self) -> Value {
        let keywords = ["type", "format", "contentEncoding", "contentMediaType"];
        let outline = keywords
            .iter()
            .filter_map(|keyword| Some(((*keyword).to_owned(), self.schema.get(keyword)?.clone())));
        Value::Object(outline.collect())
    }
}
