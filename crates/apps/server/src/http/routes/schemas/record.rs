//! The shapes of what the record of calls tells.

use serde_json::{Value, json};
use toolcrib::store::CallState;

use super::{about, batch, count, flag, list, object, paged, text, text_or_null, with};

pub(crate) fn batches() -> Value {
    paged(object(&[("running", list(&batch())), ("calls", list(&recorded(&[])))]))
}

pub(crate) fn record() -> Value {
    paged(object(&[("calls", list(&of_record()))]))
}

/// A call as the operator sees it.
pub(crate) fn of_record() -> Value {
    let person = object(&[("tenant", text()), ("subject", text())]);
    let by = |words: &str| about(json!({ "anyOf": [person.clone(), { "type": "null" }] }), words);
    recorded(&[
        ("tenant", text()),
        ("caller", text()),
        ("decided_by", by("Who approved it, of a call that waited for that.")),
        ("resolved_by", by("Who said how it ended, where nobody knew.")),
    ])
}

fn recorded(more: &[(&str, Value)]) -> Value {
    let fields = [
        ("key", text()),
        ("id", text()),
        ("tool", text()),
        ("source", text()),
        ("effect", text()),
        ("planned", text_or_null()),
        ("ended", text_or_null()),
        ("state", json!({ "enum": CallState::WORDS })),
        ("interrupted", flag()),
        ("fingerprint", about(text(), "Of the tool as it was.")),
        ("arguments", about(text(), "Their digest: the record keeps none of them.")),
        ("ending", ending()),
        ("attempts", attempts()),
        ("resolved", about(text_or_null(), "When its end was found out that nobody knew.")),
    ];
    object(&[fields.as_slice(), more].concat())
}

/// How a call ended.
fn ending() -> Value {
    let word = json!({ "enum": ["succeeded", "failed", "not_executed", "unknown"] });
    let kind = about(text(), "Of a failure: which kind.");
    let ending = with(object(&[("ending", word)]), &[("kind", kind)]);
    about(json!({ "anyOf": [ending, { "type": "null" }] }), "`null` while it runs.")
}

/// What was tried.
fn attempts() -> Value {
    let attempt = object(&[
        ("at_ms", about(count(), "When it began, in milliseconds since 1970.")),
        ("took_ms", count()),
        ("ended", about(text(), "`done`, or why it failed.")),
        ("sent", about(flag(), "Whether the other side may have seen it.")),
    ]);
    let words = "What was tried; `null` where nobody wrote it down.";
    about(json!({ "anyOf": [list(&attempt), { "type": "null" }] }), words)
}
