//! A model behind the chat API of `OpenAI` that answers at once, over connections that stay open.
//!
//! What it does stands in the text that the user said: `steps:N` are N turns with a call of
//! `text_count` each, then it says [`DONE`]. With `slowly`, the rest of an answer comes a while
//! after its first word.

use std::fmt::Write as _;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::LoadError;

/// What it says at the end.
pub(super) const DONE: &str = "All is done.";

/// How long the rest of a slow answer takes.
const PAUSE: Duration = Duration::from_millis(5);

/// Ends when it is dropped.
pub(super) struct LoadModel {
    /// `host:port`.
    pub(super) address: String,
    _end: oneshot::Sender<()>,
}

impl LoadModel {
    /// Listens on a port of the loopback, on a thread of its own.
    pub(super) fn start() -> Result<Self, LoadError> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?.to_string();
        let (end, ended) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = serve(&listener) => {}
                    // Also when the other end is dropped.
                    _ = ended => {}
                }
            });
        });
        Ok(Self { address, _end: end })
    }
}

async fn serve(listener: &TcpListener) {
    while let Ok((line, _)) = listener.accept().await {
        // A client that hangs up is no fault of a measurement.
        tokio::spawn(async move { answer_all(line).await.ok() });
    }
}

async fn answer_all(mut line: TcpStream) -> Result<(), LoadError> {
    line.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(64 * 1024);
    while let Some(body) = request(&mut line, &mut buffer).await? {
        let reply = ModelReply::to(&body);
        line.write_all(reply.first.as_bytes()).await?;
        if !reply.rest.is_empty() {
            tokio::time::sleep(PAUSE).await;
            line.write_all(reply.rest.as_bytes()).await?;
        }
    }
    Ok(())
}

/// The body of the next request; `None` when the client has hung up.
async fn request(line: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Option<String>, LoadError> {
    loop {
        let end = buffer.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
        if let Some(end) = end {
            let head = String::from_utf8_lossy(buffer.get(..end).unwrap_or_default());
            let head = head.to_ascii_lowercase();
            let length = head.split_once("content-length:").map_or("0", |(_, rest)| rest);
            let length: usize = length.lines().next().unwrap_or("0").trim().parse()?;
            if buffer.len() >= end + length {
                let body = buffer.drain(..end + length).skip(end).collect();
                return Ok(Some(String::from_utf8(body)?));
            }
        }
        if line.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

/// An answer as bytes of HTTP.
struct ModelReply {
    first: String,
    /// What comes after a pause.
    rest: String,
}

impl ModelReply {
    fn to(body: &str) -> Self {
        let wanted = body.split_once("steps:").map_or("", |(_, rest)| rest);
        let wanted: String = wanted.chars().take_while(char::is_ascii_digit).collect();
        // Only the messages with results have this field.
        let done = body.matches("\"tool_call_id\"").count();
        let calls = done < wanted.parse().unwrap_or(0);
        if body.contains("\"stream\":true") || body.contains("\"stream\": true") {
            return Self::stream(calls.then_some(done), body.contains("slowly"));
        }
        let message = if calls {
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, call(done, ""))
        } else {
            format!(r#"{{"role":"assistant","content":"{DONE}"}}"#)
        };
        let reason = reason(calls);
        let body = format!(
            r#"{{{HEAD}"object":"chat.completion","choices":[{{"index":0,"message":{message},"finish_reason":"{reason}"}}],{USAGE}}}"#
        );
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        let first = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        Self { first, rest: String::new() }
    }

    /// Events, each as a chunk of its own.
    fn stream(calls: Option<usize>, slowly: bool) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut first = head.to_owned();
        let mut rest = String::new();
        if let Some(done) = calls {
            let calls = format!(r#"{{"tool_calls":[{}]}}"#, call(done, r#""index":0,"#));
            event(&mut first, &choice(&calls, None));
        } else {
            for (at, word) in DONE.split_inclusive(' ').enumerate() {
                let to = if at == 0 { &mut first } else { &mut rest };
                event(to, &choice(&format!(r#"{{"content":"{word}"}}"#), None));
            }
        }
        event(&mut rest, &choice("{}", Some(reason(calls.is_some()))));
        event(
            &mut rest,
            &format!(r#"{{{HEAD}"object":"chat.completion.chunk","choices":[],{USAGE}}}"#),
        );
        event(&mut rest, "[DONE]");
        rest.push_str("0\r\n\r\n");
        if !slowly {
            first.push_str(&std::mem::take(&mut rest));
        }
        Self { first, rest }
    }
}

const HEAD: &str = r#""id":"chatcmpl-1","created":1,"model":"load","#;
const USAGE: &str = r#""usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}"#;

fn reason(calls: bool) -> &'static str {
    if calls { "tool_calls" } else { "stop" }
}

/// A call that no other one is like, `more` being its first fields.
fn call(number: usize, more: &str) -> String {
    format!(
        r#"{{{more}"id":"call_{number}","type":"function","function":{{"name":"text_count","arguments":"{{\"text\":\"step {number}\"}}"}}}}"#
    )
}

fn choice(delta: &str, reason: Option<&str>) -> String {
    let reason = reason.map_or("null".to_owned(), |reason| format!("\"{reason}\""));
    format!(
        r#"{{{HEAD}"object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta},"finish_reason":{reason}}}]}}"#
    )
}

fn event(to: &mut String, data: &str) {
    let event = format!("data: {data}\n\n");
    // A string takes whatever is written.
    let _ = write!(to, "{:x}\r\n{event}\r\n", event.len());
}
