//! Servers for training, which tell the tokens of a turn: behind the chat API, or at an endpoint of
//! their own that takes tokens.

use serde_json::{Map, Value};

use super::generate::GenerateWire;

/// A server that tells what it read and wrote as tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEngine {
    /// `return_token_ids` of `/v1/chat/completions`, in a stream too.
    Vllm,
    /// The same, which it gives for whole answers alone.
    Sglang,
    /// `/inference/v1/generate` of vLLM: tokens go in, tokens come out.
    VllmGenerate,
    /// `/generate` of `SGLang`, the same.
    SglangGenerate,
}

impl TokenEngine {
    /// Its endpoint that takes tokens; `None`: it is asked behind the chat API.
    pub(crate) fn wire(self) -> Option<GenerateWire> {
        match self {
            Self::Vllm | Self::Sglang => None,
            Self::VllmGenerate => Some(GenerateWire::Vllm),
            Self::SglangGenerate => Some(GenerateWire::Sglang),
        }
    }

    /// Whether it takes tokens, and not words.
    pub fn takes_tokens(self) -> bool {
        self.wire().is_some()
    }

    /// Adds to a request of the chat API what has the engine tell its tokens.
    pub(super) fn ask(self, seed: Option<u32>, body: &mut Map<String, Value>) {
        match self {
            // Its chat is asked for nothing: it only writes a thread as tokens.
            Self::VllmGenerate | Self::SglangGenerate => return,
            Self::Vllm => {}
            Self::Sglang => {
                // It refuses to tell tokens piece by piece.
                body.insert("stream".to_owned(), false.into());
                body.remove("stream_options");
                body.insert("return_meta_info".to_owned(), true.into());
            }
        }
        body.insert("return_token_ids".to_owned(), true.into());
        body.insert("logprobs".to_owned(), true.into());
        if let Some(seed) = seed {
            body.insert("seed".to_owned(), seed.into());
        }
    }
}
