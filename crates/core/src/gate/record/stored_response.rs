//! An answer as it is written under a key, and read again.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_json::number::guarded;

use super::unknown_outcome;
use crate::call::CallKey;
use crate::gate::batch::pending_call::Ended;
use crate::ledger::ResultHandle;
use crate::ledger::ticket::TicketId;
use crate::outcome::content::Content;
use crate::outcome::messages;
use crate::outcome::{ErrorKind, Pending, ToolError, ToolOutcome};

#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(flatten)]
    form: Form,
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
enum Form {
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
pub(crate) fn write(ended: &Ended) -> Option<Value> {
    let form = match &ended.outcome {
        ToolOutcome::Done(content) => Form::Done { content: content.clone() },
        ToolOutcome::Failed(error) => Form::Failed {
            kind: error.kind,
            message: error.message.clone(),
            content: error.content.clone(),
        },
        ToolOutcome::Denied { reason } => Form::Denied { reason: reason.clone() },
        ToolOutcome::Pending(Pending { ticket, reason, question }) => Form::Pending {
            ticket: ticket.clone(),
            reason: reason.clone(),
            question: question.clone(),
        },
    };
    let key = ended.key.map(|key| key.to_string());
    let (whole, repairs) = (ended.whole.clone(), ended.repairs.clone());
    serde_json::to_value(Written { form, key, whole, repairs, attempts: ended.attempts }).ok()
}

/// How a call ended, without what was said.
pub(crate) fn brief(ended: &Ended) -> Value {
    let outcome = match &ended.outcome {
        ToolOutcome::Done(_) => ToolOutcome::Done(Content::text(messages::answer_not_kept())),
        ToolOutcome::Failed(error) => {
            ToolOutcome::Failed(ToolError::new(error.kind, messages::answer_not_kept()))
        }
        ToolOutcome::Denied { .. } => ToolOutcome::Denied { reason: messages::answer_not_kept() },
        ToolOutcome::Pending(pending) => ToolOutcome::Pending(pending.clone()),
    };
    let brief = Ended { key: ended.key, ..Ended::unstarted(outcome, Vec::new()) };
    write(&brief).unwrap_or_default()
}

/// The answer that was given before. What cannot be read is one that nobody knows.
pub(crate) fn read(value: Value) -> Ended {
    let Ok(written) = serde_json::from_value::<Written>(guarded(value)) else { return lost() };
    let outcome = match written.form {
        Form::Done { content } => ToolOutcome::Done(content),
        Form::Failed { kind, message, content } => {
            let mut error = ToolError::new(kind, message);
            error.content = content;
            ToolOutcome::Failed(error)
        }
        Form::Denied { reason } => ToolOutcome::Denied { reason },
        Form::Pending { ticket, reason, question } => {
            ToolOutcome::Pending(Pending { ticket, reason, question })
        }
    };
    Ended {
        key: written.key.as_deref().and_then(CallKey::parse),
        whole: written.whole,
        attempts: written.attempts,
        replayed: true,
        ..Ended::unstarted(outcome, written.repairs)
    }
}

/// The answer to a call that was begun under its key and never answered.
pub(crate) fn lost() -> Ended {
    let message =
        messages::unknown_outcome("the call was begun under this key, and its end is lost");
    let mut error = ToolError::new(ErrorKind::UnknownOutcome, message);
    unknown_outcome::lost(&mut error);
    Ended { replayed: true, ..Ended::unstarted(ToolOutcome::Failed(error), Vec::new()) }
}
