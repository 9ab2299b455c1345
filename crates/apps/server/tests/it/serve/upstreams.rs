//! Upstreams of every kind that remember all they are told: an MCP server over HTTP, one that is a
//! program, and an API.

use serde_json::{Value, json};
use toolcrib_testkit::hostile::HostileServer;

use super::support::{Answer, Serving, bearer, head};
use crate::process::Folder;

/// Writes down its environment, its words and every line.
const PROGRAM: &str = r#"
import json, os, sys
heard = open("heard.log", "a", buffering=1)
heard.write(json.dumps(dict(os.environ)) + "\n" + json.dumps(sys.argv) + "\n")
for line in sys.stdin:
    heard.write(line)
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        answer = {"result": {"protocolVersion": asked["params"]["protocolVersion"],
                             "capabilities": {"tools": {}},
                             "serverInfo": {"name": "near", "version": "1"}}}
    elif asked["method"] == "tools/list":
        answer = {"result": {"tools": [
            {"name": "echo", "description": "Says it.", "annotations": {"readOnlyHint": True},
             "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]}}
    elif asked["method"] == "tools/call":
        answer = {"result": {"content": [{"type": "text", "text": "said"}]}}
    else:
        answer = {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"#;

pub(crate) const TOOLS: [&str; 3] = ["far__echo", "near__echo", "api__read_note"];

pub(crate) struct Upstreams {
    far: HostileServer,
    api: HostileServer,
}

impl Upstreams {
    pub(crate) fn start() -> (Self, Serving) {
        let upstreams = Self {
            far: HostileServer::start(&[]).unwrap(),
            api: HostileServer::start(&[]).unwrap(),
        };
        let folder = Folder::new();
        folder.write("near.py", PROGRAM);
        let text = json!({ "name": "text", "in": "query", "schema": { "type": "string" } });
        let operation = json!({
            "operationId": "read_note",
            "summary": "Reads a note.",
            "parameters": [text],
            "responses": { "200": { "description": "Done." } },
        });
        let document = json!({
            "openapi": "3.1.0",
            "info": { "title": "Notes", "version": "1" },
            "paths": { "/note": { "get": operation } },
        });
        folder.write("api.json", &document.to_string());
        let base = upstreams.api.url().replace("/mcp", "");
        folder.write(
            "crib.toml",
            &format!(
                "allow = [\"*\"]\n\
                 [[source]]\nid = \"far\"\nmcp = {{ url = \"{}\" }}\n\
                 [[source]]\nid = \"near\"\nmcp = {{ command = [\"python3\", \"near.py\"], cwd = \".\" }}\n\
                 [[source]]\nid = \"api\"\nopenapi = {{ document = \"api.json\", base_url = \"{base}\" }}\n",
                upstreams.far.url()
            ),
        );
        let serving = Serving::start_in(folder, &[]);
        (upstreams, serving)
    }

    /// Everything that any of them was told so far.
    pub(crate) fn heard(&self, serving: &Serving) -> String {
        let near = std::fs::read_to_string(serving.folder.path().join("heard.log")).unwrap();
        let sent = [self.far.received(), self.api.received()].concat();
        let lines = sent.into_iter().map(|(head, body)| format!("{head}\r\n\r\n{body}\n"));
        near + &lines.collect::<String>()
    }

    /// How often any of them was called.
    pub(crate) fn calls(&self, serving: &Serving) -> usize {
        let heard = self.heard(serving);
        heard.matches("\"tools/call\"").count() + heard.matches("GET /note").count()
    }
}

/// A call of the stateless revision, with further lines in the head and members in `_meta`.
pub(crate) fn call(
    serving: &Serving,
    lines: &[String],
    meta: Value,
    (tool, arguments): (&str, Value),
) -> Answer {
    let mut all = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let (Value::Object(all), Value::Object(meta)) = (&mut all, meta) {
        all.extend(meta);
    }
    let params = json!({ "name": tool, "arguments": arguments, "_meta": all });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let own = [
        bearer(&serving.token),
        "Content-Type: application/json".to_owned(),
        "Accept: application/json, text/event-stream".to_owned(),
        "MCP-Protocol-Version: 2026-07-28".to_owned(),
        "Mcp-Method: tools/call".to_owned(),
        format!("Mcp-Name: {tool}"),
    ];
    let lines: Vec<_> = own.iter().chain(lines).map(String::as_str).collect();
    serving.send(&head("POST", "/mcp", serving, &lines), &body.to_string())
}
