//! What came of a call, as a replay needs it: what the loop, the events and the dialects read of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_core::{
    Call, Citation, Content, ErrorKind, Part, PendingTicket, Reference, Response, ResultHandle,
    TicketId, ToolError, ToolName, ToolOutcome,
};

use super::words::{NoSuchText, TextEntry, TextPool};

/// An answer to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResponseEntry {
    /// Empty of one out of the record of calls.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    outcome: OutcomeEntry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duplicate_of: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    checks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    references: Vec<CitationEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole: Option<ResultHandle>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    handed_over: bool,
    /// The tool that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<ToolName>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeEntry {
    Done(ContentEntry),
    /// It was done, and the thread has what is to be known of it.
    Held,
    Failed {
        kind: ErrorKind,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<ContentEntry>,
    },
    Denied {
        reason: String,
    },
    Pending {
        ticket: TicketId,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<Value>,
    },
}

/// A content, without what no model is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ContentEntry {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<DataEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reminder: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PartEntry {
    Text(TextEntry),
    Image { data: String, mime: String },
    Audio { data: String, mime: String },
    File { data: String, mime: String, name: String },
    Link { uri: String, mime: Option<String>, name: Option<String> },
}

/// A result as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DataEntry {
    /// The text of the first part is its JSON.
    AsText,
    Value(Value),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CitationEntry {
    number: u32,
    source: Reference,
}

impl ResponseEntry {
    pub(crate) fn of(response: &Response) -> Self {
        // What its event says of it.
        let told = response.text();
        let outcome = match &response.outcome {
            ToolOutcome::Done(content) => OutcomeEntry::Done(ContentEntry::of(content, &told)),
            ToolOutcome::Failed(error) => OutcomeEntry::Failed {
                kind: error.kind,
                message: error.message.clone(),
                content: error.content.as_deref().map(|content| ContentEntry::of(content, &told)),
            },
            ToolOutcome::Denied { reason } => OutcomeEntry::Denied { reason: reason.clone() },
            ToolOutcome::Pending(pending) => OutcomeEntry::Pending {
                ticket: pending.ticket.clone(),
                reason: pending.reason.clone(),
                question: pending.question.as_deref().cloned(),
            },
        };
        let cited = response
            .references
            .iter()
            .map(|cited| CitationEntry { number: cited.number, source: cited.reference.clone() });
        Self {
            id: response.id.clone(),
            name: response.name.clone(),
            outcome,
            duplicate_of: response.duplicate_of.clone(),
            repairs: response.repairs.clone(),
            checks: response.checks.clone(),
            references: cited.collect(),
            whole: response.whole.clone(),
            handed_over: response.handed_over,
            tool: response.debug.tool.clone(),
        }
    }

    /// The same, if it was held back: the thread may not get it, and its words are not kept here.
    pub(crate) fn held(response: &Response) -> Self {
        let mut entry = Self::of(response);
        if response.outcome.is_done() {
            entry.outcome = OutcomeEntry::Held;
        }
        entry
    }

    pub(crate) fn is_held(&self) -> bool {
        matches!(self.outcome, OutcomeEntry::Held)
    }

    /// The ticket under which it waits.
    pub(crate) fn ticket(&self) -> Option<&TicketId> {
        if let OutcomeEntry::Pending { ticket, .. } = &self.outcome { Some(ticket) } else { None }
    }

    pub(crate) fn response(&self, pool: &mut TextPool) -> Result<Response, NoSuchText> {
        let outcome = match &self.outcome {
            OutcomeEntry::Done(content) => ToolOutcome::Done(content.content(pool)?),
            OutcomeEntry::Held => ToolOutcome::Done(Content::default()),
            OutcomeEntry::Failed { kind, message, content } => {
                let mut error = ToolError::new(*kind, message.clone());
                let content = content.as_ref().map(|content| content.content(pool)).transpose()?;
                error.content = content.map(Box::new);
                ToolOutcome::Failed(error)
            }
            OutcomeEntry::Denied { reason } => ToolOutcome::Denied { reason: reason.clone() },
            OutcomeEntry::Pending { ticket, reason, question } => {
                ToolOutcome::Pending(PendingTicket {
                    ticket: ticket.clone(),
                    reason: reason.clone(),
                    question: question.clone().map(Box::new),
                })
            }
        };
        let cited = self
            .references
            .iter()
            .map(|cited| Citation { number: cited.number, reference: cited.source.clone() });
        let call = Call { id: self.id.clone(), name: self.name.clone(), ..Call::default() };
        let mut response = Response {
            duplicate_of: self.duplicate_of.clone(),
            repairs: self.repairs.clone(),
            checks: self.checks.clone(),
            references: cited.collect(),
            whole: self.whole.clone(),
            handed_over: self.handed_over,
            ..Response::of_call(call, outcome)
        };
        response.debug.tool.clone_from(&self.tool);
        Ok(response)
    }
}

impl ContentEntry {
    fn of(content: &Content, told: &str) -> Self {
        let text = content.parts.first().and_then(|part| {
            if let Part::Text { text, .. } = part { Some(text.as_str()) } else { None }
        });
        let data = content.structured.as_ref().map(|data| {
            let json = data.to_string();
            let is_told = text.is_some_and(|text| text == json);
            if is_told { DataEntry::AsText } else { DataEntry::Value(data.clone()) }
        });
        let parts = content.parts.iter().map(|part| PartEntry::of(part, told)).collect();
        Self { parts, data, reminder: content.reminder.clone() }
    }

    fn content(&self, pool: &mut TextPool) -> Result<Content, NoSuchText> {
        let parts = self.parts.iter().map(|part| part.part(pool));
        let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
        let structured = match &self.data {
            None => None,
            Some(DataEntry::Value(data)) => Some(data.clone()),
            Some(DataEntry::AsText) => {
                let Some(Part::Text { text, .. }) = parts.first() else { return Err(NoSuchText) };
                Some(serde_json::from_str(text).map_err(|_| NoSuchText)?)
            }
        };
        Ok(Content { parts, structured, reminder: self.reminder.clone(), ..Content::default() })
    }
}

impl PartEntry {
    fn of(part: &Part, told: &str) -> Self {
        match part {
            Part::Text { text, .. } if text == told => Self::Text(TextEntry::of(text)),
            Part::Text { text, .. } => Self::Text(TextEntry::Whole(text.clone())),
            Part::Image { data, mime, .. } => {
                Self::Image { data: data.clone(), mime: mime.clone() }
            }
            Part::Audio { data, mime, .. } => {
                Self::Audio { data: data.clone(), mime: mime.clone() }
            }
            Part::File { data, mime, name, .. } => {
                Self::File { data: data.clone(), mime: mime.clone(), name: name.clone() }
            }
            Part::Link { uri, mime, name, .. } => {
                Self::Link { uri: uri.clone(), mime: mime.clone(), name: name.clone() }
            }
        }
    }

    fn part(&self, pool: &mut TextPool) -> Result<Part, NoSuchText> {
        let extra = serde_json::Map::new();
        Ok(match self.clone() {
            Self::Text(text) => Part::text(text.text(pool)?),
            Self::Image { data, mime } => Part::Image { data, mime, extra },
            Self::Audio { data, mime } => Part::Audio { data, mime, extra },
            Self::File { data, mime, name } => Part::File { data, mime, name, extra },
            Self::Link { uri, mime, name } => Part::Link { uri, mime, name, extra },
        })
    }
}
