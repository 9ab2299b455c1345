//! The way back to whoever made the calls, while they run.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::json_fields::JsonFields;
use crate::BoxFuture;
use crate::call::CallKey;

/// What a running call may tell its host and ask of it. A host hears of its own calls only.
///
/// Every method has a default, so that a host says no more than it can do.
pub trait Host: Send + Sync {
    fn progress(&self, _call: CallKey, _progress: Progress) {}

    fn log(&self, _call: CallKey, _entry: LogEntry) {}

    /// What whoever asked to have an address opened says of it once that is done, as it says it.
    fn opened(&self, _call: CallKey, _said: JsonFields) {}

    /// The lowest level of lines that anybody reads; servers are asked for no others. `None`: for
    /// none at all. Without a word it is `Info`, whether `log` does anything or not.
    fn hears(&self) -> Option<LogLevel> {
        Some(LogLevel::Info)
    }

    /// Which questions `ask` has an answer for; servers are told of no others.
    fn answers(&self) -> &[QuestionKind] {
        &[]
    }

    /// When questions reach it, where its protocol settles that: an origin that knows both ways is
    /// spoken to in the same. `None`: in either.
    fn question_timing(&self) -> Option<QuestionTiming> {
        None
    }

    /// Puts a question to the person, or to the model, behind the call.
    fn ask(
        &self,
        _call: CallKey,
        _ask: HostQuestion,
    ) -> BoxFuture<'_, Result<Value, QuestionError>> {
        Box::pin(std::future::ready(Err(QuestionError::Unable)))
    }
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    pub done: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// Keeps how far a call is, for an attempt after this one.
pub(crate) trait CallProgress: Send + Sync {
    fn leave<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()>;

    /// What was left last, perhaps by another process.
    fn last(&self) -> Option<Arc<str>>;
}

/// Asks a person whom no host can ask.
pub(crate) trait AskPerson: Send + Sync {
    /// Which questions have somebody to answer them.
    fn answers(&self) -> &[QuestionKind];

    /// Puts a form to a person, and waits for the answer.
    fn ask(self: Arc<Self>, ask: HostQuestion) -> BoxFuture<'static, Result<Value, QuestionError>>;
}

/// What a tool may ask for while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Fields for a person to fill in.
    Form,
    /// An address for a person to open.
    Address,
    /// A completion by the host's model.
    Sample,
    /// The folders that the host works in.
    Roots,
}

/// When the questions of a call reach whoever made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionTiming {
    /// While it runs; the call goes on with the answer.
    DuringCall,
    /// In place of its result; the call is made again with the answer.
    BetweenCalls,
}

/// What becomes of a form that no host can put to anybody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FormFallback {
    /// It waits for a person under a ticket, and whoever made the call is told so.
    #[default]
    Ticket,
    /// Its asker is told that it was put away.
    PutAway,
    /// Its asker is told that nobody can be asked.
    Refused,
}

/// A question of a running call.
///
/// `params` and the answer are objects of the shapes that MCP gives such questions, which are the
/// ones that hosts know; the gate reads the message, the fields of a form and an address.
#[derive(Debug, Clone, PartialEq)]
pub struct HostQuestion {
    pub question: QuestionKind,
    pub params: Value,
    /// What whoever asks calls the question; a host that gives questions names keeps this one.
    pub name: Option<String>,
    /// What stands in the question beside its method and its parameters.
    pub besides: JsonFields,
    /// What the message says besides that brought it, together with others perhaps.
    pub around: Arc<JsonFields>,
}

impl HostQuestion {
    pub fn new(question: QuestionKind, params: Value) -> Self {
        Self { question, params, name: None, besides: JsonFields::new(), around: Arc::default() }
    }
}

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    #[error("nobody can be asked")]
    Unable,
    #[error("the call was cancelled before there was an answer")]
    Cancelled,
    #[error("nobody answered in time")]
    Late,
}

/// A line that a tool writes while it runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogEntry {
    pub level: LogLevel,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    pub data: Value,
}

/// The levels of RFC 5424, from the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}
