//! Words and meaning together: what an embedder says, beside what the words say.

use super::scores::ScoredDocument;
use crate::embedder::Vector;
use crate::number_cast::{place, real};

/// How much the best sentence counts beside the whole question, which counts 1.
const BEST_SENTENCE: f32 = 0.8;

/// Between these sizes a larger catalog has more that is near by chance; others were not measured.
const SIZES: (f32, f32) = (50.0, 5000.0);

/// How much nearer the nearest has to be in the largest of them than in the smallest.
const OF_LARGEST: f32 = 1.6;

/// What an embedder made of the documents and of a question.
///
/// A search with vectors costs a product with every document for each vector of the question.
#[derive(Debug, Clone, Copy)]
pub struct QueryVectors<'a> {
    /// One for each document, by its number, of what it [says](crate::ToolDocument::spoken); one
    /// that is empty has none.
    pub documents: &'a [Vector],
    /// Those of what was [asked](crate::asked): the question itself first, then its sentences.
    pub question: &'a [Vector],
    /// What meaning counts for beside words, which count 1, for a question of one sentence. What
    /// stands for a long task stands for no part of it well, so there it counts less.
    pub weight: f32,
    /// How much nearer than the others a document of 50 must be to serve the question, whatever its
    /// words say; among more of them more is asked.
    pub enough: f32,
}

/// How near every document is in meaning, and whether one of those that may be found stands out.
pub(crate) struct Nearness {
    of_document: Vec<f32>,
    weight: f32,
    pub(crate) is_enough: bool,
}

impl Nearness {
    pub(crate) fn of(vectors: &QueryVectors<'_>, allowed: &[bool]) -> Self {
        let enough = vectors.enough * more(allowed.iter().filter(|allowed| **allowed).count());
        let mut is_enough = false;
        let mut levels = vectors.question.iter().map(|question| {
            let product = |at: usize| {
                let own = vectors.documents.get(at).filter(|own| own.len() == question.len());
                own.map_or(0.0, |own| product(own, question))
            };
            let mut near: Vec<f32> = (0..allowed.len()).map(product).collect();
            is_enough |= stands_out(&near, allowed) >= enough;
            level(&mut near, allowed, Scale::Standing);
            near
        });
        let mut of_document = levels.next().unwrap_or_else(|| vec![0.0; allowed.len()]);
        let best = levels.reduce(|mut best, next| {
            best.iter_mut().zip(next).for_each(|(best, next)| *best = best.max(next));
            best
        });
        if let Some(best) = best {
            for (whole, best) in of_document.iter_mut().zip(best) {
                *whole += BEST_SENTENCE * best;
            }
        }
        level(&mut of_document, allowed, Scale::Best);
        let sentences = vectors.question.len().saturating_sub(1).max(1);
        let weight = vectors.weight * 2.0 / (1.0 + real(sentences));
        Self { of_document, weight, is_enough }
    }
}

/// The sum of both, each on the same level; documents that are not allowed are left out and count
/// for nothing, so that they cannot be told from what is found.
pub(crate) fn fuse(
    scored: &[ScoredDocument],
    near: &Nearness,
    allowed: &[bool],
) -> Vec<ScoredDocument> {
    let mut words = vec![0.0; allowed.len()];
    for ScoredDocument { document, score } in scored {
        if let Some(word) = words.get_mut(place(*document)) {
            *word = *score;
        }
    }
    level(&mut words, allowed, Scale::Best);
    let both = words.iter().zip(&near.of_document).zip(allowed).zip(0_u32..);
    both.filter(|((_, allowed), _)| **allowed)
        .map(|(((word, of), _), document)| ScoredDocument {
            document,
            score: word + near.weight * of,
        })
        .collect()
}

/// In eight sums, which the processor makes at once.
fn product(left: &[f32], right: &[f32]) -> f32 {
    let (left, left_rest) = left.as_chunks::<8>();
    let (right, right_rest) = right.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

fn those<'a>(numbers: &'a [f32], allowed: &'a [bool]) -> impl Iterator<Item = f32> + Clone + 'a {
    numbers.iter().zip(allowed).filter(|(_, allowed)| **allowed).map(|(number, _)| *number)
}

/// How far the nearest is from the mean of the others. Vectors of some models are all near each
/// other, so nearness alone tells nothing.
fn stands_out(near: &[f32], allowed: &[bool]) -> f32 {
    let own = those(near, allowed);
    let (sum, count) = own.clone().fold((0.0, 0), |(sum, count), near| (sum + near, count + 1));
    if count == 0 {
        return f32::NEG_INFINITY;
    }
    let nearest = own.fold(f32::NEG_INFINITY, f32::max);
    nearest - (sum - nearest) / real(count - 1).max(1.0)
}

/// What is asked of a catalog of that size beside one of 50.
fn more(documents: usize) -> f32 {
    let (least, most) = SIZES;
    let share = (real(documents).clamp(least, most) / least).ln() / (most / least).ln();
    1.0 + (OF_LARGEST - 1.0) * share
}

/// What the best of some numbers becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// 1.
    Best,
    /// The root of how many deviations it is above the mean: a part of a question to which a few
    /// documents are near tells more than one to which many are.
    Standing,
}

/// Makes the mean of those that are allowed 0, and the best of them what the scale says, where they
/// differ.
fn level(numbers: &mut [f32], allowed: &[bool], scale: Scale) {
    let own = those(numbers, allowed);
    let (sum, count) = own.clone().fold((0.0, 0), |(sum, count), number| (sum + number, count + 1));
    let count = real(count).max(1.0);
    let mean = sum / count;
    let above = own.clone().fold(f32::NEG_INFINITY, f32::max) - mean;
    let deviation = (own.map(|number| (number - mean).powi(2)).sum::<f32>() / count).sqrt();
    let by = match scale {
        _ if !(above > 0.0 && deviation > 0.0) => 0.0,
        Scale::Best => above.recip(),
        Scale::Standing => (above * deviation).sqrt().recip(),
    };
    for number in numbers {
        *number = (*number - mean) * by;
    }
}
