//! Answers over HTTP that cannot be read: of a call that may change something nobody knows then how
//! it ended, and of one that only reads it is a plain failure.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_core::{ErrorKind, ToolOutcome};
use toolcrib_mcp::McpEra;

use crate::support::{crib, run, source};

/// What a server writes to a call, and whether the connection then stays as it is.
struct Said {
    bytes: Vec<u8>,
    stays: bool,
}

fn body(kind: &str, text: &[u8]) -> Said {
    let head = format!("Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n", text.len());
    Said { bytes: [b"HTTP/1.1 200 OK\r\n", head.as_bytes(), text].concat(), stays: true }
}

fn json_body(text: &str) -> Said {
    body("application/json", text.as_bytes())
}

/// A stream of events that goes on after this.
fn events(text: &str) -> Said {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    Said { bytes: format!("{head}{text}").into_bytes(), stays: true }
}

fn ends(said: Said) -> Said {
    Said { stays: false, ..said }
}

fn raw(text: &str) -> Said {
    Said { bytes: text.as_bytes().to_vec(), stays: false }
}

/// Each fault of an answer, and what is written for it.
type Fault = (&'static str, fn(&str) -> Said);

/// The answer to a request, with this result as text.
fn answer(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

const DONE: &str = r#"{"resultType":"complete","content":[]}"#;

fn long() -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(200_000))
}

fn deep() -> String {
    format!(r#"{{"content":[],"x":{}{}}}"#, "[".repeat(500), "]".repeat(500))
}

const FAULTS: &[Fault] = &[
    ("no JSON at all", |_| json_body("<html>app</html>")),
    ("another kind", |_| body("text/html", b"<html>app</html>")),
    ("nothing", |_| json_body("")),
    ("no kind", |_| raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
    ("accepted, and no answer", |_| ends(raw("HTTP/1.1 204 No Content\r\n\r\n"))),
    ("no number", |id| json_body(&answer(id, r#"{"content":[],"x":NaN}"#))),
    ("too large", |id| json_body(&answer(id, &long()))),
    ("too deep", |id| json_body(&answer(id, &deep()))),
    ("cut text", |id| json_body(&answer(id, DONE)[..30])),
    ("two texts", |id| json_body(&answer(id, DONE).repeat(2))),
    ("packed", |_| {
        let head = "Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 4";
        Said { bytes: format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\nzzzz").into_bytes(), stays: true }
    }),
    ("another id", |_| json_body(&answer("987654321", DONE))),
    ("another kind of id", |_| json_body(&answer("\"nobody\"", DONE))),
    ("no id", |_| json_body(&answer("null", DONE))),
    ("a result that is a number", |id| json_body(&answer(id, "7"))),
    ("a result that is a list", |id| json_body(&answer(id, "[1]"))),
    ("a result that is nothing", |id| json_body(&answer(id, "null"))),
    ("content that is a number", |id| json_body(&answer(id, r#"{"content":7}"#))),
    ("a kind that nobody asked for", |id| json_body(&answer(id, r#"{"resultType":"odd"}"#))),
    ("both a result and an error", |id| {
        let both = r#","error":{"code":1,"message":"no"}}"#;
        json_body(&answer(id, DONE).replacen("}}", &format!("}}{both}"), 1))
    }),
    ("an error that says nothing", |id| {
        json_body(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{}}}}"#))
    }),
    ("a failing status and a result", |id| {
        let said = json_body(&answer(id, DONE));
        let text = String::from_utf8(said.bytes).unwrap();
        Said { bytes: text.replacen("200 OK", "400 Bad", 1).into_bytes(), stays: true }
    }),
    ("leads on", |_| raw("HTTP/1.1 303 See Other\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")),
    ("a body that breaks off", |id| {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n";
        ends(raw(&format!("{head}{}", answer(id, DONE))))
    }),
    ("chunks that are none", |_| {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked";
        ends(raw(&format!("{head}\r\n\r\nzz\r\n")))
    }),
    ("no HTTP", |_| ends(raw("hello\r\n\r\n"))),
    ("closed without a word", |_| ends(raw(""))),
    ("a stream that ends", |_| ends(events(": bye\n\n"))),
    ("a stream that breaks off", |id| ends(events(&format!("data: {}", answer(id, DONE))))),
    ("an event that is no JSON", |id| {
        events(&format!("data: {}\n\n", answer(id, r#"{"content":[],"x":NaN}"#)))
    }),
    ("an event that is too large", |id| events(&format!("data: {}\n\n", answer(id, &long())))),
    ("an event that is too deep", |id| events(&format!("data: {}\n\n", answer(id, &deep())))),
    ("an event of another request", |_| events(&format!("data: {}\n\n", answer("7777", DONE)))),
];

/// A server of two tools that answers each call with one of the faults, or well.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                while let Some(said) = next(&mut stream) {
                    if stream.write_all(&said.bytes).is_err() || !said.stays {
                        return;
                    }
                }
            });
        }
    });
    url
}

/// What is said to the next request; `None`: there is none.
fn next(stream: &mut TcpStream) -> Option<Said> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut asked = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    stream.read_exact(&mut asked).ok()?;
    let asked: Value = serde_json::from_slice(&asked).unwrap_or_default();
    let id = asked["id"].to_string();
    let tool = |name: &str, reads: bool| {
        let hints = json!({ "readOnlyHint": reads });
        json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": hints })
    };
    let result = match asked["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "odd", "version": "1" },
        }),
        Some("server/discover") => json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
        }),
        Some("tools/list") => json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "tools": [tool("write", false), tool("read", true)],
        }),
        Some("tools/call") => {
            let place = asked["params"]["arguments"]["fault"].as_u64();
            let fault = place.and_then(|place| FAULTS.get(usize::try_from(place).unwrap()));
            return Some(fault.map_or_else(|| json_body(&answer(&id, DONE)), |fault| fault.1(&id)));
        }
        _ if head.starts_with("post") => return Some(raw_accepted()),
        _ => return Some(raw("HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")),
    };
    Some(json_body(&answer(&id, &result.to_string())))
}

fn raw_accepted() -> Said {
    Said { stays: true, ..raw("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n") }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_leaves_a_change_unknown_and_a_read_failed() {
    for era in [McpEra::Modern, McpEra::Legacy] {
        let mut settings = crate::over_http::settings(&serve());
        settings.revision = Some(era);
        settings.bounds.message = 100_000;
        settings.timeouts.call = Duration::from_secs(20);
        let crib = crib(&source(settings)).await;
        for (place, (fault, _)) in FAULTS.iter().enumerate() {
            // There it may come on the stream that all requests share.
            if era == McpEra::Legacy && *fault == "accepted, and no answer" {
                continue;
            }
            let begun = Instant::now();
            let write = run(&crib, "write", json!({ "fault": place })).await;
            let read = run(&crib, "read", json!({ "fault": place })).await;
            let kind = |outcome: &ToolOutcome| match outcome {
                ToolOutcome::Failed(error) => Some(error.kind),
                ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => None,
            };
            let is_unknown = kind(&write.outcome) == Some(ErrorKind::UnknownOutcome);
            assert!(is_unknown, "{era:?} {fault}: {write:?}");
            let is_failed =
                kind(&read.outcome).is_some_and(|kind| kind != ErrorKind::UnknownOutcome);
            assert!(is_failed, "{era:?} {fault}: {read:?}");
            assert!(begun.elapsed() < Duration::from_secs(10), "{era:?} {fault}: {begun:?}");
        }
        let fine = run(&crib, "write", json!({})).await;
        assert!(fine.outcome.is_done(), "{era:?}: {fine:?}");
    }
}
