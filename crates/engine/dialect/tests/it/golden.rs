//! Whole requests, calls and results, compared byte for byte with what is committed.
//! `UPDATE_GOLDEN=1` writes them anew.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolcrib_core::{
    Call, Citation, Content, ErrorKind, Part, PendingTicket, RawArguments, Reference, Report,
    Response, TicketId, ToolError, ToolOutcome,
};
use toolcrib_dialect::Dialect;

use crate::fixture;

pub(crate) fn compare(folder: &str, name: &str, value: &Value) {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.extend(["tests", "golden", folder]);
    let text = serde_json::to_string_pretty(value).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join(name), &text).unwrap();
    }
    path.push(name);
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, golden, "{} differs; UPDATE_GOLDEN=1 rewrites it", path.display());
}

pub(crate) fn call_json(call: &Call) -> Value {
    let arguments = match &call.arguments {
        RawArguments::Absent => json!({"absent": true}),
        RawArguments::Text(text) => json!({ "text": text }),
        RawArguments::Value(value) => json!({ "value": value }),
    };
    json!({
        "id": call.id, "name": call.name, "arguments": arguments,
        "fault": call.fault, "wire": call.wire,
    })
}

#[test]
fn the_tools_of_a_plan_are_written_as_committed() {
    let plan = fixture::plan();
    for (folder, dialect) in fixture::variants() {
        let rendering = dialect.rendering(&plan);
        compare(
            folder,
            "request.json",
            &json!({
                "request": rendering.request(),
                "losses": rendering.losses,
                "refused": rendering.refused,
            }),
        );
    }
}

#[test]
fn a_rendering_is_the_same_bytes_every_time() {
    for (folder, dialect) in fixture::variants() {
        let bytes = || Value::from(dialect.request(&fixture::fresh_plan())).to_string();
        assert_eq!(bytes(), bytes(), "{folder}");
    }
}

#[test]
fn the_calls_of_a_reply_are_read_as_committed() {
    let plan = fixture::plan();
    for (folder, dialect) in fixture::variants() {
        let reply = reply(dialect.as_ref());
        let calls: Vec<_> = dialect.calls(&plan, &reply).unwrap().iter().map(call_json).collect();
        let echo = dialect.echo(&reply);
        compare(folder, "calls.json", &json!({ "reply": reply, "calls": calls, "echo": echo }));
    }
}

#[test]
fn the_results_of_a_batch_are_written_as_committed() {
    let report = report();
    for (folder, dialect) in fixture::variants() {
        compare(folder, "results.json", &Value::Array(dialect.results(&report)));
    }
}

#[test]
fn results_of_the_calls_of_a_reply_carry_their_wire_names_and_ids() {
    let plan = fixture::plan();
    for (folder, dialect) in fixture::variants() {
        let calls = dialect.calls(&plan, &reply(dialect.as_ref())).unwrap();
        let responses = calls.into_iter().map(|call| {
            let outcome = match call.fault {
                None => ToolOutcome::Done(Content::text("done")),
                Some(fault) => ToolOutcome::Failed(ToolError::new(ErrorKind::InvalidCall, fault)),
            };
            Response { wire: call.wire, ..response(&call.id, &call.name, outcome) }
        });
        let report = Report { responses: responses.collect() };
        compare(folder, "answers.json", &Value::Array(dialect.results(&report)));
    }
}

/// A reply with calls of every kind that the API has, good and bad.
pub(crate) fn reply(dialect: &dyn Dialect) -> Value {
    let strict = json!({"room": "north", "start": "2026-01-01T00:00:00Z", "minutes": null,
        "guests": [{"mail": "a@b", "role": null}]});
    match dialect.name() {
        "openai-chat" => {
            json!({"id": "c", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": null, "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"x\":1,\"y\":2}"}},
                    {"id": "b", "type": "function", "function": {"name": "book", "arguments": strict.to_string()}},
                    {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
                    {"id": "d", "type": "function", "function": {"name": "functions.add", "arguments": "{x: 1"}},
                    {"id": 7, "type": "function", "function": {"name": "add", "arguments": "{}"}},
                    {"id": "f", "type": "function", "function": {"arguments": "{}"}},
                    "add",
                ],
            }}]})
        }
        "openai-responses" => json!({"id": "r", "status": "completed", "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "add", "arguments": "{\"x\":1,\"y\":2}", "status": "completed"},
            {"type": "function_call", "call_id": "b", "name": "book", "arguments": strict.to_string()},
            {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"},
            {"type": "function_call", "call_id": "d", "namespace": "archive", "name": "archive_files", "arguments": "{\"path\":\"/\"}", "caller": {"type": "direct"}},
            {"type": "function_call", "call_id": {}, "name": "add", "arguments": "{}"},
            {"type": "function_call", "call_id": "f", "arguments": "{}"},
            7,
        ]}),
        "anthropic" => json!({"role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "thinking", "thinking": "...", "signature": "s"},
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "a", "name": "add", "input": {"x": 1, "y": 2}},
            {"type": "tool_use", "id": "b", "name": "book", "input": strict, "caller": {"type": "direct"}},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
            {"type": "tool_use", "id": 7, "name": "add", "input": {}},
            {"type": "tool_use", "id": "f", "input": {}},
            {"id": "g"},
        ]}),
        _ => json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
            {"text": "Let me see.", "thought": true},
            {"functionCall": {"name": "add", "args": {"x": 1, "y": 2}}, "thoughtSignature": "sig=="},
            {"functionCall": {"id": "b", "name": "book", "args": strict}},
            {"functionCall": {"name": "now"}},
            {"functionCall": {"id": 7, "name": "add", "args": {}}},
            {"functionCall": {"args": {}}},
            {"functionCal": {}},
        ]}}]}),
    }
}

fn response(id: &str, name: &str, outcome: ToolOutcome) -> Response {
    Response::of_call(Call::new(id, name, RawArguments::Absent), outcome)
}

fn image() -> Part {
    Part::Image { data: "aGk=".to_owned(), mime: "image/png".to_owned(), extra: Map::new() }
}

/// A result with a part of every kind.
fn media() -> Content {
    Content {
        parts: vec![
            Part::text("See:"),
            image(),
            Part::File {
                data: "aGk=".to_owned(),
                mime: "application/pdf".to_owned(),
                name: "a.pdf".to_owned(),
                extra: Map::new(),
            },
            Part::Audio {
                data: "aGk=".to_owned(),
                mime: "audio/wav".to_owned(),
                extra: Map::new(),
            },
            Part::Link {
                uri: "https://example.org".to_owned(),
                mime: None,
                name: None,
                extra: Map::new(),
            },
        ],
        ..Content::default()
    }
}

/// One response for each way in which a call ends.
pub(crate) fn report() -> Report {
    let done = |value: Value| ToolOutcome::Done(Content::json(value));
    let mut failed = ToolError::new(ErrorKind::Tool, "nothing was found");
    failed.content = Some(Box::new(Content { parts: vec![image()], ..Content::default() }));
    failed.retry_after = Some(Duration::from_secs(1));
    let mut cited = response("g", "find", done(json!({"name": "Ada"})));
    cited.references.push(Citation {
        number: 1,
        reference: Reference {
            id: "r".to_owned(),
            title: "Book".to_owned(),
            url: None,
            text: "p. 1".to_owned(),
        },
    });
    cited.repairs.push("read \"1\" as a number".to_owned());
    let mut copy = response("b", "add", done(json!(3)));
    copy.duplicate_of = Some("a".to_owned());
    let pending = PendingTicket {
        ticket: TicketId::claimed("t_1"),
        reason: "it deletes files".to_owned(),
        question: None,
    };
    Report {
        responses: vec![
            response("a", "add", done(json!(3))),
            copy,
            response("c", "draw", ToolOutcome::Done(media())),
            response("d", "find", ToolOutcome::Failed(failed)),
            response("e", "book", ToolOutcome::Denied { reason: "not on a Sunday".to_owned() }),
            response("f", "book", ToolOutcome::Pending(pending)),
            cited,
            response("h", "find", done(json!({"items": [{"$ref": "#/x"}]}))),
            response("i", "now", ToolOutcome::Done(Content::default())),
        ],
    }
}
