//! The plan of a caller as a list of tools, in pages.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rmcp::model::ErrorData;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use toolcrib_core::{CompactJson, Effect, Exposure, Plan, PlannedTool, ToolSpec};

use super::lists::{frame, nowhere, provided};
use crate::door::client::features::ClientFeatures;
use crate::door::state::{McpRequestContext, McpServerState};
use crate::protocol::json::object_writer::ObjectWriter;
use crate::protocol::json::raw_fields::RawFields;
use crate::protocol::mirrored_headers::MARK as HEADER;

/// A page of what a caller may see, as a result of `tools/list`. The schemas of most tools go out
/// as they are kept, without a tree of each.
pub(crate) fn tools(
    server_state: &McpServerState,
    request_context: &McpRequestContext,
    client: &ClientFeatures,
    cursor: Option<&str>,
) -> Result<Vec<u8>, ErrorData> {
    let (plan, sole) = (request_context.plan()?, request_context.sole());
    provided(sole.as_deref(), "tools", "tools/list")?;
    let page = page(&plan, cursor, server_state.settings.page).ok_or_else(nowhere)?;
    let mut list = frame(server_state, client, sole.as_ref(), "tools/list");
    list.extend(page.next.map(|next| ("nextCursor".to_owned(), Value::from(next))));
    let mut object = ObjectWriter::new();
    for (key, value) in &list {
        object.field(key, value);
    }
    object.list("tools", page.tools, |to, tool| {
        write(to, &tool.listed.spec, client, sole.is_some());
    });
    Ok(object.end())
}

/// One page, and where the next one begins.
struct ToolPage<'a> {
    tools: Vec<PlannedTool<'a>>,
    next: Option<String>,
}

/// The tools after the one that `cursor` names, in the order of the catalog. `None`: the cursor
/// is none of ours, or its tool has gone: the client begins again.
fn page<'a>(plan: &'a Plan, cursor: Option<&str>, most: usize) -> Option<ToolPage<'a>> {
    let shown = || plan.tools().filter(|tool| tool.exposure != Exposure::Hidden);
    let skipped = match cursor {
        None => 0,
        Some(cursor) => {
            let after = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?;
            shown().position(|tool| tool.listed.spec.name.as_str().as_bytes() == after)? + 1
        }
    };
    let mut rest = shown().skip(skipped);
    let tools: Vec<_> = rest.by_ref().take(most.max(1)).collect();
    let has_more = rest.next().is_some();
    let last = tools.last().filter(|_| has_more);
    let next = last.map(|tool| BASE64_URL_SAFE_NO_PAD.encode(tool.listed.spec.name.as_str()));
    Some(ToolPage { tools, next })
}

/// A tool as the protocol has it; what its origin said besides goes along. `is_whole`: the door
/// stands for one source, whose hints are its own.
fn definition(spec: &ToolSpec, client: &ClientFeatures, is_whole: bool) -> Value {
    let mut tool = Map::new();
    let mut put = |key: &str, value: Value| tool.insert(key.to_owned(), value);
    put("name", json!(spec.name));
    if let Some(title) = &spec.title {
        put("title", json!(title));
    }
    put("description", json!(spec.description));
    put("inputSchema", input(schema(&spec.input, is_whole)));
    if let Some(output) = spec.output.as_ref().filter(|schema| client.takes_output(schema)) {
        put("outputSchema", schema(output, is_whole));
    }
    let mut extra = spec.extra.value();
    if !is_whole {
        put("annotations", annotations(spec, extra.shift_remove("annotations")));
    }
    for (key, value) in extra {
        // Which calls of this door become tasks is its own decision, whatever a server behind it
        // can do.
        if key != "execution" {
            tool.entry(key).or_insert(value);
        }
    }
    Value::Object(tool)
}

/// Writes what [`definition`] makes: from the kept texts, where nothing in them is to be changed.
fn write(to: &mut Vec<u8>, spec: &ToolSpec, client: &ClientFeatures, is_whole: bool) {
    let Some(kept) = StoredToolTexts::of(spec, client, is_whole) else {
        to.extend(definition(spec, client, is_whole).to_string().into_bytes());
        return;
    };
    ObjectWriter::behind(to, |tool| {
        tool.field("name", &spec.name);
        if let Some(title) = &spec.title {
            tool.field("title", title);
        }
        tool.field("description", &spec.description);
        tool.text("inputSchema", kept.input.as_bytes());
        if let Some(output) = kept.output {
            tool.text("outputSchema", output.as_bytes());
        }
        if let Some(said) = &kept.hints {
            tool.object("annotations", |hints| kept_hints(hints, spec, said));
        }
        let is_ours = |key: &str| {
            let always = ["name", "description", "inputSchema", "execution"].contains(&key);
            always
                || key == "title" && spec.title.is_some()
                || key == "outputSchema" && kept.output.is_some()
                || key == "annotations" && kept.hints.is_some()
        };
        for (key, value) in kept.extra.0.iter().filter(|(key, _)| !is_ours(key)) {
            tool.text(key, value.get().as_bytes());
        }
    });
}

/// The texts of a tool that go out as they are kept.
struct StoredToolTexts<'a> {
    input: &'a str,
    output: Option<&'a str>,
    extra: RawFields<'a>,
    /// What the origin said of how the tool behaves; `None`: it is among the rest.
    hints: Option<RawFields<'a>>,
}

impl<'a> StoredToolTexts<'a> {
    /// `None`: something of it has to be changed, or is kept in another form.
    fn of(spec: &'a ToolSpec, client: &ClientFeatures, is_whole: bool) -> Option<Self> {
        let as_kept = |schema| as_kept(schema, is_whole);
        let input = as_kept(&spec.input).filter(|input| has_type(input))?;
        let output = match &spec.output {
            Some(schema) if client.takes_output(schema) => Some(as_kept(schema)?),
            _ => None,
        };
        let extra = match spec.extra.text() {
            Some(extra) => RawFields::read(extra)?,
            None => spec.extra.is_empty().then(RawFields::default)?,
        };
        let hints = match extra.get("annotations") {
            _ if is_whole => None,
            Some(said) if said.starts_with('{') => Some(RawFields::read(said)?),
            _ => Some(RawFields::default()),
        };
        Some(Self { input, output, extra, hints })
    }
}

/// Writes what [`annotations`] makes.
fn kept_hints(hints: &mut ObjectWriter, spec: &ToolSpec, said: &RawFields<'_>) {
    let ours = ours(spec);
    for (key, value) in &said.0 {
        match ours.iter().find(|(ours, _)| ours == key) {
            Some((_, is)) => hints.field(key, is),
            None => hints.text(key, value.get().as_bytes()),
        }
    }
    for (key, is) in ours.iter().filter(|(key, _)| said.get(key).is_none()) {
        hints.field(key, is);
    }
}

/// The text of a schema in which no header is to be taken away.
fn as_kept(schema: &CompactJson, is_whole: bool) -> Option<&str> {
    schema.text().filter(|_| is_whole || !schema.may_hold(HEADER))
}

/// Whether a schema, of which this is the kept text, says at its top which type it has.
fn has_type(schema: &str) -> bool {
    // Where most have it. What stands before the last brace belongs to the top, and a quote behind
    // a comma that is followed by a word begins a name.
    if schema.starts_with(r#"{"type":"#) || schema.ends_with(r#","type":"object"}"#) {
        return true;
    }
    #[derive(Deserialize)]
    struct SchemaTopLevel {
        #[serde(rename = "type")]
        kind: Option<IgnoredAny>,
    }
    serde_json::from_str::<SchemaTopLevel>(schema).is_ok_and(|top| top.kind.is_some())
}

/// The hints that hold here: an operator may know better than the origin, who `said` its own.
fn annotations(spec: &ToolSpec, said: Option<Value>) -> Value {
    let mut hints = match said {
        Some(Value::Object(said)) => said,
        _ => Map::new(),
    };
    for (key, is) in ours(spec) {
        hints.insert(key.to_owned(), json!(is));
    }
    Value::Object(hints)
}

fn ours(spec: &ToolSpec) -> [(&'static str, bool); 3] {
    [
        ("readOnlyHint", spec.effect == Effect::Read),
        ("destructiveHint", spec.effect == Effect::Destroy),
        ("idempotentHint", spec.harmless_to_repeat()),
    ]
}

fn input(mut schema: Value) -> Value {
    if let Value::Object(fields) = &mut schema {
        fields.entry("type").or_insert_with(|| json!("object"));
    }
    schema
}

/// Parameters that travel as headers do so between us and the server behind us: this door takes
/// all of them from the body, so that there is one value to check. Where it stands for one server
/// it checks both (`tool_call`).
fn schema(schema: &CompactJson, is_whole: bool) -> Value {
    let mut schema = schema.value();
    if !is_whole {
        strip(&mut schema, false);
    }
    schema
}

fn strip(value: &mut Value, names: bool) {
    match value {
        Value::Object(fields) => {
            if !names && fields.get(HEADER).is_some_and(Value::is_string) {
                fields.shift_remove(HEADER);
            }
            for (key, value) in fields {
                let opens_names = !names && matches!(key.as_str(), "properties" | "$defs");
                let is_data = !names && matches!(key.as_str(), "const" | "enum" | "default");
                if !is_data {
                    strip(value, opens_names);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, false)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
