//! What a client of 2026-07-28 that listens is told: also what changes right after it hears that
//! it will be told.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use toolcrib_core::{
    BoxFuture, Caller, Effect, Intent, Policy, ToolSpec, Toolset, Verdict, WithResources,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{Oracle, ScriptedSource};

use super::shelves;
use super::support::open;

/// Allows all, after some thought.
struct Slow;

impl Policy for Slow {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async {
            sleep(Duration::from_millis(300)).await;
            Verdict::Allow
        })
    }
}

/// A stream of events, read as it comes.
struct Listening(BufReader<TcpStream>);

impl Listening {
    async fn to(url: &str, wanted: Value) -> Self {
        let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        });
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
            "params": { "_meta": meta, "notifications": wanted },
        });
        let body = body.to_string();
        let head = format!(
            "POST /{path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: subscriptions/listen\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        Self(BufReader::new(stream))
    }

    /// The method of the next message, and its parameters.
    async fn hear(&mut self) -> (String, Value) {
        let heard = timeout(Duration::from_secs(10), async {
            loop {
                let mut line = String::new();
                assert_ne!(self.0.read_line(&mut line).await.unwrap(), 0, "it hung up");
                let data = line.strip_prefix("data: ").unwrap_or_default();
                if let Ok(message) = serde_json::from_str::<Value>(data) {
                    return message;
                }
            }
        });
        let message = heard.await.unwrap();
        (message["method"].as_str().unwrap().to_owned(), message["params"].clone())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_changes_at_the_acknowledgement_is_told() {
    let library = Arc::new(shelves::library());
    let source = WithResources::new(super::fixtures::tools(), Arc::clone(&library) as _);
    let crib = Crib::builder().policy(Slow).source("fixtures", source).build().await;
    let url = open(crib, &[], McpServerSettings::default()).await;
    let watched = "test://watched-resource";
    let wanted = json!({ "resourceSubscriptions": [watched, "test://nowhere"] });
    let mut listening = Listening::to(&url, wanted).await;
    let (method, _) = listening.hear().await;
    assert_eq!(method, "notifications/subscriptions/acknowledged");
    library.tell("test://static-text");
    library.tell(watched);
    let (method, params) = listening.hear().await;
    assert_eq!(
        (method.as_str(), &params["uri"]),
        ("notifications/resources/updated", &json!(watched))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changes_at_the_acknowledgement_is_told() {
    let oracle = Oracle::default();
    let tools = |name: &str| Ok(Toolset::of([oracle.echo(name, Effect::Read)]).unwrap());
    for _ in 0..20 {
        let source = ScriptedSource::default()
            .then(Duration::ZERO, tools("alpha"))
            .then(Duration::ZERO, tools("beta"));
        let crib = Crib::builder().source("s", source.clone()).build().await;
        let url = open(crib, &[], McpServerSettings::default()).await;
        let mut listening = Listening::to(&url, json!({ "toolsListChanged": true })).await;
        let (method, _) = listening.hear().await;
        assert_eq!(method, "notifications/subscriptions/acknowledged");
        source.change();
        assert_eq!(listening.hear().await.0, "notifications/tools/list_changed");
    }
}
