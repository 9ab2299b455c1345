//! What is said of a call whose outcome nobody knows, as data beside the words.

use std::time::SystemTime;

use serde_json::{Value, json};

use crate::call::CallKey;
use crate::call::arguments::Arguments;
use crate::call::name::ToolName;
use crate::ledger::ticket::TicketId;
use crate::ledger::timestamp::rfc3339;
use crate::outcome::ToolError;
use crate::outcome::content::Content;
use crate::outcome::door_hints::DoorHints;
use crate::outcome::messages;

/// Adds to an error that the call may have taken effect: what a program reads to know that it
/// must not send it again. `by`: the tool that tells its caller how it stands; `at`: one that tells
/// what is so at the other side.
pub(crate) fn unknown(
    error: &mut ToolError,
    (call, sent): (CallKey, SystemTime),
    (tool, by): (&ToolName, Option<&ToolName>),
    at: Option<(&ToolName, &Arguments)>,
    hints: DoorHints,
) {
    let call = call.to_string();
    let told = json!({
        "status": "outcome_unknown",
        "call_id": call,
        "tool": tool,
        "dispatched_at": rfc3339(sent),
        "safe_to_retry": false,
        "next": next(Some(&call), by, at, hints),
    });
    put(error, told);
    if let Some(by) = by {
        error.message.push_str(&messages::looked_up(by, &call));
    }
}

/// What to do: where a call is looked up, and whom to ask.
fn next(
    call: Option<&str>,
    by: Option<&ToolName>,
    at: Option<(&ToolName, &Arguments)>,
    hints: DoorHints,
) -> Value {
    let with = |(call, by)| json!({ "tool": by, "arguments": { "call_id": call } });
    let record = hints.record.map(|record| json!({ "look_up": record(call) }));
    let steps = call.zip(by).map(with).into_iter();
    let at = at.map(|(tool, said)| json!({ "tool": tool, "arguments": said.fields() }));
    steps.chain(at).chain(record).chain([json!({ "ask": "the user" })]).collect()
}

/// The same of a call that nothing more is known of.
pub(crate) fn lost(error: &mut ToolError, hints: DoorHints) {
    let next = next(None, None, None, hints);
    put(error, json!({ "status": "outcome_unknown", "safe_to_retry": false, "next": next }));
}

/// The same of a call that was held back for its likeness to one of those.
pub(crate) fn duplicate(
    error: &mut ToolError,
    of: Option<(&str, bool)>,
    (tool, by): (&ToolName, Option<&ToolName>),
    ticket: Option<&TicketId>,
    hints: DoorHints,
) {
    let was_cancelled = of.is_some_and(|(_, was_cancelled)| was_cancelled);
    let of = of.map(|(of, _)| of);
    let mut told = json!({
        "status": "duplicate_of_unknown",
        "call_id": of,
        "tool": tool,
        "safe_to_retry": false,
        "ticket": ticket,
        "next": next(of, by, None, hints),
    });
    if let (true, Value::Object(fields)) = (was_cancelled, &mut told) {
        fields.insert("was_cancelled".to_owned(), json!(true));
    }
    put(error, told);
    if let Some((of, by)) = of.zip(by) {
        error.message.push_str(&messages::looked_up(by, of));
    }
}

/// What the other side said as data goes along.
fn put(error: &mut ToolError, mut told: Value) {
    let content = error.content.get_or_insert_with(|| Box::new(Content::default()));
    if let (Value::Object(fields), Some(said)) = (&mut told, content.structured.take()) {
        fields.insert("answered".to_owned(), said);
    }
    content.structured = Some(told);
}
