//! A crib with one server and no prefix: its door is to look as if it were the server's own.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, Lines, duplex,
    split,
};
use toolcrib_core::{Caller, ServerInfo};
use toolcrib_mcp::{McpEra, McpServer, McpServerSettings};
use toolcrib_testkit::ConformanceSuite;

use super::cribs::FixtureCribs;
use super::long::BRIEF;
use super::own_client::in_front_of;
use super::wire::{begin, greet, modern, old};
use super::{shelves, suite, support};
use crate::library::{everything, source as far};
use crate::support::{crib, settings, source, until};

/// The fixture behind a second crib, which reaches it in the way of `era`.
async fn behind(era: McpEra) -> String {
    let fixture =
        support::open(shelves::crib(BRIEF).await, &[], McpServerSettings::default()).await;
    let near = source(in_front_of(&fixture, era));
    let through = crib(&near).await;
    assert_eq!(near.status().era, Some(era));
    assert!(through.sole().is_some(), "{:?}", through.sources());
    support::open(through, &[], McpServerSettings::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn through_us_no_scenario_of_2025_11_25_is_lost() {
    if ConformanceSuite::installed().is_some() {
        suite::run("2025-11-25", &behind(McpEra::Legacy).await, &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn through_us_no_scenario_of_2026_07_28_is_lost() {
    if ConformanceSuite::installed().is_some() {
        suite::run("2026-07-28", &behind(McpEra::Modern).await, &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_client_finds_all_of_a_new_server() {
    if ConformanceSuite::installed().is_some() {
        suite::run("2025-11-25", &behind(McpEra::Modern).await, &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_client_finds_all_of_an_old_server() {
    if ConformanceSuite::installed().is_some() {
        // An old server is told once what all callers together can answer, so that it does not
        // refuse a call whose client cannot: its question is declined. And it asks each of its
        // questions by itself.
        let lost = ["server-stateless", "input-required-result-multiple-input-requests"];
        suite::run("2026-07-28", &behind(McpEra::Legacy).await, &lost).await;
    }
}

/// One client of 2025-11-25 over lines.
pub(super) struct Client {
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    lines: Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    id: u64,
}

impl Client {
    /// One at a pipe to this door.
    pub(super) async fn at(door: &McpServer, caller: Caller) -> Self {
        let (near, end) = duplex(64 * 1024);
        let (reader, writer) = split(end);
        let door = door.clone();
        tokio::spawn(async move { door.serve_stdio(reader, writer, caller, None).await });
        let (reader, writer) = split(near);
        Self::of(reader, writer).await.0
    }

    async fn of(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> (Self, Value) {
        let reader: Box<dyn AsyncRead + Send + Unpin> = Box::new(reader);
        let lines = BufReader::new(reader).lines();
        let mut client = Self { writer: Box::new(writer), lines, id: 0 };
        let hello = client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" },
            }),
        );
        let greeting = hello.await["result"].clone();
        client.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        (client, greeting)
    }

    pub(super) async fn say(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        self.writer.flush().await.unwrap();
    }

    pub(super) async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_mins(1), self.lines.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    }

    /// The answer without its id.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let mut heard = self.hear().await;
            if heard["id"] == id && heard.get("method").is_none() {
                heard.as_object_mut().unwrap().remove("id");
                return heard;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_others_says_through_us_what_it_says_itself() {
    let Some((node, arguments)) = everything() else { return };
    let mut direct = tokio::process::Command::new(&node)
        .args(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (stdout, stdin) = (direct.stdout.take().unwrap(), direct.stdin.take().unwrap());
    let (mut direct, mut said) = Client::of(stdout, stdin).await;
    let source = Arc::new(far("far", (node, arguments)));
    let cribs = FixtureCribs::of(crib(&source).await);
    let door = McpServer::new(Arc::new(cribs), McpServerSettings::default());
    let (near, end) = duplex(1024 * 1024);
    let (reader, writer) = split(end);
    tokio::spawn(async move { door.serve_stdio(reader, writer, Caller::local(), None).await });
    let (reader, writer) = split(near);
    let (mut through, greeting) = Client::of(reader, writer).await;
    // Calls of ours become no tasks.
    said["capabilities"].as_object_mut().unwrap().remove("tasks");
    assert_eq!(greeting, said);
    let department = json!({ "name": "department", "value": "E" });
    let prompt = json!({ "type": "ref/prompt", "name": "completable-prompt" });
    let team = json!({ "department": "Engineering" });
    for (method, params) in [
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/get", json!({ "name": "simple-prompt" })),
        ("prompts/get", json!({ "name": "args-prompt", "arguments": { "city": "Bonn" } })),
        ("resources/read", json!({ "uri": "demo://resource/static/document/features.md" })),
        ("completion/complete", json!({ "ref": prompt, "argument": department })),
        (
            "completion/complete",
            json!({
                "ref": prompt, "argument": { "name": "name", "value": "" },
                "context": { "arguments": team },
            }),
        ),
        ("resources/read", json!({ "uri": "demo://nowhere" })),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("resources/subscribe", json!({ "uri": "demo://resource/dynamic/text/1" })),
        ("resources/unsubscribe", json!({ "uri": "demo://resource/dynamic/text/1" })),
        ("tools/call", json!({ "name": "get-sum", "arguments": { "a": 2, "b": 3 } })),
        ("tools/call", json!({ "name": "get-tiny-image" })),
        (
            "tools/call",
            json!({ "name": "get-structured-content", "arguments": { "location": "Chicago" } }),
        ),
    ] {
        let alike = [direct.ask(method, params.clone()).await, through.ask(method, params).await];
        let [mut whole, ours] = alike;
        // It says of no success that it is none.
        if method == "tools/call" {
            whole["result"]["isError"] = json!(false);
        }
        assert_eq!(ours, whole, "{method}");
    }
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_a_server_tells_of_is_told_though_its_lists_are_the_same() {
    let server = source(settings(&["legacy", "prompts"]));
    let door = McpServer::new(
        Arc::new(FixtureCribs::of(crib(&server).await)),
        McpServerSettings::default(),
    );
    let mut client = Client::at(&door, Caller::local()).await;
    for list in ["tools", "prompts", "tools"] {
        let params = json!({ "name": "change", "arguments": { "list": list } });
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        client.say(call).await;
        let mut heard = [client.hear().await, client.hear().await];
        heard.sort_by_key(|message| message.get("id").is_some());
        let method = format!("notifications/{list}/list_changed");
        assert_eq!(heard[0], json!({ "jsonrpc": "2.0", "method": method }));
        assert_eq!(heard[1]["result"]["content"][0]["text"], "told");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_a_server_says_besides_its_lists_and_in_its_greeting_is_said_through_us() {
    for era in ["modern", "legacy"] {
        let crib = crib(&source(settings(&[era, "besides", "prompts"]))).await;
        let all = ["server/discover", "tools/list", "prompts/list"];
        let says_more = |hint: &Value| hint.get("x-new").is_some();
        let knows = |said: Arc<ServerInfo>| said.hints.get("tools/list").is_some_and(says_more);
        until("it is known what the lists say", || crib.sole().is_some_and(knows)).await;
        let url = support::open(crib, &[], McpServerSettings::default()).await;
        let told = |answer: &Value| {
            let result = &answer["result"];
            json!([result["_meta"]["com.example/a"], result["x-new"], result["ttlMs"]])
        };
        let methods = if era == "legacy" { &all[..] } else { &all[..2] };
        for method in methods {
            let answer = modern(&url, "ann", method, json!({}), json!({})).await.answer();
            assert_eq!(told(&answer), json!(["hidden-word", [1], 7]), "{era} {method}: {answer}");
            assert_eq!(answer["result"]["cacheScope"], "private");
        }
        let hello = greet(&url, "ann", "2025-11-25", json!({})).await;
        // How long it may be kept is nothing that its revision has.
        let of_older = json!(["hidden-word", [1], null]);
        assert_eq!(told(&hello.answer()), of_older, "{}", hello.body);
        let session = begin(&url, "ann", "2025-11-25", json!({})).await;
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let list = old(&url, "ann", Some(&session), list).await;
        assert_eq!(told(&list.answer()), of_older, "{}", list.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_reaches_who_follows_and_nobody_else() {
    let library = Arc::new(shelves::library());
    let tools = super::fixtures::tools();
    let fixture = toolcrib_core::WithResources::new(tools, Arc::clone(&library) as _);
    let builder = toolcrib_engine::Crib::builder().policy(toolcrib_core::AllowAll);
    let fixture = builder.source("fixtures", fixture).build().await;
    let url = support::open(fixture, &[], McpServerSettings::default()).await;
    for era in [McpEra::Legacy, McpEra::Modern] {
        let cribs = FixtureCribs::of(crib(&source(in_front_of(&url, era))).await);
        let door = McpServer::new(Arc::new(cribs), McpServerSettings::default());
        let mut follower = Client::at(&door, Caller::local()).await;
        let mut other = Client::at(&door, Caller::local()).await;
        let watched = json!({ "uri": "test://watched-resource" });
        let subscribed = follower.ask("resources/subscribe", watched.clone()).await;
        assert_eq!(subscribed["result"], json!({}), "{era:?}");
        // A server before 2026-07-28 may have no stream yet to tell on: what changes right then
        // may be told to nobody.
        let changing = Arc::clone(&library);
        let changing = tokio::spawn(async move {
            loop {
                changing.tell("test://static-text");
                changing.tell("test://watched-resource");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        let told = follower.hear().await;
        let update = json!({
            "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": watched,
        });
        assert_eq!(told, update, "{era:?}");
        // The next that the other hears is the answer to its own request.
        other.say(json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" })).await;
        assert_eq!(other.hear().await["id"], 7, "{era:?}");
        changing.abort();
    }
}
