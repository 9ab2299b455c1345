//! The facets of a question.

use crate::index::SearchIndex;
use crate::index::facets::{Facet, FacetIndex};
use crate::number_cast::place;
use crate::query::{SearchQuery, UnknownFacetName};

/// What a document must have, as numbers; an empty list is met by none.
pub(crate) struct FacetFilter<'a> {
    index: &'a SearchIndex,
    categories: Option<Vec<u32>>,
    actions: Option<Vec<u32>>,
    sources: Option<Vec<u32>>,
    tags: Option<Vec<u32>>,
    /// One of the tags is none that there is.
    strange_tag: bool,
    writes: Option<bool>,
    /// What was asked for and does not exist.
    pub(crate) unknown: Vec<UnknownFacetName>,
}

impl<'a> FacetFilter<'a> {
    /// What no document has that `may` lets through is as unknown as what none has.
    pub(crate) fn of(
        index: &'a SearchIndex,
        query: &SearchQuery<'_>,
        may: &dyn Fn(usize) -> bool,
    ) -> Self {
        let shelves = &index.shelves;
        let mut unknown = Vec::new();
        let mut numbers = |facet: Facet, sorted: &FacetIndex, names: &[&str]| {
            if names.is_empty() {
                return None;
            }
            let there = sorted.there((0..index.len()).filter(|document| may(*document)));
            let mut numbers = Vec::new();
            for name in names {
                let known = sorted.number(name);
                let known = known.filter(|number| there.get(place(*number)) == Some(&true));
                numbers.extend(known);
                if known.is_none() {
                    let nearest = sorted.nearest(name, 5, &there);
                    unknown.push(UnknownFacetName { facet, name: (*name).to_owned(), nearest });
                }
            }
            Some(numbers)
        };
        let tags = numbers(Facet::Tag, &shelves.tags, query.tags);
        Self {
            index,
            categories: numbers(Facet::Category, &shelves.categories, query.categories),
            actions: numbers(Facet::Action, &shelves.actions, query.actions),
            sources: numbers(Facet::Source, &shelves.sources, query.sources),
            strange_tag: tags.as_ref().is_some_and(|tags| tags.len() < query.tags.len()),
            tags,
            writes: query.writes,
            unknown,
        }
    }

    /// Whether a document is what was asked for.
    pub(crate) fn lets(&self, document: usize) -> bool {
        let shelves = &self.index.shelves;
        let any = |wanted: &Option<Vec<u32>>, sorted: &FacetIndex| {
            let has = |wanted: &Vec<u32>| {
                sorted.of(document).iter().any(|number| wanted.contains(number))
            };
            wanted.as_ref().is_none_or(has)
        };
        let all = |wanted: &Vec<u32>| {
            wanted.iter().all(|number| shelves.tags.of(document).contains(number))
        };
        any(&self.categories, &shelves.categories)
            && any(&self.actions, &shelves.actions)
            && any(&self.sources, &shelves.sources)
            && !self.strange_tag
            && self.tags.as_ref().is_none_or(all)
            && self.writes.is_none_or(|writes| self.index.writes.get(document) == Some(&writes))
    }
}
