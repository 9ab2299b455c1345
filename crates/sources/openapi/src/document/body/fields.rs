//! When the fields of a body are arguments of their own.
//!
//! A body is plain if it is an object, and every part of its `allOf` is one, that says no more
//! than `properties`, `required` and sizes: no `oneOf`, `anyOf`, `if` or `enum`, no patterns of
//! names, no `additionalProperties` but `false`, no `not` but of fields that may not come together,
//! and no field said in two ways.
//!
//! A base with subtypes is plain if all of them are: their fields are there as well, and may be
//! left out. What is required and described nowhere may be anything.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::exclusions;
use crate::document::document_set::subtype_family::Subtype;
use crate::document::document_set::subtypes::named;
use crate::document::document_set::{DocumentSet, DocumentSite};
use crate::document::schema::SchemaDirection;
use crate::document::schema::annotations::is_hidden;
use crate::document::schema::values::bytes;
use crate::document::text::member;

/// One field.
pub(crate) struct PlainField<'l> {
    pub(crate) site: DocumentSite<'l>,
    /// What else it may be: subtypes may each have their own.
    pub(crate) others: Vec<DocumentSite<'l>>,
    /// The values of the discriminator that it belongs to; none: it is there with all of them.
    pub(crate) of: Vec<String>,
}

impl<'l> PlainField<'l> {
    fn always(site: DocumentSite<'l>) -> Self {
        Self { site, others: Vec::new(), of: Vec::new() }
    }

    pub(crate) fn sites(&self) -> impl Iterator<Item = DocumentSite<'l>> {
        std::iter::once(self.site).chain(self.others.iter().copied())
    }
}

/// The fields of a plain body.
#[derive(Default)]
pub(crate) struct PlainBody<'l> {
    pub(crate) fields: IndexMap<&'l str, PlainField<'l>>,
    pub(crate) required: IndexSet<&'l str>,
    /// Which of its fields may not come together, as [`presence`] has it.
    pub(crate) barred: Vec<&'l Value>,
    /// The field that tells which of the others belong, and what it may say.
    pub(crate) told_by: IndexMap<&'l str, Vec<String>>,
    /// Fields that are required and described nowhere.
    pub(crate) undescribed: Vec<&'l str>,
    /// It names its properties, be they none: it is not any object.
    is_listed: bool,
    /// It takes no other fields.
    is_closed: bool,
    /// Each part is gathered once, however many ways lead to it.
    seen: HashSet<*const Value>,
}

/// Arguments of one tool.
const MOST: usize = 300;
/// `allOf` is looked through this deep.
const DEEPEST: usize = 8;

/// What no plain body says.
const UNPLAIN: [&str; 13] = [
    "oneOf",
    "anyOf",
    "if",
    "enum",
    "const",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "dependentRequired",
    "unevaluatedProperties",
    "items",
    "$dynamicRef",
    "$recursiveRef",
];

/// What may be anything.
static ANY: LazyLock<Value> = LazyLock::new(|| Value::Object(serde_json::Map::new()));

/// The fields of a body, if it is plain.
pub(crate) fn flatten<'l>(
    library: &'l DocumentSet,
    body: DocumentSite<'l>,
) -> Option<PlainBody<'l>> {
    let mut flat = PlainBody::default();
    gather(library, body, BodyPosition { depth: 0, is_built_on: false }, &mut flat)?;
    let hidden = |held: &PlainField<'l>| {
        held.sites().all(|site| is_hidden(library, site, SchemaDirection::Request))
    };
    let left_out: HashSet<&str> =
        flat.fields.iter().filter(|(_, held)| hidden(held)).map(|(name, _)| *name).collect();
    flat.fields.retain(|name, _| !left_out.contains(name));
    flat.required.retain(|name| !left_out.contains(name));
    if !flat.is_listed {
        return None;
    }
    flat.describe_required();
    if flat.fields.len() > MOST {
        return None;
    }
    let own: HashMap<&str, &str> = flat.fields.keys().map(|name| (*name, *name)).collect();
    let is_plain = flat.barred.iter().all(|rule| exclusions::renamed(rule, &own).is_some());
    is_plain.then_some(flat)
}

/// Where in a body a schema stands.
#[derive(Clone, Copy)]
struct BodyPosition {
    depth: usize,
    /// A schema with a name builds on it: what else may build on it is not meant.
    is_built_on: bool,
}

fn gather<'l>(
    library: &'l DocumentSet,
    site: DocumentSite<'l>,
    at: BodyPosition,
    flat: &mut PlainBody<'l>,
) -> Option<()> {
    let beside = ["properties", "required", "allOf", "additionalProperties"];
    let says = |keywords: &[&str]| keywords.iter().any(|key| site.value.get(key).is_some());
    if at.depth > DEEPEST || member(site.value, "$ref").is_some() && says(&beside) {
        return None;
    }
    let named = named(library, site);
    let site = library.follow(site).ok()?;
    let schema = site.value.as_object()?;
    if !flat.seen.insert(site.value) {
        return Some(());
    }
    if library.is_tired() {
        return None;
    }
    let is_object = |kind: &Value| kind == "object";
    let is_typed = schema.get("type").is_none_or(|types| {
        types.as_array().map_or_else(|| is_object(types), |types| types.iter().any(is_object))
    });
    let open = schema.get("additionalProperties");
    let is_closed = open == Some(&Value::Bool(false));
    flat.is_closed |= is_closed;
    if !is_typed
        || open.is_some() && !is_closed
        || UNPLAIN.iter().any(|keyword| schema.contains_key(*keyword))
    {
        return None;
    }
    if let Some(properties) = site.get("properties") {
        flat.is_listed = true;
        for (name, property) in properties.members() {
            library.step(1);
            let known = flat.fields.insert(name, PlainField::always(property));
            if known.is_some_and(|known| !is_same(library, known.site.value, property.value)) {
                return None;
            }
        }
    }
    flat.barred.extend(site.value.get("not"));
    let required = site.get("required").into_iter().flat_map(DocumentSite::items);
    for name in required.filter_map(|name| name.value.as_str()) {
        flat.required.insert(name);
    }
    let is_built_on = at.is_built_on || named.is_some();
    let below = BodyPosition { depth: at.depth + 1, is_built_on };
    let mut parts = site.get("allOf").into_iter().flat_map(DocumentSite::items).take(64);
    parts.try_for_each(|part| gather(library, part, below, flat))?;
    let family = named.filter(|_| !at.is_built_on).and_then(|named| library.family(&named));
    family.map_or(Some(()), |family| {
        let below = BodyPosition { is_built_on: true, ..below };
        let told: Vec<String> =
            family.subtypes.iter().flat_map(|subtype| subtype.values.iter().cloned()).collect();
        flat.told_by.insert(&family.property, told);
        family.subtypes.iter().try_for_each(|subtype| add(library, subtype, below, flat))
    })
}

/// Adds the fields of a subtype, which only its values need.
fn add<'l>(
    library: &'l DocumentSet,
    subtype: &'l Subtype,
    at: BodyPosition,
    flat: &mut PlainBody<'l>,
) -> Option<()> {
    let (document, pointer) = &subtype.at;
    let root = library.root(*document);
    let site = root.at(root.value.pointer(pointer)?);
    let mut own = PlainBody { seen: flat.seen.clone(), ..PlainBody::default() };
    gather(library, site, at, &mut own)?;
    flat.is_listed |= own.is_listed;
    for (name, held) in own.fields {
        let Some(known) = flat.fields.get_mut(name) else {
            flat.fields.insert(name, PlainField { of: subtype.values.clone(), ..held });
            continue;
        };
        // What the base has, a subtype may only narrow.
        if known.of.is_empty() {
            continue;
        }
        known.of.extend(subtype.values.iter().cloned());
        if !known.sites().any(|site| is_same(library, site.value, held.site.value)) {
            known.others.push(held.site);
        }
    }
    Some(())
}

/// Whether two schemas say the same, at the price of reading both.
fn is_same(library: &DocumentSet, one: &Value, other: &Value) -> bool {
    if std::ptr::eq(one, other) {
        return true;
    }
    library.step(bytes(one) / 64);
    one == other
}

impl<'l> PlainBody<'l> {
    /// Fields that are declared one by one, as Swagger 2 has those of a form.
    pub(crate) fn of(fields: impl Iterator<Item = (&'l str, DocumentSite<'l>)>) -> Self {
        let fields = fields.map(|(name, site)| (name, PlainField::always(site))).collect();
        Self { fields, is_listed: true, ..Self::default() }
    }

    /// `required` may name what `properties` does not, and an object that is not closed has it.
    fn describe_required(&mut self) {
        if self.is_closed {
            self.required.retain(|name| self.fields.contains_key(name));
        }
        for name in &self.required {
            if !self.fields.contains_key(name) {
                self.undescribed.push(name);
                let any = DocumentSite { document: 0, value: &ANY };
                self.fields.insert(name, PlainField::always(any));
            }
        }
    }
}
