//! The wire itself, of every revision: who gets in, what is listed, how a call is answered.

use serde_json::{Value, json};
use toolcrib_core::{Effect, Verdict};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{FixedPolicy, Oracle};

use super::support::open;
use super::wire::{NO_MESSAGES, begin, modern, old, send};

const TOOLS: [&str; 5] = ["alpha", "beta", "gamma", "secret", "zeta"];

/// Five tools, one of which does not exist for anybody.
fn crib(oracle: &Oracle) -> Crib {
    let tools = TOOLS.map(|name| oracle.echo(name, Effect::Read));
    let policy = FixedPolicy::default().with("secret", Verdict::Deny("no".to_owned()));
    Crib::builder().policy(policy).build_fixed(toolcrib_core::Toolset::of(tools).unwrap())
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_modern_client_discovers_lists_in_pages_and_calls() {
    let oracle = Oracle::default();
    let settings = McpServerSettings { page: 3, ..McpServerSettings::default() };
    let url = open(crib(&oracle), &[], settings).await;
    let hello = modern(&url, "ann", "server/discover", json!({}), json!({})).await.answer();
    let versions = json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(hello["result"]["supportedVersions"], versions, "{hello}");
    let first = modern(&url, "ann", "tools/list", json!({}), json!({})).await.answer();
    assert_eq!(names(&first), ["alpha", "beta", "gamma"]);
    let result = &first["result"];
    let said = json!([result["resultType"], result["ttlMs"], result["cacheScope"]]);
    assert_eq!(said, json!(["complete", 30_000, "private"]));
    let alpha = json!({
        "name": "alpha", "description": "Does alpha.",
        "inputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } },
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true },
    });
    assert_eq!(result["tools"][0], alpha);
    let next = json!({ "cursor": result["nextCursor"] });
    let second = modern(&url, "ann", "tools/list", next, json!({})).await.answer();
    assert_eq!(names(&second), ["zeta"]);
    assert_eq!(second["result"].get("nextCursor"), None);
    // A cursor that names what is not there, or what this caller may not know of, leads nowhere.
    for wrong in ["!", "c2VjcmV0", "bm9uZQ"] {
        let cursor = json!({ "cursor": wrong });
        let lost = modern(&url, "ann", "tools/list", cursor, json!({})).await.answer();
        assert_eq!(lost["error"]["code"], -32602, "{lost}");
    }
    let call = json!({ "name": "alpha", "arguments": { "n": 1 } });
    let reply = modern(&url, "ann", "tools/call", call, json!({})).await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let expected = json!({
        "resultType": "complete", "content": [{ "type": "text", "text": r#"{"n":1}"# }],
        "structuredContent": { "n": 1 }, "isError": false,
    });
    assert_eq!(reply.answer()["result"], expected);
}

#[tokio::test]
async fn a_client_of_each_older_revision_begins_a_session_and_calls() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let oracle = Oracle::default();
        let url = open(crib(&oracle), &[], McpServerSettings::default()).await;
        let session = begin(&url, "ann", revision, json!({})).await;
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let list = old(&url, "ann", Some(&session), list).await.answer();
        assert_eq!(names(&list), ["alpha", "beta", "gamma", "zeta"]);
        assert_eq!(list["result"].get("resultType"), None);
        let call = json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "beta", "arguments": { "n": "2" } },
        });
        let answer = old(&url, "ann", Some(&session), call).await.answer();
        let result = &answer["result"];
        assert_eq!(result["content"][0]["text"], r#"{"n":2}"#, "{answer}");
        // What was put right is told beside the content.
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{answer}");
        assert!(result["_meta"]["toolcrib/notes"][0].is_string(), "{answer}");
        let data = (revision != "2025-03-26").then(|| json!({ "n": 2 }));
        assert_eq!(result.get("structuredContent"), data.as_ref());
    }
}

#[tokio::test]
async fn what_is_denied_answers_as_what_is_not_there() {
    let oracle = Oracle::default();
    let url = open(crib(&oracle), &["zeta"], McpServerSettings::default()).await;
    let mut answers = Vec::new();
    for name in ["secret", "absent"] {
        let call = json!({ "name": name, "arguments": {} });
        let reply = modern(&url, "ann", "tools/call", call, json!({})).await;
        answers.push((reply.status, reply.answer().to_string().replace(name, "NAME")));
    }
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].1.contains("-32602"), "{answers:?}");
    let small = format!("{url}/small");
    let list = modern(&small, "ann", "tools/list", json!({}), json!({})).await.answer();
    assert_eq!(names(&list), ["alpha", "beta", "gamma"]);
    let call = json!({ "name": "zeta", "arguments": {} });
    let outside = modern(&small, "ann", "tools/call", call, json!({})).await.answer();
    assert_eq!(outside["error"]["code"], -32602);
    let elsewhere = format!("{url}/elsewhere");
    let reply = modern(&elsewhere, "ann", "tools/list", json!({}), json!({})).await;
    assert_eq!(reply.status, 404);
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn nobody_foreign_pages_and_foreign_names_stay_outside() {
    let oracle = Oracle::default();
    let url = open(crib(&oracle), &[], McpServerSettings::default()).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    for (header, status) in [
        (("x-caller", "nobody"), 401),
        (("host", "evil.example"), 403),
        (("origin", "http://evil.example"), 403),
        (("origin", "null"), 403),
        (("content-type", "text/plain"), 415),
    ] {
        let reply = send("POST", &url, &[header], &body).await;
        assert_eq!(reply.status, status, "{header:?}: {}", reply.body);
    }
    for method in ["GET", "DELETE"] {
        let modern = [("mcp-protocol-version", "2026-07-28"), ("accept", "text/event-stream")];
        let reply = send(method, &url, &modern, "").await;
        assert_eq!(reply.status, 405, "{method}: {}", reply.body);
    }
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_request_that_can_be_read_in_two_ways_runs_nothing() {
    let oracle = Oracle::default();
    let url = open(crib(&oracle), &[], McpServerSettings::default()).await;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let call = |name: &str| {
        let params = format!(r#"{{{name},"arguments":{{}},{meta}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    };
    let alpha = call(r#""name":"alpha""#);
    let deep = call(&format!(r#""x":{}{},"name":"alpha""#, "[".repeat(100), "]".repeat(100)));
    let named = |method: &'static str, name: &'static str| {
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method), ("mcp-name", name)]
    };
    let right = named("tools/call", "alpha");
    for (headers, body) in [
        (right, call(r#""name":"alpha","name":"beta""#)),
        (right, format!("[{alpha}]")),
        (right, format!("{alpha}{alpha}")),
        (right, "{".to_owned()),
        (right, deep),
        (named("tools/call", "beta"), alpha.clone()),
        (named("tools/list", "alpha"), alpha.clone()),
    ] {
        let reply = send("POST", &url, &headers, &body).await;
        assert_eq!(reply.status, 400, "{body}: {}", reply.body);
    }
    assert_eq!(oracle.runs(), []);
    assert_eq!(send("POST", &url, &right, &alpha).await.status, 200);
    let mut large = McpServerSettings::default();
    large.request.bytes = 100;
    let url = open(self::crib(&oracle), &[], large).await;
    assert_eq!(send("POST", &url, &right, &alpha).await.status, 413);
    assert_eq!(oracle.count("alpha"), 1);
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_not_taken_for_a_method_that_is_not_there() {
    let oracle = Oracle::default();
    let url = open(crib(&oracle), &[], McpServerSettings::default()).await;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let answer = async |method: &'static str, params: &str| {
        let headers =
            [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method), ("mcp-name", "alpha")];
        let params = format!("{{{params},{meta}}}");
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let reply = send("POST", &url, &headers, &body).await;
        let reply: Value = serde_json::from_str(&reply.body).unwrap();
        (reply["error"]["code"].clone(), reply["error"]["message"].clone())
    };
    let told = "the parameters of `tools/call` do not fit: `name` is a text, and `arguments` an \
                object or left out";
    for arguments in [r#""x""#, "[]", "7"] {
        let params = format!(r#""name":"alpha","arguments":{arguments}"#);
        assert_eq!(answer("tools/call", &params).await, (json!(-32602), json!(told)));
    }
    let (code, message) = answer("subscriptions/listen", r#""notifications":7"#).await;
    assert_eq!(code, -32602, "{message}");
    assert!(message.as_str().unwrap().contains("`notifications` is an object"), "{message}");
    // Of older clients alone.
    for method in ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(answer(method, r#""x":7"#).await, (json!(-32601), json!(method)));
    }
    let unknown = answer("tools/cull", r#""name":"alpha""#).await;
    assert_eq!(unknown, (json!(-32601), json!("tools/cull")));
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn parameters_of_an_older_client_that_do_not_fit_are_told_as_such() {
    let url = open(crib(&Oracle::default()), &[], McpServerSettings::default()).await;
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    for (method, params, told) in [
        ("logging/setLevel", json!({ "level": "loud" }), "`level` is"),
        ("logging/setLevel", json!({}), "`level` is"),
        ("resources/subscribe", json!({ "uri": 7 }), "`uri` is a text"),
        ("resources/unsubscribe", json!({}), "`uri` is a text"),
    ] {
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let error = old(&url, "ann", Some(&session), asked).await.answer()["error"].clone();
        assert_eq!(error["code"], -32602, "{method}: {error}");
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_told_apart_from_one_that_is_no_request() {
    let url = open(crib(&Oracle::default()), &[], McpServerSettings::default()).await;
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    let of_session = ("mcp-session-id", session.as_str());
    let modern = ("mcp-protocol-version", "2026-07-28");
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("\"\u{1}\"", -32700),
        ("7", -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"pong"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#, -32600),
    ]
    .into_iter()
    .chain(NO_MESSAGES.map(|body| (body, -32600)))
    {
        for header in [of_session, modern] {
            let reply = send("POST", &url, &[("x-caller", "ann"), header], body).await;
            assert_eq!((reply.status, &reply.answer()["error"]["code"]), (400, &json!(code)));
        }
    }
}

#[tokio::test]
async fn a_session_is_not_there_for_anybody_else() {
    let oracle = Oracle::default();
    let url = open(crib(&oracle), &[], McpServerSettings::default()).await;
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "beta", "arguments": {} },
    });
    let small = format!("{url}/small");
    for (url, caller) in [(&url, "bob"), (&small, "ann")] {
        assert_eq!(old(url, caller, Some(&session), call.clone()).await.status, 404);
        for method in ["GET", "DELETE"] {
            let headers = [
                ("x-caller", caller),
                ("mcp-session-id", session.as_str()),
                ("accept", "text/event-stream"),
            ];
            assert_eq!(send(method, url, &headers, "").await.status, 404, "{method} {caller}");
        }
    }
    assert_eq!(oracle.runs(), []);
    assert_eq!(old(&url, "ann", Some(&session), call).await.status, 200);
    assert_eq!(oracle.count("beta"), 1);
}
