//! What a client of MCP asks for is an operation of its own: a span and a figure.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::listener::{Heard, Listener};
use super::mcp::post;
use super::support::{Answer, Serving, bearer, eventually, head};
use super::traces::{PARENT, TRACE, echo, spans};
use crate::process::{Folder, Piped};

const MODERN: &str = "MCP-Protocol-Version: 2026-07-28";
const OLDER: &str = "MCP-Protocol-Version: 2025-11-25";

fn folder(telemetry: &str) -> Folder {
    let folder = Folder::new();
    folder.write("echo.py", &echo());
    let file = format!(
        "{telemetry}\n[[source]]\nid = \"b\"\nprefix = \"\"\nbasics = [\"calculate\"]\n\
         [[source]]\nid = \"e\"\nmcp = {{ command = [\"python3\", \"./echo.py\"], cwd = \".\" }}\n"
    );
    folder.write("crib.toml", &file);
    folder
}

fn serving(telemetry: &str) -> Serving {
    let serving = Serving::start_in(folder(telemetry), &[]);
    serving.hears("`e`: 1 tools");
    serving
}

/// One request of the stateless revision; `more`: headers.
fn ask(serving: &Serving, (method, name): (&str, &str), place: Option<&str>, more: &[&str]) {
    let mut params = json!({ "name": name, "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    if let Some(place) = place {
        params["_meta"]["traceparent"] = place.into();
    }
    let (named, about) = (format!("Mcp-Method: {method}"), format!("Mcp-Name: {name}"));
    let lines = [&[MODERN, named.as_str(), about.as_str()], more].concat();
    let id = format!("{method} {name}");
    post(
        serving,
        "/mcp",
        &lines,
        &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
    );
}

/// A session of an older client: a good call and one that fails. Gives the line that names it.
fn in_session(serving: &Serving) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    let greeted = post(serving, "/mcp", &[], &hello);
    let session = greeted.head.lines().find(|line| line.to_lowercase().starts_with("mcp-session"));
    let session = session.unwrap().to_owned();
    let say = |body: Value| -> Answer { post(serving, "/mcp", &[&session, OLDER], &body) };
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    for (id, expression) in [(2, "6*7"), (3, "1/0")] {
        let params = json!({ "name": "calculate", "arguments": { "expression": expression } });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        assert_eq!(say(call).status, 200);
    }
    session
}

fn said(span: &Value) -> BTreeMap<String, String> {
    let own = span["attributes"].as_array().unwrap().iter();
    own.map(|own| {
        let value = own["value"]["stringValue"].as_str().unwrap_or_default();
        (own["key"].as_str().unwrap().to_owned(), value.to_owned())
    })
    .collect()
}

fn notes(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let over = [("network.transport", "tcp"), ("network.protocol.name", "http")];
    let all = pairs.iter().chain(&over);
    all.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn fine(_: &Heard) -> (u16, String, String) {
    (200, "Content-Type: application/json\r\n".to_owned(), "{}".to_owned())
}

/// The spans of some operations, and the line that names the session of those of an older client.
fn traced() -> (Vec<Value>, String) {
    let collector = Listener::start(fine);
    let mut serving = serving(&format!("[telemetry]\notlp = \"{}\"\n", collector.url));
    let place = format!("00-{TRACE}-{PARENT}-01");
    ask(&serving, ("tools/call", "e__meta"), Some(&place), &[]);
    let other = format!("traceparent: 00-{}-{PARENT}-01", "2".repeat(32));
    ask(&serving, ("tools/call", "calculate"), None, &[&other]);
    ask(&serving, ("tools/call", "nothing x"), None, &[]);
    ask(&serving, ("canary/canary", "x"), None, &[]);
    let session = in_session(&serving);
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    (spans(&collector), session)
}

fn by_id<'a>(spans: &'a [Value], id: &str) -> &'a Value {
    let is_it = |span: &&Value| said(span).get("jsonrpc.request.id").is_some_and(|own| own == id);
    spans.iter().find(is_it).unwrap_or_else(|| unreachable!("{id}: {spans:?}"))
}

#[test]
fn an_operation_is_a_span_of_its_clients_trace() {
    let (spans, _) = traced();
    let told = by_id(&spans, "tools/call e__meta");
    assert_eq!((&told["name"], &told["kind"]), (&json!("tools/call e__meta"), &json!(2)));
    assert_eq!((&told["traceId"], &told["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    let known = [
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2026-07-28"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "e__meta"),
        ("jsonrpc.request.id", "tools/call e__meta"),
    ];
    assert_eq!(said(told), notes(&known));
    let link = &told["links"][0];
    let carrier = spans.iter().find(|own| own["spanId"] == link["spanId"]).unwrap();
    assert_eq!((&carrier["name"], &carrier["traceId"]), (&json!("POST /mcp"), &link["traceId"]));
    let call = spans.iter().find(|span| span["name"] == "execute_tool e__meta").unwrap();
    assert_eq!(call["parentSpanId"], told["spanId"]);

    // Without a word of its own it is a part of its request.
    let within = by_id(&spans, "tools/call calculate");
    let above = spans.iter().find(|own| own["spanId"] == within["parentSpanId"]).unwrap();
    assert_eq!((&above["name"], &above["parentSpanId"]), (&json!("POST /mcp"), &json!(PARENT)));
    assert_eq!((&within["traceId"], within.get("links")), (&json!("2".repeat(32)), None));
}

#[test]
fn an_operation_says_how_it_failed_and_what_nobody_else_chose() {
    let (spans, session) = traced();
    // What is no tool's name is no part of the name of a span.
    let unknown = by_id(&spans, "tools/call nothing x");
    let failed = json!({ "code": 2 });
    assert_eq!((&unknown["name"], &unknown["status"]), (&json!("tools/call"), &failed));
    let none = by_id(&spans, "canary/canary x");
    assert_eq!(none["name"], "_OTHER");
    let known = [
        ("mcp.method.name", "_OTHER"),
        ("mcp.protocol.version", "2026-07-28"),
        ("jsonrpc.request.id", "canary/canary x"),
        ("error.type", "-32601"),
        ("rpc.response.status_code", "-32601"),
    ];
    assert_eq!(said(none), notes(&known));

    let failed = said(by_id(&spans, "3"));
    let digest = failed.get("mcp.session.id").unwrap();
    assert!(!session.contains(digest.as_str()), "{digest} {session}");
    let known = [
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2025-11-25"),
        ("mcp.session.id", digest.as_str()),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "calculate"),
        ("jsonrpc.request.id", "3"),
        ("error.type", "tool_error"),
    ];
    assert_eq!(failed, notes(&known));
    assert_eq!(said(by_id(&spans, "2")).get("error.type"), None);
}

#[test]
fn operations_are_counted_by_what_the_conventions_name() {
    let collector = Listener::start(fine);
    for (telemetry, is_traced) in
        [(String::new(), false), (format!("[telemetry]\notlp = \"{}\"\n", collector.url), true)]
    {
        let serving = serving(&telemetry);
        ask(&serving, ("tools/call", "e__meta"), None, &[]);
        ask(&serving, ("tools/call", "canary"), None, &[]);
        in_session(&serving);
        let over = "network_transport=\"tcp\",network_protocol_name=\"http\"";
        let call = |tool: &str, revision: &str, error: &str| {
            format!(
                "mcp_server_operation_duration_seconds_count{{mcp_method_name=\"tools/call\",\
                 gen_ai_operation_name=\"execute_tool\"{tool},\
                 mcp_protocol_version=\"{revision}\",{over}{error}}} 1\n"
            )
        };
        let expected = [
            call(",gen_ai_tool_name=\"e__meta\"", "2026-07-28", ""),
            call(",gen_ai_tool_name=\"calculate\"", "2025-11-25", ""),
            call(",gen_ai_tool_name=\"calculate\"", "2025-11-25", ",error_type=\"tool_error\""),
            format!(
                "mcp_server_operation_duration_seconds_count{{mcp_method_name=\"initialize\",{over}}} 1\n"
            ),
        ];
        let mut figures = String::new();
        let counted = eventually(|| {
            figures = serving.ask("GET", "/metrics", "").body;
            expected.iter().all(|line| figures.contains(line))
        });
        assert!(counted, "{expected:?} {figures}");
        assert!(!figures.contains("canary"), "{figures}");
        let bounds = "le=\"0.02\"} ";
        assert!(
            figures.lines().any(|line| line.starts_with("mcp_server_") && line.contains(bounds))
        );
        let asked = "mcp_client_operation_duration_seconds_count{mcp_method_name=\"tools/call\",\
                     mcp_protocol_version=\"2025-11-25\",gen_ai_tool_name=\"meta\",\
                     network_transport=\"pipe\",gen_ai_operation_name=\"execute_tool\",\
                     toolcrib_source=\"e\"} 1\n";
        assert_eq!(figures.contains(asked), is_traced, "{figures}");
    }
}

#[test]
fn a_session_is_counted_once_it_is_over() {
    let serving = serving("");
    let figure = "mcp_server_session_duration_seconds_count";
    let figures = || serving.ask("GET", "/metrics", "").body;
    let [session, stays] = [in_session(&serving), in_session(&serving)];
    assert!(session != stays && !figures().contains(figure));
    let token = bearer(&serving.token);
    let lines = [token.as_str(), session.as_str(), OLDER];
    assert!(serving.send(&head("DELETE", "/mcp", &serving, &lines), "").status < 300);
    let counted = format!(
        "{figure}{{mcp_protocol_version=\"2025-11-25\",network_transport=\"tcp\",\
         network_protocol_name=\"http\"}} 1\n"
    );
    assert!(eventually(|| figures().contains(&counted)), "{}", figures());
}

#[test]
fn what_a_client_at_a_pipe_asks_for_is_an_operation_too() {
    let collector = Listener::start(fine);
    let folder = folder(&format!("[telemetry]\notlp = \"{}\"\n", collector.url));
    let mut pipe = Piped::open(&folder, &["mcp", "crib.toml"]);
    let mut say = |id: u64, method: &str, params: Value| {
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        serde_json::from_str::<Value>(&pipe.ask(&asked.to_string())).unwrap()
    };
    let client = json!({ "name": "t", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    say(1, "initialize", hello);
    let call = |expression: &str| json!({ "name": "calculate", "arguments": { "expression": expression } });
    assert_eq!(say(2, "tools/call", call("6*7"))["result"]["isError"], false);
    assert_eq!(say(3, "tools/call", call("1/0"))["result"]["isError"], true);
    assert_eq!(say(4, "canary/canary", json!({}))["error"]["code"], -32601);
    assert_eq!(pipe.hang_up(), (Some(0), vec![]));
    let spans = spans(&collector);
    let told = |id: &str| {
        let mut said = said(by_id(&spans, id));
        assert_eq!(said.remove("network.transport").as_deref(), Some("pipe"), "{said:?}");
        assert_eq!(said.remove("mcp.protocol.version").as_deref(), Some("2025-11-25"));
        said.remove("jsonrpc.request.id");
        said.into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
    };
    let of_call = ["gen_ai.operation.name=execute_tool", "gen_ai.tool.name=calculate"];
    assert_eq!(told("2"), [&of_call[..], &["mcp.method.name=tools/call"]].concat());
    let failed = ["error.type=tool_error"];
    assert_eq!(told("3"), [&failed[..], &of_call, &["mcp.method.name=tools/call"]].concat());
    let none = ["error.type=-32601", "mcp.method.name=_OTHER", "rpc.response.status_code=-32601"];
    assert_eq!(told("4"), none);
}
