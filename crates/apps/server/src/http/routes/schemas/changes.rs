//! The shapes of what people change while it serves.

use serde_json::{Value, json};

use super::{about, count, flag, list, object, text, text_or_null};

/// What holds over the file.
pub(crate) fn overlay() -> Value {
    object(&fields())
}

fn fields() -> Vec<(&'static str, Value)> {
    let any = |words: &str| json!({ "description": words });
    let states = json!(["in_force", "file_differs", "landed", "orphan", "over", null]);
    let row = object(&[
        ("id", count()),
        ("path", text()),
        ("value", any("What the field says; null takes it away.")),
        ("was", any("What the file said when it was made; null: nothing.")),
        ("file", any("What the file says now; null: nothing.")),
        ("by", text()),
        ("at", text()),
        ("why", text_or_null()),
        ("until", text_or_null()),
        ("state", about(json!({ "enum": states }), "Null where the file cannot be read.")),
    ]);
    vec![("version", about(count(), "What a change names as `expect`.")), ("rows", list(&row))]
}

/// What came of a change, or would.
pub(crate) fn edited() -> Value {
    let problem = object(&[("path", text()), ("message", text())]);
    let relaxed = object(&[("tool", text()), ("what", text())]);
    let effects = object(&[
        ("shown", about(list(&text()), "Tools that come, 200 at the most.")),
        ("hidden", about(list(&text()), "Tools that go, 200 at the most.")),
        ("relaxed", about(list(&relaxed), "What is permitted that was not before.")),
    ]);
    let in_force = json!({ "type": ["boolean", "null"] });
    let mut all = fields();
    all.extend([
        ("made", about(list(&count()), "The rows that are new.")),
        ("landed", about(list(&text()), "Fields that the file says already.")),
        ("problems", about(list(&problem), "Why it may not be; of a trial alone.")),
        ("effects", effects),
        ("in_force", about(in_force, "Null of a trial.")),
        ("because", about(list(&text()), "Why it is not in force.")),
    ]);
    object(&all)
}

/// The changes as a text.
pub(crate) fn exported() -> Value {
    object(&[
        ("form", json!({ "enum": ["toml", "patch", "file"] })),
        ("version", count()),
        ("text", text()),
        ("masked", about(flag(), "Whether secrets of the file were taken out of the text.")),
    ])
}

/// What became of a tool, newest first.
pub(crate) fn tool_history() -> Value {
    let or_null = |schema: Value| json!({ "anyOf": [schema, { "type": "null" }] });
    let acts = json!(["changed", "taken_back", "accepted", "kept_out", "redefined"]);
    let value = json!({ "description": "What the field said; null takes it away." });
    let change = object(&[
        ("row", about(count(), "Its number in the overlay.")),
        ("path", text()),
        ("value", value),
        ("is_cut", about(flag(), "The value was too long to be kept.")),
        ("until", text_or_null()),
    ]);
    let definition = object(&[("fingerprint", text()), ("before", text_or_null())]);
    let entry = object(&[
        ("at", text()),
        ("act", json!({ "enum": acts })),
        ("by", about(text_or_null(), "Null: its source.")),
        ("why", text_or_null()),
        ("change", about(or_null(change), "Of `changed` and `taken_back`.")),
        ("definition", about(or_null(definition), "Of the others.")),
    ]);
    object(&[
        ("kept", about(flag(), "Whether there is a place where it is kept.")),
        ("days", about(count(), "For how long an entry is kept.")),
        ("total", count()),
        ("entries", list(&entry)),
    ])
}

pub(super) fn freeze() -> Value {
    let effect = json!({ "enum": ["read", "write", "destroy"] });
    object(&[
        ("id", count()),
        ("scope", json!({ "enum": ["all", "source", "caller", "tenant", "tool"] })),
        ("name", about(text_or_null(), "Of the source, caller, tenant or tool.")),
        ("tenant", about(text_or_null(), "Whose calls alone; null: those of all.")),
        ("effects", list(&effect)),
        ("by", text()),
        ("at", text()),
        ("why", text_or_null()),
        ("until", text_or_null()),
        ("kept", about(flag(), "Whether it is written down; if not, it ends with the server.")),
    ])
}

fn all_freezes() -> Vec<(&'static str, Value)> {
    let words = "Why nobody can say what is frozen, so that no call runs; null otherwise.";
    vec![("freezes", list(&freeze())), ("unreadable", about(text_or_null(), words))]
}

/// What is frozen.
pub(crate) fn freezes() -> Value {
    object(&all_freezes())
}

/// The same after a change of it.
pub(crate) fn frozen() -> Value {
    let mut all = all_freezes();
    all.push(("freeze", about(freeze(), "That which was set or lifted.")));
    all.push(("tools", about(count(), "Tools there are now that it may be about.")));
    object(&all)
}
