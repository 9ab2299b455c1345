//! What `OpenAPI` says beside the schema: which way a property goes, and what tells branches apart.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::super::text::{flag, member};
use super::SchemaDirection;
use super::convert::SchemaConverter;
use crate::document::document_set::{DocumentSet, DocumentSite};

/// The names of the properties that do not go this way, of a schema and of what it is all of.
pub(super) fn hidden<'l>(
    library: &'l DocumentSet,
    site: DocumentSite<'l>,
    way: SchemaDirection,
) -> HashSet<&'l str> {
    let mut search =
        HiddenPropertyFinder { library, way, seen: HashSet::new(), hidden: HashSet::new() };
    search.look(site, 0);
    search.hidden
}

struct HiddenPropertyFinder<'l> {
    library: &'l DocumentSet,
    way: SchemaDirection,
    /// Each schema is looked at once, however many ways lead to it.
    seen: HashSet<*const Value>,
    hidden: HashSet<&'l str>,
}

/// References and `allOf` are looked through this deep.
const DEEPEST: usize = 6;

impl<'l> HiddenPropertyFinder<'l> {
    fn look(&mut self, site: DocumentSite<'l>, depth: usize) {
        let library = self.library;
        library.step(1);
        if depth > DEEPEST || library.is_tired() || !self.seen.insert(site.value) {
            return;
        }
        for (name, property) in site.get("properties").into_iter().flat_map(DocumentSite::members) {
            library.step(1);
            if is_hidden(library, property, self.way) {
                self.hidden.insert(name);
            }
        }
        if member(site.value, "$ref").is_some()
            && let Ok(target) = library.follow(site)
        {
            self.look(target, depth + 1);
        }
        for branch in site.get("allOf").into_iter().flat_map(DocumentSite::items).take(32) {
            self.look(branch, depth + 1);
        }
    }
}

/// Whether a property does not go this way.
pub(crate) fn is_hidden(
    library: &DocumentSet,
    property: DocumentSite<'_>,
    way: SchemaDirection,
) -> bool {
    let key = match way {
        SchemaDirection::Request => "readOnly",
        SchemaDirection::Response => "writeOnly",
    };
    flag(property.value, key)
        || member(property.value, "$ref").is_some()
            && library.follow(property).is_ok_and(|target| flag(target.value, key))
}

/// Branches times values that are compared.
const MOST_PAIRS: usize = 20_000;

/// Gives each branch its value of the property that tells them apart, where all branches are
/// plain references and none says it itself.
pub(super) fn tell_apart(
    converter: &mut SchemaConverter<'_, '_>,
    branches: &mut [Value],
    written: &Value,
    discriminator: Option<&Value>,
) {
    let Some(property) = discriminator.and_then(|it| member(it, "propertyName")) else { return };
    let mapping = discriminator.and_then(|it| it.get("mapping"));
    let pairs = mapping.and_then(Value::as_object).map_or(0, serde_json::Map::len) * branches.len();
    if pairs > MOST_PAIRS {
        return;
    }
    let references: Option<Vec<&str>> = written
        .as_array()
        .and_then(|items| items.iter().map(|item| member(item, "$ref")).collect());
    for (branch, reference) in branches.iter_mut().zip(references.into_iter().flatten()) {
        let values = values_of(converter, mapping, reference);
        let library = converter.shelf.library;
        let target = library.resolve(converter.document, reference);
        let target = target.and_then(|(target, _)| library.follow(target).ok());
        let Some(target) = target else { continue };
        let said = target.get("properties").and_then(|all| all.get(property));
        if !is_open(converter, said, &values) {
            continue;
        }
        if let Value::Object(branch) = branch {
            let only = match values.as_slice() {
                [one] => json!({ "const": one }),
                several => json!({ "enum": several }),
            };
            branch.insert("properties".to_owned(), json!({ property: only }));
            branch.insert("required".to_owned(), json!([property]));
            converter.part.subschemas += 1;
        }
    }
}

/// The values that mean a branch: those mapped to it, else its name.
fn values_of(
    converter: &SchemaConverter<'_, '_>,
    mapping: Option<&Value>,
    reference: &str,
) -> Vec<String> {
    let library = converter.shelf.library;
    let place = |reference: &str| {
        let (site, pointer) = library.resolve(converter.document, reference)?;
        Some((site.document, pointer.into_owned()))
    };
    let name = reference.rsplit('/').next().unwrap_or_default();
    let meant = place(reference);
    let mapped = mapping.and_then(Value::as_object).into_iter().flatten();
    let mapped = mapped.filter(|(_, target)| {
        target.as_str().is_some_and(|target| target == name || place(target) == meant)
    });
    let values: Vec<String> = mapped.map(|(value, _)| value.clone()).collect();
    if values.is_empty() { vec![name.to_owned()] } else { values }
}

/// Whether the property is there, does not name its value, and may have all of the values.
fn is_open(
    converter: &SchemaConverter<'_, '_>,
    said: Option<DocumentSite<'_>>,
    values: &[String],
) -> bool {
    let (library, way) = (converter.shelf.library, converter.shelf.way);
    let sent = said.filter(|said| !is_hidden(library, *said, way));
    let Some(said) = sent.and_then(|said| library.follow(said).ok()) else {
        return false;
    };
    let listed = said.value.get("enum").and_then(Value::as_array);
    let is_one = listed.is_some_and(|listed| listed.len() == 1);
    let allows =
        |value: &String| listed.is_none_or(|listed| listed.iter().any(|one| one == value.as_str()));
    said.value.get("const").is_none() && !is_one && values.iter().all(allows)
}
