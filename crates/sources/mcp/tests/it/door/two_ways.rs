//! A server over HTTP that speaks both ways, and offers more in the older one.

use std::sync::Arc;

use axum::routing::post;
use axum::{Json, Router};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use toolcrib_mcp::{McpServerSettings, McpSource};

use super::support::open;
use super::wire::{begin, modern, old};
use crate::over_http;
use crate::support::{crib, source};

/// Resources can be followed in the older way alone.
async fn answer(headers: HeaderMap, Json(message): Json<Value>) -> (StatusCode, Json<Value>) {
    let is_modern = headers.get("mcp-protocol-version").is_some_and(|said| said == "2026-07-28");
    let mut result = match (message["method"].as_str().unwrap(), is_modern) {
        ("server/discover", true) => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "resources": {}, "tools": {} },
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "two", "version": "1" } },
        }),
        ("initialize", _) => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "resources": { "subscribe": true }, "tools": {} },
            "serverInfo": { "name": "two", "version": "1" },
        }),
        ("resources/list", _) => json!({ "resources": [{ "uri": "test://a", "name": "a" }] }),
        ("resources/templates/list", _) => json!({ "resourceTemplates": [] }),
        ("tools/list", _) => json!({
            "tools": [{
                "name": "way", "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true },
            }],
        }),
        ("tools/call", _) => {
            let way = if is_modern { "newer" } else { "older" };
            json!({ "content": [{ "type": "text", "text": way }] })
        }
        ("resources/subscribe" | "resources/unsubscribe", false) => json!({}),
        _ if message["id"].is_null() => return (StatusCode::ACCEPTED, Json(Value::Null)),
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
            return (StatusCode::NOT_FOUND, Json(body));
        }
    };
    if is_modern {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    (StatusCode::OK, Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })))
}

/// Its server, and the address of a door before it.
async fn two_ways() -> (Arc<McpSource>, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let far = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = Router::new().route("/mcp", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let server = source(over_http::settings(&far));
    let url = open(crib(&server).await, &[], McpServerSettings::default()).await;
    assert_eq!(server.status().revision.as_deref(), Some("2026-07-28"));
    (server, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_called_in_the_older_way_for_older_clients_that_can_be_asked() {
    let (server, url) = two_ways().await;
    let params = json!({ "name": "way", "arguments": {} });
    for (can, way) in [
        (json!({}), "newer"),
        (json!({ "elicitation": {} }), "older"),
        (json!({ "sampling": {} }), "older"),
        (json!({ "roots": {} }), "older"),
    ] {
        let session = begin(&url, "ann", "2025-11-25", can.clone()).await;
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let answer = old(&url, "ann", Some(&session), asked).await.answer();
        assert_eq!(answer["result"]["content"][0]["text"], way, "{can}: {answer}");
        let answer = modern(&url, "ann", "tools/call", params.clone(), can.clone()).await.answer();
        assert_eq!(answer["result"]["content"][0]["text"], "newer", "{can}: {answer}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_is_followed_in_the_way_in_which_its_server_tells_of_changes() {
    let (server, url) = two_ways().await;
    let uri = json!({ "uri": "test://a" });
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": uri });
        let answer = old(&url, "ann", Some(&session), asked).await.answer();
        assert_eq!(answer["result"], json!({}), "{method}: {answer}");
    }
    // That the newer revision has no such methods is as it was.
    let answer = modern(&url, "ann", "resources/subscribe", uri, json!({})).await.answer();
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    server.stop().await;
}
