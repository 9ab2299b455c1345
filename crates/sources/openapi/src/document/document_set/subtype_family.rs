//! A schema that may be one of several, and where the several are.

use std::collections::HashMap;

/// Where a schema is: its document, and the pointer to it.
pub(crate) type SchemaKey = (usize, String);

/// One alternative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subtype {
    pub(crate) at: SchemaKey,
    /// Values of the discriminator that mean it.
    pub(crate) values: Vec<String>,
}

/// A schema that may be one of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubtypeFamily {
    /// The property that tells them apart.
    pub(crate) property: String,
    /// The schema itself is none of them.
    pub(crate) subtypes: Vec<Subtype>,
}

/// The families of all documents, by their bases.
#[derive(Debug, Default)]
pub(crate) struct SubtypeFamilies(pub(super) HashMap<SchemaKey, SubtypeFamily>);

impl SubtypeFamilies {
    pub(crate) fn get(&self, at: &SchemaKey) -> Option<&SubtypeFamily> {
        self.0.get(at)
    }
}
