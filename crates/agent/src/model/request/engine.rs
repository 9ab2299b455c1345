//! Servers for training, which tell the tokens of a turn behind the chat API.

use serde_json::{Map, Value};

/// A server that tells what it read and wrote as tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEngine {
    /// `return_token_ids` of `/v1/chat/completions`, in a stream too.
    Vllm,
    /// The same, which it gives for whole answers alone.
    Sglang,
}

impl TokenEngine {
    /// Adds to a request of the chat API what has the engine tell its tokens.
    pub(super) fn ask(self, seed: Option<u32>, body: &mut Map<String, Value>) {
        body.insert("return_token_ids".to_owned(), true.into());
        body.insert("logprobs".to_owned(), true.into());
        if let Some(seed) = seed {
            body.insert("seed".to_owned(), seed.into());
        }
        match self {
            Self::Vllm => {}
            Self::Sglang => {
                // It refuses to tell tokens piece by piece.
                body.insert("stream".to_owned(), false.into());
                body.remove("stream_options");
                body.insert("return_meta_info".to_owned(), true.into());
            }
        }
    }
}
