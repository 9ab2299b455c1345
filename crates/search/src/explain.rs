//! Why a document was found, and what tells it from those that resemble it.

use crate::ask::{Asked, Word};
use crate::index::{Index, fields};
use crate::number::{place, real};
use crate::query::{Hit, Match, Way};
use crate::scores::Scored;

/// Words that explain a hit.
const MOST_MATCHES: usize = 8;

/// Words that tell a hit from others.
const MOST_CONTRAST: usize = 6;

/// How much two tools must have in common to be confused.
const ALIKE: f32 = 0.5;

/// One word of the question in one document, before it is written out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Met {
    /// Its place among the words of the question.
    pub(crate) word: usize,
    pub(crate) term: u32,
    pub(crate) way: Way,
    pub(crate) gain: f32,
    pub(crate) fields: u16,
}

/// What the words of a question meet in a document, in the order of the question.
pub(crate) fn met(index: &Index, asked: &Asked, document: u32) -> Vec<Met> {
    let best = |(at, word): (usize, &Word)| {
        let mut best: Option<Met> = None;
        for lead in asked.leads(word) {
            let Some((gain, fields)) = index.posting(lead.term, document) else { continue };
            let gain = gain * lead.weight * word.weight;
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Met { word: at, term: lead.term, way: lead.way, gain, fields });
            }
        }
        best
    };
    asked.words.iter().enumerate().filter_map(best).collect()
}

/// The hits with all that is said of them.
pub(crate) fn hits(index: &Index, asked: &Asked, scored: &[Scored]) -> Vec<Hit> {
    let hit = |one: &Scored| Hit {
        document: place(one.document),
        score: one.score,
        matched: matched(index, asked, met(index, asked, one.document)),
        contrast: contrast(index, one.document, scored),
    };
    scored.iter().map(hit).collect()
}

/// The weightiest words, written out.
fn matched(index: &Index, asked: &Asked, mut met: Vec<Met>) -> Vec<Match> {
    met.sort_by(|left, right| right.gain.total_cmp(&left.gain));
    let write = |met: Met| {
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
fn contrast(index: &Index, document: u32, others: &[Scored]) -> Vec<String> {
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
    let same = left.iter().filter(|term| right.binary_search(term).is_ok()).count();
    2.0 * real(same) / real(left.len() + right.len()).max(1.0)
}
