//! Several messages at once, as 2025-03-26 has it and no other revision.

use serde_json::{Value, json};
use toolcrib_core::{Effect, Toolset};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::Oracle;

use super::pipes::Pipe;
use super::support::open;
use super::wire::{begin, old, send};

const MOST: usize = 100;

fn call(id: usize) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "echo", "arguments": { "n": id } },
    })
}

fn note() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" })
}

/// Whose answer it is, and what it says.
fn said(answer: &Value) -> (Value, Value) {
    let code = answer["error"]["code"].clone();
    let text = answer["result"]["content"][0]["text"].clone();
    (answer["id"].clone(), if code.is_null() { text } else { code })
}

fn crib(oracle: &Oracle) -> Crib {
    Crib::builder().build_fixed(Toolset::of([oracle.echo("echo", Effect::Read)]).unwrap())
}

#[tokio::test]
async fn every_request_of_a_batch_is_answered_over_http() {
    let oracle = Oracle::default();
    let url = open(crib(&oracle), &[], McpServerSettings::default()).await;
    let session = begin(&url, "ann", "2025-03-26", json!({})).await;
    let list = json!({ "jsonrpc": "2.0", "id": "l", "method": "tools/list" });
    let hello = json!({ "jsonrpc": "2.0", "id": 8, "method": "initialize" });
    let unknown = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/cull" });
    let batch = json!([call(1), note(), list, 7, hello, [], unknown, call(2)]);
    let reply = old(&url, "ann", Some(&session), batch).await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream"), "{}", reply.body);
    let answers: Vec<_> = reply.messages().iter().map(said).collect();
    let expected = [
        (json!(1), json!(r#"{"n":1}"#)),
        (json!("l"), Value::Null),
        (Value::Null, json!(-32600)),
        (json!(8), json!(-32600)),
        (Value::Null, json!(-32600)),
        (json!(9), json!(-32601)),
        (json!(2), json!(r#"{"n":2}"#)),
    ];
    assert_eq!(answers, expected);
    let notes = old(&url, "ann", Some(&session), json!([note(), note()])).await;
    assert_eq!((notes.status, notes.body.as_str()), (202, ""));
    assert_eq!(oracle.count("echo"), 2);
}

#[tokio::test]
async fn a_batch_is_bounded_and_means_one_thing() {
    let oracle = Oracle::default();
    let url = open(crib(&oracle), &[], McpServerSettings::default()).await;
    let session = begin(&url, "ann", "2025-03-26", json!({})).await;
    for (count, status) in [(0, 400), (1, 200), (MOST - 1, 200), (MOST, 200), (MOST + 1, 400)] {
        let batch = (0..count).map(call).collect();
        let reply = old(&url, "ann", Some(&session), Value::Array(batch)).await;
        assert_eq!(reply.status, status, "{count}: {}", reply.body);
        let answers = if status == 200 { count } else { 1 };
        assert_eq!(reply.messages().len(), answers, "{count}");
    }
    let before = oracle.count("echo");
    let twice = call(1).to_string().replace(r#""id":1"#, r#""id":1,"id":2"#);
    for (body, code) in [(format!("[{twice}]"), -32600), (format!("[{}", call(1)), -32700)] {
        let headers = [("mcp-session-id", session.as_str()), ("x-caller", "ann")];
        let reply = send("POST", &url, &headers, &body).await;
        assert_eq!((reply.status, said(&reply.answer()).1), (400, json!(code)), "{body}");
    }
    for revision in ["2025-06-18", "2025-11-25"] {
        let session = begin(&url, "ann", revision, json!({})).await;
        let reply = old(&url, "ann", Some(&session), json!([call(1)])).await;
        assert_eq!((reply.status, said(&reply.answer()).1), (400, json!(-32600)), "{revision}");
    }
    assert_eq!(oracle.count("echo"), before);
}

#[tokio::test]
async fn a_batch_at_a_pipe_is_answered_as_its_messages_are() {
    for (revision, answers) in [("2025-03-26", 3), ("2025-06-18", 0)] {
        let mut pipe = Pipe::to(&Oracle::default());
        pipe.say(json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": revision, "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" },
            },
        }))
        .await;
        assert_eq!(pipe.hear().await["result"]["protocolVersion"], revision);
        pipe.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        pipe.say(json!([call(1), note(), 7, call(2)])).await;
        let mut heard = Vec::new();
        for _ in 0..answers.max(1) {
            heard.push(said(&pipe.hear().await));
        }
        heard.sort_by_key(|(id, _)| id.to_string());
        let refused = (Value::Null, json!(-32600));
        let expected = if answers == 0 {
            vec![refused]
        } else {
            vec![(json!(1), json!(r#"{"n":1}"#)), (json!(2), json!(r#"{"n":2}"#)), refused]
        };
        assert_eq!(heard, expected, "{revision}");
        let batch = (0..=MOST).map(call).collect();
        pipe.say(Value::Array(batch)).await;
        assert_eq!(said(&pipe.hear().await), (Value::Null, json!(-32600)));
        pipe.hang_up().await;
    }
}
