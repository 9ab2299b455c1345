//! Ids of requests of one session: of two under one, whose answer is it?

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::response::Parts;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use toolcrib_core::{Caller, Content, Effect, Tool, ToolOutcome, Toolset, raw_tool};
use toolcrib_engine::Crib;
use toolcrib_mcp::{AuthenticatedCaller, McpHttpHandler, McpServer, McpServerSettings};
use toolcrib_testkit::spec;

use super::older_calls::{Inside, LONG, call, message, odd, ready, send_only};
use super::support::{self, serve};
use super::wire::old;

async fn door(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> (McpServer, String) {
    let crib = Crib::builder().build_fixed(Toolset::of(tools).unwrap());
    let door = support::door(crib, &[], McpServerSettings::default());
    let url = serve(&door).await;
    (door, url)
}

#[tokio::test]
async fn a_request_under_the_id_of_another_one_of_its_session_is_refused_until_that_is_answered() {
    let inside = Inside::default();
    let go = Arc::new(Notify::new());
    let ready_to_go = Arc::clone(&go);
    let wait = raw_tool(spec("wait", Effect::Read), move |_, _| {
        let go = Arc::clone(&ready_to_go);
        async move {
            go.notified().await;
            ToolOutcome::Done(Content::text("waited"))
        }
    });
    let (_door, url) = door([wait, inside.tool("quick", 0, Duration::ZERO)]).await;
    let session = ready(&url, "2025-11-25").await;
    let ask = |message: Value| old(&url, "ann", Some(&session), message);
    // Before the call has a stream, and when it has one; with a field that is unknown.
    for (pause, first) in [(0, call(7, "wait")), (300, call(7, "wait")), (0, odd(call(7, "wait")))]
    {
        let before = inside.counts()[0];
        let asking = async {
            sleep(Duration::from_millis(20 + pause)).await;
            for again in [call(7, "quick"), odd(call(7, "quick")), message(7, "ping", &json!({}))] {
                let refused = ask(again).await;
                assert_eq!(refused.status, 400, "{}", refused.body);
                let refused = refused.answer();
                assert_eq!(
                    (&refused["id"], &refused["error"]["code"]),
                    (&json!(7), &json!(-32600))
                );
                let told = refused["error"]["message"].as_str().unwrap();
                assert!(told.contains("has no answer yet"), "{told}");
            }
            assert_eq!(inside.counts()[0], before);
            // Another id is free, and a text is another one than a number; so is another session.
            let mut named = call(0, "quick");
            named["id"] = json!("7");
            assert_eq!(ask(named).await.answer()["id"], "7");
            let other = ready(&url, "2025-11-25").await;
            let elsewhere = old(&url, "ann", Some(&other), call(7, "quick")).await.answer();
            assert_eq!(elsewhere["result"]["isError"], false);
            go.notify_one();
        };
        let (answered, ()) =
            timeout(LONG, async { tokio::join!(ask(first), asking) }).await.unwrap();
        let answer = answered.answer();
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(7), &json!("waited"))
        );
        for again in [call(7, "quick"), odd(call(7, "quick"))] {
            assert_eq!(ask(again).await.answer()["result"]["isError"], false);
        }
    }
}

#[tokio::test]
async fn the_id_of_a_request_that_was_cancelled_and_may_still_end_stays_taken() {
    let inside = Inside::default();
    let quick = inside.tool("quick", 0, Duration::ZERO);
    let (_door, url) = door([inside.tool("slow", 0, 10 * LONG), quick]).await;
    let session = ready(&url, "2025-11-25").await;
    let ask = async |message: Value| old(&url, "ann", Some(&session), message).await;
    let _calling = send_only(&url, &session, &odd(call(5, "slow"))).await;
    inside.until([1, 0, 0]).await;
    let mut cancel = message(0, "notifications/cancelled", &json!({ "requestId": 5 }));
    cancel.as_object_mut().unwrap().remove("id");
    assert_eq!(ask(cancel).await.status, 202);
    inside.until([1, 0, 1]).await;
    for again in [call(5, "quick"), odd(call(5, "quick")), message(5, "ping", &json!({}))] {
        let refused = ask(again).await;
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert_eq!(refused.answer()["error"]["code"], -32600);
    }
    assert_eq!(ask(call(6, "quick")).await.answer()["result"]["isError"], false);
    assert_eq!(inside.counts(), [2, 1, 2]);
}

/// Polls it so often, with time for the others between, and then no more.
async fn polled<T>(often: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..often {
        if let Poll::Ready(ended) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(ended);
        }
        tokio::task::yield_now().await;
    }
    None
}

/// A client that asks without a connection of its own.
struct Client {
    http_handler: McpHttpHandler,
    host: String,
    session: Option<String>,
}

impl Client {
    async fn begin(door: &McpServer, url: &str) -> Self {
        let host = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        let mut client = Self { http_handler: door.http_handler(), host, session: None };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        });
        let greeted = client.ask(message(0, "initialize", &hello)).await;
        let session = greeted.headers.get("mcp-session-id").unwrap();
        client.session = Some(session.to_str().unwrap().to_owned());
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.ask(ready).await.status, 202);
        client
    }

    /// The head of an answer that was read whole.
    async fn ask(&self, message: Value) -> Parts {
        let mut request = http::Request::post("/mcp")
            .header("host", &self.host)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let caller = Arc::new(Caller::new("house", "ann"));
        let guest = AuthenticatedCaller { caller, profile: None, trace: None, trace_state: None };
        let request = request.body(Bytes::from(message.to_string())).unwrap();
        let (head, body) = self.http_handler.answer(guest, request).await.into_parts();
        axum::body::to_bytes(body, usize::MAX).await.unwrap();
        head
    }
}

#[tokio::test]
async fn a_client_that_goes_away_at_any_moment_leaves_its_id_free_and_its_session_whole() {
    // It takes a few turns, so that a client can go away in the middle of it.
    let turns = raw_tool(spec("turns", Effect::Read), |_, _| async {
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
        ToolOutcome::Done(Content::text("Done."))
    });
    let (door, url) = door([turns]).await;
    let turn = || call(7, "turns");
    let client = Client::begin(&door, &url).await;
    let mut went = 0;
    for often in 1..40 {
        went += u32::from(polled(often, client.ask(turn())).await.is_none());
        // What had begun is answered soon.
        let free = async {
            while client.ask(turn()).await.status == 400 {
                sleep(Duration::from_millis(2)).await;
            }
        };
        let free = timeout(LONG, free).await;
        free.unwrap_or_else(|_| panic!("after {often} polls 7 is taken for ever"));
        assert_eq!(client.ask(turn()).await.status, 200, "{often}");
    }
    assert!((1..30).contains(&went), "{went}");
}
