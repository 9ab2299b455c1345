//! The door of the Model Context Protocol at the same listener.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Answer, Serving, bearer, eventually, head};
use crate::peers::Peers;
use crate::process::Folder;

const ACCEPT: &str = "Accept: application/json, text/event-stream";

pub(super) fn post(serving: &Serving, path: &str, lines: &[&str], body: &Value) -> Answer {
    let token = bearer(&serving.token);
    let lines = [lines, &[&token, ACCEPT, "Content-Type: application/json"]].concat();
    serving.send(&head("POST", path, serving, &lines), &body.to_string())
}

/// One request of the stateless revision.
fn ask(serving: &Serving, path: &str, method: &str, params: Value) -> Answer {
    ask_able(serving, (path, method), params, &json!({}))
}

/// The same of a client that says what it can.
pub(super) fn ask_able(
    serving: &Serving,
    (path, method): (&str, &str),
    mut params: Value,
    can: &Value,
) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": can,
    });
    let named = format!("Mcp-Method: {method}");
    let about = params["name"].as_str().or_else(|| params["uri"].as_str());
    let tool = about.map(|name| format!("Mcp-Name: {name}"));
    let mut lines = vec![named.as_str(), "MCP-Protocol-Version: 2026-07-28"];
    lines.extend(tool.as_deref());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    post(serving, path, &lines, &body)
}

fn serving() -> Serving {
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
         [profile.small]\nallow = [\"calculate\"]\n",
    );
    Serving::start_in(folder, &[])
}

#[test]
fn clients_list_and_call_under_the_same_token_and_profiles() {
    let serving = serving();
    let listed = ask(&serving, "/mcp", "tools/list", json!({}));
    assert!(listed.body.contains("uuid_new"), "{listed:?}");
    let small = ask(&serving, "/mcp/small", "tools/list", json!({}));
    assert!(small.body.contains("calculate") && !small.body.contains("uuid_new"), "{small:?}");
    let call = json!({ "name": "calculate", "arguments": { "expression": "6*7" } });
    let called = ask(&serving, "/mcp/small", "tools/call", call);
    assert!(called.body.contains("42"), "{called:?}");
    assert_eq!(ask(&serving, "/mcp/none", "tools/list", json!({})).status, 404);
    for path in ["/mcp/", "/mcp/small/"] {
        let answer = ask(&serving, path, "tools/list", json!({}));
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains("leave out the slash"), "{path}: {answer:?}");
    }
}

#[test]
fn older_clients_greet_first() {
    let serving = serving();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    let greeted = post(&serving, "/mcp", &[], &hello);
    assert!(greeted.body.contains("2025-06-18"), "{greeted:?}");
    let session = greeted.head.lines().find(|line| line.to_lowercase().starts_with("mcp-session"));
    let session = session.unwrap_or_default();
    let version = "MCP-Protocol-Version: 2025-06-18";
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(&serving, "/mcp", &[session, version], &ready).status, 202);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let listed = post(&serving, "/mcp", &[session, version], &list);
    assert!(listed.body.contains("calculate"), "{listed:?}");
}

#[test]
fn a_client_that_listens_does_not_hold_up_the_end() {
    let serving = serving();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    let greeted = post(&serving, "/mcp", &[], &hello);
    let session = greeted.head.lines().find(|line| line.to_lowercase().starts_with("mcp-session"));
    let token = bearer(&serving.token);
    let version = "MCP-Protocol-Version: 2025-06-18";
    let lines = [session.unwrap_or_default(), version, &token, "Accept: text/event-stream"];
    let mut stream = serving.connect();
    stream.write_all((head("GET", "/mcp", &serving, &lines) + "\r\n").as_bytes()).unwrap();
    ends_all_the_same(serving, stream);
}

/// A client that is being answered without end does not keep the server from its own.
fn ends_all_the_same(mut serving: Serving, mut stream: TcpStream) {
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    let began = Instant::now();
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_client_that_subscribes_does_not_hold_up_the_end() {
    let serving = serving();
    let token = bearer(&serving.token);
    let (version, method) =
        ("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "notifications": { "toolsListChanged": true },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } } })
    .to_string();
    let length = format!("Content-Length: {}", body.len());
    let lines = [version, method, &token, ACCEPT, "Content-Type: application/json", &length];
    let mut stream = serving.connect();
    let asked = head("POST", "/mcp", &serving, &lines) + "\r\n" + &body;
    stream.write_all(asked.as_bytes()).unwrap();
    ends_all_the_same(serving, stream);
}

#[test]
fn prompts_and_resources_come_under_the_rules_of_a_profile() {
    let Some(peers) = Peers::find() else { return };
    let script = "@modelcontextprotocol/server-everything/dist/index.js";
    let (node, script) = (peers.modules.join(".bin/node"), peers.modules.join(script));
    let file = format!(
        "[[source]]\nid = \"all\"\nmcp = {{ command = [{node:?}, {script:?}, \"stdio\"] }}\n\n\
         [profile.texts]\nallow = [\"category:resource\"]\n"
    );
    let folder = Folder::new();
    folder.write("crib.toml", &file);
    let serving = Serving::start_in(folder, &[]);
    let list = |path: &str, method: &str| ask(&serving, path, method, json!({})).body;
    assert!(eventually(|| list("/mcp", "prompts/list").contains("all__args-prompt")));
    assert!(!list("/mcp/texts", "prompts/list").contains("all__"));
    assert!(list("/mcp/texts", "resources/templates/list").contains("{resourceId}"));
    let prompt = json!({ "name": "all__args-prompt", "arguments": { "city": "Bonn" } });
    let filled = ask(&serving, "/mcp", "prompts/get", prompt.clone()).body;
    assert!(filled.contains("What's weather in Bonn?"), "{filled}");
    let denied = ask(&serving, "/mcp/texts", "prompts/get", prompt).body;
    assert!(denied.contains("there is no prompt"), "{denied}");
    let uri = json!({ "uri": "demo://resource/dynamic/text/5" });
    let read = ask(&serving, "/mcp/texts", "resources/read", uri).body;
    assert!(read.contains("Resource 5"), "{read}");
}
