//! What models write into their words, and what engines tell of tokens, for the fuzz targets.

use serde_json::Value;
use toolcrib_core::{Call, Plan};

use super::answer::generated;
use super::answer::sampled::{SampledTokens, TokenReader};
use super::request::engine::TokenEngine;
use super::text_calls::{self, TextCallFormat, TextCallReader, TextPiece, TextTools};

/// An answer that comes in these pieces: what is told of it, what is left as its words, and its
/// calls.
pub fn text_calls(
    format: TextCallFormat,
    plan: &Plan,
    pieces: &[&str],
) -> (String, String, Vec<Call>) {
    let tools = TextTools::of(plan, []);
    let mut reader = TextCallReader::new(format, &tools);
    let mut told: Vec<_> = pieces.iter().flat_map(|piece| reader.push(piece)).collect();
    let (held, turn) = reader.finish();
    told.extend(held);
    let said = told.iter().filter_map(|piece| match piece {
        TextPiece::Said(said) => Some(said.as_str()),
        TextPiece::Thought(_) => None,
    });
    (said.collect(), turn.text, text_calls::calls(plan, turn.calls, 1))
}

/// The tokens that the events of an answer tell.
pub fn sampled_tokens(events: &[Value]) -> SampledTokens {
    let mut reader = TokenReader::of(Some(TokenEngine::Vllm));
    for event in events {
        reader.hear(event);
    }
    reader.finish().map(|told| *told).unwrap_or_default()
}

/// The turns in an answer of engines that take tokens, which had been sent these.
pub fn generated_tokens(answer: &[u8], sent: &[u32]) -> Vec<SampledTokens> {
    let engines = [TokenEngine::VllmGenerate, TokenEngine::SglangGenerate];
    let wires = engines.into_iter().filter_map(TokenEngine::wire);
    let turns = wires.filter_map(|wire| generated::read(wire, answer, sent).ok());
    turns.map(|turn| turn.sampled).collect()
}
