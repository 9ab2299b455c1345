//! What is asked of the index, and what it finds.

pub(crate) mod choice;
mod confidence;
mod explain;
mod filter;
pub(crate) mod fusion;
mod parse;
mod prerequisites;
mod scores;
mod search;

use crate::document::DocumentField;
use crate::index::facets::Facet;

/// What is looked for. Without a text, everything that the facets let through is found, in the
/// order of the documents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchQuery<'a> {
    /// A question, a task, a few words or a name; what is behind its first 4,096 bytes is not read.
    pub text: &'a str,
    /// One of these, if there are any; compared without regard to case.
    pub categories: &'a [&'a str],
    /// One of these, if there are any.
    pub actions: &'a [&'a str],
    /// One of these, if there are any.
    pub sources: &'a [&'a str],
    /// Each of these.
    pub tags: &'a [&'a str],
    /// Only those that may change something, or only those that may not.
    pub writes: Option<bool>,
    /// Whether hits are wanted, too, that share too little with the question to serve it.
    pub keep_doubtful: bool,
    /// How many hits at the most; 0 finds none, but counts them.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchResults {
    /// Best first; equals in the order of the documents.
    pub hits: Vec<Hit>,
    /// How many documents the facets let through and share a word with the question.
    pub total: usize,
    /// How sure it is that the best hit serves the question, from 0 to 1.
    pub confidence: f32,
    /// Why there are no hits where some might have been expected.
    pub abstained: Option<AbstentionReason>,
    /// What was asked for by a name that no document has.
    pub unknown: Vec<UnknownFacetName>,
    /// What the arguments of a hit need and another tool yields.
    pub needs: Vec<Prerequisite>,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its number, in the order in which the index was given them.
    pub document: usize,
    /// Comparable within one search only.
    pub score: f32,
    /// Which of its words answer which word of the question, the weightiest first, 8 at the most.
    pub matched: Vec<Match>,
    /// What it says and the hits that resemble it do not, 6 words at the most; empty where no other
    /// hit resembles it.
    pub contrast: Vec<String>,
}

/// A word of the question, met in a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// As the question has it, in small letters.
    pub word: String,
    /// The stem that the document has.
    pub found: String,
    pub way: MatchKind,
    /// Where it stands.
    pub fields: Vec<DocumentField>,
    /// What it adds to the score.
    pub gain: f32,
}

/// How a word of the question leads to one of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// It is the same, or the same but for its ending.
    Same,
    /// It means the same in the language of tools: `remove` and `delete`.
    Alike,
    /// It is spelt nearly the same.
    Spelling,
}

/// Why nothing is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbstentionReason {
    /// No document has a word of the question.
    NoWord,
    /// What the best ones share with the question is too little to say that they serve it.
    TooLittle,
    /// The facets let nothing through.
    Facets,
}

/// A name in the question that nothing has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFacetName {
    pub facet: Facet,
    pub name: String,
    /// Names that there are, the nearest first, 5 at the most.
    pub nearest: Vec<String>,
}

/// An argument that has to come from somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prerequisite {
    /// The document whose argument it is.
    pub document: usize,
    /// As the document names it.
    pub argument: String,
    /// The document that yields it.
    pub from: usize,
}
