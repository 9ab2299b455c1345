//! The shapes of bodies and answers, for the document. Answers may gain fields.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use toolcrib::store::State;

/// The schema of a body, made of the type that reads it.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut value = schema.to_value();
    if let Value::Object(fields) = &mut value {
        fields.remove("title");
    }
    value
}

pub(crate) fn anything() -> Value {
    json!({ "type": "object" })
}

/// A body with nothing in it.
pub(crate) fn nothing() -> Value {
    json!({ "type": "object", "additionalProperties": false })
}

/// An object with these fields, all of which are there.
fn object(fields: &[(&str, Value)]) -> Value {
    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<_, _> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(crate) fn tools() -> Value {
    let brief = object(&[
        ("name", text()),
        ("title", text_or_null()),
        ("summary", text()),
        ("category", text_or_null()),
        ("actions", list(&text())),
        ("effect", json!({ "enum": ["read", "write", "destroy"] })),
        ("source", text()),
        ("signature", text()),
        ("fingerprint", text()),
        ("stale", flag()),
    ]);
    let mut page = paged(object(&[("tools", list(&brief)), ("total", count())]));
    if let Some(properties) = page.get_mut("properties").and_then(Value::as_object_mut) {
        let about = "Of a search where there is an embedder: whether tools were found by their \
                     meaning too, or by their words alone, since vectors are not made yet or the \
                     embedder failed.";
        let words = ["used", "making", "failed"];
        properties.insert("meaning".into(), json!({ "enum": words, "description": about }));
        let about = "Sources that give no tools now, and why: what is missing may be theirs.";
        let away = object(&[("source", text()), ("reason", text())]);
        let away = json!({ "type": "array", "items": away, "description": about });
        properties.insert("away".into(), away);
    }
    page
}

pub(crate) fn tool() -> Value {
    object(&[
        ("name", text()),
        ("summary", text()),
        ("description", text()),
        ("input", anything()),
        ("effect", text()),
        ("origin", anything()),
        ("signature", text()),
        ("fingerprint", text()),
        ("stale", flag()),
    ])
}

pub(crate) fn why() -> Value {
    object(&[
        ("tool", text()),
        ("source", text()),
        ("visible", flag()),
        ("exposure", json!({ "enum": ["listed", "deferred", "hidden", null] })),
        ("forced", flag()),
        ("stale", flag()),
        ("rule", text()),
        ("because", text()),
    ])
}

pub(crate) fn plan() -> Value {
    object(&[
        ("plan", text()),
        ("visible", list(&text())),
        ("forced", list(&text())),
        ("guidance", anything()),
        ("warnings", list(&text())),
        ("discovery", shown()),
    ])
}

/// How the tools of a plan are shown, and why.
fn shown() -> Value {
    object(&[
        ("mode", json!({ "enum": ["direct", "lazy"] })),
        ("rest", json!({ "enum": ["listed", "deferred", "hidden"] })),
        ("because", text()),
    ])
}

pub(crate) fn calls() -> Value {
    let response = object(&[
        ("id", text()),
        ("name", text()),
        ("outcome", text()),
        ("error", flag()),
        ("text", text()),
        ("debug", anything()),
    ]);
    let ticket =
        object(&[("ticket", text()), ("reason", text()), ("id", text()), ("name", text())]);
    object(&[
        ("id", text()),
        ("responses", list(&response)),
        ("tickets", list(&ticket)),
        ("checks", list(&text())),
        ("references", list(&anything())),
        ("turn", json!({ "enum": ["go_on", "handed_over", "waiting"] })),
        ("run", anything()),
    ])
}

pub(crate) fn batch() -> Value {
    let call = object(&[("id", text()), ("name", text())]);
    object(&[("id", text()), ("cancelled", flag()), ("seconds", count()), ("calls", list(&call))])
}

pub(crate) fn batches() -> Value {
    paged(object(&[("running", list(&batch())), ("calls", list(&recorded(&[])))]))
}

pub(crate) fn record() -> Value {
    let whose = [("tenant", text()), ("caller", text())];
    paged(object(&[("calls", list(&recorded(&whose)))]))
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
        ("state", json!({ "enum": State::WORDS })),
        ("interrupted", flag()),
    ];
    object(&[fields.as_slice(), more].concat())
}

/// With the cursor that is there where there is more.
fn paged(mut page: Value) -> Value {
    if let Some(properties) = page.get_mut("properties").and_then(Value::as_object_mut) {
        let about = "There is more: ask again with this cursor.";
        properties.insert("cursor".into(), json!({ "type": "string", "description": about }));
    }
    page
}

pub(crate) fn tickets() -> Value {
    let ticket = object(&[
        ("ticket", text()),
        ("tool", text()),
        ("source", text()),
        ("fingerprint", text()),
        ("arguments", anything()),
        ("reason", text()),
        ("session", text_or_null()),
        ("profile", text_or_null()),
        ("call_id", text()),
        ("lifetime_seconds", count()),
    ]);
    object(&[("tickets", list(&ticket))])
}

pub(crate) fn decided() -> Value {
    object(&[("response", anything())])
}

pub(crate) fn result() -> Value {
    object(&[
        ("handle", text()),
        ("text", text()),
        ("offset", count()),
        ("total", count()),
        ("next", json!({ "type": ["integer", "null"] })),
    ])
}

fn source() -> Value {
    object(&[
        ("id", text()),
        ("tools", count()),
        ("stale", flag()),
        ("age_seconds", json!({ "type": ["integer", "null"] })),
        ("error", text_or_null()),
        ("unhidden", list(&text())),
    ])
}

pub(crate) fn sources() -> Value {
    let kept_out = object(&[
        ("tool", text()),
        ("source", text()),
        ("fingerprint", text()),
        ("reason", text()),
    ]);
    object(&[("sources", list(&source())), ("quarantined", list(&kept_out))])
}

pub(crate) fn reloaded() -> Value {
    object(&[("loaded", flag()), ("source", source())])
}

pub(crate) fn activity() -> Value {
    let fields = [
        ("key", text()),
        ("tool", text()),
        ("source", text_or_null()),
        ("tenant", text()),
        ("caller", text()),
        ("took_us", count()),
    ];
    let running = object(&fields);
    let ended = object(
        &[fields.as_slice(), &[("outcome", text()), ("number", count()), ("ended", text())]]
            .concat(),
    );
    object(&[("running", list(&running)), ("calls", list(&ended)), ("next", count())])
}

pub(crate) fn status() -> Value {
    object(&[("status", text())])
}

/// `detail` says what is wrong where a word does not.
pub(crate) fn readiness() -> Value {
    let mut readiness = object(&[("status", text()), ("detail", text())]);
    if let Value::Object(fields) = &mut readiness {
        fields.insert("required".into(), json!(["status"]));
    }
    readiness
}
