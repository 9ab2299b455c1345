//! Words and meaning together: what an embedder says, beside what the words say.

use crate::embedder::Vector;
use crate::number::{place, real};
use crate::scores::Scored;

/// How much the best sentence counts beside the whole question, which counts 1.
const BEST_SENTENCE: f32 = 0.8;

/// What an embedder made of the documents and of a question.
///
/// A search with vectors costs a product with every document for each vector of the question.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    /// One for each document, by its number; one that is empty has none.
    pub documents: &'a [Vector],
    /// The question itself first, then its `sentences`, if there is more than one.
    pub question: &'a [Vector],
    /// What meaning counts for beside words, which count 1.
    pub weight: f32,
    /// How near a document must be to the question to serve it, whatever its words say.
    pub enough: f32,
}

/// How near every document is in meaning, and how near the nearest is that may be found.
pub(crate) struct Nearness {
    of_document: Vec<f32>,
    pub(crate) nearest: f32,
}

impl Nearness {
    pub(crate) fn of(vectors: &Vectors<'_>, documents: usize, allowed: &[bool]) -> Self {
        let mut nearest: f32 = 0.0;
        let mut normal = vectors.question.iter().map(|question| {
            let product = |at: usize| {
                let own = vectors.documents.get(at).filter(|own| own.len() == question.len());
                own.map_or(0.0, |own| own.iter().zip(question.iter()).map(|(a, b)| a * b).sum())
            };
            let mut near: Vec<f32> = (0..documents).map(product).collect();
            let allowed = near.iter().zip(allowed).filter(|(_, allowed)| **allowed);
            nearest = allowed.map(|(near, _)| *near).fold(nearest, f32::max);
            normalise(&mut near);
            near
        });
        let mut of_document = normal.next().unwrap_or_else(|| vec![0.0; documents]);
        let best = normal.reduce(|mut best, next| {
            best.iter_mut().zip(next).for_each(|(best, next)| *best = best.max(next));
            best
        });
        if let Some(best) = best {
            for (whole, best) in of_document.iter_mut().zip(best) {
                *whole += BEST_SENTENCE * best;
            }
            normalise(&mut of_document);
        }
        Self { of_document, nearest }
    }
}

/// The sum of both, each with mean 0 and deviation 1; documents that are not allowed are left out.
pub(crate) fn fuse(
    scored: &[Scored],
    near: &Nearness,
    weight: f32,
    allowed: &[bool],
) -> Vec<Scored> {
    let mut words = vec![0.0; near.of_document.len()];
    for Scored { document, score } in scored {
        if let Some(word) = words.get_mut(place(*document)) {
            *word = *score;
        }
    }
    normalise(&mut words);
    let both = words.iter().zip(&near.of_document).zip(allowed).zip(0_u32..);
    both.filter(|((_, allowed), _)| **allowed)
        .map(|(((word, near), _), document)| Scored { document, score: word + weight * near })
        .collect()
}

/// Makes the mean 0 and the deviation 1, where there is any.
fn normalise(numbers: &mut [f32]) {
    let count = real(numbers.len()).max(1.0);
    let mean = numbers.iter().sum::<f32>() / count;
    let spread = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f32>() / count;
    let by = if spread > 0.0 { spread.sqrt().recip() } else { 0.0 };
    for number in numbers {
        *number = (*number - mean) * by;
    }
}
