//! A server of the first revision over HTTP: a stream of events and an address beside it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::routing::{get, post};
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use toolcrib_core::Source;

use crate::over_http::settings;
use crate::support::{crib, run, source};

#[derive(Clone)]
struct Oldest {
    endpoint: &'static str,
    streams: Arc<Mutex<Vec<UnboundedSender<Value>>>>,
}

async fn open(State(server): State<Oldest>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sender, receiver) = unbounded_channel();
    server.streams.lock().unwrap().push(sender);
    let endpoint = Event::default().event("endpoint").data(server.endpoint);
    let messages = stream::unfold(receiver, |mut receiver| async {
        let message = receiver.recv().await?;
        Some((Event::default().event("message").data(message.to_string()), receiver))
    });
    Sse::new(stream::once(async { endpoint }).chain(messages).map(Ok))
}

async fn take(State(server): State<Oldest>, Json(message): Json<Value>) -> StatusCode {
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
            "serverInfo": {"name": "oldest", "version": "0"},
        }),
        Some("tools/list") => {
            json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        }
        Some("tools/call") => json!({
            "content": [{"type": "text", "text": message["params"]["arguments"].to_string()}],
        }),
        _ => return StatusCode::ACCEPTED,
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    for stream in server.streams.lock().unwrap().iter() {
        let _ = stream.send(answer.clone());
    }
    StatusCode::ACCEPTED
}

async fn serve(endpoint: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Oldest { endpoint, streams: Arc::default() };
    let router = axum::Router::new()
        .route("/sse", get(open))
        .route("/messages", post(take))
        .with_state(server);
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/sse")
}

#[tokio::test]
async fn a_server_of_the_first_revision_over_http_is_reached() {
    let source = source(settings(&serve("/messages").await));
    let crib = crib(&source).await;
    for n in 0..3 {
        assert_eq!(run(&crib, "echo", json!({ "n": n })).await.text(), format!(r#"{{"n":{n}}}"#));
    }
    let status = source.status();
    assert_eq!(status.revision.as_deref(), Some("2024-11-05"));
    assert_eq!(status.server.as_deref(), Some("oldest"));
}

#[tokio::test]
async fn our_token_goes_to_no_address_of_another_server() {
    let source = source(settings(&serve("http://127.0.0.1:9/messages").await));
    let error = source.load().await.err().unwrap().to_string();
    assert!(error.contains("none of its own"), "{error}");
}

/// Answers all but the greeting of the new era, which it leaves without an answer.
async fn taciturn(Json(message): Json<Value>) -> axum::response::Response {
    use axum::response::IntoResponse as _;
    let result = match message["method"].as_str() {
        Some("server/discover") => std::future::pending().await,
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "taciturn", "version": "0"},
        }),
        Some("tools/list") => json!({"tools": [{"name": "x", "inputSchema": {"type": "object"}}]}),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into_response()
}

#[tokio::test]
async fn an_old_server_that_leaves_the_new_greeting_unanswered_is_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/mcp", post(taciturn));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let source = source(settings(&url));
    assert_eq!(source.load().await.unwrap().len(), 1);
    assert_eq!(source.status().revision.as_deref(), Some("2025-06-18"));
}
