//! When the fields of a body are arguments of their own.
//!
//! A body is plain if it is an object, and every part of its `allOf` is one, that says no more
//! than `properties`, `required` and sizes: no `oneOf`, `anyOf`, `if` or `enum`, no patterns of names,
//! no `additionalProperties` but `false`, no `not` but of fields that may not come together, and no
//! field said in two ways.

use std::collections::{HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::library::{Library, Site};
use super::presence;
use super::schema::{Way, bytes, is_hidden};
use super::text::member;

/// The fields of a plain body.
#[derive(Default)]
pub(super) struct Flat<'l> {
    pub(super) fields: IndexMap<&'l str, Site<'l>>,
    pub(super) required: IndexSet<&'l str>,
    /// Which of its fields may not come together, as [`presence`] has it.
    pub(super) barred: Vec<&'l Value>,
    /// It names its properties, be they none: it is not any object.
    is_listed: bool,
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

/// The fields of a body, if it is plain.
pub(super) fn flatten<'l>(library: &'l Library, body: Site<'l>) -> Option<Flat<'l>> {
    let mut flat = Flat::default();
    gather(library, body, 0, &mut flat)?;
    let hidden = |site: &Site<'l>| is_hidden(library, *site, Way::Request);
    let left_out: HashSet<&str> =
        flat.fields.iter().filter(|(_, site)| hidden(site)).map(|(name, _)| *name).collect();
    flat.fields.retain(|name, _| !left_out.contains(name));
    flat.required.retain(|name| flat.fields.contains_key(name));
    if !flat.is_listed || flat.fields.len() > MOST {
        return None;
    }
    let own: HashMap<&str, &str> = flat.fields.keys().map(|name| (*name, *name)).collect();
    let is_plain = flat.barred.iter().all(|rule| presence::renamed(rule, &own).is_some());
    is_plain.then_some(flat)
}

fn gather<'l>(
    library: &'l Library,
    site: Site<'l>,
    depth: usize,
    flat: &mut Flat<'l>,
) -> Option<()> {
    let beside = ["properties", "required", "allOf", "additionalProperties"];
    let says = |keywords: &[&str]| keywords.iter().any(|key| site.value.get(key).is_some());
    if depth > DEEPEST || member(site.value, "$ref").is_some() && says(&beside) {
        return None;
    }
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
    let is_closed =
        schema.get("additionalProperties").is_none_or(|open| open == &Value::Bool(false));
    if !is_typed || !is_closed || UNPLAIN.iter().any(|keyword| schema.contains_key(*keyword)) {
        return None;
    }
    if let Some(properties) = site.get("properties") {
        flat.is_listed = true;
        for (name, property) in properties.members() {
            library.step(1);
            let known = flat.fields.insert(name, property);
            if known.is_some_and(|known| !is_same(library, known.value, property.value)) {
                return None;
            }
        }
    }
    flat.barred.extend(site.value.get("not"));
    let required = site.get("required").into_iter().flat_map(Site::items);
    for name in required.filter_map(|name| name.value.as_str()) {
        flat.required.insert(name);
    }
    let parts = site.get("allOf").into_iter().flat_map(Site::items);
    parts.take(64).try_for_each(|part| gather(library, part, depth + 1, flat))
}

/// Whether two schemas say the same, at the price of reading both.
fn is_same(library: &Library, one: &Value, other: &Value) -> bool {
    if std::ptr::eq(one, other) {
        return true;
    }
    library.step(bytes(one) / 64);
    one == other
}

impl<'l> Flat<'l> {
    /// Fields that are declared one by one, as Swagger 2 has those of a form.
    pub(super) fn of(fields: impl Iterator<Item = (&'l str, Site<'l>)>) -> Self {
        Self { fields: fields.collect(), is_listed: true, ..Self::default() }
    }
}
