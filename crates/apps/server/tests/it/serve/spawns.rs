//! Nothing but the operator's file starts a program: no word of a request does, at any door.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::routes;
use super::support::{Serving, bearer, head};
use super::upstreams::{TOOLS, Upstreams, call};

/// All that descend from a process.
fn descendants(of: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![of];
    while let Some(parent) = waiting.pop() {
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{parent}/task")) else { continue };
        for task in tasks.flatten() {
            let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = text.split_whitespace().filter_map(|id| id.parse().ok());
            waiting.extend(children.filter(|id| found.insert(*id)));
        }
    }
    found
}

/// What would start a program, if anybody believed it.
fn wishes(mark: &Path) -> Vec<Value> {
    let mark = mark.display().to_string();
    let command = json!(["touch", mark]);
    let server = json!({ "command": "touch", "args": [mark], "env": { "PATH": "/usr/bin:/bin" } });
    vec![
        json!({ "command": command, "transport": "stdio" }),
        json!({ "command": "touch", "args": [mark], "env": { "LD_PRELOAD": mark } }),
        json!({ "mcp": { "command": command, "cwd": "/" } }),
        json!({ "mcpServers": { "x": server } }),
        json!({ "source": [{ "id": "x", "mcp": { "command": command } }] }),
        json!({ "id": "near", "mcp": { "command": command }, "enabled": true }),
        json!({ "url": format!("file:///usr/bin/touch {mark}"), "type": "stdio" }),
        json!({ "text": format!("$(touch {mark})") }),
        json!({ "text": format!("'; touch {mark}; '") }),
        json!({ "text": format!("`touch {mark}`|touch {mark}&&touch {mark}\ntouch {mark}") }),
    ]
}

fn send(serving: &Serving, method: &str, path: &str, body: &Value) -> u16 {
    let lines = [
        bearer(&serving.token),
        "Content-Type: application/json".to_owned(),
        "Accept: application/json, text/event-stream".to_owned(),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    // An open stream has no end: it is left to its own.
    if method == "GET" && path.starts_with("/mcp") {
        return 0;
    }
    serving.send(&head(method, path, serving, &lines), &body.to_string()).status
}

#[test]
fn no_request_starts_a_program() {
    let (_upstreams, serving) = Upstreams::start();
    let mark = serving.folder.path().join("started");
    let text = mark.display().to_string();
    // A source that is a program starts with its first call, if it had not before.
    for tool in TOOLS {
        call(&serving, &[], json!({}), (tool, json!({ "text": "hello" })));
    }
    let before = descendants(serving.child.id());
    assert!(!before.is_empty());
    let name = format!("$(touch%20{})", text.replace('/', "%2F"));
    for wish in wishes(&mark) {
        for route in routes::all().iter().filter(|route| !route.listens()) {
            send(&serving, route.method, &route.filled(), &wish);
            // A reload starts what the file names, and nothing else: that is not asked for here.
            if !route.path.ends_with("/reload") {
                send(&serving, route.method, &route.with(&name), &wish);
            }
        }
        let calls = json!([{ "name": "near__echo", "arguments": wish }, wish]);
        let mut body = json!({ "calls": calls });
        send(&serving, "POST", "/v1/calls", &body);
        for (key, value) in wish.as_object().unwrap() {
            body[key] = value.clone();
        }
        send(&serving, "POST", "/v1/calls", &body);
        for tool in TOOLS {
            call(&serving, &[], wish.clone(), (tool, wish.clone()));
        }
        for method in ["initialize", "tools/list", "resources/read", "sources/add", "tools/call"] {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": wish });
            send(&serving, "POST", "/mcp", &message);
            send(&serving, "POST", "/mcp", &json!([message]));
        }
    }
    assert!(!mark.exists(), "a program was started");
    assert_eq!(descendants(serving.child.id()), before);
}
