//! What the operations of a document share while they are converted.

use indexmap::IndexMap;

use crate::document::document_set::DocumentSet;
use crate::document::error::DocumentNotes;
use crate::document::schema::SchemaDefinitions;
use crate::document::security::SecurityScheme;
use crate::document::servers::DeclaredServer;

/// What is the same for all operations of a document.
pub(crate) struct ConversionState<'l> {
    pub(crate) library: &'l DocumentSet,
    pub(crate) is_swagger: bool,
    pub(crate) schemes: IndexMap<String, SecurityScheme>,
    pub(crate) sent: SchemaDefinitions<'l>,
    pub(crate) received: SchemaDefinitions<'l>,
    pub(crate) notes: DocumentNotes,
    pub(super) servers: Vec<DeclaredServer>,
    pub(super) security: Vec<Vec<String>>,
    /// Bytes of all operations but their schemas, and what they may be.
    pub(super) spent: usize,
    pub(super) most: usize,
}
