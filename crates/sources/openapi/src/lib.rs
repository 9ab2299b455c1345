//! OpenAPI documents as tools.
//!
//! Read in this order: [`ApiSettings`], [`ApiSource`], then `document` (text to operations),
//! `operation` (what a request is built of), `request` (an operation and arguments to a request),
//! `auth` (who we are), `call` (one call), `response` (an answer to an outcome).
//!
//! A document is a stranger's word. It never chooses a second host, no argument changes more than
//! values in their own places, and secrets are taken out of all that comes back.

mod auth;
mod call;
mod document;
#[cfg(any(test, feature = "fuzz"))]
pub mod invariants;
mod operation;
#[cfg(test)]
mod recorder;
mod request;
mod response;
mod server;
mod settings;
mod source;

pub use document::{DocumentError, DocumentNote, DocumentReport, RefusedOperation, inspect};
pub use settings::{
    ApiBounds, ApiSettings, Credential, DocumentLocation, Grouping, OperationFilter,
};
pub use source::destinations::places;
pub use source::{ApiReport, ApiSource, BaseUrlSource};
