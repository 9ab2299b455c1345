//! Requests written by hand, for what no library would send.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Objects that are no messages of JSON-RPC 2.0, of those that name their `id` at the beginning.
pub(crate) const NO_MESSAGES: [&str; 24] = [
    r"{}",
    r#"{"jsonrpc":"2.0"}"#,
    r#"{"id":1,"jsonrpc":"2.0"}"#,
    r#"{"id":1,"method":"ping"}"#,
    r#"{"id":1,"jsonrpc":"1.0","method":"ping"}"#,
    r#"{"id":1,"jsonrpc":2.0,"method":"ping"}"#,
    r#"{"id":1,"jsonrpc":"2.0","method":7}"#,
    r#"{"id":1,"jsonrpc":"2.0","Method":"ping"}"#,
    r#"{"id":1,"jsonrpc":"2.0","method":"ping","result":{}}"#,
    r#"{"id":1,"jsonrpc":"2.0","method":"ping","params":[]}"#,
    r#"{"id":1,"jsonrpc":"2.0","method":"ping","params":{"_meta":7}}"#,
    r#"{"id":1,"jsonrpc":"2.0","result":{},"error":{"code":1,"message":"m"}}"#,
    r#"{"id":1,"jsonrpc":"2.0","error":"m"}"#,
    r#"{"id":1,"jsonrpc":"2.0","error":{"code":1.5,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":1e0,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":-9007199254740993,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
];

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    /// The messages, of a JSON body or of a stream of events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        if let Ok(one) = serde_json::from_str(&self.body) {
            return vec![one];
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// The last message, which is the answer.
    pub(crate) fn answer(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no answer: {} {}", self.head, self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Sends one request and reads all of the reply. HTTP/1.0, so that nothing comes in chunks.
pub(crate) async fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut head = format!("{method} /{path} HTTP/1.0\r\ncontent-length: {}\r\n", body.len());
    let mut add = |name: &str, value: &str| {
        if !headers.iter().any(|(key, _)| *key == name) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
    };
    add("host", address);
    add("content-type", "application/json");
    add("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.unwrap();
    let reply = String::from_utf8(reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}

/// Headers of which one is another.
pub(crate) fn but<'a>(
    headers: &[(&'a str, &'a str)],
    (name, value): (&'a str, &'a str),
) -> Vec<(&'a str, &'a str)> {
    let others = headers.iter().copied().filter(|(other, _)| *other != name);
    others.chain([(name, value)]).collect()
}

/// A request of 2026-07-28, with what its client can answer.
pub(crate) async fn modern(
    url: &str,
    caller: &str,
    method: &str,
    mut params: Value,
    can: Value,
) -> Reply {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can;
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
    let name = ["name", "taskId", "uri"].iter().find_map(|key| params[key].as_str());
    let name = name.unwrap_or_default().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut headers =
        vec![("x-caller", caller), ("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    send("POST", url, &headers, &body.to_string()).await
}

/// A request of an older revision within a session.
pub(crate) async fn old(url: &str, caller: &str, session: Option<&str>, message: Value) -> Reply {
    let mut headers = vec![("x-caller", caller)];
    headers.extend(session.map(|session| ("mcp-session-id", session)));
    send("POST", url, &headers, &message.to_string()).await
}

/// The first request of a session.
pub(crate) async fn greet(url: &str, caller: &str, revision: &str, can: Value) -> Reply {
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": revision, "capabilities": can,
            "clientInfo": { "name": "t", "version": "1" },
        },
    });
    old(url, caller, None, hello).await
}

/// Begins a session, and gives its name.
pub(crate) async fn begin(url: &str, caller: &str, revision: &str, can: Value) -> String {
    let reply = greet(url, caller, revision, can).await;
    assert_eq!(reply.answer()["result"]["protocolVersion"], revision, "{}", reply.body);
    let session = reply.header("mcp-session-id").unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(old(url, caller, Some(&session), ready).await.status, 202);
    session
}
