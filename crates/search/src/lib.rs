//! Finding tools by what they say of themselves: an index in memory, without a model or with one.
//!
//! Read in this order: what a tool says (`document`), what is asked and found (`query`), the index
//! (`index`), how it is made (`build`) and searched (`search`), how texts become words (`words`, `short`), and
//! names as they are typed (`keys`). With an embedder: what it is given (`spoken`), and what its vectors add (`fuse`).
//!
//! What must stay true: the crate knows no tool, no file and no socket, only texts and numbers; the
//! same documents and the same question give the same answer, whatever a hash says; no text makes
//! it panic; and what a search costs is bounded by the length that is read of a question.

mod ask;
mod bridge;
mod build;
mod confidence;
mod document;
mod embedder;
mod explain;
mod facets;
mod filter;
mod flat;
mod fuse;
mod index;
mod keys;
mod lexicon;
mod lists;
mod nearest;
mod needs;
mod number;
mod query;
mod scores;
mod search;
mod short;
mod spoken;
mod stem;
mod words;

pub use document::{Argument, Document, Field};
pub use embedder::{EmbedError, Embedder, Purpose, Vector};
pub use facets::{Facet, Facets};
pub use fuse::Vectors;
pub use index::Index;
pub use query::{Abstained, Found, Hit, Match, Need, Query, Unknown, Way};
pub use spoken::asked;
pub use words::{each as each_word, sentences, stems as words};
