//! Requests that two readers would read in two ways: none of them runs anything.

use serde_json::{Value, json};

use super::oracle::{Operation, Oracle, document};
use super::routes::{self, Route};
use super::support::{Answer, Serving, bearer, head};
use super::wire::meta;
use crate::process::{Folder, Piped};

/// What stands in the place of an `id` and is none that every reader reads alike.
const NO_IDS: [&str; 10] = [
    "null",
    "1.0",
    "1e0",
    "1.5",
    "1e400",
    "9007199254740993",
    "-9007199254740993",
    "[]",
    "{}",
    "true",
];

fn furnished() -> (Folder, Oracle) {
    let oracle = Oracle::start();
    let operation = |name: &str| Operation { name: name.to_owned(), word: name.to_owned() };
    let (ok, evil) = (operation("ok"), operation("evil"));
    let folder = Folder::new();
    folder.write("api.json", &document(&[&ok, &evil]).to_string());
    folder.write(
        "crib.toml",
        &format!(
            "allow = [\"*\"]\n\n[profile.x]\nallow = [\"*\"]\n\n[[source]]\nid = \"api\"\n\
             prefix = \"\"\nopenapi = {{ document = \"api.json\", base_url = \"{}\" }}\n",
            oracle.url
        ),
    );
    (folder, oracle)
}

fn serving() -> (Serving, Oracle) {
    let (folder, oracle) = furnished();
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`api`: 2 tools");
    (serving, oracle)
}

/// Sends bytes as the body, with these lines beside those that belong there.
fn send(serving: &Serving, path: &str, lines: &[&str], body: &[u8]) -> u16 {
    answered(serving, path, lines, body).status
}

fn answered(serving: &Serving, path: &str, lines: &[&str], body: &[u8]) -> Answer {
    let token = bearer(&serving.token);
    let common = [
        token.as_str(),
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "Connection: close",
    ];
    let head = head("POST", path, serving, &[&common, lines].concat());
    let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
    serving.raw(&[head.as_bytes(), body].concat())
}

fn utf16(text: &str) -> Vec<u8> {
    [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

/// Bodies made of a good one that no reader may take.
fn broken(good: &str) -> Vec<(&'static str, Vec<u8>)> {
    let inside = good.strip_prefix('{').unwrap();
    vec![
        ("a mark of the byte order", format!("\u{feff}{good}").into()),
        ("more behind it", format!("{good} {good}").into()),
        ("a comma behind it", format!("{good},").into()),
        ("a list of one", format!("[{good}]").into()),
        ("sixteen bits a letter", utf16(good)),
        ("a byte that is no text", [b"{\"x\":\"\xff\",", inside.as_bytes()].concat()),
        ("half a pair", format!(r#"{{"x":"\ud800",{inside}"#).into()),
        ("a comment", format!("/* */{good}").into()),
        ("single quotes", good.replace('"', "'").into()),
        ("nothing", Vec::new()),
        ("a NUL behind it", format!("{good}\0").into()),
        ("no end", good[..good.len() - 1].into()),
        ("infinity", format!(r#"{{"x":Infinity,{inside}"#).into()),
        ("a bare key", format!("{{x:1,{inside}").into()),
    ]
}

#[test]
fn no_route_reads_a_body_that_could_be_read_otherwise() {
    let (serving, oracle) = serving();
    let named = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: ok"];
    let call = json!({ "name": "ok", "arguments": {}, "_meta": meta() });
    let mcp = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let rest = json!({ "calls": [{ "name": "ok", "arguments": {} }] });
    let is_a2a = |route: &Route| route.path.starts_with("/a2a/");
    for route in routes::all().iter().filter(|route| route.takes_body && !is_a2a(route)) {
        let path = route.filled();
        let is_mcp = path.starts_with("/mcp");
        let (good, lines) = if is_mcp { (&mcp, &named[..]) } else { (&rest, &[][..]) };
        for (what, body) in broken(&good.to_string()) {
            let status = send(&serving, &path, lines, &body);
            // A list is a document of one meaning, and of another shape.
            let expected = if what == "a list of one" && !is_mcp { 422 } else { 400 };
            assert_eq!(status, expected, "{path}: {what}");
        }
    }
    assert_eq!(oracle.asked(), Vec::<String>::new());
    assert_eq!(send(&serving, "/mcp", &named, mcp.to_string().as_bytes()), 200);
    assert_eq!(send(&serving, "/v1/calls", &[], rest.to_string().as_bytes()), 200);
    assert_eq!(oracle.asked().len(), 2);
}

#[test]
fn no_agent_reads_a_body_that_could_be_read_otherwise() {
    let (serving, oracle) = serving();
    let call = json!({ "data": { "tool": "ok", "arguments": {} } });
    let message = json!({ "messageId": "m1", "role": "ROLE_USER", "parts": [call] });
    let send_message = json!({ "message": message });
    let rpc = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": send_message });
    for route in routes::all() {
        if !route.takes_body || !route.path.starts_with("/a2a/") {
            continue;
        }
        let path = route.with("default");
        let is_rpc = path == "/a2a/default";
        let version = if path.contains("/v1/") { "A2A-Version: 0.3" } else { "A2A-Version: 1.0" };
        let good = if is_rpc { &rpc } else { &send_message };
        for (what, body) in broken(&good.to_string()) {
            if what == "nothing" && path.ends_with("/tasks/default") {
                // What ends or follows a task needs no body.
                continue;
            }
            let answer = answered(&serving, &path, &[version], &body);
            let told = answer.json();
            let code = told["error"]["code"].as_i64();
            let refused = if is_rpc {
                answer.status == 200 && code < Some(-32_000)
            } else {
                answer.status == 400 && code == Some(400)
            };
            assert!(refused, "{path}: {what}: {answer:?}");
        }
    }
    assert_eq!(oracle.asked(), Vec::<String>::new());
    for (path, good) in [("/a2a/default", &rpc), ("/a2a/default/message:send", &send_message)] {
        let answer = answered(&serving, path, &["A2A-Version: 1.0"], good.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    assert_eq!(oracle.asked().len(), 2);
}

#[test]
fn a_key_that_stands_twice_is_no_key() {
    let (serving, oracle) = serving();
    let named = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: ok"];
    let meta = meta();
    let params = |text: &str| {
        let params = format!(r#"{{{text},"arguments":{{}},"_meta":{meta}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    };
    let whole = params(r#""name":"ok""#);
    let inside = whole.strip_prefix('{').unwrap();
    for body in [
        params(r#""name":"ok","name":"evil""#),
        params(r#""name":"evil","name":"ok""#),
        params(r#""name":"ok","n\u0061me":"evil""#),
        format!(r#"{{"method":"tools/list",{inside}"#),
        format!(r#"{{"id":2,{inside}"#),
        format!(r#"{{"params":{{}},{inside}"#),
    ] {
        assert_eq!(send(&serving, "/mcp", &named, body.as_bytes()), 400, "{body}");
    }
    for body in [
        r#"{"calls":[{"name":"ok","name":"evil"}]}"#,
        r#"{"calls":[],"calls":[{"name":"evil"}]}"#,
        r#"{"calls":[{"name":"ok","arguments":{"a":1,"a":2}}]}"#,
        r#"{"calls":[{"name":"ok","n\u0061me":"evil"}]}"#,
    ] {
        assert_eq!(send(&serving, "/v1/calls", &[], body.as_bytes()), 400, "{body}");
    }
    // Keys that only look like those that count are other keys, and no more is read out of them.
    for call in
        [json!({ "Name": "evil" }), json!({ "NAME": "evil" }), json!({ "name\u{0}": "evil" })]
    {
        let body = json!({ "calls": [call] }).to_string();
        assert_eq!(send(&serving, "/v1/calls", &[], body.as_bytes()), 200, "{body}");
    }
    assert_eq!(oracle.asked(), Vec::<String>::new());
}

#[test]
fn a_head_that_says_something_else_than_its_body_is_refused() {
    let (serving, oracle) = serving();
    let body = |id: &str, method: &str| {
        let call: Value = json!({ "name": "ok", "arguments": {}, "_meta": meta() });
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{call}}}"#)
    };
    let version = "MCP-Protocol-Version: 2026-07-28";
    let (method, name) = ("Mcp-Method: tools/call", "Mcp-Name: ok");
    let good = body("1", "tools/call");
    let heads: [&[&str]; 9] = [
        &[version, method, "Mcp-Name: evil"],
        &[version, "Mcp-Method: tools/list", name],
        &[version, "Mcp-Method: TOOLS/CALL", name],
        &[version, method, name, "Mcp-Name: evil"],
        &[version, method, "Mcp-Method: tools/list", name],
        &[version, "MCP-Protocol-Version: 2025-06-18", method, name],
        &["MCP-Protocol-Version: 2025-11-25", method, name],
        &["MCP-Protocol-Version: 1999-01-01", method, name],
        &[version, method],
    ];
    let routes = routes::all();
    let doors = routes.iter().filter(|route| route.method == "POST").map(Route::filled);
    let doors: Vec<_> = doors.filter(|path| path.starts_with("/mcp")).collect();
    assert!(doors.len() >= 2, "{doors:?}");
    for (path, lines) in doors.iter().flat_map(|path| heads.map(|lines| (path, lines))) {
        let status = send(&serving, path, lines, good.as_bytes());
        assert!((400..500).contains(&status), "{path} {lines:?}: {status}");
    }
    let right = [version, method, name];
    for id in NO_IDS {
        let refused = answered(&serving, "/mcp", &right, body(id, "tools/call").as_bytes());
        assert_eq!(refused.status, 400, "{id}: {refused:?}");
        assert_eq!(refused.json()["error"]["code"], -32600, "{id}: {refused:?}");
    }
    for method in ["TOOLS/CALL", "tools/call ", "tools\\u002fcall\\u0000", ""] {
        let status = send(&serving, "/mcp", &right, body("1", method).as_bytes());
        assert!((400..500).contains(&status), "{method}: {status}");
    }
    assert_eq!(oracle.asked(), Vec::<String>::new());
    assert_eq!(send(&serving, "/mcp", &right, good.as_bytes()), 200);
}

#[test]
fn no_line_at_a_pipe_is_read_that_could_be_read_otherwise() {
    let (folder, oracle) = furnished();
    let mut pipe = Piped::open(&folder, &["mcp", "crib.toml"]);
    let call = |id: &str, name: &str| {
        let params = format!(r#"{{{name},"arguments":{{}},"_meta":{}}}"#, meta());
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let good = call("1", r#""name":"ok""#);
    let mut lines = broken(&good);
    // A mark of the byte order is passed over here, and no line is nothing.
    lines.retain(|(what, _)| !["a mark of the byte order", "nothing"].contains(what));
    let twice = [r#""name":"ok","name":"evil""#, r#""name":"ok","n\u0061me":"evil""#];
    lines.extend(twice.map(|name| (name, call("1", name).into())));
    lines.extend(NO_IDS.map(|id| (id, call(id, r#""name":"ok""#).into())));
    let inside = good.strip_prefix('{').unwrap();
    lines.push(("two methods", format!(r#"{{"method":"tools/list",{inside}"#).into()));
    lines.push(("two ids", format!(r#"{{"id":2,{inside}"#).into()));
    lines.push(("no method", good.replace(r#""method""#, r#""Method""#).into()));
    let ping = json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" });
    for (what, line) in lines {
        pipe.say_bytes(&line);
        let refused: Value = serde_json::from_str(&pipe.hear()).unwrap();
        let code = &refused["error"]["code"];
        assert!([-32700, -32600].contains(&code.as_i64().unwrap()), "{what}: {refused}");
        if NO_IDS.contains(&what) {
            assert_eq!((code, &refused["id"]), (&json!(-32600), &Value::Null), "{refused}");
        }
        // It was answered once, and cost itself alone.
        let next: Value = serde_json::from_str(&pipe.ask(&ping.to_string())).unwrap();
        assert_eq!(next["id"], 9, "{what}: {next}");
    }
    for method in ["TOOLS/CALL", "tools/call ", "tools\\u002fcall\\u0000", ""] {
        let other = good.replace("tools/call", method);
        let refused: Value = serde_json::from_str(&pipe.ask(&other)).unwrap();
        assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
    }
    assert_eq!(oracle.asked(), Vec::<String>::new());
    let done: Value = serde_json::from_str(&pipe.ask(&good)).unwrap();
    assert_eq!((&done["id"], oracle.asked().len()), (&json!(1), 1), "{done}");
    assert_eq!(pipe.hang_up(), (Some(0), vec![]));
}
