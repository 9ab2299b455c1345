//! The shapes of bodies and answers, for the document. Answers may gain fields.

pub(crate) mod agents;
pub(crate) mod changes;
pub(crate) mod page;
pub(crate) mod record;
pub(crate) mod sources;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

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

/// The same with fields of which each may be left out.
fn with(mut object: Value, fields: &[(&str, Value)]) -> Value {
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.extend(fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())));
    }
    object
}

/// A schema with what it means beside it.
fn about(mut schema: Value, words: &str) -> Value {
    if let Value::Object(fields) = &mut schema {
        fields.insert("description".to_owned(), words.into());
    }
    schema
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
    let meaning = about(
        json!({ "enum": ["used", "making", "failed"] }),
        "Of a search where there is an embedder: whether tools were found by their meaning too, or \
         by their words alone, since vectors are not made yet or the embedder failed.",
    );
    let away = about(
        list(&object(&[("source", text()), ("reason", text())])),
        "Sources that give no tools now, and why: what is missing may be theirs.",
    );
    let page = paged(object(&[("tools", list(&brief)), ("total", count())]));
    with(page, &[("meaning", meaning), ("away", away)])
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

pub(crate) fn toolsets() -> Value {
    let words = json!({ "enum": [
        "pattern", "tag", "untagged", "all", "path", "resource", "cluster", "model", "leftover",
    ] });
    let tool = object(&[
        ("name", text()),
        ("effect", json!({ "enum": ["read", "write", "destroy"] })),
        ("tokens", count()),
        ("because", with(object(&[("by", words)]), &[("value", text())])),
    ]);
    let toolset = object(&[
        ("id", about(text(), "What selects its tools as `toolset:ID`.")),
        ("title", text()),
        ("summary", text()),
        ("made", json!({ "enum": ["configuration", "source", "model"] })),
        ("for_rules", about(flag(), "Whether rules go by it: not by what a model made.")),
        ("sources", list(&text())),
        ("tools", list(&tool)),
        ("tokens", about(count(), "What the definitions of its tools take in a prompt.")),
        ("overlaps", list(&object(&[("with", text()), ("tools", count())]))),
    ]);
    let part_of = about(text(), "The larger set that it is a part of, which is a selector too.");
    let toolset = with(toolset, &[("part_of", part_of), ("note", text())]);
    let in_none = about(list(&text()), "Tools that are in no toolset.");
    object(&[("toolsets", list(&toolset)), ("in_none", in_none)])
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
    let plan = object(&[
        (
            "plan",
            about(text_or_null(), "Its name for `/v1/calls`; null where it was only looked at."),
        ),
        ("visible", list(&text())),
        ("forced", list(&text())),
        ("guidance", anything()),
        ("warnings", list(&text())),
        ("discovery", shown()),
    ]);
    let loss = [("tool", text()), ("path", text()), ("what", text()), ("cure", text())];
    let refused = object(&[("tool", text()), ("reason", text())]);
    let tools = "The definitions in the words of the `dialect` that was asked for.";
    let request = about(anything(), "The fields for the body of the request to the model.");
    let why =
        about(list(&why()), "Where `why` was asked for: of each tool that the caller may see.");
    let fields = [
        ("dialect", text()),
        ("tools", about(json!({ "type": ["array", "object"] }), tools)),
        ("tool_choice", json!({})),
        ("request", request),
        ("losses", about(list(&object(&loss)), "What the model API cannot be told.")),
        ("refused", list(&refused)),
        ("tokens", about(count(), "A guess: a quarter of the letters.")),
        ("why", why),
    ];
    with(plan, &fields)
}

pub(crate) fn selection() -> Value {
    let tool = object(&[
        ("name", text()),
        ("summary", text()),
        ("effect", text()),
        ("because", json!({ "type": ["object", "string"] })),
        ("tokens", count()),
    ]);
    let fields = [
        ("too_large", about(list(&text()), "Chosen, and without room in the tokens.")),
        ("fallback", fallback()),
    ];
    let found = object(&[("tools", list(&tool)), ("tokens", count()), ("confidence", part())]);
    with(found, &fields)
}

pub(crate) fn partition() -> Value {
    let because = json!({ "enum": ["fixed", "role", "affinity", "leftover", "shared"] });
    let tool =
        object(&[("name", text()), ("effect", text()), ("because", because), ("affinity", part())]);
    let agent = object(&[("name", text()), ("tools", list(&tool))]);
    let fields = [
        ("unplaced", about(list(&text()), "Of no agent: each has what is assigned to it alone.")),
        ("fallback", fallback()),
        ("warnings", about(list(&text()), "Agents without tools, and writers of several agents.")),
    ];
    with(object(&[("agents", list(&agent)), ("cohesion", part())]), &fields)
}

fn fallback() -> Value {
    about(json!({ "enum": ["nothing", "all"] }), "What was done: no tool serves the task.")
}

fn part() -> Value {
    json!({ "type": "number", "minimum": 0, "maximum": 1 })
}

/// How the tools of a plan are shown, and why.
fn shown() -> Value {
    object(&[
        ("mode", json!({ "enum": ["direct", "lazy"] })),
        ("rest", json!({ "enum": ["listed", "deferred", "hidden"] })),
        ("because", text()),
    ])
}

/// What came of one call.
fn response() -> Value {
    let response = object(&[
        ("id", text()),
        ("name", text()),
        ("outcome", json!({ "enum": ["done", "failed", "denied", "pending"] })),
        ("error", flag()),
        ("text", text()),
        ("debug", debug()),
    ]);
    let fields = [
        ("kind", about(text(), "Of a failure: which kind.")),
        ("structured", about(json!({}), "What the tool gave as data.")),
        ("parts", about(list(&anything()), "All of what it gave, where that is not text alone.")),
        ("ticket", about(text(), "Of a call that waits: what it waits under.")),
        ("question", question()),
        ("duplicate_of", about(text(), "The call of this batch that ran for this one, too.")),
        ("repairs", about(list(&text()), "What was put right in the arguments.")),
        ("checks", list(&text())),
        ("references", list(&reference())),
        ("whole", about(text(), "Of a text that is cut: the handle of all of it.")),
        ("handed_over", about(flag(), "The tool has taken control: no turn of the model follows.")),
    ];
    with(response, &fields)
}

/// How a call went, for the operator.
fn debug() -> Value {
    let debug = object(&[("attempts", count()), ("waited_us", count()), ("ran_us", count())]);
    let cause = about(text(), "What lies behind a failure; the operator alone is told.");
    let fields = [
        ("tool", text()),
        ("source", text()),
        ("key", about(text(), "The name of the call in the record.")),
        ("flags", list(&text())),
        ("cause", cause),
    ];
    with(debug, &fields)
}

fn reference() -> Value {
    let reference = object(&[("number", count()), ("id", text())]);
    with(reference, &[("title", text()), ("url", text()), ("text", text())])
}

/// Where a `dialect` was asked for: what to send back to the model.
fn messages() -> (&'static str, Value) {
    ("messages", about(json!({ "type": "array" }), "What to send back, in the words of `dialect`."))
}

pub(crate) fn calls() -> Value {
    let ticket =
        object(&[("ticket", text()), ("reason", text()), ("id", text()), ("name", text())]);
    let answer = object(&[
        ("id", text()),
        ("responses", list(&response())),
        ("tickets", list(&ticket)),
        ("checks", list(&text())),
        ("references", list(&reference())),
        ("turn", json!({ "enum": ["go_on", "handed_over", "waiting"] })),
        ("run", about(anything(), "To be given to `/v1/plan` for the next turn.")),
    ]);
    with(answer, &[messages()])
}

pub(crate) fn batch() -> Value {
    let call = object(&[("id", text()), ("name", text())]);
    object(&[("id", text()), ("cancelled", flag()), ("seconds", count()), ("calls", list(&call))])
}

/// With the cursor that is there where there is more.
fn paged(page: Value) -> Value {
    with(page, &[("cursor", about(text(), "There is more: ask again with this cursor."))])
}

/// What a running call asks a person for.
fn question() -> Value {
    let form = object(&[("message", text()), ("requestedSchema", anything())]);
    about(form, "What a call asks that runs already: it is answered by `content`.")
}

pub(crate) fn ticket() -> Value {
    let ticket = object(&[
        ("ticket", text()),
        ("tenant", text()),
        ("caller", text()),
        ("tool", text()),
        ("source", text()),
        ("fingerprint", text()),
        ("digest", text()),
        ("arguments", anything()),
        ("reason", text()),
        ("session", text_or_null()),
        ("profile", text_or_null()),
        ("call_id", text()),
        ("lifetime_seconds", count()),
    ]);
    with(ticket, &[("question", question())])
}

/// The same by itself.
pub(crate) fn whole_ticket() -> Value {
    let field = object(&[("name", text()), ("before", text_or_null()), ("after", text_or_null())]);
    let unlike = object(&[("at_ms", count()), ("differs", list(&field))]);
    let words = "What is other than in the last call of this caller and tool that a person said yes \
                 to, as JSON; `null` where no such call is kept (`[page] keep`).";
    let unlike = about(json!({ "anyOf": [unlike, { "type": "null" }] }), words);
    with(ticket(), &[("unlike_approved", unlike)])
}

/// What became of several.
pub(crate) fn denied() -> Value {
    let refused = object(&[("ticket", text()), ("type", text()), ("detail", text())]);
    object(&[("denied", list(&text())), ("refused", list(&refused))])
}

pub(crate) fn tickets() -> Value {
    let all = "`null` where they are too long for a list: those are in the ticket alone.";
    let fields = [
        ("arguments", about(json!({ "type": ["object", "null"] }), all)),
        ("arguments_begin", about(text(), "How they begin, where they are too long.")),
    ];
    paged(object(&[("tickets", list(&with(ticket(), &fields)))]))
}

pub(crate) fn decided() -> Value {
    with(object(&[("response", response())]), &[messages()])
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
