//! The tools that the protocol's own suite calls, as functions of a host program.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolcrib_core::{
    CallContext, Content, Effect, HostQuestion, LogEntry, LogLevel, Part, Progress, QuestionKind,
    Tool, ToolError, ToolOutcome, ToolSpec, Toolset, raw_tool,
};

use super::long::{self, BRIEF};

/// A picture of one point, and a sound of no length.
pub(crate) const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

pub(crate) fn tools() -> Toolset {
    Toolset::of(all()).unwrap()
}

pub(crate) fn all() -> Vec<Arc<dyn Tool>> {
    all_taking(BRIEF)
}

/// The same; what is not done at once takes so long.
pub(crate) fn all_taking(time: Duration) -> Vec<Arc<dyn Tool>> {
    let plain = |name: &str, content: Content| {
        fixture(name, json!({}), move |_| {
            let content = content.clone();
            async move { Ok(content) }
        })
    };
    let parts = |parts: &[Part]| Content { parts: parts.to_vec(), ..Content::default() };
    let mut tools = vec![
        plain("test_simple_text", Content::text("A text.")),
        plain("test_image_content", parts(&[picture()])),
        plain("test_audio_content", parts(&[sound()])),
        plain("test_embedded_resource", parts(&[resource("text/plain", "Inside.")])),
        plain(
            "test_multiple_content_types",
            parts(&[Part::text("Several:"), picture(), resource("application/json", "{}")]),
        ),
        plain("json_schema_2020_12_tool", Content::text("Hello.")),
        fixture("test_error_handling", json!({}), |_| async { Err(ToolError::told("It fails.")) }),
        fixture("test_reconnection", json!({}), |_| async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok(Content::text("Here again."))
        }),
        fixture("test_missing_capability", json!({}), |context| async move {
            context.require(QuestionKind::Sample)?;
            Ok(Content::text("Not reached without it."))
        }),
        fixture("test_tool_with_progress", json!({}), progress),
        fixture("test_tool_with_logging", json!({}), logging),
        fixture("test_logging_tool", json!({}), logging),
    ];
    tools.extend(questions());
    tools.extend(long::tools(time));
    tools
}

fn fixture<F>(
    name: &str,
    input: Value,
    run: impl Fn(CallContext) -> F + Send + Sync + 'static,
) -> Arc<dyn Tool>
where
    F: Future<Output = Result<Content, ToolError>> + Send + 'static,
{
    let mut spec = ToolSpec::new(name, format!("Plays `{name}`."), Effect::Read).unwrap();
    if name == "json_schema_2020_12_tool" {
        spec.input = schema().into();
    } else if input != json!({}) {
        spec.input = input.into();
    }
    raw_tool(spec, move |_, context| {
        let running = run(context);
        async move { ToolOutcome::from(running.await) }
    })
}

fn picture() -> Part {
    Part::Image { data: PICTURE.to_owned(), mime: "image/png".to_owned(), extra: Map::new() }
}

fn sound() -> Part {
    Part::Audio { data: SOUND.to_owned(), mime: "audio/wav".to_owned(), extra: Map::new() }
}

/// A text inside of a resource, as one of an MCP server comes in.
fn resource(mime: &str, text: &str) -> Part {
    let extra =
        json!({ "type": "resource", "resource": { "uri": "test://inside", "mimeType": mime } });
    let Value::Object(extra) = extra else { unreachable!() };
    Part::Text { text: text.to_owned(), extra }
}

async fn progress(context: CallContext) -> Result<Content, ToolError> {
    for done in [0.0, 50.0, 100.0] {
        context.progress(Progress { done, total: Some(100.0), message: Some("On.".to_owned()) });
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(Content::text("Arrived."))
}

async fn logging(context: CallContext) -> Result<Content, ToolError> {
    for step in ["begun", "half", "over"] {
        let data = json!(step);
        context.log(LogEntry { level: LogLevel::Info, logger: Some("fixture".to_owned()), data });
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(Content::text("Logged."))
}

/// Tools that ask, each with its questions: all of a round are put at once.
fn questions() -> Vec<Arc<dyn Tool>> {
    let name = || form("Your name?", &json!({ "user_name": { "type": "string" } }));
    let sample = || {
        let message = json!({ "role": "user", "content": { "type": "text", "text": "Go." } });
        let params = json!({ "messages": [message], "maxTokens": 100 });
        HostQuestion::new(QuestionKind::Sample, params)
    };
    let roots = || HostQuestion::new(QuestionKind::Roots, json!({}));
    let sure = || form("Sure?", &json!({ "ok": { "type": "boolean" } }));
    let text = |key: &str| {
        json!({
            "type": "object", "properties": { key: { "type": "string" } }, "required": [key],
        })
    };
    let mut tools = vec![
        asking("test_elicitation", text("message"), vec![vec![name()]]),
        asking("test_sampling", text("prompt"), vec![vec![sample()]]),
        asking("test_elicitation_sep1034_defaults", json!({}), vec![vec![defaults()]]),
        asking("test_elicitation_sep1330_enums", json!({}), vec![vec![choices()]]),
        asking("test_streaming_elicitation", json!({}), vec![vec![name()]]),
    ];
    for (tool, rounds) in [
        ("elicitation", vec![vec![name()]]),
        ("sampling", vec![vec![sample()]]),
        ("list_roots", vec![vec![roots()]]),
        ("request_state", vec![vec![sure()]]),
        ("tampered_state", vec![vec![sure()]]),
        ("multiple_inputs", vec![vec![name(), sample(), roots()]]),
        ("multi_round", vec![vec![name()], vec![sure()]]),
        ("capabilities", vec![vec![name(), sample(), roots()]]),
    ] {
        tools.push(asking(&format!("test_input_required_result_{tool}"), json!({}), rounds));
    }
    tools
}

fn asking(name: &str, input: Value, rounds: Vec<Vec<HostQuestion>>) -> Arc<dyn Tool> {
    fixture(name, input, move |context| {
        let rounds = rounds.clone();
        async move {
            let mut answers = Vec::new();
            for round in rounds {
                let can = |ask: &HostQuestion| context.answers().contains(&ask.question);
                let asked = round.into_iter().filter(can).map(|ask| context.ask(ask));
                for answer in futures_util::future::join_all(asked).await {
                    answers.push(answer?);
                }
            }
            Ok(Content::text(json!({ "state-ok": answers }).to_string()))
        }
    })
}

pub(super) fn form(message: &str, properties: &Value) -> HostQuestion {
    let required: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    HostQuestion::new(QuestionKind::Form, json!({ "message": message, "requestedSchema": schema }))
}

/// A default of each kind.
fn defaults() -> HostQuestion {
    let mut ask = form(
        "Right so?",
        &json!({
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": {
                "type": "string", "enum": ["active", "inactive", "pending"], "default": "active",
            },
            "verified": { "type": "boolean", "default": true },
        }),
    );
    ask.params["requestedSchema"]["required"] = json!([]);
    ask
}

/// A choice of each kind.
fn choices() -> HostQuestion {
    let titled = json!([
        { "const": "value1", "title": "First" }, { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    let mut ask = form(
        "Which?",
        &json!({
            "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
            "titledSingle": { "type": "string", "oneOf": titled.clone() },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"],
            },
            "untitledMulti": {
                "type": "array", "items": { "type": "string", "enum": ["option1", "option2", "option3"] },
            },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } },
        }),
    );
    ask.params["requestedSchema"]["required"] = json!([]);
    ask
}

/// A schema with what only the newest draft has.
fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "address",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" } },
        "allOf": [{ "anyOf": [{ "required": ["name"] }, { "required": ["address"] }] }],
        "if": { "required": ["address"] },
        "then": { "properties": { "address": { "required": ["street"] } } },
        "else": { "required": ["name"] },
        "additionalProperties": false,
    })
}
