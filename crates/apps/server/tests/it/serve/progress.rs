//! What a server tells in the middle of a call, as events of an answer over REST.

use serde_json::json;

use super::support::{Serving, bearer, head};
use super::wire::events;
use crate::process::Folder;

const SERVER: &str = r#"
import json, sys
def tell(method, params):
    print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": "steps", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True}}]}
    elif method == "tools/call":
        token = asked["params"]["_meta"]["progressToken"]
        tell("notifications/progress", {"progressToken": token, "progress": 1, "total": 2, "message": "half"})
        tell("notifications/message", {"level": "warning", "logger": "s", "data": "a word"})
        tell("notifications/progress", {"progressToken": token, "progress": 2, "total": 2})
        reply["result"] = {"content": [{"type": "text", "text": "there"}]}
    print(json.dumps(reply), flush=True)
"#;

#[test]
fn a_stream_over_rest_tells_of_progress_and_log_lines_with_the_call_they_belong_to() {
    let folder = Folder::new();
    folder.write("s.py", SERVER);
    let source = "mcp = { command = [\"python3\", \"./s.py\"], cwd = \".\" }";
    folder.write("crib.toml", &format!("[[source]]\nid = \"s\"\n{source}\n"));
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 1 tools");
    let lines =
        [&bearer(&serving.token), "Content-Type: application/json", "Accept: text/event-stream"];
    let body = json!({ "calls": [{ "id": "mine", "name": "s__steps", "arguments": {} }] });
    let answer = serving.send(&head("POST", "/v1/calls", &serving, &lines), &body.to_string());
    let events = events(&answer);
    let [(_, started), told @ .., (last, done)] = &events[..] else { unreachable!("{answer:?}") };
    let key = &told[0].1["key"];
    let wanted = [
        (
            "progress",
            json!({ "id": "mine", "key": key, "done": 1.0, "total": 2.0, "message": "half" }),
        ),
        (
            "log",
            json!({ "id": "mine", "key": key, "level": "warning", "logger": "s", "data": "a word" }),
        ),
        (
            "progress",
            json!({ "id": "mine", "key": key, "done": 2.0, "total": 2.0, "message": null }),
        ),
    ];
    assert_eq!(told, wanted);
    assert_eq!((*last, &done["id"]), ("done", &started["id"]));
    assert_eq!(done["responses"][0]["text"], "there");
}
