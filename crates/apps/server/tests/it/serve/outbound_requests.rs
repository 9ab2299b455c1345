//! What goes to others for a call is a span of its own, and it is the one that they are told.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::listener::{Heard, Listener, Said};
use super::support::Serving;
use super::traces::{PARENT, TRACE, call_with, echo, spans};
use crate::process::Folder;

const DOCUMENT: &str = r#"{
    "openapi": "3.1.0",
    "info": { "title": "a", "version": "1" },
    "paths": { "/look/{at}": { "get": {
        "operationId": "look",
        "parameters": [{ "name": "at", "in": "path", "required": true }],
        "responses": {}
    } } }
}"#;

/// The first answer of each is that it is not there for now.
fn once_away(answer: impl Fn(&Heard) -> Said) -> impl Fn(&Heard) -> Said {
    let count = AtomicUsize::new(0);
    move |heard| match count.fetch_add(1, Ordering::Relaxed) {
        0 => (503, "Retry-After: 0\r\n".to_owned(), String::new()),
        _ => answer(heard),
    }
}

/// Speaks MCP over HTTP, in the revision that asks first and in none else, or in that of before.
fn mcp(is_modern: bool) -> impl Fn(&Heard) -> Said {
    let tool = json!({
        "name": "meta",
        "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true },
    });
    let called = once_away(|_| {
        let content = json!([{ "type": "text", "text": "said" }]);
        (200, String::new(), json!({ "content": content }).to_string())
    });
    move |heard| {
        let lines = "Content-Type: application/json\r\n".to_owned();
        let asked: Value = serde_json::from_str(&heard.body).unwrap_or_default();
        let result = match asked["method"].as_str() {
            Some("server/discover") if is_modern => Some(json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "s", "version": "1" } },
            })),
            Some("initialize") if !is_modern => Some(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "s", "version": "1" },
            })),
            Some("tools/list") => Some(json!({ "tools": [tool] })),
            Some("tools/call") => match called(heard) {
                (200, _, text) => serde_json::from_str(&text).ok(),
                away => return away,
            },
            Some(method) if method.starts_with("notifications/") => {
                return (202, String::new(), String::new());
            }
            Some(_) => None,
            // Nobody streams here.
            None => return (405, String::new(), String::new()),
        };
        let mut reply = json!({ "jsonrpc": "2.0", "id": asked["id"] });
        match result {
            Some(mut result) => {
                if is_modern {
                    let besides = json!({
                        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                    });
                    result.as_object_mut().unwrap().extend(besides.as_object().unwrap().clone());
                }
                reply["result"] = result;
            }
            None => reply["error"] = json!({ "code": -32601, "message": "unknown method" }),
        }
        (200, lines, reply.to_string())
    }
}

/// The places that the calls of a listener came with, in their order.
fn places_of_calls(listener: &Listener) -> Vec<String> {
    let calls = listener.heard().into_iter().filter(|heard| heard.body.contains("tools/call"));
    let place =
        |heard: Heard| heard.json()["params"]["_meta"]["traceparent"].as_str().unwrap().to_owned();
    calls.map(place).collect()
}

fn attributes(span: &Value) -> BTreeMap<String, String> {
    let pairs = span["attributes"].as_array().unwrap().iter();
    let pair = |own: &Value| {
        let value = &own["value"];
        let value = value["stringValue"].as_str().or(value["intValue"].as_str());
        let value = value.unwrap_or_else(|| unreachable!("{own}"));
        (own["key"].as_str().unwrap().to_owned(), value.to_owned())
    };
    pairs.map(pair).collect()
}

/// The spans within another, the earliest first.
fn within<'a>(spans: &'a [Value], parent: &Value) -> Vec<&'a Value> {
    let begin = |span: &Value| span["startTimeUnixNano"].as_str().unwrap().parse::<u128>().unwrap();
    let mut found: Vec<_> =
        spans.iter().filter(|span| span["parentSpanId"] == parent["spanId"]).collect();
    found.sort_by_key(|span| begin(span));
    found
}

/// What went out for the call of a tool, after a look at all that stands above it.
fn outbound_requests<'a>(spans: &'a [Value], tool: &str) -> Vec<&'a Value> {
    let named = format!("execute_tool {tool}");
    let of_call: Vec<_> = spans.iter().filter(|span| span["name"] == named).collect();
    assert_eq!(of_call.len(), 1, "{named}: {spans:?}");
    let of_call = of_call[0];
    let request = spans.iter().find(|span| span["spanId"] == of_call["parentSpanId"]);
    let request = request.unwrap_or_else(|| unreachable!("{named}: {spans:?}"));
    let seen = |span: &Value| (span["name"].clone(), span["kind"].clone());
    assert_eq!(seen(request), (json!("POST /v1/calls"), json!(2)));
    assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    assert_eq!(seen(of_call), (json!(named), json!(1)));
    let outbound_requests = within(spans, of_call);
    for outbound in &outbound_requests {
        assert_eq!(
            (&outbound["kind"], &outbound["traceId"]),
            (&json!(3), &json!(TRACE)),
            "{outbound}"
        );
        assert_eq!(within(spans, outbound), Vec::<&Value>::new());
    }
    outbound_requests
}

/// Names, ends and notes of requests, and the places that they say they are.
fn said(outbound_requests: &[&Value]) -> Vec<(String, BTreeMap<String, String>)> {
    let one = |outbound: &&Value| {
        let failed = attributes(outbound).contains_key("error.type");
        let status = if failed { json!({ "code": 2 }) } else { json!({}) };
        assert_eq!(outbound["status"], status);
        (outbound["name"].as_str().unwrap().to_owned(), attributes(outbound))
    };
    outbound_requests.iter().map(one).collect()
}

fn places(outbound_requests: &[&Value]) -> Vec<String> {
    let place =
        |outbound: &&Value| format!("00-{TRACE}-{}-01", outbound["spanId"].as_str().unwrap());
    outbound_requests.iter().map(place).collect()
}

fn notes(name: &str, pairs: &[(&str, &str)]) -> (String, BTreeMap<String, String>) {
    let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    (name.to_owned(), pairs.iter().map(pair).collect())
}

/// Of two tries of an MCP server over HTTP, the first of which was turned away.
fn two_tries(
    (source, revision): (&str, &str),
    server: &Listener,
) -> [(String, BTreeMap<String, String>); 2] {
    let port = server.url.rsplit(':').next().unwrap();
    let mut known = vec![
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", revision),
        ("gen_ai.tool.name", "meta"),
        ("network.transport", "tcp"),
        ("network.protocol.name", "http"),
        ("server.address", "127.0.0.1"),
        ("server.port", port),
        ("toolcrib.source", source),
    ];
    let second = [&known[..], &[("toolcrib.attempt", "2")]].concat();
    known.extend([("toolcrib.attempt", "1"), ("error.type", "503")]);
    [notes("tools/call meta", &known), notes("tools/call meta", &second)]
}

fn serving((collector, far, old, api): (&Listener, &Listener, &Listener, &Listener)) -> Serving {
    let folder = Folder::new();
    folder.write("echo.py", &echo());
    folder.write("api.json", DOCUMENT);
    folder.write(
        "crib.toml",
        &format!(
            "[telemetry]\notlp = \"{}\"\n\
             [[source]]\nid = \"far\"\nmcp = {{ url = \"{}/mcp\" }}\n\
             [[source]]\nid = \"old\"\nmcp = {{ url = \"{}/mcp\" }}\n\
             [[source]]\nid = \"near\"\n\
             mcp = {{ command = [\"python3\", \"./echo.py\"], cwd = \".\" }}\n\
             [[source]]\nid = \"api\"\nopenapi = {{ document = \"api.json\", \
             private = [\"127.0.0.1\"], base_url = \"{}/base\", trace_context = true }}\n\
             [[source]]\nid = \"clock\"\nbasics = [\"time_now\"]\n\
             [[source]]\nid = \"desk\"\ndesk = {{ timezone = \"Europe/Zurich\" }}\n",
            collector.url, far.url, old.url, api.url
        ),
    );
    Serving::start_in(folder, &[])
}

#[test]
fn each_request_to_a_source_is_a_span_and_what_runs_in_the_process_is_none() {
    let fine = |_: &Heard| (200, "Content-Type: application/json\r\n".to_owned(), "{}".to_owned());
    let (collector, api) = (Listener::start(fine), Listener::start(once_away(fine)));
    let (far, old) = (Listener::start(mcp(true)), Listener::start(mcp(false)));
    let mut serving = serving((&collector, &far, &old, &api));
    let place = format!("traceparent: 00-{TRACE}-{PARENT}-01");
    let outcome = |tool: &str| {
        let arguments = if tool == "api__look" { json!({ "at": "canary" }) } else { json!({}) };
        let told = call_with(&serving, (tool, &arguments), &[&place]);
        assert_eq!(told["responses"][0]["outcome"], "done", "{tool}: {told}");
        told["responses"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    let near = outcome("near__meta");
    for tool in ["far__meta", "old__meta", "api__look", "clock__time_now", "desk__list_tasks"] {
        outcome(tool);
    }
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let spans = spans(&collector);
    assert!(!format!("{spans:?}").contains("canary"));
    for (source, revision, server) in [("far", "2026-07-28", &far), ("old", "2025-11-25", &old)] {
        let outbound_requests = outbound_requests(&spans, &format!("{source}__meta"));
        assert_eq!(said(&outbound_requests), two_tries((source, revision), server));
        assert_eq!(places(&outbound_requests), places_of_calls(server));
    }
    let of_near = outbound_requests(&spans, "near__meta");
    let known = [
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2025-11-25"),
        ("gen_ai.tool.name", "meta"),
        ("network.transport", "pipe"),
        ("toolcrib.source", "near"),
        ("toolcrib.attempt", "1"),
    ];
    assert_eq!(said(&of_near), [notes("tools/call meta", &known)]);
    assert!(near.contains(&places(&of_near)[0]), "{near}");
    let of_api = outbound_requests(&spans, "api__look");
    let port = api.url.rsplit(':').next().unwrap();
    let known = [
        ("http.request.method", "GET"),
        ("url.template", "/look/{at}"),
        ("server.address", "127.0.0.1"),
        ("server.port", port),
        ("toolcrib.source", "api"),
    ];
    let first = [
        &known[..],
        &[("toolcrib.attempt", "1"), ("http.response.status_code", "503"), ("error.type", "503")],
    ];
    let second = [&known[..], &[("toolcrib.attempt", "2"), ("http.response.status_code", "200")]];
    let both = [first.concat(), second.concat()];
    assert_eq!(said(&of_api), both.map(|pairs| notes("GET /look/{at}", &pairs)));
    let told: Vec<_> =
        api.heard().iter().map(|heard| heard.header("traceparent").unwrap().to_owned()).collect();
    assert_eq!(places(&of_api), told);
    for tool in ["clock__time_now", "desk__list_tasks"] {
        assert_eq!(outbound_requests(&spans, tool), Vec::<&Value>::new());
    }
}
