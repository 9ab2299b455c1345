//! One schema, keyword by keyword, as JSON Schema 2020-12.
//!
//! A keyword is taken over if it means something there and its value is of the right kind, so
//! that what comes out always compiles. What is lost makes a schema looser, never stricter: the
//! API checks for itself. For the same reason `oneOf` becomes `anyOf` (two branches that lost
//! what told them apart must not refuse what fits both), and a `not` or an `if` of which anything
//! was lost is left out.

use std::collections::HashSet;
use std::rc::Rc;

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::super::text;
use super::{
    DefinitionId, PlaceChecks, SchemaDefinitions, SchemaDirection, SchemaPart, annotations,
    enum_types, values,
};
use crate::document::document_set::DocumentSite;

/// Levels of objects and arrays in one part; three more stand around it in a tool's schema.
const LEVELS: usize = 28;

/// Subschemas of one part; what comes later stays open.
const MOST_SUBSCHEMAS: usize = 1_500;

/// Converts a schema; `own` is the definition that it is, if it is one.
pub(super) fn convert<'l>(
    shelf: &mut SchemaDefinitions<'l>,
    site: DocumentSite<'l>,
    own: Option<DefinitionId>,
    about: &str,
) -> SchemaPart {
    let part = SchemaPart { places: vec![PlaceChecks::default()], ..SchemaPart::default() };
    let document = site.document;
    let hidden = Vec::new();
    let mut converter = SchemaConverter { shelf, document, own, about, part, losses: 0, hidden };
    let at = PartPosition { left: LEVELS, place: 0, level: 1, is_base: false };
    let schema = converter.schema(site.value, at);
    let mut part = converter.part;
    part.bytes = values::bytes(&schema);
    part.schema = schema;
    let mut index = 0;
    part.places.retain(|place| {
        index += 1;
        index == 1 || !place.refs.is_empty()
    });
    part
}

pub(super) struct SchemaConverter<'s, 'l> {
    pub(super) shelf: &'s mut SchemaDefinitions<'l>,
    pub(super) document: usize,
    own: Option<DefinitionId>,
    about: &'s str,
    pub(super) part: SchemaPart,
    /// How much was left out so far that a value would have been checked for.
    losses: usize,
    /// Of the schemas around this one: their place, and the properties that do not go this way.
    /// A branch may require what only its sibling says to be `readOnly`.
    hidden: Vec<(usize, Rc<HashSet<&'l str>>)>,
}

/// Where in a part a schema stands.
#[derive(Clone, Copy)]
pub(super) struct PartPosition {
    /// Levels of nesting that are left.
    left: usize,
    place: usize,
    level: u64,
    /// A schema with a name builds on it.
    is_base: bool,
}

impl<'l> SchemaConverter<'_, 'l> {
    pub(super) fn schema(&mut self, value: &'l Value, at: PartPosition) -> Value {
        self.part.subschemas += 1;
        self.shelf.library.step(1);
        if let Some(place) = self.part.places.get_mut(at.place) {
            place.subschemas += 1;
            place.levels = place.levels.max(at.level);
        }
        match value {
            Value::Bool(_) => value.clone(),
            Value::Object(_) if at.left < 5 => self.lose("it nests too deep", values::open(value)),
            Value::Object(_) if self.part.subschemas > MOST_SUBSCHEMAS => {
                self.lose("it has too many parts", values::open(value))
            }
            Value::Object(schema) => self.object(schema, value, at),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Value::Object(Map::new())
            }
        }
    }

    fn lose<T>(&mut self, what: &str, instead: T) -> T {
        self.losses += 1;
        self.shelf.notes.add(self.about, format!("left open: {what}"));
        instead
    }

    fn object(
        &mut self,
        schema: &'l Map<String, Value>,
        value: &'l Value,
        at: PartPosition,
    ) -> Value {
        let mut out = Map::new();
        let refers = self.reference(schema, &mut out, at);
        if refers && self.shelf.ref_stands_alone {
            self.note_text(schema, &mut out);
        } else {
            let hidden = self.hidden(schema, value, at);
            self.hidden.push((at.place, Rc::clone(&hidden)));
            for (keyword, held) in schema {
                self.keyword(
                    keyword,
                    held,
                    &mut out,
                    KeywordContext { schema, hidden: &hidden, at },
                );
            }
            self.condition(schema, &mut out, at);
            self.hidden.pop();
            if let Some(what) = enum_types::agree(&mut out) {
                self.shelf.notes.add(self.about, what);
            }
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            values::nullable(&mut out);
        }
        Value::Object(out)
    }

    /// The properties that do not go this way, by what the schema and those around it say.
    fn hidden(
        &self,
        schema: &'l Map<String, Value>,
        value: &'l Value,
        at: PartPosition,
    ) -> Rc<HashSet<&'l str>> {
        let says = ["properties", "required", "allOf"].iter().any(|key| schema.contains_key(*key));
        let around = self.hidden.last().filter(|(place, _)| *place == at.place);
        let site = DocumentSite { document: self.document, value };
        let own = says.then(|| annotations::hidden(self.shelf.library, site, self.shelf.way));
        match (own, around) {
            (None, None) => Rc::default(),
            (Some(own), None) => Rc::new(own),
            (None, Some((_, around))) => Rc::clone(around),
            (Some(own), Some((_, around))) if own.is_subset(around) => Rc::clone(around),
            (Some(own), Some((_, around))) => Rc::new(own.union(around).copied().collect()),
        }
    }

    /// A reference leads into `$defs`. The dynamic kinds mean the schema where they stand.
    fn reference(
        &mut self,
        schema: &'l Map<String, Value>,
        out: &mut Map<String, Value>,
        at: PartPosition,
    ) -> bool {
        let of = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let id = match (of("$ref").or_else(|| of("$dynamicRef")), of("$recursiveRef")) {
            (Some(reference), _) => self.shelf.definition(self.document, reference),
            (None, Some(_)) => self.own,
            (None, None) => return false,
        };
        let Some(id) = id else {
            self.lose("a reference in it leads nowhere", ());
            return true;
        };
        let id = if at.is_base { id } else { self.shelf.with_subtypes(id) };
        out.insert("$ref".to_owned(), Value::String(self.shelf.place_of(id)));
        if !self.part.refs.contains(&id) {
            self.part.refs.push(id);
        }
        if let Some(place) = self.part.places.get_mut(at.place) {
            place.refs.push(id);
        }
        true
    }

    fn note_text(&mut self, schema: &Map<String, Value>, out: &mut Map<String, Value>) {
        let longest = if self.shelf.way == SchemaDirection::Request { 1_000 } else { 160 };
        if let Some(Value::String(written)) = schema.get("description") {
            let written = text::cut(text::start(written).trim(), longest);
            if !written.is_empty() {
                out.insert("description".to_owned(), Value::String(written));
            }
        }
    }

    fn keyword(
        &mut self,
        keyword: &str,
        held: &'l Value,
        out: &mut Map<String, Value>,
        around: KeywordContext<'_, 'l>,
    ) {
        let at = around.at;
        let taken = match keyword {
            "description" => return self.note_text(around.schema, out),
            "oneOf" | "anyOf" => {
                return out.extend(self.alternatives(keyword, held, around));
            }
            "type" => match values::types(held) {
                None => self.lose("its `type` is unknown", None),
                known => known,
            },
            "properties" => self.properties(held, around),
            "required" => {
                // A condition that does not say all of it any more would mean something else.
                self.losses += usize::from(mentions(held, around.hidden));
                names(held, around.hidden)
            }
            "dependentRequired" if mentions(held, around.hidden) => {
                self.losses += 1;
                None
            }
            "items" if held.is_array() => {
                let at = at.inside(self, 2);
                let items = self.list(held, at);
                return out.extend(items.map(|items| ("prefixItems".to_owned(), items)));
            }
            "additionalProperties" if held == &Value::Bool(true) => None,
            "items" | "additionalProperties" | "propertyNames" | "contains" => {
                let at = at.inside(self, 1);
                (held.is_object() || held.is_boolean()).then(|| self.schema(held, at))
            }
            "prefixItems" => {
                let at = at.inside(self, 2);
                self.list(held, at)
            }
            "allOf" => {
                let is_base = self.own.is_some() && at.place == 0 && at.level == 1;
                self.list(held, PartPosition { is_base, ..at.same(2) })
            }
            "dependentSchemas" => self.map(held, at.same(2)),
            "patternProperties" => self.pattern_properties(held, at),
            "pattern" => self.pattern(held),
            "exclusiveMinimum" | "exclusiveMaximum" => held.is_number().then(|| held.clone()),
            "minimum" | "maximum" => return limit(keyword, held, around.schema, out),
            "enum" => match held.as_array() {
                Some(all) if !all.is_empty() && self.is_small(held, at) => Some(held.clone()),
                _ => self.lose("its `enum` is no list of values", None),
            },
            "const" if !self.is_small(held, at) => self.lose("its `const` is deep", None),
            _ => values::plain(keyword, held),
        };
        if taken.is_none() && CHECKED.contains(&keyword) && !says_nothing(held) {
            let note = format!("left out: its `{keyword}` has a value that means nothing");
            self.shelf.notes.add(self.about, note);
        }
        out.extend(taken.map(|value| (keyword.to_owned(), value)));
    }

    /// Whether a value fits into a schema at all.
    fn is_small(&self, held: &Value, at: PartPosition) -> bool {
        const MOST_BYTES: usize = 64 * 1024;
        let bytes = values::bytes(held);
        self.shelf.library.step(bytes / 64);
        bytes <= MOST_BYTES && values::fits(held, at.left.saturating_sub(1))
    }

    fn properties(&mut self, held: &'l Value, around: KeywordContext<'_, 'l>) -> Option<Value> {
        let mut out = Map::new();
        for (name, schema) in held.as_object()? {
            if around.hidden.contains(name.as_str()) {
                self.losses += 1;
            } else {
                let at = around.at.inside(self, 2);
                out.insert(name.clone(), self.schema(schema, at));
            }
        }
        Some(Value::Object(out))
    }

    fn list(&mut self, held: &'l Value, at: PartPosition) -> Option<Value> {
        let items = held.as_array().filter(|items| !items.is_empty())?;
        Some(items.iter().map(|item| self.schema(item, at)).collect())
    }

    fn map(&mut self, held: &'l Value, at: PartPosition) -> Option<Value> {
        let members = held.as_object()?;
        let members = members.iter().map(|(name, schema)| (name.clone(), self.schema(schema, at)));
        Some(Value::Object(members.collect()))
    }

    /// The branches of `oneOf` or `anyOf`, always as `anyOf`.
    fn alternatives(
        &mut self,
        keyword: &str,
        held: &'l Value,
        around: KeywordContext<'_, 'l>,
    ) -> Option<(String, Value)> {
        if keyword == "oneOf" && around.schema.get("anyOf").is_some_and(Value::is_array) {
            return self.lose("it has `oneOf` and `anyOf`", None);
        }
        let Some(Value::Array(mut branches)) = self.list(held, around.at.same(2)) else {
            return None;
        };
        if self.shelf.way == SchemaDirection::Request {
            self.tell_apart(&mut branches, held, around.schema.get("discriminator"));
        }
        Some(("anyOf".to_owned(), Value::Array(branches)))
    }

    fn pattern_properties(&mut self, held: &'l Value, at: PartPosition) -> Option<Value> {
        let mut out = Map::new();
        for (pattern, schema) in held.as_object()? {
            if self.takes(pattern) {
                let at = at.inside(self, 2);
                out.insert(pattern.clone(), self.schema(schema, at));
            }
        }
        (!out.is_empty()).then_some(Value::Object(out))
    }

    fn pattern(&mut self, held: &Value) -> Option<Value> {
        let pattern = held.as_str()?;
        self.takes(pattern).then(|| Value::String(pattern.to_owned()))
    }

    fn takes(&mut self, pattern: &str) -> bool {
        let taken = self.shelf.patterns.takes(pattern);
        if !taken {
            let shown = text::line(pattern, 60);
            return self.lose(&format!("its pattern `{shown}` is left to the API"), false);
        }
        if !self.part.patterns.iter().any(|known| known == pattern) {
            self.part.patterns.push(pattern.to_owned());
        }
        taken
    }

    /// `not` and `if`, where nothing of them was lost.
    fn condition(
        &mut self,
        schema: &'l Map<String, Value>,
        out: &mut Map<String, Value>,
        at: PartPosition,
    ) {
        for (first, rest) in [("not", [].as_slice()), ("if", &["then", "else"])] {
            let Some(held) = schema.get(first) else { continue };
            let known = (self.losses, self.part.refs.len());
            let condition = self.schema(held, at.same(1));
            if known != (self.losses, self.part.refs.len()) {
                self.lose("a condition in it cannot be kept", ());
                continue;
            }
            out.insert(first.to_owned(), condition);
            for keyword in rest {
                if let Some(held) = schema.get(*keyword) {
                    let consequence = self.schema(held, at.same(1));
                    out.insert((*keyword).to_owned(), consequence);
                }
            }
        }
    }
}

/// Keywords that are lost for nothing but their values.
const CHECKED: [&str; 22] = [
    "additionalProperties",
    "allOf",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "dependentSchemas",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "multipleOf",
    "prefixItems",
    "properties",
    "propertyNames",
];

/// An empty list, or a flag: `exclusiveMinimum` was one, and any fields may come where nothing is
/// said.
fn says_nothing(held: &Value) -> bool {
    held.is_null() || held.is_boolean() || held.as_array().is_some_and(Vec::is_empty)
}

/// What stands around a keyword.
#[derive(Clone, Copy)]
struct KeywordContext<'h, 'l> {
    schema: &'l Map<String, Value>,
    /// Properties that do not go this way.
    hidden: &'h HashSet<&'l str>,
    at: PartPosition,
}

impl PartPosition {
    /// Below a keyword that applies to the same value.
    fn same(self, levels: usize) -> Self {
        let left = self.left.saturating_sub(levels);
        Self { left, level: self.level + 1, is_base: false, ..self }
    }

    /// Below a keyword that applies to a part of the value, which is a place of its own.
    fn inside(self, converter: &mut SchemaConverter<'_, '_>, levels: usize) -> Self {
        let place = converter.part.places.len();
        converter.part.places.push(PlaceChecks::default());
        Self { left: self.left.saturating_sub(levels), place, level: 1, is_base: false }
    }
}

/// Whether one of these names is in a list, or in one of several.
fn mentions(held: &Value, names: &HashSet<&str>) -> bool {
    match held {
        Value::String(name) => names.contains(name.as_str()),
        Value::Array(listed) => !names.is_empty() && listed.iter().any(|it| mentions(it, names)),
        Value::Object(lists) => !names.is_empty() && lists.values().any(|it| mentions(it, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A list of names, each once, without those that are hidden.
fn names(held: &Value, hidden: &HashSet<&str>) -> Option<Value> {
    let names = held.as_array()?.iter().filter_map(Value::as_str);
    let names: IndexSet<&str> = names.filter(|name| !hidden.contains(name)).collect();
    (!names.is_empty()).then(|| names.into_iter().collect())
}

/// `minimum: 1, exclusiveMinimum: true` was one limit until 3.1.
fn limit(keyword: &str, held: &Value, schema: &Map<String, Value>, out: &mut Map<String, Value>) {
    let exclusive = if keyword == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
    let is_exclusive = schema.get(exclusive) == Some(&Value::Bool(true));
    if held.is_number() {
        let keyword = if is_exclusive { exclusive } else { keyword };
        out.insert(keyword.to_owned(), held.clone());
    }
}
