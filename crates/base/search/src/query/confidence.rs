//! How sure it is that the best document serves a question.

use super::explain::ExpandedTerms;
use super::parse::{ParsedQuery, QueryWord};
use crate::index::SearchIndex;
use crate::number_cast::real;
use crate::query::MatchKind;

/// Below it, nothing is answered.
pub(crate) const ENOUGH: f32 = 0.5;

/// What a word that the catalog has by another of the same meaning counts for.
const BY_ANOTHER: f32 = 0.8;

/// The most that a word gives, as a multiple of its rarity.
const MOST_GAIN: f32 = 3.0;

/// The sizes between which a larger catalog makes more coincidences; others were not measured.
const SIZES: (usize, usize) = (50, 5000);

/// Weights of a logistic regression over questions that tools serve and questions that none does;
/// `crates/dev/retrieval` measures how often they are right.
const STRENGTH: f32 = 5.6;
const SHARE: f32 = 11.4;
const SIZE: f32 = -1.35;
const BIAS: f32 = 0.77;

/// From 0 to 1, for a document that is the best answer to a question.
///
/// It asks how strongly the document has the words of the question, and how many of them any
/// document has at all: a question whose words the catalog does not know is about something else.
/// Names and numbers in a question are values, which no catalog has to know. The larger the
/// catalog, the more a word is met by chance.
pub(crate) fn confidence(
    index: &SearchIndex,
    asked: &ParsedQuery,
    leads: &ExpandedTerms<'_>,
    best: u32,
) -> f32 {
    let met = leads.met(index, best);
    let strength: f32 = met
        .iter()
        .filter_map(|met| {
            let word = asked.words.get(met.word)?;
            let most = MOST_GAIN * word.rarity.max(0.1);
            Some((met.gain / most).min(word.weight))
        })
        .sum();
    let (mut known, mut all) = (0.0, 0.0);
    for word in &asked.words {
        let own = knowledge(word);
        if own > 0.0 || !word.is_value {
            known += word.weight * own;
            all += word.weight;
        }
    }
    let share = known / f32::max(all, 0.1);
    let size = real(index.len().clamp(SIZES.0, SIZES.1)).ln();
    let sure = STRENGTH * strength.ln_1p() + SHARE * share.ln_1p() + SIZE * size + BIAS;
    1.0 / (1.0 + (-sure).exp())
}

/// Whether the catalog knows a word, from 0 to 1.
fn knowledge(word: &QueryWord) -> f32 {
    match word.known {
        Some(MatchKind::Same) => 1.0,
        Some(MatchKind::Alike | MatchKind::Spelling) => BY_ANOTHER,
        None => 0.0,
    }
}
