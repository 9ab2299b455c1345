//! The readers of foreign bytes, for the fuzz targets alone.

use toolcrib_search::Vector;

use crate::cache;
use crate::endpoint;
use crate::local::{Tokenizer, list_of, place_of};

/// Tokens of a text by a `tokenizer.json`, for a model that knows 1,000 tokens and reads 16.
pub fn tokens(tokenizer: &[u8], text: &str) -> Option<Vec<u32>> {
    Some(Tokenizer::read(tokenizer, 1000).ok()?.encode(text, 16))
}

/// Where the tensors of a list stand in a file with so many bytes of numbers: begin and length.
pub fn places(list: &[u8], size: u64) -> Vec<(u64, usize)> {
    let Ok(list) = list_of(list) else { return Vec::new() };
    let mut places = Vec::new();
    for (name, tensor) in &list {
        let place = place_of(name, tensor, tensor.shape(), size);
        places.extend(place.ok().map(|(_, begin, length)| (begin, length)));
    }
    places
}

/// The vectors of an endpoint's answer for two texts.
pub fn answer(bytes: &[u8]) -> Option<Vec<Vector>> {
    endpoint::vectors(bytes, 2, None).ok()
}

/// Whether a file of kept vectors is one, for the embedder `fuzz`.
pub fn kept(bytes: &[u8]) -> bool {
    cache::parse(bytes, "fuzz").is_some()
}
