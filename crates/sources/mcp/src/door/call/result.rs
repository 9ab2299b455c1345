//! The response to a call as the protocol has it.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use toolcrib_core::{ErrorKind, Response, TicketId, ToolOutcome};

use crate::door::client::features::ClientFeatures;
use crate::protocol::content::{self, block};
use crate::protocol::json::borrowed_json::{BorrowedFields, BorrowedJson};

/// Under which a host finds the ticket of a call that waits.
const TICKET: &str = "toolcrib/ticket";
/// Under which it finds what was put right before the call.
const NOTES: &str = "toolcrib/notes";
/// Under which it finds the handle of what was cut.
const WHOLE: &str = "toolcrib/result";

/// `promised`: the tool has a schema of its results, so that a strict client takes one without
/// data for broken unless it is marked as an error. To know it may take reading the schema, so it
/// is asked only where something depends on it.
pub(crate) fn result<'a>(
    response: &'a Response,
    promised: impl Fn() -> bool,
    client: &ClientFeatures,
) -> BorrowedJson<'a> {
    let (before, after) = words(response);
    let content = response.content();
    let parts = content.map_or(&[][..], |content| &content.parts);
    let mut blocks = Vec::with_capacity(parts.len() + 2);
    blocks.extend(before.map(content::words));
    blocks.extend(parts.iter().map(|part| block(part, client.kinds)));
    blocks.extend(after.map(content::words));
    let mut result = BorrowedFields::default();
    if client.is_modern {
        result.put("resultType", BorrowedJson::text("complete"));
    }
    result.put("content", BorrowedJson::List(blocks));
    let data = content.and_then(|content| content.structured.as_ref());
    let data = data.filter(|data| client.takes_data(data));
    // What we say of a call is no result of the tool, and a strict client would hold it against
    // the tool's schema.
    let ours = response.error().is_some_and(|error| {
        matches!(error.kind, ErrorKind::UnknownOutcome | ErrorKind::DuplicateOfUnknown)
    });
    let told = content.and_then(|content| content.structured.as_ref()).filter(|_| ours);
    let data = data.filter(|_| !(ours && promised()));
    if let Some(data) = data {
        result.put("structuredContent", BorrowedJson::whole(data));
    }
    // What the server said of its own result stays: what was cut is told beside it.
    let is_done = matches!(response.outcome, ToolOutcome::Done(_));
    let breaks_promise = || !is_done && data.is_none() && promised();
    result.put("isError", BorrowedJson::Truth(response.is_error() || breaks_promise()));
    let extra = content.map(|content| &content.extra);
    if let Some(notes) = notes(response, told, extra) {
        result.put("_meta", notes);
    }
    match extra {
        Some(extra) => result.besides(extra).end(),
        None => result.end(),
    }
}

/// What the tool said about its result, with what we add to that.
fn notes<'a>(
    response: &Response,
    told: Option<&Value>,
    extra: Option<&Map<String, Value>>,
) -> Option<BorrowedJson<'a>> {
    let ticket = match &response.outcome {
        ToolOutcome::Pending(pending) => Some(json!(pending.ticket)),
        ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => None,
    };
    let repairs = Some(&response.repairs).filter(|repairs| !repairs.is_empty());
    let whole = response.whole.as_ref();
    if ticket.is_none() && told.is_none() && repairs.is_none() && whole.is_none() {
        return None;
    }
    let mut notes = match extra.and_then(|extra| extra.get("_meta")) {
        Some(Value::Object(said)) => said.clone(),
        Some(_) => return None,
        None => Map::new(),
    };
    notes.extend(ticket.map(|ticket| (TICKET.to_owned(), ticket)));
    notes.extend(repairs.map(|repairs| (NOTES.to_owned(), json!(repairs))));
    notes.extend(whole.map(|whole| (WHOLE.to_owned(), json!({ "cut": true, "handle": whole }))));
    notes.extend(told.map(|told| ("toolcrib/call".to_owned(), told.clone())));
    Some(BorrowedJson::Whole(Cow::Owned(Value::Object(notes))))
}

/// What we say before the parts and after them.
fn words(response: &Response) -> (Option<String>, Option<String>) {
    // The parts have blocks of their own.
    let words = response.words_with(|_| false);
    let told = response.error().map(|error| format!("Error: {}", error.message));
    let Some((told, rest)) =
        told.and_then(|told| Some((told.clone(), words.strip_prefix(told.as_str())?.to_owned())))
    else {
        let ours = matches!(response.outcome, ToolOutcome::Done(_));
        return if ours { (None, some(&words)) } else { (some(&words), None) };
    };
    // A tool that says itself why it failed is not quoted as well.
    let speaks = response.error().is_some_and(|error| error.kind == ErrorKind::Tool)
        && response.content().is_some_and(|content| !content.parts.is_empty());
    (some(if speaks { "" } else { &told }), some(&rest))
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// What we say of a call that waits under a ticket.
pub(crate) fn waiting(
    ticket: &TicketId,
    told: &str,
    is_error: bool,
    client: &ClientFeatures,
) -> Value {
    let mut result = refusal(told, client);
    if let Value::Object(fields) = &mut result {
        fields.insert("isError".to_owned(), is_error.into());
        fields.insert("_meta".to_owned(), json!({ TICKET: ticket }));
    }
    result
}

/// A refusal of ours that a model should read.
pub(crate) fn refusal(told: &str, client: &ClientFeatures) -> Value {
    let mut result = json!({ "content": [{ "type": "text", "text": told }], "isError": true });
    if let (true, Value::Object(fields)) = (client.is_modern, &mut result) {
        fields.insert("resultType".to_owned(), json!("complete"));
    }
    result
}
