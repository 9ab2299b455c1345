//! Sessions of older clients that go on at both servers.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use super::{asking_pair, pair};
use crate::keep::postgres::cluster::Cluster;
use crate::keep::resumed::called;
use crate::keep::upstream::Upstream;
use crate::serve::support::{Answer, Serving, bearer, eventually, head};

/// Sends a message of a session to a server; `session`: the line that names it.
fn posted(serving: &Serving, session: &str, body: &Value) -> (String, String) {
    let bearer = bearer(&serving.token);
    let mut lines = vec![
        bearer.as_str(),
        "Accept: application/json, text/event-stream",
        "Content-Type: application/json",
        "MCP-Protocol-Version: 2025-11-25",
    ];
    lines.extend(Some(session).filter(|line| !line.is_empty()));
    (head("POST", "/mcp", serving, &lines), body.to_string())
}

fn post(serving: &Serving, session: &str, body: &Value) -> Answer {
    let (head, body) = posted(serving, session, body);
    serving.send(&head, &body)
}

/// Begins a session of a client that can be asked for fields.
fn begin(serving: &Serving) -> String {
    let params = json!({ "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": { "form": {} } },
        "clientInfo": { "name": "t", "version": "1" } });
    let greeting = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let begun = post(serving, "", &greeting);
    let line = begun.head.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:"));
    let session = line.unwrap_or_else(|| unreachable!("{begun:?}")).to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(serving, &session, &ready).status, 202);
    session
}

fn call(name: &str, arguments: &Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
}

#[test]
fn a_call_of_a_session_is_cancelled_at_the_other_replica() {
    let Some(cluster) = Cluster::start_if_any("forwarded-cancelled") else { return };
    let upstream = Upstream::start();
    let [one, two] = pair(&upstream, &cluster.database("record"));
    let session = begin(&one);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let arguments = json!({ "how": "late", "nonce": "unwanted" });
            post(&one, &session, &call("web__act", &arguments))
        });
        assert!(eventually(|| upstream.oracle.count("unwanted") == 1));
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                             "params": { "requestId": 7 } });
        assert_eq!(post(&two, &session, &cancel).status, 202);
        let ended = running.join().unwrap();
        assert!(ended.status == 200 && !ended.body.contains("result"), "{ended:?}");
    });
    upstream.oracle.let_go("unwanted");
}

#[test]
fn an_answer_to_a_question_of_a_running_call_is_taken_at_the_other_replica() {
    let Some(cluster) = Cluster::start_if_any("forwarded-answers") else { return };
    let [one, two] = asking_pair(&cluster.database("record"));
    let session = begin(&one);
    let (head, body) = posted(&one, &session, &call("c__act", &json!({})));
    let mut stream = one.connect();
    stream
        .write_all((head + &format!("Content-Length: {}\r\n\r\n{body}", body.len())).as_bytes())
        .unwrap();
    let (mut told, mut piece) = (String::new(), [0; 4096]);
    let mut until = |words: &str| {
        while !told.contains(words) {
            let length = stream.read(&mut piece).unwrap();
            assert!(length > 0, "{told}");
            told.push_str(&String::from_utf8_lossy(&piece[..length]));
        }
        told.clone()
    };
    let asked = until("\"How many?\"");
    let event = asked.lines().find(|line| line.starts_with("data: {")).unwrap();
    let question: Value = serde_json::from_str(&event["data: ".len()..]).unwrap();
    let answer = |id: &Value| {
        json!({ "jsonrpc": "2.0", "id": id,
                "result": { "action": "accept", "content": { "n": 5 } } })
    };
    // What nobody asked is to be said again, wherever it is said.
    assert_eq!(post(&two, &session, &answer(&json!(991))).status, 503);
    let taken = post(&two, &session, &answer(&question["id"]));
    assert_eq!(taken.status, 202, "{taken:?}");
    until("\"text\":\"5\"");
    assert_eq!(called(&one, "act"), 1);
}
