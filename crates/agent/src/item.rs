//! What was said in a thread, in the words of no API.

pub(crate) mod compaction;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ThreadItem {
    /// What the author of the program says beside the instructions of the agent.
    System {
        text: String,
    },
    User {
        parts: Vec<InputPart>,
    },
    /// A turn of the model.
    Assistant {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<CallText>,
        /// As its API gave it; `None`: it was told by a client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        echo: Option<Echo>,
    },
    /// The answers to calls of the turn before.
    Results {
        results: Vec<ResultText>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        echo: Option<Echo>,
    },
    /// What requests have in the place of the oldest items; of several the last one counts.
    Summary {
        /// Empty: no summary of them could be made.
        text: String,
        /// Items from the beginning of the thread that it stands for.
        hides: usize,
    },
}

/// The messages of an API, byte for byte: they carry ids and signatures that it checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Echo {
    /// The name of the dialect.
    pub dialect: String,
    pub messages: Vec<Value>,
}

/// A part of what a user says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputPart {
    Text {
        text: String,
    },
    /// `data`: base64.
    Image {
        mime: String,
        data: String,
    },
    /// The provider fetches it, or not; we never do.
    ImageUrl {
        url: String,
    },
    /// `data`: base64.
    File {
        name: String,
        mime: String,
        data: String,
    },
}

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallText {
    pub id: String,
    pub name: String,
    /// JSON, as far as the model wrote any.
    pub arguments: String,
}

/// What a call came to, as a model reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultText {
    pub call_id: String,
    pub name: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ThreadItem {
    /// A user's plain words.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { parts: vec![InputPart::Text { text: text.into() }] }
    }
}
