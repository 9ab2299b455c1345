//! Sessions of older clients: what they keep, what they hear, and when they end.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use toolcrib_core::{Effect, Toolset};
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpServer, McpServerSettings};
use toolcrib_testkit::{Oracle, ScriptedSource};

use super::fixtures;
use super::support::{door, serve};
use super::wire::{begin, greet, old, send};
use crate::support::{crib, settings, source, until};

const OLD: &str = "2025-11-25";

async fn open(crib: Crib) -> (McpServer, String) {
    let door = door(crib, &[], McpServerSettings::default());
    let url = serve(&door).await;
    (door, url)
}

fn echoes(oracle: &Oracle, names: &[&str]) -> Toolset {
    Toolset::of(names.iter().map(|name| oracle.echo(name, Effect::Read))).unwrap()
}

/// A call with a field that nobody knows.
fn call(id: u32, name: &str) -> Value {
    let params = json!({ "name": name, "arguments": { "n": id }, "x-unknown": true });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// One without it.
fn plain(id: u32, name: &str) -> Value {
    let mut call = call(id, name);
    call["params"].as_object_mut().unwrap().remove("x-unknown");
    call
}

/// What a session hears on the stream on which it listens.
pub(super) struct Ear(TcpStream, pub(super) String);

impl Ear {
    /// What comes at a connection on which something was asked.
    pub(super) fn at(stream: TcpStream) -> Self {
        Self(stream, String::new())
    }

    async fn open(url: &str, session: &str) -> Self {
        Self::with(url, session, "").await
    }

    /// The same behind an event that it has heard.
    pub(super) async fn open_behind(url: &str, session: &str, event: &str) -> Self {
        Self::with(url, session, &format!("last-event-id: {event}\r\n")).await
    }

    async fn with(url: &str, session: &str, more: &str) -> Self {
        let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "GET /{path} HTTP/1.1\r\nhost: {address}\r\nx-caller: ann\r\n\
             mcp-session-id: {session}\r\naccept: text/event-stream\r\n{more}\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut ear = Self(stream, String::new());
        ear.hear("200 OK").await;
        ear
    }

    async fn read(&mut self) {
        let mut bytes = [0; 4096];
        let count = self.0.read(&mut bytes).await.unwrap();
        assert!(count > 0, "the stream ended behind {}", self.1);
        self.1.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }

    /// The next message that has this in it, and forgets all before.
    pub(super) async fn hear_message(&mut self, text: &str) -> Value {
        loop {
            self.hear("data: ").await;
            while !self.1.contains('\n') {
                self.read().await;
            }
            let line = self.1.lines().next().unwrap_or_default();
            if line.contains(text) {
                return serde_json::from_str(line).unwrap();
            }
        }
    }

    /// Waits until it has heard this, and forgets all before.
    pub(super) async fn hear(&mut self, text: &str) {
        let heard = async {
            loop {
                if let Some(at) = self.1.find(text) {
                    self.1.drain(..at + text.len());
                    return;
                }
                self.read().await;
            }
        };
        timeout(Duration::from_secs(20), heard)
            .await
            .unwrap_or_else(|_| panic!("not heard: {text}"));
    }
}

#[tokio::test]
async fn a_session_answers_its_own_caller_until_it_is_ended() {
    let oracle = Oracle::default();
    let (door, url) = open(Crib::builder().build_fixed(echoes(&oracle, &["alpha"]))).await;
    let session = begin(&url, "ann", OLD, json!({})).await;
    for (id, call) in [(1, call(1, "alpha")), (2, plain(2, "alpha"))] {
        let reply = old(&url, "ann", Some(&session), call).await;
        assert_eq!(reply.header("content-type"), Some("application/json"), "{}", reply.body);
        let answer = reply.answer();
        assert_eq!(
            (&answer["id"], &answer["result"]["structuredContent"]),
            (&json!(id), &json!({ "n": id }))
        );
    }
    // Several requests may come at the same time.
    let calls = (11..15).map(|id| old(&url, "ann", Some(&session), call(id, "alpha")));
    for (id, reply) in (11..15).zip(futures_util::future::join_all(calls).await) {
        assert_eq!(reply.answer()["result"]["structuredContent"], json!({ "n": id }));
    }
    assert_eq!(old(&url, "bob", Some(&session), call(20, "alpha")).await.status, 404);
    let before = door.sessions();
    let named = [("x-caller", "ann"), ("mcp-session-id", session.as_str())];
    assert_eq!(send("DELETE", &url, &named, "").await.status, 204);
    assert_eq!(door.sessions(), before - 1);
    for call in [call(21, "alpha"), plain(21, "alpha")] {
        assert_eq!(old(&url, "ann", Some(&session), call).await.status, 404);
    }
    assert_eq!(oracle.count("alpha"), 6);
}

#[tokio::test]
async fn what_changed_while_nobody_listened_is_told_once_when_somebody_does() {
    let oracle = Oracle::default();
    let source = ScriptedSource::default()
        .then(Duration::ZERO, Ok(echoes(&oracle, &["alpha"])))
        .then(Duration::ZERO, Ok(echoes(&oracle, &["alpha", "beta"])))
        .then(Duration::ZERO, Ok(echoes(&oracle, &["beta"])))
        .then(Duration::ZERO, Ok(echoes(&oracle, &["alpha", "beta"])));
    let crib = Crib::builder().source("far", source.clone()).build().await;
    let (_door, url) = open(crib.clone()).await;
    let session = begin(&url, "ann", OLD, json!({})).await;
    let change = async || {
        let changed = crib.changed();
        source.change();
        timeout(Duration::from_secs(20), changed).await.unwrap();
    };
    const CHANGED: &str = "notifications/tools/list_changed";
    for _ in 0..2 {
        change().await;
        let answer = old(&url, "ann", Some(&session), call(1, "beta")).await.answer();
        assert_eq!(answer["result"]["structuredContent"], json!({ "n": 1 }), "{answer}");
        let mut ear = Ear::open(&url, &session).await;
        ear.hear(CHANGED).await;
        drop(ear);
    }
    // Of two that listen one is told, and the other one when that has gone.
    let mut first = Ear::open(&url, &session).await;
    let mut second = Ear::open(&url, &session).await;
    change().await;
    first.hear(CHANGED).await;
    assert!(!second.1.contains(CHANGED));
    drop(first);
    // What it does not hear of it asks for.
    second.hear("id: ").await;
}

#[tokio::test]
async fn a_session_keeps_its_level() {
    let crib = Crib::builder().build_fixed(fixtures::tools());
    let (_door, url) = open(crib).await;
    let session = begin(&url, "ann", OLD, json!({})).await;
    let level = |level: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": level } });
    let mut heard = Vec::new();
    for wanted in ["error", "debug"] {
        old(&url, "ann", Some(&session), level(wanted)).await.answer();
        // On the stream of the call that they are about.
        let reply = old(&url, "ann", Some(&session), call(2, "test_logging_tool")).await;
        heard.push(reply.body.contains("notifications/message"));
    }
    assert_eq!(heard, [false, true]);
}

#[tokio::test]
async fn a_session_hears_lines_of_no_call_while_it_listens() {
    let crib = crib(&source(settings(&["legacy", "prompts"]))).await;
    until("it is known what the server is", || crib.sole().is_some()).await;
    let (_door, url) = open(crib).await;
    let session = begin(&url, "ann", OLD, json!({})).await;
    let level = json!({ "level": "debug" });
    let level = json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": level });
    old(&url, "ann", Some(&session), level).await.answer();
    let late = |nonce: u32| {
        let mut call = call(nonce, "log");
        call["params"]["arguments"] = json!({ "nonce": nonce, "late": true });
        call
    };
    old(&url, "ann", Some(&session), late(1)).await.answer();
    let mut ear = Ear::open(&url, &session).await;
    old(&url, "ann", Some(&session), late(2)).await.answer();
    ear.hear("notifications/message").await;
    ear.hear(r#""nonce":2"#).await;
}

#[tokio::test]
async fn a_session_lives_while_somebody_calls_or_listens_and_not_much_longer() {
    let life = Duration::from_secs(2);
    let oracle = Oracle::default();
    let crib = Crib::builder().build_fixed(echoes(&oracle, &["alpha"]));
    let settings = McpServerSettings { session_life: life, ..McpServerSettings::default() };
    let door = door(crib, &[], settings);
    let url = serve(&door).await;
    let [calls, listens, quiet] = [(); 3].map(|()| begin(&url, "ann", OLD, json!({})));
    let (calls, listens, _quiet) = tokio::join!(calls, listens, quiet);
    let ear = Ear::open(&url, &listens).await;
    greet(&url, "ann", OLD, json!({})).await.answer();
    assert_eq!(door.sessions(), 4);
    for id in 1..=20 {
        tokio::time::sleep(life / 8).await;
        let reply = old(&url, "ann", Some(&calls), plain(id, "alpha")).await;
        assert_eq!(reply.status, 200, "call {id}: {}", reply.body);
    }
    // The one that was quiet and the one that was never ready are gone.
    assert_eq!(door.sessions(), 2);
    let reply = old(&url, "ann", Some(&listens), plain(30, "alpha")).await;
    assert_eq!((reply.status, oracle.count("alpha")), (200, 21), "{}", reply.body);
    drop(ear);
    let ended = async {
        while door.sessions() > 0 {
            tokio::time::sleep(life / 8).await;
        }
    };
    timeout(10 * life, ended).await.unwrap_or_else(|_| panic!("{} stay", door.sessions()));
    for session in [calls, listens] {
        assert_eq!(old(&url, "ann", Some(&session), plain(31, "alpha")).await.status, 404);
    }
}

#[tokio::test]
async fn a_session_ends_at_its_age_though_it_is_used_and_its_last_call_is_answered() {
    let longest = Duration::from_secs(3);
    let oracle = Oracle::default();
    let slow = oracle.tool(
        toolcrib_testkit::spec("slow", Effect::Read),
        toolcrib_testkit::Behaviour::Sleep(2 * longest),
    );
    let tools = Toolset::of([oracle.echo("alpha", Effect::Read), slow]).unwrap();
    let crib = Crib::builder().policy(toolcrib_core::AllowAll).build_fixed(tools);
    let settings = McpServerSettings { longest_session: longest, ..McpServerSettings::default() };
    let door = door(crib, &[], settings);
    let url = serve(&door).await;
    let begun = tokio::time::Instant::now();
    let (used, working) =
        tokio::join!(begin(&url, "ann", OLD, json!({})), begin(&url, "ann", OLD, json!({})));
    let slow_call = old(&url, "ann", Some(&working), plain(1, "slow"));
    let until_refused = async {
        for id in 1.. {
            if old(&url, "ann", Some(&used), plain(id, "alpha")).await.status == 404 {
                break;
            }
            tokio::time::sleep(longest / 12).await;
        }
        begun.elapsed()
    };
    let (answered, lived) = tokio::join!(slow_call, timeout(20 * longest, until_refused));
    assert_eq!(answered.status, 200, "{}", answered.body);
    assert!(lived.is_ok_and(|lived| lived >= longest), "it ended before its time, or never");
    let ended = async {
        while door.sessions() > 0 {
            tokio::time::sleep(longest / 12).await;
        }
    };
    timeout(20 * longest, ended).await.unwrap_or_else(|_| panic!("{} stay", door.sessions()));
}
