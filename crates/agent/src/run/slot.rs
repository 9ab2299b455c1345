//! The calls of a batch, as a run keeps them while it does not know what came of all of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_core::{
    Call, CallWire, Content, RawArguments, Report, Response, TicketId, ToolOutcome,
};
use toolcrib_dialect::Dialect;

use crate::item::ResultText;

/// A call as it is written down: made again under its key, it does not run a second time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredCall {
    id: String,
    #[serde(default)]
    named: bool,
    name: String,
    arguments: StoredArguments,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    wire: CallWire,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredArguments {
    Absent,
    Text(String),
    Value(Value),
}

impl StoredCall {
    pub(super) fn of(call: Call) -> Self {
        Self {
            id: call.id,
            named: call.named,
            name: call.name,
            arguments: match call.arguments {
                RawArguments::Absent => StoredArguments::Absent,
                RawArguments::Text(text) => StoredArguments::Text(text),
                RawArguments::Value(value) => StoredArguments::Value(value),
            },
            fault: call.fault,
            wire: call.wire,
            key: call.key,
        }
    }

    /// What is known of it where it was handed over by a process that is gone.
    pub(super) fn abandoned(&self) -> ResultText {
        ResultText {
            call_id: self.id.clone(),
            name: self.wire.name.clone(),
            text:
                "The server stopped while this call was under way. It may have taken effect: look \
                   before it is made again."
                    .to_owned(),
            is_error: true,
        }
    }

    pub(crate) fn call(&self) -> Call {
        Call {
            id: self.id.clone(),
            named: self.named,
            name: self.name.clone(),
            arguments: match self.arguments.clone() {
                StoredArguments::Absent => RawArguments::Absent,
                StoredArguments::Text(text) => RawArguments::Text(text),
                StoredArguments::Value(value) => RawArguments::Value(value),
            },
            fault: self.fault.clone(),
            wire: self.wire.clone(),
            key: self.key.clone(),
            ..Call::default()
        }
    }
}

/// One call of a batch, as the thread will have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CallSlot {
    /// As the model reads it: of one that waits, that it waits.
    pub(super) result: ResultText,
    /// The same in the shape of the API.
    pub(super) messages: Vec<Value>,
    /// The call and its ticket, while it waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) waits: Option<WaitingCall>,
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WaitingCall {
    pub(crate) ticket: TicketId,
    pub(crate) call: StoredCall,
    /// It runs already, and asks something.
    #[serde(default)]
    pub(crate) is_begun: bool,
}

impl CallSlot {
    pub(super) fn of(response: &Response, call: &StoredCall, dialect: &dyn Dialect) -> Self {
        // An answer out of the record has no id, and one decision may answer several equal calls.
        let Call { id, name, wire, .. } = call.call();
        let response = Response { id, name, wire, ..response.clone() };
        let result = ResultText {
            call_id: response.id.clone(),
            name: response.wire.name.clone(),
            text: response.text(),
            is_error: response.is_error(),
        };
        let waits = match &response.outcome {
            ToolOutcome::Pending(pending) => Some(WaitingCall {
                ticket: pending.ticket.clone(),
                call: call.clone(),
                is_begun: pending.question.is_some(),
            }),
            ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => None,
        };
        let messages = dialect.results(&Report { responses: vec![response] });
        Self { result, messages, waits }
    }

    pub(super) fn waits_under(&self, ticket: &TicketId) -> bool {
        self.waits.as_ref().is_some_and(|waiting| waiting.ticket == *ticket)
    }
}

/// The same with nothing but the words of what was done: no more of it is kept.
pub(super) fn in_words(mut report: Report) -> Report {
    for response in &mut report.responses {
        if response.outcome.is_done() {
            response.outcome = ToolOutcome::Done(Content::text(response.text()));
        }
    }
    report
}
