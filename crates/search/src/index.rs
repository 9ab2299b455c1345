//! The index: words and where they stand, and what documents are sorted by.

use foldhash::HashMap;

use crate::document::{Document, Field};
use crate::facets::{Facets, Shelves};
use crate::nearest::Names;
use crate::number::place;
use crate::query::{Found, Query};
use crate::{build, search};

/// Everything that is searched, numbered in the order in which it was given; never changed.
#[derive(Debug)]
pub struct Index {
    pub(crate) names: Names,
    pub(crate) shelves: Shelves,
    /// Which documents may change something.
    pub(crate) writes: Box<[bool]>,
    pub(crate) terms: HashMap<Box<str>, u32>,
    /// Where the postings of a word begin; one entry more than words.
    pub(crate) starts: Box<[u32]>,
    pub(crate) postings: Box<[Posting]>,
}

/// A word in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    /// What a question with this word gives the document.
    pub(crate) gain: f32,
    /// A bit for each field that has it.
    pub(crate) fields: u16,
}

impl Index {
    /// Reads all documents; they are numbered from 0 in the order in which they come.
    pub fn build<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        build::build(documents)
    }

    /// What answers a question, best first.
    pub fn search(&self, query: &Query<'_>) -> Found {
        self.search_within(query, &|_| true)
    }

    /// What answers a question among the documents that `may` lets through: what a caller must not
    /// see is not found, not counted and not named.
    pub fn search_within(&self, query: &Query<'_>, may: &dyn Fn(usize) -> bool) -> Found {
        search::search(self, query, may)
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a document.
    pub fn name(&self, document: usize) -> Option<&str> {
        self.names.get(document)
    }

    /// The documents whose names are nearest to a wrong one, best first.
    pub fn nearest(&self, name: &str, most: usize) -> Vec<usize> {
        self.names.nearest(name, most)
    }

    /// How many of the documents that `may` lets through are sorted under which name.
    pub fn facets(&self, may: &dyn Fn(usize) -> bool) -> Facets {
        self.shelves.counts((0..self.len()).filter(|document| may(*document)))
    }

    pub(crate) fn postings(&self, term: u32) -> &[Posting] {
        let bounds = self.starts.get(place(term)).zip(self.starts.get(place(term) + 1));
        let range = bounds.map(|(from, to)| place(*from)..place(*to));
        range.and_then(|range| self.postings.get(range)).unwrap_or_default()
    }
}

impl Posting {
    pub(crate) fn fields(self) -> Vec<Field> {
        let has = |field: &Field| self.fields & (1 << field.number()) != 0;
        Field::ALL.into_iter().filter(has).collect()
    }
}
