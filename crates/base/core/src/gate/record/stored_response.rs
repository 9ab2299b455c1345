//! An answer as it is written under a key, and read again.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_json::number::guarded;

use super::unknown_outcome;
use crate::call::CallKey;
use crate::gate::batch::pending_call::EndedCall;
use crate::ledger::ResultHandle;
use crate::ledger::ticket::TicketId;
use crate::outcome::content::Content;
use crate::outcome::door_hints::DoorHints;
use crate::outcome::messages;
use crate::outcome::{ErrorKind, PendingTicket, ToolError, ToolOutcome};

#[derive(Serialize, Deserialize)]
struct StoredResponse {
    #[serde(flatten)]
    form: StoredOutcome,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    whole: Option<ResultHandle>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    repairs: Vec<String>,
    #[serde(default)]
    attempts: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum StoredOutcome {
    Done {
        content: Content,
    },
    Failed {
        kind: ErrorKind,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        content: Option<Box<Content>>,
    },
    Denied {
        reason: String,
    },
    Pending {
        ticket: TicketId,
        reason: String,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        question: Option<Box<Value>>,
    },
}

/// `None`: it has no JSON.
pub(crate) fn write(ended: &EndedCall) -> Option<Value> {
    let form = match &ended.outcome {
        ToolOutcome::Done(content) => StoredOutcome::Done { content: content.clone() },
        ToolOutcome::Failed(error) => StoredOutcome::Failed {
            kind: error.kind,
            message: error.message.clone(),
            content: error.content.clone(),
        },
        ToolOutcome::Denied { reason } => StoredOutcome::Denied { reason: reason.clone() },
        ToolOutcome::Pending(PendingTicket { ticket, reason, question }) => {
            StoredOutcome::Pending {
                ticket: ticket.clone(),
                reason: reason.clone(),
                question: question.clone(),
            }
        }
    };
    let key = ended.key.map(|key| key.to_string());
    let (whole, repairs) = (ended.whole.clone(), ended.repairs.clone());
    serde_json::to_value(StoredResponse { form, key, whole, repairs, attempts: ended.attempts })
        .ok()
}

/// How a call ended, without what was said.
pub(crate) fn brief(ended: &EndedCall) -> Value {
    let outcome = match &ended.outcome {
        ToolOutcome::Done(_) => ToolOutcome::Done(Content::text(messages::answer_not_kept())),
        ToolOutcome::Failed(error) => {
            ToolOutcome::Failed(ToolError::new(error.kind, messages::answer_not_kept()))
        }
        ToolOutcome::Denied { .. } => ToolOutcome::Denied { reason: messages::answer_not_kept() },
        ToolOutcome::Pending(pending) => ToolOutcome::Pending(pending.clone()),
    };
    let brief = EndedCall { key: ended.key, ..EndedCall::unstarted(outcome, Vec::new()) };
    write(&brief).unwrap_or_default()
}

/// The answer that was given before. What cannot be read is one that nobody knows.
pub(crate) fn read(value: Value, hints: DoorHints) -> EndedCall {
    let Ok(written) = serde_json::from_value::<StoredResponse>(guarded(value)) else {
        return lost(hints);
    };
    let outcome = match written.form {
        StoredOutcome::Done { content } => ToolOutcome::Done(content),
        StoredOutcome::Failed { kind, message, content } => {
            let mut error = ToolError::new(kind, message);
            error.content = content;
            ToolOutcome::Failed(error)
        }
        StoredOutcome::Denied { reason } => ToolOutcome::Denied { reason },
        StoredOutcome::Pending { ticket, reason, question } => {
            ToolOutcome::Pending(PendingTicket { ticket, reason, question })
        }
    };
    EndedCall {
        key: written.key.as_deref().and_then(CallKey::parse),
        whole: written.whole,
        attempts: written.attempts,
        replayed: true,
        ..EndedCall::unstarted(outcome, written.repairs)
    }
}

/// The ticket under which a call waited when it was answered; `None`: it did not wait.
pub(crate) fn ticket(answer: &Value) -> Option<TicketId> {
    let waits = answer.get("outcome")?.as_str()? == "pending";
    waits.then(|| serde_json::from_value(answer.get("ticket")?.clone()).ok()).flatten()
}

/// The answer to a call that was begun under its key and never answered.
pub(crate) fn lost(hints: DoorHints) -> EndedCall {
    let message =
        messages::unknown_outcome("the call was begun under this key, and its end is lost");
    let mut error = ToolError::new(ErrorKind::UnknownOutcome, message);
    unknown_outcome::lost(&mut error, hints);
    EndedCall { replayed: true, ..EndedCall::unstarted(ToolOutcome::Failed(error), Vec::new()) }
}
