//! Finding tools by what they say of themselves: an index in memory, without a model or with one.

mod embedder;

pub use embedder::{EmbedError, Embedder, Purpose, Vector};
