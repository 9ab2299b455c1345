//! From a question to hits.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use crate::facets::{Facet, Sorted};
use crate::index::{Index, Posting};
use crate::number::{place, small};
use crate::query::{Abstained, Found, Hit, Match, Query, Unknown, Way};
use crate::words::{stem, words};

/// How much of a question is read.
const LONGEST: usize = 4096;

pub(crate) fn search(index: &Index, query: &Query<'_>, may: &dyn Fn(usize) -> bool) -> Found {
    let wanted = Wanted::of(index, query);
    let lets = |document: usize| may(document) && wanted.lets(index, document);
    let asked = asked(query.text);
    let mut found = Found { unknown: wanted.unknown.clone(), ..Found::default() };
    if asked.is_empty() {
        let all = (0..index.len()).filter(|document| lets(*document));
        found.total = all.clone().count();
        found.hits = all.take(query.limit).map(|document| bare(document, 0.0)).collect();
        found.abstained = (found.total == 0).then_some(Abstained::Facets);
        return found;
    }
    let mut scores: HashMap<u32, f32> = HashMap::new();
    for (_, term) in asked.iter().filter_map(|word| known(index, word)) {
        for Posting { document, gain, .. } in index.postings(term) {
            *scores.entry(*document).or_default() += gain;
        }
    }
    let any = !scores.is_empty();
    let mut ranked: Vec<(u32, f32)> =
        scores.into_iter().filter(|(document, _)| lets(place(*document))).collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    found.total = ranked.len();
    found.abstained = match (any, ranked.is_empty()) {
        (false, _) => Some(Abstained::NoWord),
        (true, true) => Some(Abstained::Facets),
        (true, false) => None,
    };
    found.confidence = if ranked.is_empty() { 0.0 } else { 1.0 };
    ranked.truncate(query.limit);
    for (document, score) in ranked {
        let mut hit = bare(place(document), score);
        hit.matched = explain(index, &asked, document);
        found.hits.push(hit);
    }
    found
}

fn bare(document: usize, score: f32) -> Hit {
    Hit { document, score, matched: Vec::new(), contrast: Vec::new() }
}

/// The words of a question, each once.
fn asked(text: &str) -> Vec<String> {
    let end = (0..=LONGEST.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let text = end.and_then(|end| text.get(..end)).unwrap_or_default();
    let (mut asked, mut known) = (Vec::new(), HashSet::new());
    words(text, |word| {
        if known.insert(stem(word).to_owned()) {
            asked.push(word.to_owned());
        }
    });
    asked
}

fn known<'a>(index: &Index, word: &'a str) -> Option<(&'a str, u32)> {
    index.terms.get(stem(word)).map(|term| (word, *term))
}

fn explain(index: &Index, asked: &[String], document: u32) -> Vec<Match> {
    let met = asked.iter().filter_map(|word| {
        let (word, term) = known(index, word)?;
        let postings = index.postings(term);
        let at = postings.binary_search_by_key(&document, |posting| posting.document).ok()?;
        let posting = postings.get(at)?;
        Some(Match {
            word: word.to_owned(),
            found: stem(word).to_owned(),
            way: Way::Same,
            fields: posting.fields(),
            gain: posting.gain,
        })
    });
    let mut met: Vec<Match> = met.collect();
    met.sort_by(|left, right| right.gain.total_cmp(&left.gain));
    met.truncate(8);
    met
}

/// The facets of a question, as numbers.
struct Wanted {
    categories: Option<Vec<u32>>,
    actions: Option<Vec<u32>>,
    sources: Option<Vec<u32>>,
    tags: Option<Vec<u32>>,
    writes: Option<bool>,
    unknown: Vec<Unknown>,
}

impl Wanted {
    fn of(index: &Index, query: &Query<'_>) -> Self {
        let shelves = &index.shelves;
        let mut unknown = Vec::new();
        let mut numbers = |facet: Facet, sorted: &Sorted, names: &[&str]| {
            let mut numbers = Vec::new();
            for name in names {
                if let Some(number) = sorted.number(name) {
                    numbers.push(number);
                    continue;
                }
                // A number that no document has.
                numbers.push(small(usize::MAX));
                let nearest = sorted.nearest(name, 5);
                unknown.push(Unknown { facet, name: (*name).to_owned(), nearest });
            }
            (!names.is_empty()).then_some(numbers)
        };
        Self {
            categories: numbers(Facet::Category, &shelves.categories, query.categories),
            actions: numbers(Facet::Action, &shelves.actions, query.actions),
            sources: numbers(Facet::Source, &shelves.sources, query.sources),
            tags: numbers(Facet::Tag, &shelves.tags, query.tags),
            writes: query.writes,
            unknown,
        }
    }

    fn lets(&self, index: &Index, document: usize) -> bool {
        let shelves = &index.shelves;
        let any = |wanted: &Option<Vec<u32>>, sorted: &Sorted| {
            let has = |wanted: &Vec<u32>| {
                sorted.of(document).iter().any(|number| wanted.contains(number))
            };
            wanted.as_ref().is_none_or(has)
        };
        let all = |wanted: &Option<Vec<u32>>, sorted: &Sorted| {
            let has = |wanted: &Vec<u32>| {
                wanted.iter().all(|number| sorted.of(document).contains(number))
            };
            wanted.as_ref().is_none_or(has)
        };
        let writes = index.writes.get(document).copied();
        any(&self.categories, &shelves.categories)
            && any(&self.actions, &shelves.actions)
            && any(&self.sources, &shelves.sources)
            && all(&self.tags, &shelves.tags)
            && (self.writes.is_none() || self.writes == writes)
    }
}
