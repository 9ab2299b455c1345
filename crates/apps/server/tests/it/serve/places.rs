//! The places of a caller, which answers that go on keep as long as they do.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::limits::serving;
use super::support::{Serving, bearer, eventually, head, read};
use super::wire::meta;

/// The two revisions of the protocol.
const MODERN: &str = "MCP-Protocol-Version: 2026-07-28";
pub(super) const OLD: &str = "MCP-Protocol-Version: 2025-06-18";

/// Sends a request, and gives the stream that its answer comes from.
pub(super) fn open(
    serving: &Serving,
    token: &str,
    (method, path, lines): (&str, &str, &[&str]),
    body: &Value,
) -> TcpStream {
    let bearer = bearer(token);
    let both = "Accept: application/json, text/event-stream";
    let accept = if path.starts_with("/mcp") { both } else { "Accept: text/event-stream" };
    let own = [&bearer, "Content-Type: application/json", "Connection: close", accept];
    let head = head(method, path, serving, &[&own, lines].concat());
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = serving.connect();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}

/// The status of an answer that has begun, and its head with what came along.
pub(super) fn begun(stream: &mut TcpStream) -> (u16, String) {
    let mut seen = Vec::new();
    let mut piece = [0; 1024];
    while !seen.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..read]);
    }
    let text = String::from_utf8_lossy(&seen).into_owned();
    (read(&text).status, text)
}

#[derive(Debug, Clone, Copy)]
enum Door {
    Rest,
    Modern,
    Old,
}

/// A call that takes so long and tells how it goes. `session`: the header of one, in which no
/// two that run at once may have the same id: the time is it.
fn nap(serving: &Serving, door: Door, time: u32, session: &str) -> TcpStream {
    let named = json!({ "name": "up__wait", "arguments": { "text": time.to_string() } });
    let message = |meta: Value| {
        let mut params = named.clone();
        params["_meta"] = meta;
        params["_meta"]["progressToken"] = json!("p");
        json!({ "jsonrpc": "2.0", "id": time, "method": "tools/call", "params": params })
    };
    let token = &serving.token;
    match door {
        Door::Rest => {
            open(serving, token, ("POST", "/v1/calls", &[]), &json!({ "calls": [named] }))
        }
        Door::Modern => {
            let lines = [MODERN, "Mcp-Method: tools/call", "Mcp-Name: up__wait"];
            open(serving, token, ("POST", "/mcp", &lines), &message(meta()))
        }
        Door::Old => open(serving, token, ("POST", "/mcp", &[OLD, session]), &message(json!({}))),
    }
}

/// Begins a session of an older client, and gives the header that names it.
pub(super) fn session(serving: &Serving, token: &str) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    let (status, head) = begun(&mut open(serving, token, ("POST", "/mcp", &[OLD]), &hello));
    assert_eq!(status, 200, "{head}");
    let line = head.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id: "));
    let line = line.unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let told = begun(&mut open(serving, token, ("POST", "/mcp", &[OLD, &line]), &ready));
    assert_eq!(told.0, 202, "{told:?}");
    line
}

#[test]
fn an_answer_that_goes_on_keeps_its_place_through_every_door() {
    let (serving, _upstream) = serving("per_caller = 2");
    let session = session(&serving, &serving.token);
    let look = || serving.ask("GET", "/v1/tools", "").status;
    for door in [Door::Rest, Door::Modern, Door::Old] {
        let nap = |time| nap(&serving, door, time, &session);
        // A question that is still under way may have the place of one, which is sent again.
        let place = |time| {
            let mut stream = nap(time);
            while begun_within(&mut stream) == Some(429) {
                stream = nap(time);
            }
            stream
        };
        let (first, mut second) = (place(20_000), place(4_000));
        for _ in 0..3 {
            assert_eq!(begun(&mut nap(10)).0, 429, "{door:?}");
            assert_eq!(look(), 429, "{door:?}");
        }
        drop(first);
        assert!(eventually(|| look() == 200), "{door:?}");
        let mut rest = String::new();
        let _ = second.read_to_string(&mut rest);
        assert!(rest.contains("waited 4000 ms"), "{door:?} {rest}");
        assert!(eventually(|| (0..2).all(|_| look() == 200)), "{door:?}");
    }
}

/// The status of an answer, if it begins within a moment; it can still be read.
fn begun_within(stream: &mut TcpStream) -> Option<u16> {
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut seen = [0; 12];
    let read = stream.peek(&mut seen);
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    String::from_utf8_lossy(&seen[..read.ok()?]).rsplit(' ').next()?.parse().ok()
}

/// A stream that listens for changes.
pub(crate) fn listen(serving: &Serving, token: &str) -> TcpStream {
    listen_at(serving, token, "/mcp")
}

/// The same at another door.
pub(super) fn listen_at(serving: &Serving, token: &str, path: &str) -> TcpStream {
    let wanted = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta() });
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": wanted });
    open(serving, token, ("POST", path, &[MODERN, "Mcp-Method: subscriptions/listen"]), &body)
}

#[test]
fn streams_that_listen_are_counted_apart_and_by_caller() {
    let (serving, _upstream) = serving("per_caller = 2");
    let other = serving.token_of("other");
    let session = session(&serving, &serving.token);
    let mut streams = [(); 2].map(|()| listen(&serving, &serving.token));
    assert_eq!([0, 1].map(|at: usize| begun(&mut streams[at]).0), [200, 200]);
    let (status, head) = begun(&mut listen(&serving, &serving.token));
    assert!(status == 429 && head.to_lowercase().contains("retry-after: 1"), "{head}");
    let old = || open(&serving, &serving.token, ("GET", "/mcp", &[OLD, &session]), &Value::Null);
    assert_eq!(begun(&mut old()).0, 429);
    // They keep nobody from calling, and nobody else from listening.
    assert!(eventually(|| {
        let mut naps = [(); 2].map(|()| nap(&serving, Door::Rest, 500, ""));
        [0, 1].map(|at: usize| begun(&mut naps[at]).0) == [200, 200]
    }));
    assert_eq!(begun(&mut listen(&serving, &other)).0, 200);
    drop(streams);
    let mut again = None;
    assert!(eventually(|| {
        let mut stream = old();
        let status = begun(&mut stream).0;
        again = Some(stream);
        status == 200
    }));
}
