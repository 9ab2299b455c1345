//! The index: words and where they stand, and what documents are sorted by.

mod builder;
pub(crate) mod csr;
pub(crate) mod facets;
pub(crate) mod lexicon;
pub(crate) mod name_keys;
pub(crate) mod prerequisites;
pub(crate) mod trigrams;

use std::ops::Range;

use crate::document::DocumentField;
use crate::number_cast::place;
use csr::CsrArray;
use facets::{FacetCounts, FacetIndexes};
use lexicon::CatalogLexicon;
use name_keys::NameKeys;
use prerequisites::Prerequisites;
use trigrams::TrigramNames;

/// Everything that is searched, numbered in the order in which it was given; never changed.
#[derive(Debug)]
pub struct SearchIndex {
    pub(crate) names: TrigramNames,
    pub(crate) keys: NameKeys,
    pub(crate) shelves: FacetIndexes,
    /// Which documents may change something.
    pub(crate) writes: Box<[bool]>,
    pub(crate) lexicon: CatalogLexicon,
    /// What the name and the summary of each document say.
    pub(crate) briefs: CsrArray,
    /// The words of each document, in order.
    pub(crate) contents: CsrArray,
    pub(crate) needs: Prerequisites,
    /// Where the postings of a word begin; one entry more than words.
    pub(crate) starts: Box<[u32]>,
    pub(crate) postings: Box<[Posting]>,
    /// For each posting a bit for each field that has the word.
    pub(crate) fields: Box<[u16]>,
}

/// A word in a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    /// What a question with this word gives the document.
    pub(crate) gain: f32,
}

impl SearchIndex {
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

    /// The documents that `may` lets through whose names are nearest to a wrong one, best first.
    pub fn nearest(&self, name: &str, most: usize, may: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let near = self.names.nearest(name, (most, 0.3), may).into_iter();
        near.map(|(document, _)| document).collect()
    }

    /// How many of the documents that `may` lets through are sorted under which name.
    pub fn facets(&self, may: &dyn Fn(usize) -> bool) -> FacetCounts {
        self.shelves.counts((0..self.len()).filter(|document| may(*document)))
    }

    /// Where a word stands, in the order of the documents.
    pub(crate) fn postings(&self, term: u32) -> &[Posting] {
        self.postings.get(self.range(term)).unwrap_or_default()
    }

    /// What a word gives a document, and in which fields it stands there.
    pub(crate) fn posting(&self, term: u32, document: u32) -> Option<(f32, u16)> {
        let range = self.range(term);
        let own = self.postings.get(range.clone())?;
        let at = own.binary_search_by_key(&document, |posting| posting.document).ok()?;
        Some((own.get(at)?.gain, *self.fields.get(range.start + at)?))
    }

    /// The documents that have a word in a field, in order.
    pub(crate) fn holders(&self, term: u32, field: DocumentField) -> impl Iterator<Item = u32> {
        let range = self.range(term);
        let fields = self.fields.get(range.clone()).unwrap_or_default();
        let postings = self.postings.get(range).unwrap_or_default().iter().zip(fields);
        let has = move |(_, fields): &(&Posting, &u16)| **fields & (1 << field.number()) != 0;
        postings.filter(has).map(|(posting, _)| posting.document)
    }

    fn range(&self, term: u32) -> Range<usize> {
        let bounds = self.starts.get(place(term)).zip(self.starts.get(place(term) + 1));
        bounds.map_or(0..0, |(from, to)| place(*from)..place(*to))
    }
}

/// The fields of a set of bits.
pub(crate) fn fields(bits: u16) -> Vec<DocumentField> {
    DocumentField::ALL.into_iter().filter(|field| bits & (1 << field.number()) != 0).collect()
}
