//! What tools are sorted by: categories, actions, sources, tags.

use foldhash::HashMap;

use super::csr::CsrArray;
use super::trigrams::TrigramNames;
use crate::document::ToolDocument;
use crate::number_cast::{place, small};

/// A way of sorting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Facet {
    Category,
    Action,
    Source,
    Tag,
}

/// How many documents have which name, in the order of the names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetCounts {
    pub categories: Vec<(String, usize)>,
    pub actions: Vec<(String, usize)>,
    pub sources: Vec<(String, usize)>,
    pub tags: Vec<(String, usize)>,
}

/// One way of sorting: its names, and which of them a document has.
#[derive(Debug, Default)]
pub(crate) struct FacetIndex {
    names: TrigramNames,
    by_name: HashMap<Box<str>, u32>,
    of_document: CsrArray,
}

impl FacetIndex {
    /// The names of the next document; case is kept of the first who has it.
    pub(crate) fn push<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let numbers = names.filter(|name| !name.is_empty()).map(|name| {
            let key = name.to_lowercase().into_boxed_str();
            let count = small(self.by_name.len());
            let number = *self.by_name.entry(key).or_insert(count);
            if number == count {
                self.names.push(name);
            }
            number
        });
        self.of_document.push(numbers);
    }

    /// To be called when all documents are in.
    pub(crate) fn finish(&mut self) {
        self.names.finish();
        self.of_document.finish();
    }

    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.by_name.get(name.to_lowercase().as_str()).copied()
    }

    pub(crate) fn of(&self, document: usize) -> &[u32] {
        self.of_document.get(document)
    }

    /// Which of the names the documents have.
    pub(crate) fn there(&self, documents: impl Iterator<Item = usize>) -> Vec<bool> {
        let mut there = vec![false; self.by_name.len()];
        for number in documents.flat_map(|document| self.of(document)) {
            if let Some(there) = there.get_mut(place(*number)) {
                *there = true;
            }
        }
        there
    }

    /// The nearest of those that are `there`.
    pub(crate) fn nearest(&self, name: &str, most: usize, there: &[bool]) -> Vec<String> {
        let is_there = |number: usize| there.get(number) == Some(&true);
        let near = self.names.nearest(name, (most, 0.3), &is_there);
        near.into_iter()
            .filter_map(|(number, _)| self.names.get(number))
            .map(str::to_owned)
            .collect()
    }

    /// The names with how many of the documents have each.
    pub(crate) fn counts(&self, documents: impl Iterator<Item = usize>) -> Vec<(String, usize)> {
        let mut counts = vec![0_usize; self.by_name.len()];
        for document in documents {
            for number in self.of(document) {
                if let Some(count) = counts.get_mut(place(*number)) {
                    *count += 1;
                }
            }
        }
        let mut named: Vec<_> = counts
            .into_iter()
            .enumerate()
            .filter(|(_, count)| *count > 0)
            .filter_map(|(number, count)| Some((self.names.get(number)?.to_owned(), count)))
            .collect();
        named.sort();
        named
    }
}

/// All four ways of sorting.
#[derive(Debug, Default)]
pub(crate) struct FacetIndexes {
    pub(crate) categories: FacetIndex,
    pub(crate) actions: FacetIndex,
    pub(crate) sources: FacetIndex,
    pub(crate) tags: FacetIndex,
}

impl FacetIndexes {
    pub(crate) fn push(&mut self, document: &ToolDocument<'_>) {
        self.categories.push(document.category.iter().map(AsRef::as_ref));
        self.actions.push(document.actions.iter().map(AsRef::as_ref));
        self.sources.push(std::iter::once(document.source.as_ref()));
        self.tags.push(document.tags.iter().map(AsRef::as_ref));
    }

    pub(crate) fn finish(&mut self) {
        for shelf in [&mut self.categories, &mut self.actions, &mut self.sources, &mut self.tags] {
            shelf.finish();
        }
    }

    pub(crate) fn counts(&self, documents: impl Iterator<Item = usize> + Clone) -> FacetCounts {
        FacetCounts {
            categories: self.categories.counts(documents.clone()),
            actions: self.actions.counts(documents.clone()),
            sources: self.sources.counts(documents.clone()),
            tags: self.tags.counts(documents),
        }
    }
}
