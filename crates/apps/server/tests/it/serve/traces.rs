//! Traces and figures at a collector, and the place of a call in a trace on its way.

use serde_json::{Value, json};

use super::listener::{Heard, Listener, Said};
use super::script::{says, server, tool};
use super::support::{Serving, bearer, eventually, head};
use crate::process::{Folder, Piped};

/// A server whose one tool says what came beside its arguments.
pub(super) fn echo() -> String {
    let tools = format!("[{}]", tool("meta", "\"readOnlyHint\": True"));
    server("", &tools, &says("json.dumps(asked['params'].get('_meta', {}))"))
}

pub(super) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub(super) const PARENT: &str = "00f067aa0ba902b7";

fn document(url: &str) -> String {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "a", "version": "1" },
        "servers": [{ "url": url }],
        "paths": { "/look": { "get": { "operationId": "look", "responses": {} } } },
    })
    .to_string()
}

fn fine(_: &Heard) -> Said {
    (200, "Content-Type: application/json\r\n".to_owned(), "{}".to_owned())
}

/// A server with two APIs, one of which may know of traces, and a child.
fn serving(api: &Listener, telemetry: &str) -> Serving {
    let folder = Folder::new();
    folder.write("echo.py", &echo());
    folder.write("api.json", &document(&api.url));
    let api = |id: &str, more: &str| {
        format!(
            "[[source]]\nid = \"{id}\"\nopenapi = {{ document = \"api.json\", \
             private = [\"127.0.0.1\"], base_url = \"{}\"{more} }}\n",
            api.url
        )
    };
    let file = format!(
        "{telemetry}\n[[source]]\nid = \"e\"\n\
         mcp = {{ command = [\"python3\", \"./echo.py\"], cwd = \".\" }}\n{}{}",
        api("told", ", trace_context = true"),
        api("untold", "")
    );
    folder.write("crib.toml", &file);
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`e`: 1 tools");
    serving
}

fn call(serving: &Serving, name: &str, more: &[&str]) -> Value {
    call_with(serving, (name, &json!({})), more)
}

pub(super) fn call_with(
    serving: &Serving,
    (name, arguments): (&str, &Value),
    more: &[&str],
) -> Value {
    let token = bearer(&serving.token);
    let lines = [more, &[token.as_str(), "Content-Type: application/json"]].concat();
    let body = json!({ "calls": [{ "name": name, "arguments": arguments }] }).to_string();
    serving.send(&head("POST", "/v1/calls", serving, &lines), &body).json()
}

/// All spans that a collector was sent.
pub(super) fn spans(collector: &Listener) -> Vec<Value> {
    let messages = collector.heard();
    let traces = messages.iter().filter(|heard| heard.path == "/v1/traces");
    let of = |message: Value| {
        message["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    };
    traces.flat_map(|heard| of(heard.json())).collect()
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let found = span["attributes"].as_array().unwrap().iter().find(|own| own["key"] == key);
    found.map_or(&Value::Null, |own| &own["value"])
}

/// The last figures of a collector.
fn figures_are_good(messages: &[Heard]) {
    let figures = messages.iter().rev().find(|heard| heard.path == "/v1/metrics").unwrap().json();
    let figures = &figures["resourceMetrics"][0];
    let service = json!({ "key": "service.name", "value": { "stringValue": "t" } });
    assert_eq!(figures["resource"]["attributes"][0], service);
    let metrics = figures["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let metric = |name: &str| metrics.iter().find(|own| own["name"] == name).unwrap();
    assert_eq!(metric("toolcrib.calls")["sum"]["isMonotonic"], true);
    let spread = &metric("toolcrib.call.duration")["histogram"]["dataPoints"][0];
    let (buckets, bounds) = (&spread["bucketCounts"], &spread["explicitBounds"]);
    assert_eq!(buckets.as_array().unwrap().len(), bounds.as_array().unwrap().len() + 1);
}

#[test]
fn a_call_is_a_span_between_its_client_and_its_server() {
    let collector = Listener::start(fine);
    let api = Listener::start(fine);
    let telemetry = format!(
        "[telemetry]\notlp = \"{}\"\ninterval = \"1s\"\nservice = \"t\"\n\
         headers = {{ X-Collector = \"plain\" }}\n",
        collector.url
    );
    let mut serving = serving(&api, &telemetry);
    let traceparent = format!("traceparent: 00-{TRACE}-{PARENT}-01");
    let state = ["tracestate: a=1", "tracestate: b=2"];
    let more = [traceparent.as_str(), state[0], state[1], "baggage: b=canary"];
    let told = call(&serving, "e__meta", &more);
    let text = told["responses"][0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("\"00-{TRACE}-")), "{text}");
    assert!(!text.contains(PARENT) && !text.contains("canary"), "{text}");
    assert!(text.contains("\"tracestate\": \"a=1,b=2\""), "{text}");
    call(&serving, "told__look", &more);
    call(&serving, "untold__look", &more);
    call(&serving, "nothing", &[]);
    let heads = api.heard();
    assert_eq!(heads.len(), 2, "{heads:?}");
    let passed = heads[0].header("traceparent").unwrap();
    assert!(passed.starts_with(&format!("00-{TRACE}-")) && !passed.contains(PARENT), "{passed}");
    assert_eq!(heads[0].header("tracestate"), Some("a=1,b=2"));
    assert_eq!(["traceparent", "tracestate"].map(|name| heads[1].header(name)), [None, None]);
    assert!(!format!("{heads:?}").contains("canary"));
    // What a client does not want recorded is not.
    call(&serving, "e__meta", &[&format!("traceparent: 00-{}-{PARENT}-00", "1".repeat(32))]);
    assert!(eventually(|| collector.heard().iter().any(|heard| heard.path == "/v1/metrics")));
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let spans = spans(&collector);
    let named =
        |name: &str| -> Vec<&Value> { spans.iter().filter(|span| span["name"] == name).collect() };
    let (tool, unknown) = (named("execute_tool e__meta"), named("execute_tool"));
    assert_eq!((tool.len(), unknown.len()), (1, 1), "{spans:?}");
    let tool = tool[0];
    assert_eq!((&tool["traceId"], &tool["kind"]), (&json!(TRACE), &json!(1)));
    let outbound = spans.iter().find(|span| span["parentSpanId"] == tool["spanId"]).unwrap();
    assert_eq!((&outbound["name"], &outbound["kind"]), (&json!("tools/call meta"), &json!(3)));
    assert!(text.contains(outbound["spanId"].as_str().unwrap()), "{text} {outbound}");
    let text = |key: &str| attribute(tool, key)["stringValue"].clone();
    assert_eq!(text("gen_ai.operation.name"), "execute_tool");
    assert_eq!(text("gen_ai.tool.name"), "e__meta");
    assert_eq!(text("toolcrib.outcome"), "done");
    assert_eq!(attribute(unknown[0], "error.type")["stringValue"], "unknown_tool");
    let requests = named("POST /v1/calls");
    let parent = requests.iter().find(|span| span["spanId"] == tool["parentSpanId"]);
    let parent = parent.unwrap();
    assert_eq!((&parent["parentSpanId"], &parent["kind"]), (&json!(PARENT), &json!(2)));
    assert!(spans.iter().all(|span| span["traceId"] != "1".repeat(32)));
    let messages = collector.heard();
    assert!(messages.iter().all(|heard| heard.header("x-collector") == Some("plain")));
    figures_are_good(&messages);
}

#[test]
fn a_call_has_the_name_that_its_model_gave_it_and_no_other() {
    let collector = Listener::start(fine);
    let api = Listener::start(fine);
    let mut serving = serving(&api, &format!("[telemetry]\notlp = \"{}\"\n", collector.url));
    let named = json!({ "id": "of_the_model", "name": "e__meta", "arguments": {} });
    serving.call(&json!({ "calls": [named, { "name": "nothing" }] }));
    over_mcp(&serving);
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let spans = spans(&collector);
    let is_call = |span: &&Value| span["name"].as_str().unwrap().starts_with("execute_tool");
    let calls: Vec<_> = spans.iter().filter(is_call).collect();
    let texts = |key: &str| -> Vec<_> {
        let all = calls.iter().map(|span| &attribute(span, key)["stringValue"]);
        all.filter(|text| text.is_string()).collect()
    };
    assert_eq!(texts("gen_ai.tool.call.id"), ["of_the_model"]);
    assert_eq!(texts("toolcrib.call").len(), 3);
}

#[test]
fn a_call_over_mcp_says_itself_where_it_stands() {
    let collector = Listener::start(fine);
    let api = Listener::start(fine);
    let serving = serving(&api, &format!("[telemetry]\notlp = \"{}\"\n", collector.url));
    let told = over_mcp(&serving);
    assert!(told.contains(&format!("00-{TRACE}-")) && !told.contains(PARENT), "{told}");
    assert!(told.contains("c=3") && !told.contains("of_the_request"), "{told}");
    assert!(eventually(|| {
        let spans = spans(&collector);
        spans.iter().any(|span| span["traceId"] == TRACE && span["parentSpanId"] == PARENT)
    }));
}

#[test]
fn without_a_collector_no_place_in_a_trace_goes_on() {
    let api = Listener::start(fine);
    let serving = serving(&api, "");
    let traceparent = format!("traceparent: 00-{TRACE}-{PARENT}-01");
    let told = call(&serving, "e__meta", &[&traceparent, "tracestate: a=1"]);
    assert!(
        !told.to_string().contains(TRACE) && !told.to_string().contains("tracestate"),
        "{told}"
    );
    call(&serving, "told__look", &[&traceparent]);
    assert_eq!(api.heard()[0].header("traceparent"), None);
    assert!(!over_mcp(&serving).contains(TRACE));
}

#[test]
fn a_collector_that_is_away_costs_no_call() {
    let api = Listener::start(fine);
    let serving = serving(&api, "[telemetry]\notlp = \"http://127.0.0.1:9\"\n");
    assert_eq!(call(&serving, "e__meta", &[])["responses"][0]["outcome"], "done");
    serving.hears("the collector does not take messages");
    let figures = serving.ask("GET", "/metrics", "").body;
    assert!(!figures.contains("toolcrib_spans_lost_total 0"), "{figures}");
}

/// Calls the echo in the stateless revision, and gives the answer.
fn over_mcp(serving: &Serving) -> String {
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let params = json!({ "name": "e__meta", "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "traceparent": traceparent,
        "tracestate": "c=3",
    } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let token = bearer(&serving.token);
    let lines = [
        token.as_str(),
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        "Mcp-Name: e__meta",
        "tracestate: of_the_request=1",
    ];
    let answer = serving.send(&head("POST", "/mcp", serving, &lines), &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// A server that says what came beside the name of a prompt or resource.
pub(super) const SHELF: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"]}
    meta = json.dumps(asked.get("params", {}).get("_meta", {}))
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": "meta", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True}}]}
    elif method == "prompts/list":
        reply["result"] = {"prompts": [{"name": "p"}]}
    elif method == "resources/list":
        reply["result"] = {"resources": [{"name": "r", "uri": "test://r"}]}
    elif method == "tools/call":
        reply["result"] = {"content": [{"type": "text", "text": meta}]}
    elif method == "prompts/get":
        reply["result"] = {"messages": [{"role": "user", "content": {"type": "text", "text": meta}}]}
    elif method == "resources/read":
        reply["result"] = {"contents": [{"uri": "test://r", "text": meta}]}
    else:
        reply["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(reply), flush=True)
"#;

/// Requests in the stateless revision, each with a place in the trace.
fn requests() -> Vec<(&'static str, Value)> {
    [
        ("tools/call", json!({ "name": "s__meta", "arguments": {} })),
        ("prompts/get", json!({ "name": "s__p" })),
        ("resources/read", json!({ "uri": "test://r" })),
    ]
    .map(|(method, mut params)| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
            "traceparent": format!("00-{TRACE}-{PARENT}-01"),
            "tracestate": "p=1",
        });
        (method, json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }))
    })
    .into()
}

fn with_shelf(telemetry: &str) -> Folder {
    let folder = Folder::new();
    folder.write("shelf.py", SHELF);
    let source = "[[source]]\nid = \"s\"\n\
                  mcp = { command = [\"python3\", \"./shelf.py\"], cwd = \".\" }\n";
    folder.write("crib.toml", &format!("{telemetry}\n{source}"));
    folder
}

#[test]
fn what_is_read_says_where_it_stands_as_well() {
    let collector = Listener::start(fine);
    for (telemetry, is_told) in
        [(format!("[telemetry]\notlp = \"{}\"", collector.url), true), (String::new(), false)]
    {
        let serving = Serving::start_in(with_shelf(&telemetry), &[]);
        serving.hears("`s`: 1 tools");
        for (method, body) in requests() {
            let (token, method) = (bearer(&serving.token), format!("Mcp-Method: {method}"));
            let name = body["params"]["name"].as_str().or(body["params"]["uri"].as_str());
            let name = format!("Mcp-Name: {}", name.unwrap());
            let lines = [
                token.as_str(),
                "Content-Type: application/json",
                "Accept: application/json, text/event-stream",
                "MCP-Protocol-Version: 2026-07-28",
                &method,
                &name,
            ];
            let head = head("POST", "/mcp", &serving, &lines);
            let ask = || serving.send(&head, &body.to_string());
            // What a server has beside its tools comes a moment after them.
            assert!(eventually(|| !ask().body.contains("\"error\"")), "{:?}", ask());
            let answer = ask();
            assert_eq!(answer.body.contains(&format!("00-{TRACE}-")), is_told, "{answer:?}");
            assert_eq!(answer.body.contains("p=1"), is_told, "{answer:?}");
            assert!(!answer.body.contains(PARENT), "{answer:?}");
        }
    }
}

#[test]
fn a_client_at_a_pipe_is_traced_as_well() {
    let collector = Listener::start(fine);
    let folder = with_shelf(&format!("[telemetry]\notlp = \"{}\"", collector.url));
    let mut pipe = Piped::open(&folder, &["mcp", "crib.toml"]);
    let mut answers = String::new();
    for (method, body) in requests() {
        // The source is heard of a moment after the pipe is open.
        let mut answer = String::new();
        let told = eventually(|| {
            answer = pipe.ask(&body.to_string());
            answer.contains(&format!("00-{TRACE}-"))
        });
        assert!(told && answer.contains("p=1"), "{method}: {answer}");
        answers += &answer;
    }
    assert_eq!(pipe.hang_up(), (Some(0), vec![]));
    let spans = spans(&collector);
    let tool = spans.iter().rfind(|span| span["name"] == "execute_tool s__meta");
    let tool = tool.unwrap_or_else(|| unreachable!("{spans:?}"));
    let asked = spans.iter().find(|span| span["spanId"] == tool["parentSpanId"]).unwrap();
    assert_eq!((&asked["name"], &asked["kind"]), (&json!("tools/call s__meta"), &json!(2)));
    assert_eq!((&asked["traceId"], &asked["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    assert_eq!(attribute(asked, "network.transport")["stringValue"], "pipe");
    let mut outbound_requests: Vec<_> = spans.iter().filter(|span| span["kind"] == 3).collect();
    outbound_requests.sort_by_key(|span| span["name"].as_str());
    let names: Vec<_> = outbound_requests.iter().map(|span| &span["name"]).collect();
    // What an address names is no part of the name.
    assert_eq!(names, ["prompts/get p", "resources/read", "tools/call meta"]);
    assert_eq!(attribute(outbound_requests[0], "gen_ai.prompt.name")["stringValue"], "p");
    for outbound in outbound_requests {
        let above = spans.iter().find(|span| span["spanId"] == outbound["parentSpanId"]).unwrap();
        assert!(above["name"].as_str().unwrap().starts_with("execute_tool "), "{above}");
        let place = format!("00-{TRACE}-{}-01", outbound["spanId"].as_str().unwrap());
        assert_eq!(answers.matches(&place).count(), 1, "{place} {answers}");
    }
}
