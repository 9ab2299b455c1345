//! What tells branches apart.

use serde_json::{Value, json};

use super::super::text::member;
use super::annotations::is_hidden;
use super::convert::SchemaConverter;
use crate::document::document_set::DocumentSite;

/// Branches times values that are compared.
const MOST_PAIRS: usize = 20_000;

impl SchemaConverter<'_, '_> {
    /// Gives each branch its value of the property that tells them apart, where all branches are
    /// plain references and none says it itself.
    pub(super) fn tell_apart(
        &mut self,
        branches: &mut [Value],
        written: &Value,
        discriminator: Option<&Value>,
    ) {
        let Some(property) = discriminator.and_then(|it| member(it, "propertyName")) else {
            return;
        };
        let mapping = discriminator.and_then(|it| it.get("mapping"));
        let pairs =
            mapping.and_then(Value::as_object).map_or(0, serde_json::Map::len) * branches.len();
        if pairs > MOST_PAIRS {
            return;
        }
        let references: Option<Vec<&str>> = written
            .as_array()
            .and_then(|items| items.iter().map(|item| member(item, "$ref")).collect());
        for (branch, reference) in branches.iter_mut().zip(references.into_iter().flatten()) {
            let values = values_of(self, mapping, reference);
            let library = self.shelf.library;
            let target = library.resolve(self.document, reference);
            let target = target.and_then(|(target, _)| library.follow(target).ok());
            let Some(target) = target else { continue };
            let said = target.get("properties").and_then(|all| all.get(property));
            if !is_open(self, said, &values) {
                continue;
            }
            if let Value::Object(branch) = branch {
                let only = match values.as_slice() {
                    [one] => json!({ "const": one }),
                    several => json!({ "enum": several }),
                };
                branch.insert("properties".to_owned(), json!({ property: only }));
                branch.insert("required".to_owned(), json!([property]));
                self.part.subschemas += 1;
            }
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
