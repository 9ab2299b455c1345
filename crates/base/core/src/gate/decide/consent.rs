//! Asks the person at the host whether something may be read.

use serde_json::{Value, json};

use crate::call::CallKey;
use crate::call::host::{HostQuestion, QuestionError, QuestionKind};
use crate::gate::batch::options::BatchOptions;
use crate::ledger::ticket::Decision;
use crate::outcome::door_hints::DoorHints;
use crate::outcome::messages;
use crate::outcome::refusal::{Refusal, RefusalReason};
use crate::outcome::{ErrorKind, PendingTicket, ToolError};
use crate::policy::approval::{self, shown, shown_json};
use crate::resource::{ResourceOperation, ResourceRequest};

/// Why nobody said yes or no, with the error of whoever inquired.
pub(crate) struct ConsentError {
    /// For the record.
    pub(crate) why: &'static str,
    pub(crate) error: ToolError,
}

/// Puts an inquiry to a person. What is read after a yes is what `inquiry` says, and that is what
/// they are shown.
pub(crate) async fn ask(
    inquiry: &ResourceRequest,
    (key, pending): (CallKey, &PendingTicket),
    options: &BatchOptions,
    hints: DoorHints,
) -> Result<Decision, ConsentError> {
    let reason = &pending.reason;
    let Some(message) = message(inquiry, reason) else {
        let told = refused(&messages::not_asked_about(reason));
        return Err(ConsentError { why: "what is asked for is not asked about", error: told });
    };
    let host = options.host.as_ref();
    let Some(host) = host.filter(|host| host.answers().contains(&QuestionKind::Form)) else {
        let error = lacking(reason, hints);
        return Err(ConsentError { why: "the client can ask nobody", error });
    };
    let (yes, means) = if matches!(inquiry.about, ResourceOperation::Method(_)) {
        ("Run it", "Yes runs this once; no refuses it")
    } else {
        ("Read it", "Yes reads this once; no refuses it")
    };
    let params = approval::form(&message, yes, means);
    let ask = HostQuestion::new(QuestionKind::Form, params);
    let answer = tokio::select! {
        biased;
        () = options.cancel.cancelled() => Err(QuestionError::Cancelled),
        answer = host.ask(key, ask) => answer,
    };
    match answer {
        Ok(answer) => approval::decision(&answer).ok_or(QuestionError::Cancelled),
        Err(why) => Err(why),
    }
    .map_err(|why| match why {
        QuestionError::Unable => {
            let error = refused(&messages::cannot_ask_now(reason));
            ConsentError { why: "nobody could be asked", error }
        }
        QuestionError::Cancelled | QuestionError::Late => ConsentError {
            why: "nobody decided",
            error: refused(&messages::nobody_decided(reason)),
        },
    })
}

/// The question; `None`: nobody is asked about this, since the protocol has no place for it.
fn message(inquiry: &ResourceRequest, reason: &str) -> Option<String> {
    let text = |key: &str| inquiry.params.get(key).and_then(Value::as_str).unwrap_or_default();
    let reason = shown(reason);
    match inquiry.about {
        ResourceOperation::Prompt => {
            let name = shown(text("name"));
            let none = json!({});
            let arguments = shown_json(inquiry.params.get("arguments").unwrap_or(&none));
            Some(format!("May the prompt `{name}` be read? {reason}. Arguments: {arguments}"))
        }
        ResourceOperation::Resource => {
            Some(format!("May the resource `{}` be read? {reason}", shown(text("uri"))))
        }
        ResourceOperation::Method(ref method) => {
            let (method, params) = (shown(method), Value::Object(inquiry.params.clone()));
            let params = shown_json(&params);
            Some(format!("May the method `{method}` run? {reason}. Arguments: {params}"))
        }
        ResourceOperation::Completion | ResourceOperation::Level | ResourceOperation::Notice(_) => {
            None
        }
    }
}

fn lacking(reason: &str, hints: DoorHints) -> ToolError {
    let told = format!("refused: {}", messages::client_cannot_ask(reason, hints.takes_forms));
    let refusal = Refusal::new(RefusalReason::HostLacks(QuestionKind::Form), told);
    refusal.into_error(ErrorKind::InvalidArguments)
}

/// What is not permitted.
pub(crate) fn refused(reason: &str) -> ToolError {
    ToolError::new(ErrorKind::InvalidArguments, format!("refused: {reason}"))
}
