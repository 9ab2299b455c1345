//! Why a document was found, and what tells it from those that resemble it.

use super::parse::{ParsedQuery, QueryWord};
use super::scores::ScoredDocument;
use crate::index::lexicon::ExpandedTerm;
use crate::index::{SearchIndex, fields};
use crate::number_cast::{place, real};
use crate::query::{Hit, Match, MatchKind};

/// Words that explain a hit.
const MOST_MATCHES: usize = 8;

/// Words that tell a hit from others.
const MOST_CONTRAST: usize = 6;

/// How much two tools must have in common to be confused.
const ALIKE: f32 = 0.5;

/// One word of the question in one document, before it is written out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordMatch {
    /// Its place among the words of the question.
    pub(crate) word: usize,
    pub(crate) term: u32,
    pub(crate) way: MatchKind,
    pub(crate) gain: f32,
    pub(crate) fields: u16,
}

/// All that the words of a question lead to, in the order of the catalog's words.
pub(crate) struct ExpandedTerms<'a> {
    asked: &'a ParsedQuery,
    /// A word of the catalog, the place of one of the question that leads to it, and how.
    sorted: Vec<(u32, usize, ExpandedTerm)>,
}

impl<'a> ExpandedTerms<'a> {
    pub(crate) fn of(asked: &'a ParsedQuery) -> Self {
        let leads = |(at, word): (usize, &'a QueryWord)| {
            asked.leads(word).map(move |lead| {
                let weight = lead.weight * word.weight;
                (lead.term, at, ExpandedTerm { weight, ..*lead })
            })
        };
        let mut sorted: Vec<_> = asked.words.iter().enumerate().flat_map(leads).collect();
        sorted.sort_unstable_by_key(|(term, at, _)| (*term, *at));
        Self { asked, sorted }
    }

    /// What the words of the question meet in a document, the best of each, in their order.
    pub(crate) fn met(&self, index: &SearchIndex, document: u32) -> Vec<WordMatch> {
        let mut met: Vec<WordMatch> = Vec::new();
        let mut rest = self.sorted.as_slice();
        for term in index.contents.get(place(document)) {
            // Both are in order, and one step is cheaper than a search.
            let from = rest.iter().position(|(lead, ..)| lead >= term).unwrap_or(rest.len());
            rest = rest.get(from..).unwrap_or_default();
            let here = rest.iter().take_while(|(lead, ..)| lead == term).count();
            let (here, behind) = rest.split_at_checked(here).unwrap_or_default();
            rest = behind;
            if here.is_empty() {
                continue;
            }
            let Some((gain, fields)) = index.posting(*term, document) else { continue };
            met.extend(here.iter().map(|(term, word, lead)| {
                let gain = gain * lead.weight;
                WordMatch { word: *word, term: *term, way: lead.way, gain, fields }
            }));
        }
        met.sort_by(|left, right| {
            left.word.cmp(&right.word).then(right.gain.total_cmp(&left.gain))
        });
        met.dedup_by_key(|met| met.word);
        met
    }
}

/// The hits with all that is said of them.
pub(crate) fn hits(
    index: &SearchIndex,
    leads: &ExpandedTerms<'_>,
    scored: &[ScoredDocument],
) -> Vec<Hit> {
    let hit = |one: &ScoredDocument| Hit {
        document: place(one.document),
        score: one.score,
        matched: matched(index, leads.asked, leads.met(index, one.document)),
        contrast: contrast(index, one.document, scored),
    };
    scored.iter().map(hit).collect()
}

/// The weightiest words, written out.
fn matched(index: &SearchIndex, asked: &ParsedQuery, mut met: Vec<WordMatch>) -> Vec<Match> {
    met.sort_by(|left, right| right.gain.total_cmp(&left.gain));
    let write = |met: WordMatch| {
        Some(Match {
            word: asked.words.get(met.word)?.written.clone(),
            found: index.lexicon.stem(met.term).to_owned(),
            way: met.way,
            fields: fields(met.fields),
            gain: met.gain,
        })
    };
    met.into_iter().take(MOST_MATCHES).filter_map(write).collect()
}

/// The words of a document's name and summary that those of the others that resemble it have not,
/// the rarest first.
fn contrast(index: &SearchIndex, document: u32, others: &[ScoredDocument]) -> Vec<String> {
    let own = index.briefs.get(place(document));
    let others = others.iter().filter(|other| other.document != document);
    let alike: Vec<&[u32]> = others
        .map(|other| index.briefs.get(place(other.document)))
        .filter(|other| likeness(own, other) >= ALIKE)
        .collect();
    if alike.is_empty() {
        return Vec::new();
    }
    let is_own = |term: &&u32| alike.iter().all(|other| other.binary_search(term).is_err());
    let mut apart: Vec<u32> = own.iter().filter(is_own).copied().collect();
    let rarity = |term: &u32| index.lexicon.rarity(*term);
    apart.sort_by(|left, right| rarity(right).total_cmp(&rarity(left)).then(left.cmp(right)));
    apart.truncate(MOST_CONTRAST);
    apart.into_iter().map(|term| index.lexicon.written(term).to_owned()).collect()
}

/// How much of two sorted lists is the same, from 0 to 1.
fn likeness(left: &[u32], right: &[u32]) -> f32 {
    let (mut same, mut rest) = (0, right.iter().peekable());
    for term in left {
        while rest.next_if(|other| *other < term).is_some() {}
        same += usize::from(rest.next_if_eq(&term).is_some());
    }
    2.0 * real(same) / real(left.len() + right.len()).max(1.0)
}
