//! A parked call, or what one asks that runs already, put to the person at the client.

use serde_json::{Value, json};
pub(crate) use toolcrib_core::approval::shown;
use toolcrib_core::{Decision, ParkedCall, PendingTicket, approval};

/// The key of the question where several may be open.
pub(crate) const KEY: &str = "approval";

/// The question as a form. `parked` is what will run: that is shown and not what was sent.
pub(crate) fn form(tool: &str, pending: &PendingTicket, parked: Option<&ParkedCall>) -> Value {
    if let Some(question) = &pending.question {
        return Value::clone(question);
    }
    let tool = parked.map_or(tool, |parked| parked.tool.as_str());
    let arguments = parked.map(|parked| parked.arguments.clone().into_value());
    let arguments = arguments.as_ref().map(approval::shown_json);
    let message = format!(
        "May `{}` run? {}. Arguments: {}",
        shown(tool),
        shown(&pending.reason),
        arguments.as_deref().unwrap_or("(not shown)")
    );
    approval::form(&message, "Run it", "Yes runs this call once; no refuses it")
}

/// What a person said to it. `None`: nothing that decides.
pub(crate) fn decision(pending: &PendingTicket, answer: &Value) -> Option<Decision> {
    if pending.question.is_none() {
        return approval::decision(answer);
    }
    match answer.get("action")?.as_str()? {
        "accept" => {
            let content = answer.get("content").cloned().unwrap_or_else(|| json!({}));
            Some(Decision::Answer { content })
        }
        "decline" => Some(Decision::Deny { reason: "the user declined it".to_owned() }),
        _ => None,
    }
}
