//! The shapes of what the record of calls tells.

use serde_json::{Value, json};
use toolcrib_store::CallState;

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

/// The same with what it was about.
pub(crate) fn one_of_record() -> Value {
    let kept = object(&[
        ("arguments", about(text(), "JSON, without secrets, cut where it is long.")),
        ("outcome", about(text_or_null(), "`null` while it runs.")),
        ("result", text_or_null()),
        ("seconds_left", count()),
    ]);
    let words = "What it was called with and what it gave, as long as `[page] keep` says.";
    let kept = about(json!({ "anyOf": [kept, { "type": "null" }] }), words);
    with_all(of_record(), &[("kept", kept)])
}

/// The batches of all callers.
pub(crate) fn running() -> Value {
    object(&[("running", list(&batch_of_any()))])
}

pub(crate) fn batch_of_any() -> Value {
    with_all(batch(), &[("tenant", text()), ("caller", text())])
}

/// The same object with further fields, all of which are there.
fn with_all(object: Value, fields: &[(&str, Value)]) -> Value {
    let mut object = with(object, fields);
    if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
        required.extend(fields.iter().map(|(name, _)| Value::from(*name)));
    }
    object
}

/// What a call did, one after the other.
fn phases() -> Value {
    let phase = object(&[
        ("kind", json!({ "enum": ["asked", "waits", "try", "pause", "verify"] })),
        ("at_ms", about(count(), "When it began, in milliseconds since 1970.")),
        ("took_ms", json!({ "type": ["integer", "null"], "minimum": 0 })),
        ("try", json!({ "type": ["integer", "null"], "minimum": 1 })),
        (
            "ended",
            about(
                text_or_null(),
                "Of a try: `done`, or why it failed; of `verify`: what it found.",
            ),
        ),
    ]);
    let words = "What it waited for, people and its turn, as far as this process saw it while \
                 somebody was signed in on the page; its tries, and the pauses between them; when it \
                 was looked up whether it took effect.";
    about(list(&phase), words)
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
        ("phases", phases()),
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
