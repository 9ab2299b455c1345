//! The sources that a server names for what its result says.

use serde_json::{Map, Value};
use toolcrib_core::Reference;

/// Where in `_meta` they stand.
pub(crate) const KEY: &str = "toolcrib/references";

/// The sources in the fields of a result.
pub(super) fn references(extra: &Map<String, Value>) -> Vec<Reference> {
    let named = extra.get("_meta").and_then(|meta| meta.get(KEY));
    named.map(Reference::named).unwrap_or_default()
}
