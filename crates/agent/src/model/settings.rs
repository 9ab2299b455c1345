//! Which model, where, and by whose key.

use std::time::Duration;

use toolcrib_core::Secret;
use toolcrib_dialect::{Anthropic, Dialect, Gemini, OpenAiChat, OpenAiResponses};
use url::Url;

use super::request::engine::TokenEngine;
use super::request::generate::GenerateWire;
use super::text_calls::format::TextCallFormat;
use crate::budget::price::Price;

/// A model at an address.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    pub api: ModelApi,
    /// What stands before the paths of the API: `https://api.openai.com/v1`.
    pub base: Url,
    /// The model, as the API names it.
    pub name: String,
    /// How it writes calls into its words; `None`: it calls by the API.
    pub text_calls: Option<TextCallFormat>,
    /// How the API knows us; `None`: it asks for nothing.
    pub key: Option<Secret>,
    /// Tokens of one answer at the most.
    pub max_tokens: u32,
    /// Tokens that it reads and writes at a time; `None`: nobody knows.
    pub context: Option<u32>,
    /// `None`: the API's own.
    pub temperature: Option<f64>,
    pub timeouts: ModelTimeouts,
    /// How often a request is made again that came to nothing.
    pub retries: u32,
    /// A request that came to nothing is made again at least so long, however often.
    pub patience: Duration,
    /// The server that tells the tokens of a turn; `None`: none does.
    pub engine: Option<TokenEngine>,
    /// From which an engine draws what it writes.
    pub seed: Option<u32>,
    /// What tokens cost; `None`: nobody knows.
    pub price: Option<Price>,
    /// Models that are asked in its place, one after the other, where it gives no answer. What they
    /// cost is counted by its own price.
    pub fallback: Vec<Self>,
}

/// How long each part of an answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelTimeouts {
    /// From the request to the head of the answer: a large prompt is read meanwhile.
    pub first_byte: Duration,
    /// Between two pieces of a stream.
    pub between: Duration,
    /// All together.
    pub total: Duration,
    /// The longest wait that the API may ask for; it is waited, then the request is made again.
    pub retry_after: Duration,
}

/// How a model is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelApi {
    /// `/chat/completions`, as `OpenAI` made it and many servers speak it.
    OpenAiChat,
    /// `/responses`.
    OpenAiResponses,
    /// `/messages`.
    Anthropic,
    /// `/models/NAME:streamGenerateContent`.
    Gemini,
}

impl Default for ModelTimeouts {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_mins(2),
            between: Duration::from_mins(1),
            total: Duration::from_mins(10),
            retry_after: Duration::from_mins(1),
        }
    }
}

impl ModelSettings {
    pub fn new(api: ModelApi, base: Url, name: impl Into<String>) -> Self {
        Self {
            api,
            base,
            name: name.into(),
            text_calls: None,
            key: None,
            max_tokens: 4096,
            context: None,
            temperature: None,
            timeouts: ModelTimeouts::default(),
            retries: 2,
            patience: Duration::ZERO,
            engine: None,
            seed: None,
            price: None,
            fallback: Vec::new(),
        }
    }

    /// The endpoint that takes tokens; `None`: it is asked by its API.
    pub(crate) fn wire(&self) -> Option<GenerateWire> {
        self.engine.and_then(TokenEngine::wire)
    }

    /// How its calls stand in its words; `None`: they do not. What comes in tokens is words alone,
    /// and most open models write calls as Hermes does.
    pub(crate) fn call_format(&self) -> Option<TextCallFormat> {
        self.text_calls.or_else(|| self.wire().map(|_| TextCallFormat::Hermes))
    }
}

impl ModelApi {
    /// All of them, by their words.
    pub const WORDS: [(&'static str, Self); 4] = [
        (OpenAiChat::NAME, Self::OpenAiChat),
        (OpenAiResponses::NAME, Self::OpenAiResponses),
        (Anthropic::NAME, Self::Anthropic),
        (Gemini::NAME, Self::Gemini),
    ];

    pub fn dialect(self) -> Box<dyn Dialect> {
        match self {
            Self::OpenAiChat => Box::new(OpenAiChat::default()),
            Self::OpenAiResponses => Box::new(OpenAiResponses::default()),
            Self::Anthropic => Box::new(Anthropic::default()),
            Self::Gemini => Box::new(Gemini),
        }
    }
}
