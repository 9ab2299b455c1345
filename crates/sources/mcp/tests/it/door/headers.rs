//! Arguments that a tool of the only server behind a door wants repeated in headers.

use serde_json::{Value, json};
use toolcrib_mcp::McpServerSettings;

use super::support::open;
use super::wire::{Reply, begin, modern, old, send};
use crate::lists::List;
use crate::support::{crib, settings, source};

fn input() -> Value {
    json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" }, "n": { "type": "integer" },
    } })
}

async fn call(url: &str, arguments: &Value, headers: &[(&str, &str)]) -> Reply {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    let params = json!({ "name": "echo", "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let own = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
    ];
    let headers: Vec<_> = own.into_iter().chain(headers.iter().copied()).collect();
    send("POST", url, &headers, &body.to_string()).await
}

#[tokio::test]
async fn headers_that_do_not_repeat_what_a_call_says_are_refused() {
    let list = List::new("headers", &json!([{ "name": "echo", "inputSchema": input() }]));
    let server = source(settings(&["modern", &list.option()]));
    let url = open(crib(&server).await, &[], McpServerSettings::default()).await;
    let listed = modern(&url, "ann", "tools/list", json!({}), json!({})).await.answer();
    assert_eq!(listed["result"]["tools"][0]["inputSchema"], input());
    let (eu, far) = (json!({ "region": "eu" }), json!({ "region": "Zürich" }));
    let none = json!({ "n": 1 });
    let header = |value| [("mcp-param-region", value)];
    for (arguments, headers) in [
        (&eu, &header("eu")[..]),
        (&eu, &header("=?base64?ZXU=?=")),
        (&far, &header("=?base64?WsO8cmljaA==?=")),
        (&none, &[]),
        (&none, &[("mcp-param-other", "eu")]),
    ] {
        let reply = call(&url, arguments, headers).await;
        let text = &reply.answer()["result"]["content"][0]["text"];
        assert_eq!(text, &json!(arguments.to_string()), "{headers:?}: {}", reply.body);
    }
    for (arguments, headers) in [
        (&eu, &[][..]),
        (&eu, &header("us")),
        (&eu, &header("EU")),
        (&eu, &header("=?base64?ZXU?=")),
        (&eu, &header("=?base64?Z!U=?=")),
        (&eu, &[("mcp-param-region", "eu"), ("mcp-param-region", "eu")]),
        (&none, &header("eu")),
    ] {
        let reply = call(&url, arguments, headers).await;
        let code = reply.answer()["error"]["code"].clone();
        assert_eq!((reply.status, code), (400, json!(-32020)), "{headers:?}: {}", reply.body);
    }
    // The revisions before know of no such headers.
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    let params = json!({ "name": "echo", "arguments": eu });
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = old(&url, "ann", Some(&session), asked).await.answer();
    assert_eq!(answer["result"]["content"][0]["text"], eu.to_string());
}
