//! What was made of a document, for whoever set it up.

use serde::Serialize;

use crate::document::{DocumentNote, RefusedOperation};

/// The state of an API: how it is called, what has no tool, what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiReport {
    pub title: String,
    /// Of the API, as its owner counts.
    pub version: String,
    /// Of the format: `3.0.3`, or `2.0` for Swagger.
    pub format: String,
    /// What the paths of the operations are appended to.
    pub base_url: String,
    pub base_url_by: BaseUrlSource,
    /// Operations of the document that are wanted; those that are not refused have a tool each.
    pub operations: usize,
    pub refused: Vec<RefusedOperation>,
    pub notes: Vec<DocumentNote>,
    /// Those of the notes that are about words of YAML which others read otherwise.
    pub words: Vec<String>,
    /// Schemes that some operations cannot do without, and for which no credential is configured.
    pub credentials_missing: Vec<String>,
}

/// On whose word an API is called where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BaseUrlSource {
    Configuration,
    /// Nobody has confirmed it.
    Document,
}
