//! What goes back for one call id, and for a batch.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::content::{Content, Part, Reference};
use super::messages;
use crate::call::name::{SourceId, ToolName};
use crate::call::{Call, CallKey, CallWire};
use crate::ledger::ResultHandle;
use crate::outcome::{ToolError, ToolOutcome};

/// The answer to one call.
#[derive(Debug, Clone)]
pub struct Response {
    /// The call's id as it came.
    pub id: String,
    pub name: String,
    pub wire: CallWire,
    pub outcome: ToolOutcome,
    /// The call was the same as an earlier one of the batch and ran once, with that one.
    pub duplicate_of: Option<String>,
    /// What was put right in the arguments, in words.
    pub repairs: Vec<String>,
    /// Checks that the host should run on the answer; only of calls that succeeded.
    pub checks: Vec<String>,
    pub references: Vec<Citation>,
    /// The whole of a result that was cut.
    pub whole: Option<ResultHandle>,
    /// This response is the answer: the host gives it to the user and the turn ends.
    pub handed_over: bool,
    pub debug: DebugRecord,
}

/// A source under its number in the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    pub number: u32,
    #[serde(flatten)]
    pub reference: Reference,
}

/// How a call went, for the operator.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DebugRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceId>,
    /// Our own name of the call, for the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<CallKey>,
    pub attempts: u32,
    #[serde(rename = "waited_us", serialize_with = "microseconds")]
    pub waited: Duration,
    #[serde(rename = "ran_us", serialize_with = "microseconds")]
    pub ran: Duration,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<CallFlag>,
    /// What the operator should know of a failure; never for a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// What applied to the tool of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallFlag {
    Forced,
    Exclusive,
    Capability,
    TakesControl,
    Stale,
    Approved,
    /// The answer is one of before: the call came again under its key.
    Replayed,
    /// The call came through the tool that passes calls on.
    Relayed,
    /// A process before began the call, and this one took it up.
    Resumed,
}

fn microseconds<S: serde::Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

impl Response {
    /// The answer to a call of which no more is known than its outcome.
    pub fn of_call(call: Call, outcome: ToolOutcome) -> Self {
        Self {
            id: call.id,
            name: call.name,
            wire: call.wire,
            outcome,
            duplicate_of: None,
            repairs: Vec::new(),
            checks: Vec::new(),
            references: Vec::new(),
            whole: None,
            handed_over: false,
            debug: DebugRecord::default(),
        }
    }

    /// Whether the model must be told that the call did not succeed. A parked call is no error.
    pub fn is_error(&self) -> bool {
        matches!(self.outcome, ToolOutcome::Failed(_) | ToolOutcome::Denied { .. })
    }

    /// The content, of a success or of a failure that carries some.
    pub fn content(&self) -> Option<&Content> {
        match &self.outcome {
            ToolOutcome::Done(content) => Some(content),
            ToolOutcome::Failed(error) => error.content.as_deref(),
            ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => None,
        }
    }

    pub fn error(&self) -> Option<&ToolError> {
        match &self.outcome {
            ToolOutcome::Failed(error) => Some(error),
            ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => None,
        }
    }

    /// Everything as one text, for APIs that take no more than that.
    pub fn text(&self) -> String {
        self.text_with(|_| true)
    }

    /// The text with only those parts in words for which `in_words` holds; the others are given
    /// to the model as they are.
    pub fn text_with(&self, in_words: impl Fn(&Part) -> bool) -> String {
        let mut texts = self.texts(in_words);
        if !self.repairs.is_empty() {
            texts.push(messages::repaired(&self.repairs));
        }
        texts.join("\n\n")
    }

    /// The same without a word of what was put right before the call: for whoever is told of that
    /// beside the content.
    pub fn words_with(&self, in_words: impl Fn(&Part) -> bool) -> String {
        self.texts(in_words).join("\n\n")
    }

    fn texts(&self, in_words: impl Fn(&Part) -> bool) -> Vec<String> {
        let mut texts = Vec::new();
        match &self.outcome {
            ToolOutcome::Done(_) => {}
            ToolOutcome::Failed(error) => texts.push(format!("Error: {}", error.message)),
            ToolOutcome::Denied { reason } => texts.push(messages::denied(reason)),
            ToolOutcome::Pending(pending) => texts.push(messages::pending(pending)),
        }
        if let Some(content) = self.content() {
            let told = self.error().map(|error| error.message.as_str());
            // Where a tool's own words are the message, they are said once.
            let is_told = |part: &&Part| matches!(part, Part::Text { text, .. } if Some(text.as_str()) == told);
            let parts = content.parts.iter().filter(|part| in_words(part) && !is_told(part));
            texts.extend(parts.map(Part::in_words));
        }
        texts.extend(self.references.iter().map(Citation::in_words));
        texts.extend(self.content().and_then(|content| content.reminder.clone()));
        texts
    }

    /// What a model is told of a call that ended, or waits again, after its waiting was told.
    pub fn late_text(&self) -> String {
        let waits = matches!(self.outcome, ToolOutcome::Pending(_));
        messages::late(&self.name, &self.id, (waits, &self.text()))
    }

    /// The response as JSON, for doors and the command line.
    pub fn to_json(&self) -> Value {
        let mut response = json!({
            "id": self.id,
            "name": self.name,
            "outcome": self.outcome.as_str(),
            "error": self.is_error(),
            "text": self.text(),
        });
        let mut put = |key: &str, value: Value| {
            if let Value::Object(fields) = &mut response {
                fields.insert(key.to_owned(), value);
            }
        };
        if let Some(error) = self.error() {
            put("kind", error.kind.as_str().into());
        }
        if let Some(content) = self.content() {
            if let Some(structured) = &content.structured {
                put("structured", structured.clone());
            }
            if content.parts.iter().any(|part| !matches!(part, Part::Text { .. })) {
                put("parts", json!(content.parts));
            }
        }
        if let ToolOutcome::Pending(pending) = &self.outcome {
            put("ticket", json!(pending.ticket));
            if let Some(question) = &pending.question {
                put("question", Value::clone(question));
            }
        }
        if let Some(first) = &self.duplicate_of {
            put("duplicate_of", json!(first));
        }
        for (key, list) in [("repairs", &self.repairs), ("checks", &self.checks)] {
            if !list.is_empty() {
                put(key, json!(list));
            }
        }
        if !self.references.is_empty() {
            put("references", json!(self.references));
        }
        if let Some(whole) = &self.whole {
            put("whole", json!(whole));
        }
        if self.handed_over {
            put("handed_over", true.into());
        }
        put("debug", json!(self.debug));
        response
    }
}

impl Citation {
    fn in_words(&self) -> String {
        let Reference { title, url, text, id } = &self.reference;
        let title = if title.is_empty() { id } else { title };
        let url = url.as_ref().map(|url| format!(" <{url}>")).unwrap_or_default();
        let text = if text.is_empty() { String::new() } else { format!("\n{text}") };
        format!("[{}] {title}{url}{text}", self.number)
    }
}

/// The answers to a batch, one for each call, in call order.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub responses: Vec<Response>,
}

impl Report {
    /// Puts the answer of a decided ticket in the place of the waiting one, for a host that asks
    /// its person before it sends the results. `false`: no call of that id waits here; what was
    /// already sent is told by `Dialect::late`.
    pub fn settle(&mut self, decided: Response) -> bool {
        let waiting = self.responses.iter_mut().find(|response| {
            response.id == decided.id && matches!(response.outcome, ToolOutcome::Pending(_))
        });
        waiting.map(|waiting| *waiting = decided).is_some()
    }
}
