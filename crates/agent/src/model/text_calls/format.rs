//! The forms in which models write calls into their words.

use toolcrib_core::RawArguments;

/// A form of calls in the words of a model that does not use the API's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextCallFormat {
    /// `<tool_call>{"name": .., "arguments": ..}</tool_call>`: Hermes, Qwen and their like.
    Hermes,
    /// The whole answer is `{"name": .., "arguments": ..}`, or a list of such.
    Json,
    /// `{"name": .., "parameters": ..}`, `<function=NAME>{..}</function>`, or `[f(a=1)]`.
    Llama,
    /// `<NAME><PARAMETER>value</PARAMETER></NAME>`: Cline and its like.
    Cline,
    /// `Action:` and `Action Input:`, then `Final Answer:`.
    React,
}

impl TextCallFormat {
    /// All of them, by their words.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("hermes", Self::Hermes),
        ("json", Self::Json),
        ("llama", Self::Llama),
        ("cline", Self::Cline),
        ("react", Self::React),
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hermes => "hermes",
            Self::Json => "json",
            Self::Llama => "llama",
            Self::Cline => "cline",
            Self::React => "react",
        }
    }
}

/// What stands where a call should.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TextCall {
    Read { name: String, arguments: RawArguments },
    Malformed { name: Option<String>, fault: String },
}

/// A piece of an answer from its first block on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TextPart {
    Words(String),
    Call(TextCall),
}

/// A piece of an answer that can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextPiece {
    Said(String),
    Thought(String),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextTurn {
    /// All that was said, without thoughts and blocks.
    pub(crate) text: String,
    pub(crate) calls: Vec<TextCall>,
    /// Where it goes on behind `</think>`; 0 if it did not think.
    pub(crate) begin: usize,
}

impl TextCall {
    /// `at`: the byte of the answer at which it begins.
    pub(crate) fn malformed(name: Option<&str>, at: usize, fault: &str) -> Self {
        let fault = format!("the call at byte {at} of your answer {fault}");
        Self::Malformed { name: name.map(str::to_owned), fault }
    }
}
