//! A BERT encoder: tokens go in, one vector of length 1 for each text comes out.
//!
//! The texts of a batch stand one after the other without padding; only the attention looks at each
//! text alone. So a batch costs what its tokens cost, and no text feels the others.

use std::ops::Range;

use fearless_simd::Level;

use super::folder::FolderError;
use super::math::{LayerNorm, gelu, softmax};
use super::matrix::{PackedMatrix, PackedRows, multiply};
use super::settings::{ModelSettings, ModelShape, Pooling};
use super::weights::WeightsFile;
use crate::unit_vector::unit;

/// The numbers of a model, ready to run.
#[derive(Debug)]
pub(crate) struct Encoder {
    level: Level,
    shape: ModelShape,
    pooling: Pooling,
    words: Vec<f32>,
    /// With the kind of a first text added.
    positions: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<EncoderLayer>,
}

#[derive(Debug)]
struct EncoderLayer {
    /// Queries, keys and values side by side.
    look: DenseLayer,
    gather: DenseLayer,
    gather_norm: LayerNorm,
    widen: DenseLayer,
    narrow: DenseLayer,
    narrow_norm: LayerNorm,
}

#[derive(Debug)]
struct DenseLayer {
    weight: PackedMatrix,
    bias: Vec<f32>,
}

impl DenseLayer {
    fn run(&self, level: Level, rows: &[f32], left: &mut PackedRows, out: &mut Vec<f32>) {
        let depth = self.weight.depth();
        left.refill(depth, rows.chunks_exact(depth));
        out.resize(rows.len() / depth * self.weight.width(), 0.0);
        multiply(level, left, &self.weight, &self.bias, out);
    }
}

impl Encoder {
    /// Reads every tensor of a model.
    pub(crate) fn read(
        settings: &ModelSettings,
        weights: &mut WeightsFile<'_>,
    ) -> Result<Self, FolderError> {
        let ModelSettings { shape, pooling, .. } = settings.clone();
        let width = shape.width;
        let at = |name: &str| format!("embeddings.{name}");
        let words = weights.take(&at("word_embeddings.weight"), &[shape.words, width])?;
        let mut positions =
            weights.take(&at("position_embeddings.weight"), &[shape.positions, width])?;
        let kinds = weights.take(&at("token_type_embeddings.weight"), &[shape.kinds, width])?;
        for position in positions.chunks_exact_mut(width) {
            position.iter_mut().zip(&kinds).for_each(|(number, kind)| *number += *kind);
        }
        let norm = norm(weights, &at("LayerNorm"), &shape)?;
        let layers = (0..shape.layers).map(|number| EncoderLayer::read(number, &shape, weights));
        let layers = layers.collect::<Result<_, _>>()?;
        Ok(Self { level: Level::new(), shape, pooling, words, positions, norm, layers })
    }

    /// One vector for each text. A text without tokens, or with more than there are positions,
    /// does not come from our tokenizer; its vector is made of what there is.
    pub(crate) fn run(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let mut rows = Vec::new();
        let mut places: Vec<Range<usize>> = Vec::with_capacity(texts.len());
        for text in texts {
            let begun = rows.len();
            for (token, position) in text.iter().zip(self.positions.chunks_exact(self.shape.width))
            {
                let at =
                    usize::try_from(*token).unwrap_or(usize::MAX).saturating_mul(self.shape.width);
                let word = self.words.get(at..).unwrap_or_default();
                rows.extend(word.iter().zip(position).map(|(word, position)| word + position));
            }
            places.push(begun..rows.len());
        }
        let nothing = vec![0.0; rows.len()];
        self.norm.add(self.level, &mut rows, &nothing);
        let mut work = LayerBuffers::default();
        for layer in &self.layers {
            self.layer(layer, &places, &mut rows, &mut work);
        }
        places.into_iter().map(|place| self.pool(rows.get(place).unwrap_or_default())).collect()
    }

    fn layer(
        &self,
        layer: &EncoderLayer,
        places: &[Range<usize>],
        rows: &mut [f32],
        work: &mut LayerBuffers,
    ) {
        let level = self.level;
        let LayerBuffers { left, looked, seen, wide, out, .. } = work;
        layer.look.run(level, rows, left, looked);
        seen.clear();
        seen.resize(rows.len(), 0.0);
        for place in places {
            let looked = looked.get(place.start * 3..place.end * 3).unwrap_or_default();
            let seen = seen.get_mut(place.clone()).unwrap_or_default();
            self.attend(looked, seen, left, &mut work.head);
        }
        layer.gather.run(level, seen, left, out);
        layer.gather_norm.add(level, rows, out);
        layer.widen.run(level, rows, left, wide);
        gelu(level, wide);
        layer.narrow.run(level, wide, left, out);
        layer.narrow_norm.add(level, rows, out);
    }

    /// What every token of one text sees of the others, head by head.
    #[expect(clippy::cast_precision_loss, reason = "a head has some dozens of numbers")]
    fn attend(
        &self,
        looked: &[f32],
        seen: &mut [f32],
        left: &mut PackedRows,
        head: &mut HeadBuffers,
    ) {
        let ModelShape { width, heads, .. } = self.shape;
        let size = width / heads;
        let tokens = seen.len() / width;
        let scale = 1.0 / (size as f32).sqrt();
        let part = |what: usize, number: usize| {
            let begin = what * width + number * size;
            looked
                .chunks_exact(3 * width)
                .map(move |row| row.get(begin..begin + size).unwrap_or_default())
        };
        for number in 0..heads {
            head.keys = PackedMatrix::new(size, part(1, number));
            head.values.refill(size, part(2, number));
            left.refill(size, part(0, number));
            let wide = head.keys.width();
            head.scores.resize(tokens * wide, 0.0);
            multiply(self.level, left, &head.keys, &[], &mut head.scores);
            head.scores.iter_mut().for_each(|score| *score *= scale);
            softmax(self.level, &mut head.scores, wide, tokens);
            let shares = head.scores.chunks_exact(wide.max(1));
            left.refill(tokens, shares.map(|row| row.get(..tokens).unwrap_or_default()));
            head.out.resize(tokens * size, 0.0);
            multiply(self.level, left, &head.values, &[], &mut head.out);
            for (row, out) in seen.chunks_exact_mut(width).zip(head.out.chunks_exact(size)) {
                row.iter_mut().skip(number * size).zip(out).for_each(|(to, from)| *to = *from);
            }
        }
    }

    fn pool(&self, rows: &[f32]) -> Vec<f32> {
        let width = self.shape.width;
        let mut vector = vec![0.0; width];
        let count = match self.pooling {
            Pooling::Mean => usize::MAX,
            Pooling::First => 1,
        };
        // The length is brought to 1 in the end, so that the sum is as good as the mean.
        for row in rows.chunks_exact(width).take(count) {
            vector.iter_mut().zip(row).for_each(|(sum, number)| *sum += *number);
        }
        unit(vector)
    }
}

impl EncoderLayer {
    fn read(
        number: usize,
        shape: &ModelShape,
        weights: &mut WeightsFile<'_>,
    ) -> Result<Self, FolderError> {
        let ModelShape { width, inner, .. } = *shape;
        let at = |name: &str| format!("encoder.layer.{number}.{name}");
        let looks = ["query", "key", "value"].map(|it| at(&format!("attention.self.{it}")));
        Ok(Self {
            look: dense(weights, &looks, width, width)?,
            gather: dense(weights, &[at("attention.output.dense")], width, width)?,
            gather_norm: norm(weights, &at("attention.output.LayerNorm"), shape)?,
            widen: dense(weights, &[at("intermediate.dense")], width, inner)?,
            narrow: dense(weights, &[at("output.dense")], inner, width)?,
            narrow_norm: norm(weights, &at("output.LayerNorm"), shape)?,
        })
    }
}

/// Matrices of `from` columns and `to` rows, as they stand in the file, side by side.
fn dense(
    weights: &mut WeightsFile<'_>,
    names: &[String],
    from: usize,
    to: usize,
) -> Result<DenseLayer, FolderError> {
    let (mut all, mut bias) = (Vec::new(), Vec::new());
    for name in names {
        all.extend(weights.take(&format!("{name}.weight"), &[to, from])?);
        bias.extend(weights.take(&format!("{name}.bias"), &[to])?);
    }
    Ok(DenseLayer { weight: PackedMatrix::new(from, all.chunks_exact(from)), bias })
}

fn norm(
    weights: &mut WeightsFile<'_>,
    name: &str,
    shape: &ModelShape,
) -> Result<LayerNorm, FolderError> {
    let weight = weights.take(&format!("{name}.weight"), &[shape.width])?;
    let bias = weights.take(&format!("{name}.bias"), &[shape.width])?;
    Ok(LayerNorm { weight, bias, epsilon: shape.epsilon })
}

/// Room that one layer leaves to the next.
#[derive(Default)]
struct LayerBuffers {
    left: PackedRows,
    looked: Vec<f32>,
    seen: Vec<f32>,
    wide: Vec<f32>,
    out: Vec<f32>,
    head: HeadBuffers,
}

/// Room for one head of the attention.
#[derive(Default)]
struct HeadBuffers {
    keys: PackedMatrix,
    values: PackedMatrix,
    scores: Vec<f32>,
    out: Vec<f32>,
}
