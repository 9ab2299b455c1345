//! A server that repeats in its errors what it was given: that is for whoever called, and for no
//! log.

use serde_json::json;

use super::support::Serving;
use super::wire::modern;
use crate::process::Folder;

const ECHO: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True}} for name in ["params", "fault"]]}
    elif method != "tools/call":
        reply["error"] = {"code": -32601, "message": "unknown method"}
    else:
        code = -32602 if asked["params"]["name"] == "params" else -32000
        told = json.dumps(asked["params"]["arguments"])
        reply["error"] = {"code": code, "message": "not with " + told, "data": told}
    print(json.dumps(reply), flush=True)
"#;

const CANARY: &str = "canary7d3b91e5";

/// What the log holds at a level after such errors.
fn log(level: &str) -> String {
    let folder = Folder::new();
    folder.write("s.py", ECHO);
    let source = "mcp = { command = [\"python3\", \"./s.py\"], cwd = \".\" }";
    let log = format!("[log]\nlevel = \"{level}\"\n[[source]]\nid = \"s\"\n{source}\n");
    folder.write("crib.toml", &log);
    let mut serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 2 tools");
    for name in ["s__params", "s__fault"] {
        let arguments = json!({ "text": CANARY });
        let call = json!({ "name": name, "arguments": arguments });
        let told = serving.call(&json!({ "calls": [call] })).to_string();
        assert!(told.contains(CANARY), "{told}");
        modern(&serving, &serving.token, "/mcp", ("tools/call", call));
    }
    serving.signal("TERM");
    serving.child.wait().unwrap();
    serving.told.lock().unwrap().clone()
}

#[test]
fn what_a_server_says_of_its_failure_is_logged_for_whoever_looks_for_faults_alone() {
    let usual = log("info");
    assert!(!usual.contains(CANARY), "{usual}");
    // What failed, how, and where.
    for outcome in ["outcome=invalid_arguments", "outcome=tool"] {
        let lines =
            usual.lines().filter(|line| line.contains(outcome) && line.contains("source=s"));
        assert_eq!(lines.count(), 2, "{usual}");
    }
    let all = log("debug");
    assert_eq!(all.matches("cause=\"the server says: not with").count(), 4, "{all}");
}
