//! What finds tools by their meaning.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{PauseText, SecretText};

/// A model that tells which texts mean the same: one in a folder, or one at an address. Write one of
/// `local` and `endpoint`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Embedder")]
pub(crate) struct EmbedderTable {
    /// The folder of a sentence-transformer (BERT, `model.safetensors`, `tokenizer.json`). Nothing
    /// is fetched.
    pub(crate) local: Option<String>,
    /// What stands before `/embeddings` at a server that speaks as `OpenAI` does:
    /// `https://api.openai.com/v1`. Names and descriptions of tools and questions go there.
    pub(crate) endpoint: Option<String>,
    /// The model of the endpoint, as it names it.
    pub(crate) model: Option<String>,
    /// The key of the endpoint, sent as a bearer token: `${env:NAME}`.
    pub(crate) key: Option<SecretText>,
    /// Numbers of a vector, for models that can give fewer than they have.
    #[schemars(range(min = 1, max = 8192))]
    pub(crate) dimensions: Option<u32>,
    /// What the model wants before a question: `query: `.
    pub(crate) query_prefix: Option<String>,
    /// What the model wants before a tool: `passage: `.
    pub(crate) tool_prefix: Option<String>,
    /// How long a question is waited for before its words alone count. `1s` if not set.
    pub(crate) within: Option<PauseText>,
    /// The file that keeps the vectors of tools; one in the state folder if not set.
    pub(crate) vectors: Option<String>,
}
