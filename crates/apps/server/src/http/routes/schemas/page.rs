//! The shapes of what the page asks for.

use serde_json::{Value, json};

use super::{about, anything, count, flag, list, object, text, text_or_null, with};

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
        ("features", object(&[("record", flag()), ("audit", flag()), ("keep", flag())])),
    ]
}

pub(crate) fn ended() -> Value {
    object(&[("ended", about(count(), "Sessions that this ended."))])
}

pub(crate) fn sessions() -> Value {
    let row = object(&[
        ("id", text()),
        ("tenant", text()),
        ("subject", text()),
        ("seconds", about(count(), "Since it began.")),
        ("idle_seconds", count()),
        ("seconds_left", about(count(), "If it is not used.")),
        ("own", about(flag(), "Whether it is the one that asks.")),
    ]);
    object(&[("sessions", list(&row))])
}

pub(crate) fn link() -> Value {
    let code = json!({ "anyOf": [list(&text()), { "type": "null" }] });
    let phone = object(&[
        ("url", text_or_null()),
        ("qr", about(code, "The rows of a QR code of it, `1` for what is dark.")),
        ("why", about(text_or_null(), "Why there is none.")),
    ]);
    let phone = about(phone, "The same link for a phone, where one reaches the page over https.");
    object(&[("url", text()), ("expires", text()), ("phone", phone)])
}

/// All tools, each column of the same length.
pub(crate) fn catalog() -> Value {
    let tokens = json!({ "type": ["integer", "null"], "minimum": 0 });
    let columns = object(&[
        ("name", list(&text())),
        ("source", list(&text())),
        ("summary", list(&text())),
        ("category", list(&text_or_null())),
        ("effect", list(&json!({ "enum": ["read", "write", "destroy"] }))),
        ("state", about(list(&text()), "`on`, or the rule by which a tool is out.")),
        ("because", list(&text())),
        ("tokens", list(&tokens)),
        ("stale", list(&flag())),
    ]);
    object(&[
        ("total", count()),
        ("columns", columns),
        ("sources", list(&text())),
        ("categories", list(&text())),
        ("tokens_counted", about(flag(), "Whether tokens were counted, and not guessed.")),
    ])
}

pub(crate) fn catalog_tool() -> Value {
    let why = object(&[
        ("tool", text()),
        ("source", text()),
        ("visible", flag()),
        ("rule", text()),
        ("because", text()),
    ]);
    object(&[
        ("spec", about(anything(), "The tool as `GET /v1/tools/{name}` tells it.")),
        ("signature", text()),
        ("fingerprint", text()),
        ("stale", flag()),
        ("why", why),
        ("tokens", json!({ "type": ["integer", "null"], "minimum": 0 })),
        ("tokens_counted", flag()),
        ("fields", about(list(&tool_field()), "What a file may say of a tool, and who said it.")),
    ])
}

/// A field of a tool, and where it comes from.
fn tool_field() -> Value {
    let any = |words: &str| json!({ "description": words });
    let or_null =
        |schema: Value, words: &str| about(json!({ "anyOf": [schema, { "type": "null" }] }), words);
    let line = json!({ "type": ["integer", "null"], "minimum": 1 });
    let file = object(&[
        ("name", text()),
        ("line", about(line, "Null: the file is of another program, and says it otherwise.")),
        ("value", any("What the file says.")),
    ]);
    let overlay = object(&[
        ("row", count()),
        ("by", text()),
        ("at", text()),
        ("until", text_or_null()),
        ("why", text_or_null()),
    ]);
    let from = json!({ "enum": ["source", "file", "overlay", null] });
    object(&[
        ("field", about(text(), "As the file names it below `[tool.NAME]`.")),
        ("value", any("What holds; null: nothing is said.")),
        ("from", about(from, "Null where the file as it is now is not in force.")),
        ("given", any("What its source says; null too for whoever is no operator.")),
        ("file", or_null(file, "Where the file says it; for the operator.")),
        ("overlay", or_null(overlay, "What is changed over the file; for the operator.")),
    ])
}

/// What needs a person. What only the operator is told is `null` for others.
pub(crate) fn now() -> Value {
    let or_null =
        |schema: Value, words: &str| about(json!({ "anyOf": [schema, { "type": "null" }] }), words);
    let rows = |row: Value| object(&[("rows", list(&row)), ("more", flag())]);
    let ticket = object(&[
        ("ticket", text()),
        ("tenant", text()),
        ("caller", text()),
        ("tool", text()),
        ("source", text()),
        ("reason", text()),
        ("profile", text_or_null()),
        ("lifetime_seconds", count()),
        ("is_question", flag()),
    ]);
    let call = object(&[
        ("key", text()),
        ("tool", text()),
        ("source", text()),
        ("effect", json!({ "enum": ["read", "write", "destroy"] })),
        ("planned", text_or_null()),
        ("state", json!({ "enum": ["outcome_unknown", "interrupted"] })),
        ("tenant", text()),
        ("caller", text()),
    ]);
    let sources =
        object(&[("well", count()), ("rows", list(&super::sources::source())), ("more", flag())]);
    let kept_out = object(&[("tool", text()), ("source", text()), ("reason", text())]);
    let minute = object(&[("at", text_or_null()), ("calls", count()), ("failed", count())]);
    let change = object(&[
        ("id", count()),
        ("path", text()),
        ("by", text()),
        ("at", text()),
        ("why", text_or_null()),
        ("until", text_or_null()),
    ]);
    let overlay =
        object(&[("n", count()), ("latest", about(list(&change), "Newest first, 5 at the most."))]);
    let why = "Why nobody can say what is frozen, so that no call runs; null otherwise.";
    let frozen = object(&[
        ("rows", about(list(&super::changes::freeze()), "Newest first.")),
        ("more", flag()),
        ("unreadable", about(text_or_null(), why)),
    ]);
    let ready = with(object(&[("status", text())]), &[("detail", text())]);
    object(&[
        ("at", text()),
        ("ready", about(ready, "As `GET /readyz` tells it.")),
        ("tickets", about(rows(ticket), "Those that wait, those that go first at the front.")),
        ("unknown", or_null(rows(call), "Calls of whose end nobody knows.")),
        ("frozen", or_null(frozen, "What is frozen; null for whoever has no tools.")),
        ("overlay", or_null(overlay, "What is changed over the file; null too where none can be.")),
        ("sources", or_null(sources, "How many are well, and those that are not.")),
        ("drift", or_null(rows(kept_out), "Tools that are not what somebody looked at.")),
        ("problems", or_null(list(&text()), "What is not right with the configuration.")),
        ("minutes", or_null(list(&minute), "The calls that ended, by minute, for an hour.")),
    ])
}

/// What would become of a call.
pub(crate) fn trial() -> Value {
    let place = object(&[
        ("path", about(text(), "A JSON pointer into the arguments.")),
        ("expected", text()),
        ("got", text()),
    ]);
    let would = json!({
        "type": ["object", "null"],
        "properties": {
            "verdict": { "enum": ["run", "ask", "deny"] },
            "reason": text_or_null(),
        },
        "required": ["verdict", "reason"],
    });
    object(&[
        ("fits", flag()),
        ("problems", list(&place)),
        ("message", about(text_or_null(), "What the call would be told that does not fit.")),
        ("repairs", list(&text())),
        ("coerced", json!({ "type": ["object", "null"] })),
        ("would", would),
    ])
}
