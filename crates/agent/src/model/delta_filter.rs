//! What is told of an answer while it comes: its words, and nothing of calls that stand among them.

use toolcrib_core::Plan;

use super::answer::ModelDelta;
use super::text_calls::{TextCallFormat, TextCallReader, TextPiece, TextTools};

/// Holds back what may be a call, until it is known.
pub(super) struct DeltaFilter<'a>(Option<TextCallReader<'a>>);

impl<'a> DeltaFilter<'a> {
    /// Without a plan there is nothing to call, and all of it is words.
    pub(super) fn new(
        format: Option<TextCallFormat>,
        plan: Option<&Plan>,
        tools: &'a TextTools,
    ) -> Self {
        Self(format.filter(|_| plan.is_some()).map(|format| TextCallReader::new(format, tools)))
    }

    pub(super) fn pass(&mut self, delta: ModelDelta) -> Vec<ModelDelta> {
        match (&mut self.0, delta) {
            (Some(reader), ModelDelta::Text(said)) => deltas(reader.push(&said)),
            (_, delta) => vec![delta],
        }
    }

    /// What was held back and is words.
    pub(super) fn finish(self) -> Vec<ModelDelta> {
        self.0.map(|reader| deltas(reader.finish().0)).unwrap_or_default()
    }
}

fn deltas(pieces: Vec<TextPiece>) -> Vec<ModelDelta> {
    let deltas = pieces.into_iter().map(|piece| match piece {
        TextPiece::Said(said) => ModelDelta::Text(said),
        TextPiece::Thought(said) => ModelDelta::Reasoning(said),
    });
    deltas.collect()
}
