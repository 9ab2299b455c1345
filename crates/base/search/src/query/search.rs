//! From a question to hits.

use super::confidence::{ENOUGH, confidence};
use super::explain::{self, ExpandedTerms};
use super::filter::FacetFilter;
use super::fusion::{Nearness, QueryVectors, fuse};
use super::parse::ParsedQuery;
use super::prerequisites::needs;
use super::scores::{ScoredDocument, best, better, scores};
use crate::document::DocumentField;
use crate::index::SearchIndex;
use crate::index::name_keys::NameMatch;
use crate::number_cast::place;
use crate::query::{AbstentionReason, Hit, Match, MatchKind, SearchQuery, SearchResults};

/// What a search goes by beside the question itself.
struct SearchOptions<'a> {
    vectors: Option<&'a QueryVectors<'a>>,
    may: &'a dyn Fn(usize) -> bool,
}

impl SearchIndex {
    /// What answers a question, best first.
    pub fn search(&self, query: &SearchQuery<'_>) -> SearchResults {
        self.search_within(query, &|_| true)
    }

    /// What answers a question among the documents that `may` lets through: what a caller must not
    /// see is not found, not counted and not named.
    pub fn search_within(
        &self,
        query: &SearchQuery<'_>,
        may: &dyn Fn(usize) -> bool,
    ) -> SearchResults {
        search(self, query, &SearchOptions { vectors: None, may })
    }

    /// The same with what an embedder made of the documents and of the question.
    pub fn search_with(
        &self,
        query: &SearchQuery<'_>,
        vectors: &QueryVectors<'_>,
        may: &dyn Fn(usize) -> bool,
    ) -> SearchResults {
        search(self, query, &SearchOptions { vectors: Some(vectors), may })
    }
}

fn search(index: &SearchIndex, query: &SearchQuery<'_>, by: &SearchOptions<'_>) -> SearchResults {
    let mut filter = FacetFilter::of(index, query, by.may);
    let unknown = std::mem::take(&mut filter.unknown);
    let lets = |document: usize| (by.may)(document) && filter.lets(document);
    let mut found = SearchResults { unknown, ..SearchResults::default() };
    if query.text.trim().is_empty() {
        let all = (0..index.len()).filter(|document| lets(*document));
        found.total = all.clone().count();
        found.confidence = 1.0;
        found.hits = all.take(query.limit).map(bare).collect();
        found.abstained = (found.total == 0).then_some(AbstentionReason::Facets);
        return found;
    }
    let asked = ParsedQuery::of(&index.lexicon, &|term| index.postings(term).len(), query.text);
    // Meaning is added to the words of every document.
    let keep = if by.vectors.is_some() { usize::MAX } else { query.limit };
    let (scored, total) = scores(index, &asked, keep, &lets);
    found.total = total;
    let leads = ExpandedTerms::of(&asked);
    let first = scored.iter().copied().reduce(better);
    found.confidence = first.map_or(0.0, |first| confidence(index, &asked, &leads, first.document));
    let (ranked, near) = match by.vectors {
        Some(vectors) => with_meaning(index, vectors, &scored, &lets),
        None => (scored, false),
    };
    let named = index.keys.named(query.text, &index.lexicon);
    let (ranked, is_named) = first_of_all(ranked, &named, &lets);
    if is_named {
        found.confidence = 1.0;
    }
    if ranked.is_empty() {
        found.abstained = Some(nothing(index, &lets));
    } else if found.confidence < ENOUGH && !near {
        found.abstained = Some(AbstentionReason::TooLittle);
    }
    if found.abstained.is_none() || query.keep_doubtful {
        let hits = best(ranked, query.limit);
        found.needs = needs(index, &hits, by.may);
        found.hits = explain::hits(index, &leads, &hits);
        found.total = found.total.max(found.hits.len());
        for hit in found.hits.iter_mut().filter(|hit| hit.matched.is_empty()) {
            let how = named.iter().find(|(document, _)| place(*document) == hit.document);
            hit.matched
                .extend(how.map(|(_, how)| by_name(index, query.text, (hit.document, *how))));
        }
    }
    found
}

/// Puts what the question names before all else, and tells whether there is any.
fn first_of_all(
    mut ranked: Vec<ScoredDocument>,
    named: &[(u32, NameMatch)],
    lets: &dyn Fn(usize) -> bool,
) -> (Vec<ScoredDocument>, bool) {
    let mut is_named = false;
    for (document, how) in named.iter().filter(|(document, _)| lets(place(*document))) {
        is_named = true;
        match ranked.iter_mut().find(|scored| scored.document == *document) {
            Some(scored) => scored.score += how.worth(),
            None => ranked.push(ScoredDocument { document: *document, score: how.worth() }),
        }
    }
    (ranked, is_named)
}

/// How the question leads to a document whose name it is, where no word of it does.
fn by_name(index: &SearchIndex, question: &str, (document, how): (usize, NameMatch)) -> Match {
    Match {
        word: question.trim().to_lowercase(),
        found: index.name(document).unwrap_or_default().to_owned(),
        way: MatchKind::Same,
        fields: vec![DocumentField::Name],
        gain: how.worth(),
    }
}

/// Words and meaning together, and whether something stands out by its meaning alone.
fn with_meaning(
    index: &SearchIndex,
    vectors: &QueryVectors<'_>,
    scored: &[ScoredDocument],
    lets: &dyn Fn(usize) -> bool,
) -> (Vec<ScoredDocument>, bool) {
    let allowed: Vec<bool> = (0..index.len()).map(lets).collect();
    let near = Nearness::of(vectors, &allowed);
    (fuse(scored, &near, &allowed), near.is_enough)
}

/// Why no document is met.
fn nothing(index: &SearchIndex, lets: &dyn Fn(usize) -> bool) -> AbstentionReason {
    // Whether a document that may not be told of has the words is not told either.
    if (0..index.len()).any(lets) { AbstentionReason::NoWord } else { AbstentionReason::Facets }
}

fn bare(document: usize) -> Hit {
    Hit { document, score: 0.0, matched: Vec::new(), contrast: Vec::new() }
}
