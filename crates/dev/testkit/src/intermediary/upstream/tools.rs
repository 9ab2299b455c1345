//! The tools behind the gateway, and what they do.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::request::{FixtureRequest, error};
use super::state::FixtureOutput;

/// Tools of a page.
const PAGE: usize = 4;
/// Bytes of the huge answer.
pub(crate) const TALL: usize = 2 << 20;
/// Steps that `progress` tells of.
const STEPS: u32 = 5;
/// How often a tool looks whether it may go on, and how many times.
const LOOK: Duration = Duration::from_millis(5);
const LOOKS: u32 = 24_000;

/// All tools but the one that comes and goes, in the order of the list.
pub(crate) const NAMES: [&str; 18] = [
    "echo",
    "write",
    "content",
    "structured",
    "fails",
    "refuses",
    "meta",
    "progress",
    "hold",
    "logs",
    "asks",
    "dies",
    "ends",
    "malformed",
    "wrong_id",
    "stray",
    "twice",
    "huge",
];

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// A tool as it is listed. The first has everything that a tool may have, and more.
pub(crate) fn spec(name: &str) -> Value {
    let mut spec = json!({
        "name": name,
        "description": format!("The tool `{name}` of the fixture."),
        "inputSchema": { "type": "object", "properties": { "mark": { "type": "string" } } },
    });
    match name {
        "echo" => {
            spec["title"] = json!("An echo");
            spec["icons"] = json!([
                { "src": "https://example.com/echo.png", "mimeType": "image/png", "sizes": ["48x48"] }
            ]);
            spec["annotations"] = json!({
                "title": "An echo", "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": false,
            });
            spec["inputSchema"] = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "title": "What is said",
                "properties": {
                    "mark": { "type": "string", "description": "Any word.", "x-order": 1 },
                    "nested": { "$ref": "#/$defs/node" },
                },
                "required": ["mark"],
                "additionalProperties": true,
                "$defs": { "node": {
                    "type": "object", "properties": { "next": { "$ref": "#/$defs/node" } },
                } },
            });
            spec["_meta"] = json!({ "example.com/kept": { "since": 1, "by": null } });
            spec["x-unknown"] = json!({ "kept": [1, null, { "deep": true }] });
        }
        "structured" => {
            spec["outputSchema"] = json!({
                "type": "object",
                "properties": { "n": { "type": "integer" }, "none": { "type": ["string", "null"] } },
                "required": ["n"],
            });
        }
        "refuses" | "meta" | "content" | "progress" | "logs" | "fails" | "huge" => {
            spec["annotations"] = json!({ "readOnlyHint": true });
        }
        _ => {}
    }
    spec
}

/// A page of the list.
pub(super) fn list(params: &Value, has_more: bool) -> Value {
    let mut names = NAMES.to_vec();
    if has_more {
        names.push("late");
    }
    let start = match params.get("cursor").map(|cursor| cursor.as_str().unwrap_or_default()) {
        None => Some(0),
        Some(cursor) => cursor.strip_prefix("from+/=").and_then(|start| start.parse().ok()),
    };
    let Some(start) = start else { return error(-32602, "there is no such cursor", None) };
    let tools: Vec<Value> = names.iter().skip(start).take(PAGE).map(|name| spec(name)).collect();
    let mut result = json!({ "tools": tools });
    if start + PAGE < names.len() {
        result["nextCursor"] = json!(format!("from+/={}", start + PAGE));
    }
    json!({ "result": result })
}

fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

/// Content of every kind, each with all that it may have.
pub(crate) fn parts() -> Value {
    let annotations =
        json!({ "audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z" });
    json!([
        { "type": "text", "text": "a text\u{0}\u{7f}", "annotations": annotations, "_meta": { "example.com/a": 1 } },
        { "type": "text", "text": "" },
        { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png", "annotations": annotations },
        { "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "fixture://link", "name": "link", "title": "A link",
          "description": "Leads on.", "mimeType": "text/plain", "size": 12, "annotations": annotations },
        { "type": "resource", "resource": { "uri": "fixture://inside", "mimeType": "text/plain",
          "text": "inside", "_meta": { "example.com/b": [2] } } },
        { "type": "resource", "resource": { "uri": "fixture://blob", "mimeType": "application/octet-stream",
          "blob": "AAECAw==" } },
    ])
}

/// Runs a tool, and answers.
pub(super) async fn call(request: &FixtureRequest) {
    let params = request.params();
    let arguments = &params["arguments"];
    let done = |result: Value| request.end(json!({ "result": result }));
    match params["name"].as_str().unwrap_or_default() {
        "echo" | "write" | "late" => done(text(arguments.to_string())),
        "content" => done(json!({ "content": parts() })),
        "structured" => done(json!({
            "content": [{ "type": "text", "text": "the same in words" }],
            "structuredContent": { "n": 12_345_678_901_234_567_890_u64, "none": null, "more": [1.50, {}] },
        })),
        "fails" => done(json!({
            "content": [{ "type": "text", "text": "it did not work" }], "isError": true,
            "structuredContent": { "reason": "rain" },
        })),
        "refuses" => {
            let data = json!({ "retry": false, "list": [1, null] });
            request.end(error(-31_999, "the tool is closed on Sundays", Some(data)));
        }
        "meta" => {
            let mut result = text(params["_meta"].to_string());
            result["_meta"] = json!({ "example.com/answer": { "n": 1, "nothing": null } });
            done(result);
        }
        "progress" => progress(request).await,
        "hold" => hold(request).await,
        "logs" => logs(request),
        "asks" => asks(request).await,
        _ => break_rules(request).await,
    }
}

/// Tools that do what no server should.
async fn break_rules(request: &FixtureRequest) {
    let done = |words: &str| request.end(json!({ "result": text(words) }));
    let close = || {
        let _ = request.output.send(FixtureOutput::Close);
    };
    match request.params()["name"].as_str().unwrap_or_default() {
        "dies" => close(),
        "ends" if request.is_piped => close(),
        // The stream closes with the request.
        "ends" => {}
        "malformed" => {
            let _ = request.output.send(FixtureOutput::Raw(r#"{"jsonrpc":"2.0","id":"#.to_owned()));
            if request.is_piped {
                done("right");
            }
        }
        "wrong_id" | "stray" => {
            let wrong = text("wrong");
            request.say(json!({ "jsonrpc": "2.0", "id": "nobody", "result": wrong }));
            if request.is_piped || request.params()["name"] == "stray" {
                done("right");
            }
        }
        "twice" => {
            let second = text("second");
            let second = json!({ "jsonrpc": "2.0", "id": request.id(), "result": second });
            done("first");
            request.say(second);
        }
        "huge" => done(&"x".repeat(TALL)),
        name => {
            let words = format!("there is no tool `{name}`");
            request.end(error(-32602, &words, None));
        }
    }
    // What is closed is closed before anything else is said.
    tokio::task::yield_now().await;
}

async fn progress(request: &FixtureRequest) {
    let token = request.params()["_meta"]["progressToken"].clone();
    if token.is_null() {
        return request.end(json!({ "result": text("no token") }));
    }
    let mark = request.params()["arguments"]["mark"].as_str().unwrap_or_default();
    let tell = |step: u32| {
        request.notify(
            "notifications/progress",
            &json!({
                "progressToken": token, "progress": step, "total": STEPS,
                "message": format!("step {step} of {mark}"),
            }),
        );
    };
    for step in 1..=STEPS {
        tell(step);
        // As a tool that works on something between its steps.
        sleep(LOOK).await;
    }
    request.end(json!({ "result": text(token.to_string()) }));
    // One too many, which is of a request that has ended.
    tell(STEPS + 1);
}

/// Waits until it is let go or given up.
async fn hold(request: &FixtureRequest) {
    let mark = request.params()["arguments"]["mark"].as_str().unwrap_or_default();
    for _ in 0..LOOKS {
        if !request.state.is_running((&request.place, request.id())) {
            return;
        }
        if request.state.is_released(mark) {
            return request.end(json!({ "result": text(format!("held {mark}")) }));
        }
        sleep(LOOK).await;
    }
}

/// Says a line of each level that is wanted.
fn logs(request: &FixtureRequest) {
    let params = request.params();
    let mark = &params["arguments"]["mark"];
    let own = params["_meta"]["io.modelcontextprotocol/logLevel"].as_str().map(str::to_owned);
    let level = if request.is_modern { own } else { request.state.level(&request.place) };
    let from = match level {
        Some(level) => LEVELS.iter().position(|known| *known == level),
        // Nobody asked for lines; before 2026-07-28 the server then says what it likes.
        None => Some(0).filter(|_| !request.is_modern),
    };
    for level in LEVELS.into_iter().skip(from.unwrap_or(LEVELS.len())) {
        let data = json!({ "mark": mark, "level": level, "n": 1.50 });
        let line = json!({ "level": level, "logger": "fixture", "data": data });
        request.notify("notifications/message", &line);
    }
    request.end(json!({ "result": text("said") }));
}

/// What a tool asks of the client.
pub(crate) fn question(what: &str, mark: &str) -> Value {
    match what {
        "sampling" => json!({ "method": "sampling/createMessage", "params": {
            "messages": [{ "role": "user", "content": { "type": "text", "text": mark } }],
            "maxTokens": 7, "systemPrompt": "Be brief.", "temperature": 0.25,
            "stopSequences": ["\n"], "modelPreferences": { "hints": [{ "name": "small" }], "costPriority": 0.5 },
        } }),
        "elicitation" => json!({ "method": "elicitation/create", "params": {
            "message": mark, "requestedSchema": {
                "type": "object", "required": ["name"],
                "properties": {
                    "name": { "type": "string", "title": "Name", "minLength": 1 },
                    "age": { "type": "integer", "minimum": 0 },
                },
            },
        } }),
        _ => json!({ "method": "roots/list" }),
    }
}

async fn asks(request: &FixtureRequest) {
    let params = request.params();
    let arguments = &params["arguments"];
    let mark = arguments["mark"].as_str().unwrap_or_default();
    let asked = question(arguments["what"].as_str().unwrap_or_default(), mark);
    let state = format!("state of {mark} +/=");
    if request.is_modern {
        let end = match params.get("inputResponses") {
            None => json!({
                "resultType": "input_required", "inputRequests": { "q 1": asked }, "requestState": state,
            }),
            Some(_) if params["requestState"] != state => text("another state came back"),
            Some(answers) => text(answers["q 1"].to_string()),
        };
        return request.end(json!({ "result": end }));
    }
    let id = request.state.name("question");
    let answer = request.state.asks(&id);
    let mut message = json!({ "jsonrpc": "2.0", "id": id });
    if let (Some(message), Value::Object(asked)) = (message.as_object_mut(), asked) {
        message.extend(asked);
    }
    request.say(message);
    let answer = answer.await.unwrap_or_default();
    let answer = answer.get("result").or_else(|| answer.get("error")).cloned();
    request.end(json!({ "result": text(answer.unwrap_or_default().to_string()) }));
}
