//! How well tools are found, on labelled sets, beside plain searches in the same run.
//!
//! Read in this order: the sets (`labelled_set`), what they are asked of (`bm25` and the search
//! itself), the figures (`figures`), abstention (`abstention`), what a model adds (`set_vectors`),
//! size (`scale`), sharing out (`partitions`), and what is printed (`report`).

mod abstention;
mod bm25;
mod figures;
mod labelled_set;
mod partitions;
mod report;
mod scale;
mod set_vectors;

pub use abstention::{Abstention, abstention};
pub use bm25::{Bm25, Bm25Kind};
pub use figures::{RetrievalFigures, SearchFunction, figures};
pub use labelled_set::{LabelledQuestion, LabelledSet, LabelledTool, SETS, folder};
pub use partitions::partitions;
pub use report::{measure, of_set, shared, table};
pub use scale::scale;
pub use set_vectors::EmbeddingModel;

/// Why nothing could be measured.
pub type RetrievalError = Box<dyn std::error::Error>;
