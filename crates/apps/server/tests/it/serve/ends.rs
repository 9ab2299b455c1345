//! Whoever ends a call ends it at the server behind us too, whichever way both are spoken to.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::support::{Answer, Serving, bearer, eventually, head};
use super::wire::{message, meta, modern, taking};
use crate::process::Folder;

/// A call that was given up may be made again at once.
const FREE: &str = "allow = [\"*\"]\n[limits]\nguard = \"0s\"\n";

const KINDS: [&str; 4] = ["pipe", "older", "newer", "api"];

/// The slow servers, and ours in front of them.
struct Behind {
    serving: Serving,
    servers: Vec<Child>,
}

impl Drop for Behind {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Behind {
    #[expect(clippy::disallowed_methods, reason = "the servers behind are programs")]
    fn start() -> Self {
        let folder = Folder::new();
        folder.write("slow.py", include_str!("ends.py"));
        let script = folder.path().join("slow.py").display().to_string();
        let notes = |kind: &str| folder.path().join(kind).display().to_string();
        let (mut servers, mut sources) = (Vec::new(), String::from(FREE));
        for kind in KINDS {
            folder.write(kind, "");
            let words = ["python3".to_owned(), script.clone(), kind.to_owned(), notes(kind)];
            let way = if kind == "pipe" {
                format!("mcp = {{ command = {} }}", json!(words))
            } else {
                let mut command = Command::new("python3");
                command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped());
                let mut server = command.spawn().unwrap();
                let mut port = String::new();
                BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
                servers.push(server);
                let url = format!("http://127.0.0.1:{}", port.trim());
                match kind {
                    "api" => {
                        folder.write("api.json", &document().to_string());
                        format!("openapi = {{ document = \"api.json\", base_url = \"{url}\" }}")
                    }
                    _ => format!("mcp = {{ url = \"{url}/mcp\" }}"),
                }
            };
            writeln!(sources, "[[source]]\nid = \"{kind}\"\n{way}").unwrap();
        }
        folder.write("crib.toml", &sources);
        let serving = Serving::start_in(folder, &[]);
        for kind in KINDS {
            serving.hears(&format!("`{kind}`: 1 tools"));
        }
        Self { serving, servers }
    }

    /// Begins a call, ends it in this way, and looks whether the server behind was told.
    fn tells(&self, kind: &str, way: &str, end: impl FnOnce(&Serving, &str)) {
        let path = self.serving.folder.path().join(kind);
        let count = |word: &str| {
            let notes = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(!notes.contains("done"), "{kind}, {way}: it ran to its end");
            notes.lines().filter(|line| *line == word).count()
        };
        let before = count("told");
        end(&self.serving, &format!("{kind}__slow"));
        assert!(eventually(|| count("told") > before), "{kind} was not told: {way}");
    }

    fn begun(&self, kind: &str) -> usize {
        let notes = self.serving.folder.path().join(kind);
        let notes = std::fs::read_to_string(notes).unwrap_or_default();
        notes.lines().filter(|line| *line == "begun").count()
    }
}

fn document() -> Value {
    let answer = json!({ "200": { "description": "it is over" } });
    let slow = json!({ "post": { "operationId": "slow", "responses": answer } });
    json!({
        "openapi": "3.1.0", "info": { "title": "slow", "version": "1" }, "paths": { "/slow": slow },
    })
}

/// Sends a request and does not wait for its answer.
fn send_only(serving: &Serving, path: &str, lines: &[&str], body: &Value) -> TcpStream {
    let token = bearer(&serving.token);
    let usual = ["Accept: application/json, text/event-stream", "Content-Type: application/json"];
    let lines: Vec<_> = [token.as_str()].iter().chain(&usual).chain(lines).copied().collect();
    let (head, body) = (head("POST", path, serving, &lines), body.to_string());
    let mut stream = serving.connect();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}

/// A session of a client of 2025-11-25.
fn session(serving: &Serving) -> [String; 2] {
    let answer = said(
        serving,
        &[],
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        }),
    );
    let name = |line: &&str| line.to_lowercase().starts_with("mcp-session-id: ");
    let session = [
        answer.head.lines().find(name).unwrap().trim().to_owned(),
        "MCP-Protocol-Version: 2025-11-25".to_owned(),
    ];
    said(serving, &session, "notifications/initialized", &json!({}));
    session
}

fn said(serving: &Serving, session: &[String], method: &str, params: &Value) -> Answer {
    let mut body = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    if !method.starts_with("notifications/") {
        body["id"] = json!(1);
    }
    let token = bearer(&serving.token);
    let usual = ["Accept: application/json, text/event-stream", "Content-Type: application/json"];
    let own = session.iter().map(String::as_str);
    let lines: Vec<_> = [token.as_str()].into_iter().chain(usual).chain(own).collect();
    serving.send(&head("POST", "/mcp", serving, &lines), &body.to_string())
}

fn old_call(serving: &Serving, session: &[String], tool: &str) -> TcpStream {
    let params = json!({ "name": tool, "arguments": {} });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let lines: Vec<_> = session.iter().map(String::as_str).collect();
    send_only(serving, "/mcp", &lines, &body)
}

fn new_call(serving: &Serving, tool: &str, more: &Value) -> TcpStream {
    let mut own = meta();
    own.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let params = json!({ "name": tool, "arguments": {}, "_meta": own });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let name = format!("Mcp-Name: {tool}");
    let lines = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", name.as_str()];
    send_only(serving, "/mcp", &lines, &body)
}

#[test]
fn every_end_of_a_call_reaches_the_server_behind_in_every_way() {
    let behind = Behind::start();
    for kind in KINDS {
        let begins = |before: usize| assert!(eventually(|| behind.begun(kind) > before), "{kind}");
        behind.tells(kind, "an older client ends its session", |serving, tool| {
            let (session, before) = (session(serving), behind.begun(kind));
            let _stream = old_call(serving, &session, tool);
            begins(before);
            // Beyond the time in which a call is answered without the protocol's own way.
            std::thread::sleep(std::time::Duration::from_millis(400));
            let token = bearer(&serving.token);
            let lines = [token.as_str(), session[0].as_str(), session[1].as_str()];
            assert_eq!(serving.send(&head("DELETE", "/mcp", serving, &lines), "").status, 204);
        });
        behind.tells(kind, "an older client cancels", |serving, tool| {
            let (session, before) = (session(serving), behind.begun(kind));
            let _stream = old_call(serving, &session, tool);
            begins(before);
            let of = json!({ "requestId": 7 });
            assert_eq!(said(serving, &session, "notifications/cancelled", &of).status, 202);
        });
        for (way, more) in
            [("goes away", json!({})), ("goes away that listens", json!({ "progressToken": 1 }))]
        {
            behind.tells(kind, &format!("a newer client {way}"), |serving, tool| {
                let before = behind.begun(kind);
                let stream = new_call(serving, tool, &more);
                begins(before);
                drop(stream);
            });
        }
        behind.tells(kind, "a task is cancelled", |serving, tool| {
            let params = json!({ "name": tool, "arguments": {}, "_meta": taking() });
            let begun = message(&modern(serving, &serving.token, "/mcp", ("tools/call", params)));
            let task = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}"));
            let params = json!({ "taskId": task, "_meta": taking() });
            modern(serving, &serving.token, "/mcp", ("tasks/cancel", params));
        });
        for accept in ["application/json", "text/event-stream"] {
            behind.tells(
                kind,
                &format!("a client over REST goes away ({accept})"),
                |serving, tool| {
                    let before = behind.begun(kind);
                    let body = json!({ "calls": [{ "name": tool, "arguments": {} }] }).to_string();
                    let accept = format!("Accept: {accept}");
                    let token = bearer(&serving.token);
                    let lines = [token.as_str(), accept.as_str(), "Content-Type: application/json"];
                    let head = head("POST", "/v1/calls", serving, &lines);
                    let mut stream = serving.connect();
                    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
                    begins(before);
                    drop(stream);
                },
            );
        }
    }
}
