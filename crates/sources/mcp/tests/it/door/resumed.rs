//! A client of an older revision whose stream broke gets what it missed, and nothing twice.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;
use toolcrib_core::{CallContext, Content, Effect, Progress, ToolOutcome, Toolset, raw_tool};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{Oracle, ScriptedSource, spec};

use super::older_calls::{Inside, call, send_only};
use super::sessions::Ear;
use super::support::{door, serve};
use super::wire::{Reply, begin, send};

const CHANGED: &str = "notifications/tools/list_changed";

#[tokio::test]
async fn a_client_that_resumes_gets_the_events_behind_the_one_that_it_names() {
    let oracle = Oracle::default();
    let tools = |count: usize| {
        let names = ["alpha", "beta", "gamma", "delta"].into_iter().take(count);
        Toolset::of(names.map(|name| oracle.echo(name, Effect::Read))).unwrap()
    };
    let source = (1..=4).fold(ScriptedSource::default(), |source, count| {
        source.then(Duration::ZERO, Ok(tools(count)))
    });
    let crib = Crib::builder().source("far", source.clone()).build().await;
    let url = serve(&door(crib.clone(), &[], McpServerSettings::default())).await;
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    let change = async || {
        let changed = crib.changed();
        source.change();
        timeout(Duration::from_secs(20), changed).await.unwrap();
    };
    // Before the first event there is nothing to be behind.
    let mut ear = Ear::open_behind(&url, &session, "0").await;
    for id in ["1", "2"] {
        change().await;
        ear.hear(&format!("id: {id}\n")).await;
        ear.hear(CHANGED).await;
    }
    drop(ear);
    let mut ear = Ear::open_behind(&url, &session, "1").await;
    ear.hear("id: 2\n").await;
    assert_eq!(ear.1.matches("id: ").count(), 0);
    drop(ear);
    // With nothing missed, the next thing heard is the next thing that happens.
    let mut ear = Ear::open_behind(&url, &session, "2").await;
    change().await;
    ear.hear("id: ").await;
    ear.hear("\n").await;
    drop(ear);
    let mut ear = Ear::open_behind(&url, &session, "0").await;
    for id in ["1", "2", "3"] {
        ear.hear(&format!("id: {id}\n")).await;
        ear.hear(CHANGED).await;
    }
}

#[tokio::test]
async fn the_answer_to_a_request_whose_connection_broke_is_there_for_whoever_comes_back() {
    let inside = Inside::default();
    let go = Arc::new(Notify::new());
    let ready_to_go = Arc::clone(&go);
    let wait = raw_tool(spec("wait", Effect::Read), move |_, context: CallContext| {
        let go = Arc::clone(&ready_to_go);
        async move {
            context.progress(Progress { done: 1.0, total: None, message: None });
            go.notified().await;
            context.progress(Progress { done: 2.0, total: None, message: None });
            ToolOutcome::Done(Content::text("waited"))
        }
    });
    let quick = inside.tool("quick", 0, Duration::ZERO);
    let crib = Crib::builder().build_fixed(Toolset::of([wait, quick]).unwrap());
    let url = serve(&door(crib, &[], McpServerSettings::default())).await;
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    let mut wanted = call(7, "wait");
    wanted["params"]["_meta"] = json!({ "progressToken": "p" });
    let mut ear = Ear::at(send_only(&url, &session, &wanted).await);
    ear.hear("id: 0/").await;
    ear.hear("\n").await;
    ear.hear("id: ").await;
    ear.hear("\ndata: ").await;
    drop(ear);
    go.notify_one();
    let numbers = 1..20;
    let stream = numbers.map(async |number| {
        // What was not heard of it, and then its end. Another number names no stream.
        let behind = format!("1/{number}");
        let headers = [
            ("x-caller", "ann"),
            ("mcp-session-id", session.as_str()),
            ("accept", "text/event-stream"),
            ("last-event-id", behind.as_str()),
        ];
        send("GET", &url, &headers, "").await
    });
    let replies = timeout(Duration::from_secs(20), join_all(stream)).await.unwrap();
    let mut told: Vec<_> = replies.iter().map(Reply::messages).collect();
    told.retain(|messages| !messages.is_empty());
    let [told] = &told[..] else { panic!("of one stream something is told: {told:?}") };
    let [progress, answer] = &told[..] else { panic!("{told:?}") };
    assert_eq!(progress["params"]["progress"], 2.0);
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(7), &json!("waited"))
    );
    // Somebody else's is not there.
    let headers = [
        ("x-caller", "bob"),
        ("mcp-session-id", session.as_str()),
        ("accept", "text/event-stream"),
        ("last-event-id", "0/1"),
    ];
    assert_eq!(send("GET", &url, &headers, "").await.status, 404);
}
