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
pub(crate) enum Wrong {
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
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Numbers,
}

enum Numbers {
    /// Numbers of four bytes, the lowest first, in base64.
    Packed(String),
    Plain(Vec<f32>),
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Numbers;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("numbers, or a text in base64")
            }

            fn visit_str<E>(self, text: &str) -> Result<Numbers, E> {
                Ok(Numbers::Packed(text.to_owned()))
            }

            #[expect(
                clippy::cast_possible_truncation,
                reason = "what is too large becomes infinite, and is refused as no number"
            )]
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Numbers, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = items.next_element::<f64>()? {
                    numbers.push(number as f32);
                }
                Ok(Numbers::Plain(numbers))
            }
        }
        source.deserialize_any(Either)
    }
}

/// The vectors of an answer in the order of the texts, with length 1.
pub(crate) fn vectors(
    bytes: &[u8],
    asked: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Vector>, Wrong> {
    let answer: Answer =
        serde_json::from_slice(bytes).map_err(|cause| Wrong::Form(cause.to_string()))?;
    let got = answer.data.len();
    if got != asked {
        return Err(Wrong::Count { asked, got });
    }
    let mut vectors: Vec<Option<Vector>> = vec![None; asked];
    let mut width = dimensions;
    // A server that numbers nothing answers in order.
    let is_numbered = answer.data.iter().any(|item| item.index.is_some());
    for (at, item) in answer.data.into_iter().enumerate() {
        let index = if is_numbered { item.index } else { Some(at) };
        let place = index.and_then(|index| vectors.get_mut(index)).ok_or(Wrong::Order)?;
        let vector = item.embedding.read()?;
        let expected = *width.get_or_insert(vector.len());
        if vector.len() != expected {
            return Err(Wrong::Width { expected, got: vector.len() });
        }
        if place.replace(vector).is_some() {
            return Err(Wrong::Order);
        }
    }
    vectors.into_iter().collect::<Option<_>>().ok_or(Wrong::Order)
}

impl Numbers {
    fn read(self) -> Result<Vector, Wrong> {
        let numbers = match self {
            Self::Plain(numbers) => numbers,
            Self::Packed(text) => {
                let bytes = STANDARD.decode(text);
                let bytes = bytes.map_err(|cause| Wrong::Form(cause.to_string()))?;
                let (numbers, rest) = bytes.as_chunks();
                if !rest.is_empty() {
                    return Err(Wrong::Form("a packed vector ends within a number".to_owned()));
                }
                numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
            }
        };
        if numbers.len() > WIDEST {
            return Err(Wrong::Width { expected: WIDEST, got: numbers.len() });
        }
        let is_direction = numbers.iter().all(|number| number.is_finite())
            && numbers.iter().any(|number| *number != 0.0);
        if is_direction { Ok(unit(numbers).into()) } else { Err(Wrong::Number) }
    }
}

/// What a server says about its refusal: `error.message`, or `message`, or `detail`.
pub(crate) fn explain(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let said = body.pointer("/error/message").or(body.get("message")).or(body.get("detail"))?;
    let said = said.as_str()?;
    Some(said.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect())
}
