//! Documents as operations and the specs of their tools.
//!
//! Reading order: `parse` reads a text, `document_set` loads a document with those that it refers
//! to, `operations` finds its operations, names them (`names`) and makes each (`convert`) an
//! [`ApiOperation`] and a [`ToolSpec`] by way of `parameters`, `body` and `responses`, and `schema`
//! is where all schemas go through.
//!
//! `OpenAPI` 3.0, 3.1 and 3.2 and Swagger 2.0 are one way here: what differs is asked where it
//! differs. Nothing of a document is trusted: an operation that cannot be called as it stands is
//! refused with the reason, and costs no other.

mod body;
mod document_set;
mod error;
mod media;
mod operations;
mod parse;
mod schema;
mod security;
mod servers;
mod text;

use futures_util::FutureExt;
use indexmap::IndexMap;
use toolcrib_core::ToolSpec;

pub(crate) use document_set::references::{
    BlockingFolder, DocumentFolder, NoReferences, ReferenceLoader, plain_file,
};
pub use error::{DocumentError, DocumentNote, DocumentReport, RefusedOperation};
pub(crate) use security::{KeyPlace, SecurityScheme};
pub(crate) use servers::DeclaredServer;

use crate::operation::ApiOperation;
use crate::settings::ApiSettings;

/// What a document says, ready to be called.
pub(crate) struct ConvertedDocument {
    /// In the order of the document, each with the spec of its tool.
    pub(crate) operations: Vec<(ApiOperation, ToolSpec)>,
    /// Names, also of operations that are not wanted, that the tool for any request could have.
    pub(crate) requests: Vec<String>,
    /// Of the document as a whole; the first is proposed.
    pub(crate) servers: Vec<DeclaredServer>,
    /// By name.
    pub(crate) schemes: IndexMap<String, SecurityScheme>,
    pub(crate) report: DocumentReport,
}

/// The version of the format.
struct FormatVersion {
    text: String,
}

/// Reads a document, and through `beside` those that it refers to.
///
/// `settings.document` says what references are relative to; the text is that document's.
pub(crate) async fn read(
    text: &str,
    beside: &dyn ReferenceLoader,
    settings: &ApiSettings,
) -> Result<ConvertedDocument, DocumentError> {
    let mut notes = error::DocumentNotes::default();
    let library = document_set::references::load(text, beside, settings, &mut notes).await?;
    operations::convert::convert(&library, settings, notes)
}

/// What a document says of where its API is and who gives tokens for it, and no more of it.
pub(crate) struct ApiAddresses {
    pub(crate) servers: Vec<DeclaredServer>,
    pub(crate) schemes: IndexMap<String, SecurityScheme>,
}

/// Reads of a document where it leads; `beside` answers at once.
pub(crate) fn leads(
    text: &str,
    beside: &dyn ReferenceLoader,
    settings: &ApiSettings,
) -> Result<ApiAddresses, DocumentError> {
    let mut notes = error::DocumentNotes::default();
    let loading = document_set::references::load(text, beside, settings, &mut notes);
    let Some(library) = loading.now_or_never() else { return Err(DocumentError::NoVersion) };
    operations::convert::leads(&library?)
}

/// The tools of a document, and what became of it. Reads nothing but the text.
pub fn inspect(
    text: &str,
    settings: &ApiSettings,
) -> Result<(Vec<ToolSpec>, DocumentReport), DocumentError> {
    // Nothing is waited for where there is nothing to load.
    let Some(api) = read(text, &NoReferences, settings).now_or_never() else {
        return Err(DocumentError::NoVersion);
    };
    let api = api?;
    Ok((api.operations.into_iter().map(|(_, spec)| spec).collect(), api.report))
}

#[cfg(test)]
mod tests;
