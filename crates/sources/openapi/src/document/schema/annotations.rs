//! What `OpenAPI` says beside the schema: which way a property goes.

use std::collections::HashSet;

use serde_json::Value;

use super::super::text::{flag, member};
use super::SchemaDirection;
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
