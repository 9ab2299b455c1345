//! Secrets of every kind, and all that a server says anywhere: none stands in any of it, in
//! whatever form.

use std::fs;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::listener::{Heard, Listener, Said};
use super::support::{Serving, bearer, eventually, head, state};
use crate::process::{Folder, run_in};

/// Special characters, so that every form is another one.
const OF_CHILD: &str = "canary/1+\"\\&=%41-7f6c0d4e5b3a29188f6c";
const OF_HEADER: &str = "canary/2+\"\\&=%41-1f6c0d4e5b3a29188f6c";
const OF_FILE: &str = "canary/3+\"\\&=%41-2f6c0d4e5b3a29188f6c";
const OF_CLIENT: &str = "canary-4-3f6c0d4e5b3a29188f6c3f6c0d4e";
const OF_GRANT: &str = "canary-5-4f6c0d4e5b3a29188f6c4f6c0d4e";
const OF_COLLECTOR: &str = "canary/6+&=%41-5f6c0d4e5b3a29188f6c";
const OF_COOKIE: &str = "canary-7-6f6c0d4e5b3a29188f6c6f6c0d4e";
/// An argument: results may hold it, records may not.
const OF_ARGUMENT: &str = "canary-8-7f6c0d4e5b3a29188f6c7f6c0d4e";

const TELLTALE: &str = r#"
import json, os, sys
key = os.environ["API_KEY"]
print("the key is", key, file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "instructions": key,
            "serverInfo": {"name": key, "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": name, "description": "Knows " + key,
            "annotations": {"readOnlyHint": name == "dump"}, "inputSchema": {"type": "object"}}
            for name in ["dump", "fail", "wipe"]]}
    elif method == "tools/call" and asked["params"]["name"] == "dump":
        large = [key, key.encode().hex(), json.dumps(key), dict(os.environ), "x" * 300000]
        reply["result"] = {"content": [{"type": "text", "text": json.dumps(large)}],
                           "structuredContent": {key: key}}
    else:
        reply["error"] = {"code": -32000, "message": "no, " + key, "data": [key, line]}
    print(json.dumps(reply), flush=True)
"#;

/// Every writing of a secret that is looked for.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), secret.chars().rev().collect()];
    let bytes = |write: fn(u8) -> String| secret.bytes().map(write).collect::<Vec<_>>().concat();
    let hex = bytes(|byte| format!("{byte:02x}"));
    forms.extend([hex.to_uppercase(), hex]);
    forms.push(bytes(|byte| format!("%{byte:02X}")));
    forms.push(bytes(|byte| match byte {
        byte if is_kept(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    }));
    let json = Value::from(secret).to_string();
    forms.push(json[1..json.len() - 1].to_owned());
    forms.push(Value::from(&json[1..json.len() - 1]).to_string().trim_matches('"').to_owned());
    for shift in 0..3 {
        let bytes = [&b"\0\0"[..shift], secret.as_bytes()].concat();
        let text = BASE64_STANDARD.encode(&bytes);
        // The letters that the secret alone decides.
        let text = &text[(shift * 8).div_ceil(6)..bytes.len() * 8 / 6];
        forms.extend([text.to_owned(), text.replace('+', "-").replace('/', "_")]);
    }
    forms
}

/// What nobody percent-encodes.
fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Whatever comes, it is said back as a fault, and a token is given to whoever asks for one.
pub(super) fn echo(heard: &Heard) -> Said {
    let lines = format!("Content-Type: application/json\r\nSet-Cookie: s={OF_COOKIE}\r\n");
    if heard.path == "/token" {
        let body = json!({ "access_token": OF_GRANT, "token_type": "Bearer", "expires_in": 3600 });
        return (200, lines, body.to_string());
    }
    if heard.path.starts_with("/v1/") {
        return (200, lines, "{}".to_owned());
    }
    (500, lines, json!({ "head": heard.head, "body": heard.body }).to_string())
}

fn folder(upstream: &Listener) -> Folder {
    let folder = Folder::new();
    folder.write("telltale.py", TELLTALE);
    folder.write("secret.txt", OF_FILE);
    folder.write("collector.txt", OF_COLLECTOR);
    folder.write("client.txt", OF_CLIENT);
    folder.write("child.txt", OF_CHILD);
    folder.write("header.txt", OF_HEADER);
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "a", "version": "1" },
        "paths": { "/look": { "post": { "operationId": "look", "responses": {},
            "requestBody": { "content": { "application/json": { "schema": {
                "type": "object", "properties": { "note": { "type": "string" } } } } } } } } },
    });
    folder.write("api.json", &document.to_string());
    let url = &upstream.url;
    folder.write(
        "crib.toml",
        &format!(
            r#"
allow = ["*"]
ask = ["tell__wipe"]

[store]
url = "sqlite://crib.db"

[log]
level = "trace"
format = "json"

[audit]
file = "audit.jsonl"

[telemetry]
otlp = "{url}"
interval = "1s"
headers = {{ Authorization = "Bearer ${{file:collector.txt}}" }}

[[source]]
id = "tell"
mcp = {{ command = ["python3", "./telltale.py"], cwd = ".", env = {{ API_KEY = "${{file:child.txt}}" }} }}

[[source]]
id = "http"
mcp = {{ url = "{url}/mcp", bearer = "${{file:secret.txt}}" }}

[[source]]
id = "api"
[source.openapi]
document = "api.json"
base_url = "{url}"
private = ["127.0.0.1"]
headers = {{ X-Key = "${{file:header.txt}}" }}
[source.openapi.auth.client_credentials]
token_url = "{url}/token"
client_id = "toolcrib"
client_secret = "${{file:client.txt}}"
"#
        ),
    );
    folder
}

fn over_mcp(serving: &Serving, name: &str) -> String {
    let params = json!({ "name": name, "arguments": { "note": OF_ARGUMENT }, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let (token, named) = (bearer(&serving.token), format!("Mcp-Name: {name}"));
    let lines = [
        token.as_str(),
        named.as_str(),
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
    ];
    format!("{:?}", serving.send(&head("POST", "/mcp", serving, &lines), &body.to_string()))
}

/// What callers are told; arguments may stand in it.
fn answers(serving: &Serving) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for name in ["tell__dump", "tell__fail", "tell__wipe", "api__look", "http__x", "nothing"] {
        let calls = json!([{ "name": name, "arguments": { "note": OF_ARGUMENT } }]);
        let body = json!({ "calls": calls }).to_string();
        let answer = serving.ask("POST", "/v1/calls", &body);
        let value: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        if let Some(handle) = value["responses"][0]["whole"].as_str() {
            let whole = serving.ask("GET", &format!("/v1/results/{handle}?limit=1000000"), "");
            said.push((format!("the whole of {name}"), whole.body));
        }
        if let Some(ticket) = value["tickets"][0]["ticket"].as_str() {
            let path = format!("/v1/tickets/{ticket}");
            let decided = serving.ask("POST", &path, r#"{"decision": "approve"}"#);
            said.push((format!("the approved {name}"), decided.body));
        }
        said.push((format!("{name} over REST"), format!("{answer:?}")));
        said.push((format!("{name} over MCP"), over_mcp(serving, name)));
    }
    for path in ["/v1/tools", "/v1/tools/tell__dump", "/v1/sources", "/v1/tickets", "/v1/calls"] {
        said.push((path.to_owned(), format!("{:?}", serving.ask("GET", path, ""))));
    }
    let plan = serving.ask("POST", "/v1/plan", r#"{"dialect": "openai-chat", "why": true}"#);
    said.push(("the plan".to_owned(), plan.body));
    said
}

/// What stays behind: no argument stands in it either.
fn records(serving: &Serving, upstream: &Listener) -> Vec<(String, String)> {
    let mut kept = vec![
        ("standard error".to_owned(), serving.told.lock().unwrap().clone()),
        ("the figures".to_owned(), serving.ask("GET", "/metrics", "").body),
        ("the activity".to_owned(), serving.ask("GET", "/v1/activity", "").body),
        ("the record".to_owned(), serving.ask("GET", "/v1/record", "").body),
    ];
    let messages = upstream.heard().into_iter().filter(|heard| heard.path.starts_with("/v1/"));
    kept.extend(messages.map(|heard| (format!("OTLP {}", heard.path), heard.body)));
    let path = serving.folder.path().join("audit.jsonl");
    kept.push(("the audit".to_owned(), fs::read_to_string(path).unwrap()));
    kept
}

/// What the system shows of our processes; the secret of a child stands in its own environment.
fn of_processes(serving: &Serving) -> Vec<(String, String)> {
    let own = serving.child.id().to_string();
    let mut seen = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        let id = entry.file_name().to_string_lossy().into_owned();
        if id != own && parent != Some(own.as_str()) {
            continue;
        }
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let text = |name: &str| String::from_utf8_lossy(&read(name)).into_owned();
        seen.push((format!("cmdline of {id}"), text("cmdline")));
        let environment = text("environ").replace(&format!("API_KEY={OF_CHILD}"), "");
        seen.push((format!("environment of {id}"), environment));
    }
    assert!(seen.len() >= 4, "{seen:?}");
    seen
}

pub(super) fn assert_none(said: &[(String, String)], secrets: &[&str]) {
    for secret in secrets {
        for form in forms(secret) {
            for (place, text) in said {
                let at = text.find(&form);
                let near = at.map(|at| text.get(at.saturating_sub(80)..at + 40));
                assert_eq!(near, None, "`{form}` of `{secret}` stands in {place}");
            }
        }
    }
}

#[test]
fn no_secret_stands_in_anything_that_is_said_or_kept() {
    let upstream = Listener::start(echo);
    let mut serving = Serving::start_in(folder(&upstream), &[]);
    let other = serving.token_of("other");
    serving.ask_as(&other, "GET", "/v1/tools", "");
    let mut said = answers(&serving);
    assert!(said.iter().any(|(_, text)| text.contains("[secret]")), "nothing was told at all");
    assert!(eventually(|| upstream.heard().iter().any(|heard| heard.path == "/v1/metrics")));
    said.extend(of_processes(&serving));
    let kept = records(&serving, &upstream);
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let store = ["crib.db", "crib.db-wal"].map(|name| {
        let bytes = fs::read(serving.folder.path().join(name)).unwrap_or_default();
        (name.to_owned(), String::from_utf8_lossy(&bytes).into_owned())
    });
    said.extend(store);
    let environment = state(&serving.folder);
    let doctor =
        run_in(&serving.folder, &["doctor", "--json"], &[("XDG_STATE_HOME", &environment)]);
    said.push(("doctor".to_owned(), format!("{doctor:?}")));
    let secrets = [
        OF_CHILD,
        OF_HEADER,
        OF_FILE,
        OF_CLIENT,
        OF_GRANT,
        OF_COLLECTOR,
        OF_COOKIE,
        &serving.token,
        &other,
    ];
    assert_none(&said, &secrets);
    assert_none(&kept, &secrets);
    assert_none(&kept, &[OF_ARGUMENT]);
    // They were there to be told: the ones who should know them do.
    let heard = format!("{:?}", upstream.heard());
    for secret in [OF_CLIENT, OF_GRANT] {
        assert!(
            heard.contains(secret) || heard.contains(&BASE64_STANDARD.encode(secret)),
            "{heard}"
        );
    }
}

/// Says on both its ways out what it was given, and what it was given before.
const REMEMBERING: &str = r#"
import json, os, sys
with open("given.txt", "a") as given:
    print(os.environ["API_KEY"], file=given)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"]}
    given = open("given.txt").read()
    print("given:", given, file=sys.stderr, flush=True)
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True}} for name in ["dump", "fail"]]}
    elif method == "tools/call" and asked["params"]["name"] == "dump":
        reply["result"] = {"content": [{"type": "text", "text": given}]}
    else:
        reply["error"] = {"code": -32000, "message": "no, " + given}
    print(json.dumps(reply), flush=True)
"#;

#[test]
fn a_secret_that_was_replaced_stands_in_nothing_that_is_said_later() {
    let folder = Folder::new();
    let file = |name: &str| {
        format!(
            "[log]\nlevel = \"trace\"\nformat = \"json\"\n[[source]]\nid = \"s\"\nmcp = {{ \
             command = [\"python3\", \"./s.py\"], cwd = \".\", env = {{ API_KEY = \
             \"${{file:{name}.txt}}\" }} }}\n"
        )
    };
    folder.write("s.py", REMEMBERING);
    folder.write("old.txt", OF_CHILD);
    folder.write("new.txt", OF_FILE);
    folder.write("crib.toml", &file("old"));
    let mut serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 2 tools");
    serving.folder.write("crib.toml", &file("new"));
    serving.hears("is in force: restarted `s`");
    let call = |name: &str| serving.call(&json!({ "calls": [{ "name": name }] })).to_string();
    let both = "[secret]\\n[secret]\\n";
    assert!(eventually(|| call("s__dump").contains(both)), "{}", call("s__dump"));
    let said = [("the error".to_owned(), call("s__fail"))];
    let sources = ("the sources".to_owned(), serving.ask("GET", "/v1/sources", "").body);
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let log = ("the log".to_owned(), serving.told.lock().unwrap().clone());
    assert_none(&[said[0].clone(), sources, log], &[OF_CHILD, OF_FILE]);
}
