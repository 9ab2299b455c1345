//! The shapes of what is told of agents.

use serde_json::{Value, json};

use super::{about, flag, list, object, text, text_or_null};

pub(crate) fn agents() -> Value {
    object(&[("agents", list(&object(&fields())))])
}

/// One with its tools.
pub(crate) fn agent() -> Value {
    let tool = object(&[
        ("name", text()),
        ("source", text()),
        ("summary", text()),
        ("effect", json!({ "enum": ["read", "write", "destroy"] })),
        ("forced", about(flag(), "Whether it is called first unless a request chooses others.")),
    ]);
    let mut all = fields();
    all.push(("tools", about(list(&tool), "Those that it has for whoever asks.")));
    all.push(("more", about(flag(), "Whether there are others.")));
    object(&all)
}

fn fields() -> Vec<(&'static str, Value)> {
    vec![("name", text()), ("description", text()), ("profile", text_or_null())]
}
