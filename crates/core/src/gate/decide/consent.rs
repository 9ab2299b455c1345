//! Asks the person at the host whether something may be read.

use serde_json::{Value, json};

use crate::call::CallKey;
use crate::call::host::{Ask, Question, Unanswered};
use crate::gate::batch::options::BatchOptions;
use crate::ledger::ticket::Decision;
use crate::outcome::messages;
use crate::outcome::protocol_error::Refusal;
use crate::outcome::{ErrorKind, Pending, ToolError};
use crate::policy::approval::{self, shown, shown_json};
use crate::resource::{About, Inquiry};

/// Why nobody said yes or no, with the error of whoever inquired.
pub(crate) struct Undecided {
    /// For the record.
    pub(crate) why: &'static str,
    pub(crate) error: ToolError,
}

/// Puts an inquiry to a person. What is read after a yes is what `inquiry` says, and that is what
/// they are shown.
pub(crate) async fn ask(
    inquiry: &Inquiry,
    (key, pending): (CallKey, &Pending),
    options: &BatchOptions,
) -> Result<Decision, Undecided> {
    let reason = &pending.reason;
    let Some(message) = message(inquiry, reason) else {
        let told = refused(&messages::not_asked_about(reason));
        return Err(Undecided { why: "what is asked for is not asked about", error: told });
    };
    let host = options.host.as_ref();
    let Some(host) = host.filter(|host| host.answers().contains(&Question::Form)) else {
        return Err(Undecided { why: "the client can ask nobody", error: lacking(reason) });
    };
    let (yes, means) = if matches!(inquiry.about, About::Method(_)) {
        ("Run it", "Yes runs this once; no refuses it")
    } else {
        ("Read it", "Yes reads this once; no refuses it")
    };
    let params = approval::form(&message, yes, means);
    let ask = Ask::new(Question::Form, params);
    let answer = tokio::select! {
        biased;
        () = options.cancel.cancelled() => Err(Unanswered::Cancelled),
        answer = host.ask(key, ask) => answer,
    };
    match answer {
        Ok(answer) => approval::decision(&answer).ok_or(Unanswered::Cancelled),
        Err(why) => Err(why),
    }
    .map_err(|why| match why {
        Unanswered::Unable => {
            let error = refused(&messages::cannot_ask_now(reason));
            Undecided { why: "nobody could be asked", error }
        }
        Unanswered::Cancelled | Unanswered::Late => {
            Undecided { why: "nobody decided", error: refused(&messages::nobody_decided(reason)) }
        }
    })
}

/// The question; `None`: nobody is asked about this, since the protocol has no place for it.
fn message(inquiry: &Inquiry, reason: &str) -> Option<String> {
    let text = |key: &str| inquiry.params.get(key).and_then(Value::as_str).unwrap_or_default();
    let reason = shown(reason);
    match inquiry.about {
        About::Prompt => {
            let name = shown(text("name"));
            let none = json!({});
            let arguments = shown_json(inquiry.params.get("arguments").unwrap_or(&none));
            Some(format!("May the prompt `{name}` be read? {reason}. Arguments: {arguments}"))
        }
        About::Resource => {
            Some(format!("May the resource `{}` be read? {reason}", shown(text("uri"))))
        }
        About::Method(ref method) => {
            let (method, params) = (shown(method), Value::Object(inquiry.params.clone()));
            let params = shown_json(&params);
            Some(format!("May the method `{method}` run? {reason}. Arguments: {params}"))
        }
        About::Completion | About::Level | About::Notice(_) => None,
    }
}

fn lacking(reason: &str) -> ToolError {
    let told = format!("refused: {}", messages::client_cannot_ask(reason));
    let data = json!({ "requiredCapabilities": Question::Form.capability() });
    let refusal = Refusal::new(Refusal::CLIENT_LACKS, told).with(data);
    refusal.into_error(ErrorKind::InvalidArguments)
}

/// What is not permitted.
pub(crate) fn refused(reason: &str) -> ToolError {
    ToolError::new(ErrorKind::InvalidArguments, format!("refused: {reason}"))
}
