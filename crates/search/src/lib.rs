//! Finding tools by what they say of themselves: an index in memory, without a model or with one.
//!
//! Read in this order: what a tool says (`document`), what is asked and found (`query`), the index
//! (`index`), how it is made (`build`) and searched (`search`), how texts become words (`words`, `short`), and
//! names as they are typed (`keys`). With an embedder: what it is given (`spoken`), and what its vectors add (`fuse`).
//!
//! What must stay true: the crate knows no tool, no file and no socket, only texts and numbers; the
//! same documents and the same question give the same answer, whatever a hash says; no text makes
//! it panic; and what a search costs is bounded by the length that is read of a question.

mod document;
mod embedder;
mod embedding_text;
mod index;
mod number_cast;
mod query;
mod text;

pub use document::{Argument, Document, Field};
pub use embedder::{EmbedError, Embedder, Purpose, Vector};
pub use embedding_text::asked;
pub use index::Index;
pub use index::facets::{Facet, Facets};
pub use query::fusion::Vectors;
pub use query::{Abstained, Found, Hit, Match, Need, Query, Unknown, Way};
pub use text::words::{each as each_word, sentences, stems as words};
