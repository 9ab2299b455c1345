//! Texts as vectors: a model in a folder that the user names, or an endpoint somewhere.
//!
//! Read in this order: `LocalEmbedder` (behind the feature `sentence-model`),
//! [`EndpointEmbedder`], then [`CachedEmbedder`], which keeps the vectors of tools over a restart.
//!
//! Nothing is fetched that nobody named: `LocalEmbedder` reads its folder, and
//! [`EndpointEmbedder`] asks one address through `egress`.

mod cache;
mod endpoint;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "sentence-model")]
mod local;
mod prefixes;
mod unit_vector;

use std::error::Error;
use std::future::Future;
use std::pin::Pin;

use toolcrib_search::{EmbedError, Vector};

pub use cache::CachedEmbedder;
pub use endpoint::{EndpointEmbedder, EndpointSettings};
#[cfg(feature = "sentence-model")]
pub use local::{FolderError, LocalEmbedder};
pub use prefixes::Prefixes;

type EmbedFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vector>, EmbedError>> + Send + 'a>>;

fn failed(message: impl Into<String>, cause: impl Error + Send + Sync + 'static) -> EmbedError {
    EmbedError { message: message.into(), source: Some(Box::new(cause)) }
}

fn refused(message: impl Into<String>) -> EmbedError {
    EmbedError { message: message.into(), source: None }
}
