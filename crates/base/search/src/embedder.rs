//! Whoever makes vectors of texts, so that what means the same stands near.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A direction of length 1: the product of two is how near their texts are, from -1 to 1.
pub type Vector = Arc<[f32]>;

/// What a text is for: some models want the two told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmbedPurpose {
    /// A tool that may be found.
    Tool,
    /// A question or a part of one.
    Query,
}

/// Makes vectors of texts, by a model in this process or somewhere else.
pub trait Embedder: Send + Sync {
    /// Which model this is and how long its vectors are: vectors of two embedders are strangers.
    fn name(&self) -> &str;

    /// One vector of length 1 for each text, in order, all with the same number of entries.
    fn embed<'a>(
        &'a self,
        purpose: EmbedPurpose,
        texts: &'a [String],
    ) -> Pin<Box<dyn Future<Output = Result<Vec<Vector>, EmbedError>> + Send + 'a>>;
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct EmbedError {
    /// What went wrong and what to do about it; it may be shown to the operator.
    pub message: String,
    /// The cause, for the log.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}
