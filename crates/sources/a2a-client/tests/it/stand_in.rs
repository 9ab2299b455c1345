//! An agent over a real socket that answers as a test says, and remembers what it was asked.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "helpers of tests"
)]

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// `POST /rpc`.
    pub(crate) line: String,
    pub(crate) headers: HeaderMap,
    /// `null`, where there is none.
    pub(crate) body: Value,
}

impl Asked {
    /// The method of JSON-RPC, or the line.
    pub(crate) fn method(&self) -> String {
        self.body["method"].as_str().map_or_else(|| self.line.clone(), str::to_owned)
    }
}

#[derive(Clone)]
pub(crate) struct StandIn {
    pub(crate) base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl StandIn {
    /// `answer`: of a request, and the address of the stand-in.
    pub(crate) async fn start(
        answer: impl Fn(&Asked, &str) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (ears, here) = (Arc::clone(&asked), base.clone());
        let hear = move |method: Method, uri: Uri, headers: HeaderMap, body: Body| {
            let (ears, here, answer) = (Arc::clone(&ears), here.clone(), answer.clone());
            async move {
                let body = to_bytes(body, 1 << 24).await.unwrap();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let asked = Asked { line: format!("{method} {uri}"), headers, body };
                ears.lock().unwrap().push(asked.clone());
                answer(&asked, &here)
            }
        };
        let router = Router::new().fallback(hear);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// What was asked but for the card, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        let asked = self.asked();
        let calls = asked.iter().filter(|asked| !asked.line.contains("/.well-known/"));
        calls.map(Asked::method).collect()
    }
}

/// A card with one place, as 1.0 has it.
pub(crate) fn card(base: &str, streaming: bool) -> Value {
    json!({
        "name": "Stand-in", "description": "Stands in.", "version": "1",
        "capabilities": { "streaming": streaming },
        "supportedInterfaces": [
            { "url": format!("{base}/rpc"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
        ],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [],
    })
}

/// A task of 1.0.
pub(crate) fn task(state: &str, more: Value) -> Value {
    let mut task = json!({ "id": "t1", "contextId": "c1", "status": { "state": state } });
    for (name, value) in more.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

pub(crate) fn status(state: &str, words: &str) -> Value {
    json!({ "statusUpdate": { "taskId": "t1", "contextId": "c1", "status": {
        "state": state, "message": { "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": words }] },
    } } })
}

pub(crate) fn artifact(id: &str, text: &str, append: bool) -> Value {
    json!({ "artifactUpdate": { "taskId": "t1", "contextId": "c1", "append": append,
        "artifact": { "artifactId": id, "parts": [{ "text": text }] } } })
}

pub(crate) fn plain(value: &Value) -> Response {
    with(200, &[("content-type", "application/json")], value.to_string())
}

/// The answer of JSON-RPC with this result.
pub(crate) fn result(value: Value) -> Response {
    plain(&json!({ "jsonrpc": "2.0", "id": 1, "result": value }))
}

pub(crate) fn refusal(code: i64, message: &str) -> Response {
    plain(&json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": message } }))
}

pub(crate) fn with(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().unwrap();
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}

/// What a stream does when its events are over.
#[derive(Clone, Copy)]
pub(crate) enum StreamEnd {
    Close,
    /// The line breaks.
    Break,
    /// Nothing more comes, and the line stays.
    Hang,
}

/// A stream of results of JSON-RPC.
pub(crate) fn events(results: &[Value], end: StreamEnd) -> Response {
    let wrap = |result: &Value| json!({ "jsonrpc": "2.0", "id": 1, "result": result });
    let events: Vec<Value> = results.iter().map(wrap).collect();
    bare_events(&events, end)
}

/// A stream of these as they are.
pub(crate) fn bare_events(events: &[Value], end: StreamEnd) -> Response {
    let lines: Vec<Bytes> =
        events.iter().map(|event| Bytes::from(format!("data: {event}\n\n"))).collect();
    let lines = stream::iter(lines.into_iter().map(Ok::<_, std::io::Error>));
    let body = match end {
        StreamEnd::Close => Body::from_stream(lines),
        StreamEnd::Break => {
            let broken = stream::once(async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(std::io::Error::other("broken"))
            });
            Body::from_stream(lines.chain(broken))
        }
        StreamEnd::Hang => Body::from_stream(lines.chain(stream::pending())),
    };
    with(200, &[("content-type", "text/event-stream")], body)
}

/// The same bytes for ever.
pub(crate) fn endless(kind: &str, chunk: &str) -> Response {
    let chunk = Bytes::from(chunk.to_owned());
    let chunks = stream::repeat_with(move || Ok::<_, Infallible>(chunk.clone()));
    with(200, &[("content-type", kind)], Body::from_stream(chunks))
}
