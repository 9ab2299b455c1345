//! The shapes of sources, of what changed of their tools, and of profiles.

use serde_json::{Value, json};

use super::{about, count, flag, list, object, text, text_or_null, with};

fn count_or_null() -> Value {
    json!({ "type": ["integer", "null"], "minimum": 0 })
}

fn or_null(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn kind() -> Value {
    json!({ "enum": ["mcp", "openapi", "a2a", "desk", "basics", "builtin"] })
}

/// How a source is doing, as far as every answer tells it.
pub(super) fn source() -> Value {
    let news = object(&[("added", list(&text())), ("removed", list(&text()))]);
    object(&[
        ("id", text()),
        ("tools", count()),
        ("stale", flag()),
        ("age_seconds", json!({ "type": ["integer", "null"] })),
        ("error", text_or_null()),
        ("unhidden", list(&text())),
        ("news", about(news, "The names that the last list with other ones had more and less.")),
    ])
}

/// What a source is, as the file says it.
fn outline() -> Value {
    object(&[
        ("id", text()),
        ("enabled", flag()),
        ("kind", kind()),
        ("command", about(or_null(&list(&text())), "What it starts, word for word.")),
        ("folder", text_or_null()),
        ("address", about(text_or_null(), "What it asks, or reads.")),
        ("needs", about(list(&text()), "References to secrets: `${env:NAME}`.")),
    ])
}

/// The change over the file that added it.
fn change() -> Value {
    let change = object(&[
        ("id", count()),
        ("path", text()),
        ("by", text()),
        ("at", text()),
        ("why", text_or_null()),
        ("until", text_or_null()),
    ]);
    about(or_null(&change), "The change over the file that added it; null: the file has it.")
}

/// All that is known of it.
fn whole_source() -> Value {
    let recent = object(&[
        ("calls", about(count(), "That ended within 15 minutes, of the last 1,000 of all.")),
        ("failed", count()),
        ("p50_us", count_or_null()),
        ("p95_us", count_or_null()),
    ]);
    let left_out = object(&[("tool", text()), ("reason", text())]);
    let phases = json!({ "enum": ["idle", "starting", "ready", "failed", "broken_circuit"] });
    let server = object(&[
        ("name", text_or_null()),
        ("version", text_or_null()),
        ("revision", text_or_null()),
        ("phase", phases),
        ("connections", count()),
        ("restarts", count()),
        ("has_program", about(flag(), "Whether its standard error can be read.")),
        ("left_out", list(&left_out)),
        ("notes", list(&text())),
    ]);
    let kind = json!({ "enum": ["mcp", "openapi", "a2a", "desk", "basics", "builtin", null] });
    let fields = [
        ("state", json!({ "enum": ["ready", "stale", "failed", "starting"] })),
        ("kind", kind),
        ("command", about(or_null(&list(&text())), "What it starts, without secrets.")),
        ("folder", text_or_null()),
        ("address", about(text_or_null(), "What it asks, or reads, without secrets.")),
        ("needs", list(&text())),
        ("used_by", about(list(&text()), "The profiles that show it.")),
        ("failing_seconds", count_or_null()),
        ("next_try_seconds", count_or_null()),
        ("running", count()),
        ("recent", recent),
        ("drift", about(count(), "Tools that wait for somebody to accept them.")),
        ("server", about(or_null(&server), "Of a server of MCP.")),
        ("change", change()),
    ];
    let mut whole = with(source(), &fields);
    if let Some(required) = whole.get_mut("required").and_then(Value::as_array_mut) {
        required.extend(fields.iter().map(|(name, _)| Value::from(*name)));
    }
    whole
}

pub(crate) fn sources() -> Value {
    let kept_out = object(&[
        ("tool", text()),
        ("source", text()),
        ("fingerprint", text()),
        ("reason", text()),
    ]);
    let mut off = with(outline(), &[("change", change())]);
    if let Some(required) = off.get_mut("required").and_then(Value::as_array_mut) {
        required.push("change".into());
    }
    object(&[
        ("sources", list(&whole_source())),
        ("off", about(list(&off), "Those that are left out.")),
        ("quarantined", list(&kept_out)),
    ])
}

pub(crate) fn reloaded() -> Value {
    object(&[("loaded", flag()), ("source", whole_source())])
}

pub(crate) fn standard_error() -> Value {
    let line = object(&[
        ("number", count()),
        ("at", text_or_null()),
        ("text", text()),
        ("is_cut", flag()),
    ]);
    object(&[
        ("program", about(count_or_null(), "Another number for each start; null: none ran.")),
        ("lines", list(&line)),
        ("next", text_or_null()),
    ])
}

pub(crate) fn dry_run() -> Value {
    let effects = json!({ "enum": ["read", "write", "destroy"] });
    let tool = object(&[("name", text()), ("description", text()), ("effect", effects)]);
    let probed = object(&[
        ("source", text()),
        ("error", text_or_null()),
        ("tools", about(list(&tool), "200 at the most.")),
        ("total", count()),
    ]);
    let note = object(&[("source", text_or_null()), ("text", text()), ("export", text_or_null())]);
    object(&[
        ("sources", list(&outline())),
        ("starts", about(list(&list(&text())), "The programs, word for word.")),
        ("asks", about(list(&text()), "The addresses and files.")),
        ("notes", list(&note)),
        ("problems", list(&text())),
        ("has_more", flag()),
        ("toml", about(text(), "What belongs into the file.")),
        (
            "probed",
            about(or_null(&list(&probed)), "What each would bring; null: it was not asked."),
        ),
    ])
}

pub(crate) fn drift() -> Value {
    let kinds =
        json!({ "enum": ["added", "removed", "cosmetic", "widened", "narrowed", "breaking"] });
    let mark = about(list(&count()), "Which letters differ: from where, and up to where.");
    let line = object(&[
        ("side", json!({ "enum": ["both", "before", "after", "skipped"] })),
        ("text", text()),
    ]);
    let field = object(&[
        ("field", text()),
        ("kind", kinds.clone()),
        ("lines", list(&with(line, &[("mark", mark)]))),
        ("is_cut", about(flag(), "Whether there is more than the lines tell.")),
    ]);
    let tool = object(&[
        ("tool", text()),
        ("source", text()),
        ("kind", kinds),
        ("fingerprint", text()),
        ("pinned", text_or_null()),
        ("fields", list(&field)),
    ]);
    object(&[
        ("pinned", about(flag(), "Whether there is a pin file at all.")),
        ("tools", list(&tool)),
        ("total", count()),
    ])
}

pub(crate) fn decided_drift() -> Value {
    object(&[("accepted", count()), ("kept_out", count())])
}

pub(crate) fn cost() -> Value {
    let cost = object(&[
        ("dialect", text()),
        ("mode", json!({ "enum": ["direct", "lazy", "auto"] })),
        ("shown", text()),
        ("definitions", count()),
        ("tokens", count()),
        ("saved_percent", count()),
        ("because", text()),
    ]);
    let tool = object(&[("tool", text()), ("tokens", count())]);
    object(&[
        ("costs", list(&cost)),
        ("per_tool", about(list(&tool), "The dearest first, 1,000 at the most.")),
        ("tools", count()),
    ])
}

fn pattern() -> Value {
    object(&[
        ("rule", text()),
        ("pattern", text()),
        ("verdict", json!({ "enum": ["allow", "ask", "deny"] })),
        ("line", count()),
        ("tools", about(count(), "Tools that it matches; 0 where that was not looked at.")),
    ])
}

fn brief_profile() -> Value {
    object(&[
        ("name", text()),
        ("sources", about(or_null(&list(&text())), "Null: all of them.")),
        ("mode", json!({ "enum": ["direct", "lazy", "auto"] })),
        ("max_calls", count_or_null()),
        ("rules", count()),
    ])
}

pub(crate) fn profiles() -> Value {
    let member =
        object(&[("kind", json!({ "enum": ["agent", "toolset", "toolsets"] })), ("name", text())]);
    let agent = object(&[
        ("name", text()),
        ("description", text()),
        ("profile", text_or_null()),
        ("model", text()),
        ("assigned", count_or_null()),
        ("specialists", list(&member)),
    ]);
    let whole = object(&[
        ("mode", json!({ "enum": ["direct", "lazy", "auto"] })),
        ("rules", list(&pattern())),
        ("is_default", about(flag(), "The file has no rules: what destroys is asked about.")),
    ]);
    let assigned = object(&[("agent", text()), ("tools", list(&text()))]);
    object(&[
        ("profiles", list(&brief_profile())),
        ("whole", whole),
        ("agents", list(&agent)),
        ("assigned", list(&assigned)),
    ])
}

pub(crate) fn profile() -> Value {
    let counts = object(&[("allow", count()), ("ask", count()), ("deny", count())]);
    let fields = [
        ("own", list(&pattern())),
        ("whole", list(&pattern())),
        ("tools", about(counts, "Of its tools, by what the rules say to the caller.")),
        ("visible", count_or_null()),
        ("tokens", about(count_or_null(), "What their definitions take in a prompt.")),
    ];
    let mut profile = with(brief_profile(), &fields);
    if let Some(required) = profile.get_mut("required").and_then(Value::as_array_mut) {
        required.extend(fields.iter().map(|(name, _)| Value::from(*name)));
    }
    profile
}

pub(crate) fn policy_test() -> Value {
    let problem = object(&[("line", count()), ("what", text()), ("cure", text())]);
    let verdict = json!({ "enum": ["allow", "ask", "deny"] });
    let change = object(&[
        ("tenant", text()),
        ("caller", text()),
        ("tool", text()),
        ("source", text()),
        ("before", verdict.clone()),
        ("after", verdict),
        ("calls", count()),
        ("last", text_or_null()),
    ]);
    object(&[
        ("problems", list(&problem)),
        ("changes", list(&change)),
        ("changed", about(count(), "Calls that would be decided otherwise.")),
        ("calls", about(count(), "Calls that were looked at.")),
        ("of_gone", about(count(), "Calls of tools that are there no more.")),
        ("has_more", flag()),
    ])
}
