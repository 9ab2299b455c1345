//! What a client sends beside its arguments stays here: no upstream gets a header of it.

use serde_json::{Value, json};

use super::support::{bearer, head};
use super::upstreams::{TOOLS, Upstreams, call};

const CANARY: &str = "canary5f1c9a7e";

/// Headers of a client, each with a canary of its own.
fn headers() -> Vec<String> {
    let names = [
        "Cookie",
        "Proxy-Authorization",
        "X-Api-Key",
        "X-Auth-Token",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-User",
        "Forwarded",
        "X-Real-Ip",
        "X-Remote-User",
        "X-Original-Url",
        "X-Mcp-Server",
        "X-Mcp-Route",
        "Last-Event-Id",
        "Baggage",
        "Tracestate",
        "User-Agent",
        "Referer",
        "From",
        "Via",
        "If-None-Match",
        "X-Http-Method-Override",
        "X-Anything",
    ];
    let line = |(number, name): (usize, &&str)| format!("{name}: k={CANARY}-{number}");
    names.iter().enumerate().map(line).collect()
}

#[test]
fn no_header_of_a_client_reaches_an_upstream() {
    let (upstreams, serving) = Upstreams::start();
    let headers = headers();
    for tool in TOOLS {
        let argument = json!({ "text": "an argument passes" });
        let called = call(&serving, &headers, json!({}), (tool, argument.clone()));
        assert!(called.status == 200, "{called:?}");
        for header in &headers {
            let alone = std::slice::from_ref(header);
            assert_eq!(call(&serving, alone, json!({}), (tool, argument.clone())).status, 200);
        }
        let calls = json!({ "calls": [{ "name": tool, "arguments": argument }] }).to_string();
        for accept in ["Accept: application/json", "Accept: text/event-stream"] {
            let own = [bearer(&serving.token), "Content-Type: application/json".to_owned()];
            let key = format!("Idempotency-Key: {CANARY}-{tool}-{}", accept.len());
            let lines: Vec<_> = own.iter().chain(&headers).map(String::as_str).collect();
            let lines = [lines.as_slice(), &[accept, &key]].concat();
            let answer = serving.send(&head("POST", "/v1/calls", &serving, &lines), &calls);
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
    let heard = upstreams.heard(&serving);
    assert_eq!(heard.matches("passes").count(), 3 * (1 + headers.len() + 2), "{heard}");
    assert!(!heard.contains(CANARY), "{heard}");
    assert!(!heard.contains(&serving.token[3..]), "the token of the client");
}

#[test]
fn no_word_of_a_client_beside_its_arguments_reaches_an_upstream() {
    let (upstreams, serving) = Upstreams::start();
    let metas: [Value; 4] = [
        json!({ "authorization": CANARY }),
        json!({ "example.com/session": { "token": CANARY } }),
        json!({ "baggage": format!("k={CANARY}") }),
        json!({ "io.modelcontextprotocol/canary": CANARY }),
    ];
    for tool in TOOLS {
        for meta in &metas {
            let called = call(&serving, &[], meta.clone(), (tool, json!({ "text": "passes" })));
            assert_eq!(called.status, 200, "{called:?}");
        }
        let mut hidden = json!({ "name": tool, "arguments": { "text": "passes" } });
        hidden["headers"] = json!({ "X-Api-Key": CANARY });
        hidden["_meta"] = json!({ "token": CANARY });
        serving.ask("POST", "/v1/calls", &json!({ "calls": [hidden] }).to_string());
    }
    let heard = upstreams.heard(&serving);
    assert!(heard.matches("passes").count() >= 3 * metas.len(), "{heard}");
    assert!(!heard.contains(CANARY), "{heard}");
}
