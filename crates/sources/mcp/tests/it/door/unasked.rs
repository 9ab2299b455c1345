//! What the only server behind a door says unasked: it reaches the caller whom alone its
//! connection serves, and nobody where several share that.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::Caller;
use toolcrib_mcp::{ConnectionScope, McpEra, McpServer, McpServerSettings, McpSource};

use super::cribs::FixtureCribs;
use super::own_client::in_front_of;
use super::support;
use super::through::Client;
use crate::support::{crib, settings, source, until};

async fn in_front(server: &Arc<McpSource>) -> McpServer {
    let crib = crib(server).await;
    until("it is known what the server is", || crib.sole().is_some()).await;
    McpServer::new(Arc::new(FixtureCribs::of(crib)), McpServerSettings::default())
}

async fn client(door: &McpServer, name: &str, level: Option<&str>) -> Client {
    let mut client = Client::at(door, Caller::new("house", name)).await;
    if let Some(level) = level {
        let set = client.ask("logging/setLevel", json!({ "level": level })).await;
        assert_eq!(set["result"], json!({}), "{set}");
    }
    client
}

/// Has the server write a line after its answer, and then tell of a change.
async fn write(client: &mut Client, nonce: u32, level: &str) {
    let arguments = json!({ "nonce": nonce, "level": level, "late": true });
    let params = json!({ "name": "log", "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": nonce, "method": "tools/call", "params": params });
    client.say(call).await;
}

fn answer(nonce: u32) -> Value {
    let text = format!("answer to {nonce}");
    let content = json!([{ "type": "text", "text": text }]);
    json!({ "jsonrpc": "2.0", "id": nonce, "result": { "content": content, "isError": false } })
}

fn line(nonce: u32) -> Value {
    let params = json!({
        "level": "warning", "logger": "scripted", "data": { "nonce": nonce }, "x-new": 1,
    });
    json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
}

fn change() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })
}

/// The next messages are these, in whatever order.
async fn hears(client: &mut Client, mut expected: Vec<Value>) {
    let mut heard = Vec::new();
    while heard.len() < expected.len() {
        heard.push(client.hear().await);
    }
    heard.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(heard, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_no_call_reaches_the_only_caller_who_asked_for_such() {
    let server = source(settings(&["legacy", "prompts"]));
    let door = in_front(&server).await;
    let mut asking = client(&door, "ann", Some("notice")).await;
    let mut other = client(&door, "ann", None).await;
    write(&mut asking, 1, "info").await;
    hears(&mut asking, vec![answer(1), change()]).await;
    hears(&mut other, vec![change()]).await;
    write(&mut other, 2, "warning").await;
    hears(&mut other, vec![answer(2), change()]).await;
    hears(&mut asking, vec![line(2), change()]).await;
    write(&mut asking, 3, "warning").await;
    hears(&mut asking, vec![answer(3), line(3), change()]).await;
    hears(&mut other, vec![change()]).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_no_call_reaches_nobody_where_two_callers_share_the_connection() {
    let server = source(settings(&["legacy", "prompts"]));
    let door = in_front(&server).await;
    let mut ann = client(&door, "ann", Some("debug")).await;
    write(&mut ann, 1, "warning").await;
    hears(&mut ann, vec![answer(1), line(1), change()]).await;
    let mut bob = client(&door, "bob", Some("debug")).await;
    write(&mut ann, 2, "warning").await;
    hears(&mut ann, vec![answer(2), change()]).await;
    hears(&mut bob, vec![change()]).await;
    write(&mut bob, 3, "warning").await;
    hears(&mut bob, vec![answer(3), change()]).await;
    hears(&mut ann, vec![change()]).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_caller_hears_the_lines_of_a_connection_of_its_own() {
    for share in [ConnectionScope::Caller, ConnectionScope::Session] {
        let mut settings = settings(&["legacy", "prompts"]);
        settings.share = share;
        let server = source(settings);
        let door = in_front(&server).await;
        let mut ann = client(&door, "ann", Some("debug")).await;
        let mut bob = client(&door, "bob", Some("debug")).await;
        for (caller, nonce) in [(&mut ann, 1), (&mut bob, 2)] {
            write(caller, nonce, "warning").await;
            hears(caller, vec![answer(nonce), line(nonce)]).await;
        }
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_no_call_comes_over_http_as_well() {
    let program = source(settings(&["legacy", "prompts"]));
    let url = support::serve(&in_front(&program).await).await;
    let server = source(in_front_of(&url, McpEra::Legacy));
    let door = in_front(&server).await;
    let mut ann = client(&door, "ann", Some("debug")).await;
    // The stream on which it is told is opened beside the first call: before that it is lost.
    for nonce in 1..=1_000 {
        write(&mut ann, nonce, "warning").await;
        let mut is_told = false;
        loop {
            let heard = ann.hear().await;
            is_told |= heard["method"] == "notifications/message";
            if heard["id"] == nonce {
                break;
            }
        }
        if is_told {
            server.stop().await;
            return program.stop().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nothing was told");
}
