//! What a server answers, held against what it was asked.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use toolcrib_search::Vector;

use crate::unit_vector::unit;

/// Entries of a vector; the largest models have half of it.
const WIDEST: usize = 16 * 1024;
/// Letters of what a server says about a refusal.
const LONGEST: usize = 400;

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WrongEmbeddings {
    #[error("{0}")]
    Form(String),
    #[error("{got} vectors for {asked} texts")]
    Count { asked: usize, got: usize },
    #[error("its vectors are not numbered from 0 on")]
    Order,
    #[error(
        "a vector has {got} entries instead of {expected}; if the model has changed, start anew"
    )]
    Width { expected: usize, got: usize },
    #[error("a vector holds what is no number, or nothing but zeros")]
    Number,
}

#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: Option<usize>,
    embedding: EmbeddingNumbers,
}

enum EmbeddingNumbers {
    /// Numbers of four bytes, the lowest first, in base64.
    Packed(String),
    Plain(Vec<f32>),
}

impl<'de> Deserialize<'de> for EmbeddingNumbers {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct NumbersVisitor;
        impl<'de> Visitor<'de> for NumbersVisitor {
            type Value = EmbeddingNumbers;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("numbers, or a text in base64")
            }

            fn visit_str<E>(self, text: &str) -> Result<EmbeddingNumbers, E> {
                Ok(EmbeddingNumbers::Packed(text.to_owned()))
            }

            #[expect(
                clippy::cast_possible_truncation,
                reason = "what is too large becomes infinite, and is refused as no number"
            )]
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut items: A,
            ) -> Result<EmbeddingNumbers, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = items.next_element::<f64>()? {
                    numbers.push(number as f32);
                }
                Ok(EmbeddingNumbers::Plain(numbers))
            }
        }
        source.deserialize_any(NumbersVisitor)
    }
}

/// The vectors of an answer in the order of the texts, with length 1.
pub(crate) fn vectors(
    bytes: &[u8],
    asked: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Vector>, WrongEmbeddings> {
    let answer: EmbeddingsResponse =
        serde_json::from_slice(bytes).map_err(|cause| WrongEmbeddings::Form(cause.to_string()))?;
    let got = answer.data.len();
    if got != asked {
        return Err(WrongEmbeddings::Count { asked, got });
    }
    let mut vectors: Vec<Option<Vector>> = vec![None; asked];
    let mut width = dimensions;
    // A server that numbers nothing answers in order.
    let is_numbered = answer.data.iter().any(|item| item.index.is_some());
    for (at, item) in answer.data.into_iter().enumerate() {
        let index = if is_numbered { item.index } else { Some(at) };
        let place = index.and_then(|index| vectors.get_mut(index)).ok_or(WrongEmbeddings::Order)?;
        let vector = item.embedding.read()?;
        let expected = *width.get_or_insert(vector.len());
        if vector.len() != expected {
            return Err(WrongEmbeddings::Width { expected, got: vector.len() });
        }
        if place.replace(vector).is_some() {
            return Err(WrongEmbeddings::Order);
        }
    }
    vectors.into_iter().collect::<Option<_>>().ok_or(WrongEmbeddings::Order)
}

impl EmbeddingNumbers {
    fn read(self) -> Result<Vector, WrongEmbeddings> {
        let numbers = match self {
            Self::Plain(numbers) => numbers,
            Self::Packed(text) => {
                let bytes = STANDARD.decode(text);
                let bytes = bytes.map_err(|cause| WrongEmbeddings::Form(cause.to_string()))?;
                let (numbers, rest) = bytes.as_chunks();
                if !rest.is_empty() {
                    return Err(WrongEmbeddings::Form(
                        "a packed vector ends within a number".to_owned(),
                    ));
                }
                numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
            }
        };
        if numbers.len() > WIDEST {
            return Err(WrongEmbeddings::Width { expected: WIDEST, got: numbers.len() });
        }
        let is_direction = numbers.iter().all(|number| number.is_finite())
            && numbers.iter().any(|number| *number != 0.0);
        if is_direction { Ok(unit(numbers).into()) } else { Err(WrongEmbeddings::Number) }
    }
}

/// What a server says about its refusal: `error.message`, or `message`, or `detail`.
pub(crate) fn explain(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let said = body.pointer("/error/message").or(body.get("message")).or(body.get("detail"))?;
    let said = said.as_str()?;
    Some(said.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect())
}
