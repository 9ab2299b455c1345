//! The shapes of what the page asks for.

use serde_json::{Value, json};

use super::{about, count, flag, list, object, text, text_or_null};

/// Who asks.
pub(crate) fn session() -> Value {
    object(&fields())
}

/// The same at the beginning of a session.
pub(crate) fn session_with_key() -> Value {
    let words = "The half of the session that the page keeps, and sends as `Toolcrib-Page`; the \
                 other is the cookie.";
    let mut all = fields();
    all.push(("page_key", about(text(), words)));
    object(&all)
}

fn fields() -> Vec<(&'static str, Value)> {
    let server = object(&[
        ("name", text()),
        ("version", text()),
        ("started", text()),
        ("epoch", about(text(), "Another one with each start of the server.")),
        ("ready", about(flag(), "Whether every source had its first chance.")),
    ]);
    vec![
        ("tenant", text()),
        ("subject", text()),
        ("role", json!({ "enum": ["viewer", "approver", "admin", null] })),
        ("scopes", list(&text())),
        ("expires", about(text_or_null(), "When the session ends; null where a token asks.")),
        ("server", server),
        ("features", object(&[("record", flag()), ("audit", flag())])),
    ]
}

pub(crate) fn ended() -> Value {
    object(&[("ended", about(count(), "Sessions that this ended."))])
}

pub(crate) fn link() -> Value {
    object(&[("url", text()), ("expires", text())])
}
