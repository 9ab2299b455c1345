//! Finding tools by what they say of themselves: an index in memory, without a model or with one.
//!
//! Read in this order: what a tool says (`document`), what is asked and found (`query`), the index
//! (`index`, with its `builder`), how it is searched (`query/search`), how texts become words
//! (`text`), and names as they are typed (`index/name_keys`). With an embedder: what it is given
//! (`embedding_text`), and what its vectors add (`query/fusion`). Beside the search: which tools
//! belong together (`partition`).
//!
//! What must stay true: the crate knows no tool, no file and no socket, only texts and numbers; the
//! same documents and the same question give the same answer, whatever a hash says; no text makes
//! it panic; and what a search costs is bounded by the length that is read of a question.

mod document;
mod embedder;
mod embedding_text;
mod index;
mod number_cast;
mod partition;
mod query;
mod text;

pub use document::{DocumentArgument, DocumentField, ToolDocument};
pub use embedder::{EmbedError, EmbedPurpose, Embedder, Vector};
pub use embedding_text::asked;
pub use index::SearchIndex;
pub use index::facets::{Facet, FacetCounts};
pub use partition::{
    Overlap, Partition, PartitionAgent, PartitionError, PartitionSettings, PlacedTool,
    PlacementReason, cohesion, partition,
};
pub use query::choice::Choice;
pub use query::fusion::QueryVectors;
pub use query::{
    AbstentionReason, Hit, Match, MatchKind, Prerequisite, SearchQuery, SearchResults,
    UnknownFacetName,
};
pub use text::words::{each as each_word, sentences, stems as words};
