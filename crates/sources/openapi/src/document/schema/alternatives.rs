//! A schema and its subtypes as alternatives.

use serde_json::{Value, json};

use super::{DefinitionId, PlaceChecks, SchemaDefinitions, SchemaPart, values};
use crate::document::document_set::subtype_family::SubtypeFamily;

/// Each subtype with the values that mean it, and then the schema alone, which lets in what is
/// known to nobody here.
pub(super) fn part<'l>(
    shelf: &mut SchemaDefinitions<'l>,
    alone: DefinitionId,
    family: &'l SubtypeFamily,
) -> SchemaPart {
    let mut branches = Vec::new();
    let mut refs = Vec::new();
    for subtype in &family.subtypes {
        let (document, pointer) = &subtype.at;
        let root = shelf.library.root(*document);
        let Some(value) = root.value.pointer(pointer) else { continue };
        let id = shelf.intern(root.at(value), pointer);
        let mut branch = json!({ "$ref": shelf.place_of(id) });
        let only = match subtype.values.as_slice() {
            [] => None,
            [one] => Some(json!({ "const": one })),
            several => Some(json!({ "enum": several })),
        };
        if let (Some(only), Value::Object(branch)) = (only, &mut branch) {
            branch.insert("properties".to_owned(), json!({ (&family.property): only }));
        }
        branches.push(branch);
        refs.push(id);
    }
    branches.push(json!({ "$ref": shelf.place_of(alone) }));
    refs.push(alone);
    let schema = json!({ "anyOf": branches });
    let subschemas = 1 + 2 * refs.len();
    let visits = u64::try_from(subschemas).unwrap_or(u64::MAX);
    let places = vec![PlaceChecks { subschemas: visits, levels: 2, refs: refs.clone() }];
    let bytes = values::bytes(&schema);
    SchemaPart { schema, refs, places, patterns: Vec::new(), bytes, subschemas }
}
