//! A model behind the chat API of `OpenAI` that answers at once, over connections that stay open.
//!
//! What it does stands in the text that the user said: `steps:N` are N turns with a call of
//! `text_count` each, then it says [`DONE`]. With `slowly`, the rest of an answer comes a while
//! after its first word. `fanout:N` are N tasks for `ask_counter` at once, each of many steps.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::{LoadError, LoadTarget};

/// What it says at the end.
pub(crate) const DONE: &str = "All is done.";

/// How long the rest of a slow answer takes.
const PAUSE: Duration = Duration::from_millis(5);

/// Ends when it is dropped.
pub(crate) struct LoadModel {
    /// `host:port`.
    pub(crate) address: String,
    requests: Arc<AtomicUsize>,
    _end: oneshot::Sender<()>,
}

impl LoadModel {
    /// Listens on a port of the loopback, on a thread of its own.
    pub(crate) fn start() -> Result<Self, LoadError> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?.to_string();
        let (end, ended) = oneshot::channel::<()>();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = serve(&listener, &counted) => {}
                    // Also when the other end is dropped.
                    _ = ended => {}
                }
            });
        });
        Ok(Self { address, requests, _end: end })
    }

    /// Requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn target(&self) -> LoadTarget {
        LoadTarget { address: self.address.clone(), token: None }
    }
}

async fn serve(listener: &TcpListener, requests: &Arc<AtomicUsize>) {
    while let Ok((line, _)) = listener.accept().await {
        // A client that hangs up is no fault of a measurement.
        let requests = Arc::clone(requests);
        tokio::spawn(async move { answer_all(line, &requests).await.ok() });
    }
}

async fn answer_all(mut line: TcpStream, requests: &AtomicUsize) -> Result<(), LoadError> {
    line.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(64 * 1024);
    while let Some(body) = request(&mut line, &mut buffer).await? {
        requests.fetch_add(1, Ordering::SeqCst);
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
        // Only the messages with results have this field.
        let done = body.matches("\"tool_call_id\"").count();
        let is_streamed = body.contains("\"stream\":true") || body.contains("\"stream\": true");
        let calls = match wanted(body, "fanout:") {
            Some(tasks) if done == 0 => (0..tasks).map(|task| given(task, is_streamed)).collect(),
            None if done < wanted(body, "steps:").unwrap_or(0) => {
                vec![call(done, if is_streamed { r#""index":0,"# } else { "" })]
            }
            Some(_) | None => Vec::new(),
        };
        if is_streamed {
            return Self::stream(&calls, body.contains("slowly"));
        }
        let message = if calls.is_empty() {
            format!(r#"{{"role":"assistant","content":"{DONE}"}}"#)
        } else {
            let calls = calls.join(",");
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{calls}]}}"#)
        };
        let reason = reason(!calls.is_empty());
        let body = format!(
            r#"{{{HEAD}"object":"chat.completion","choices":[{{"index":0,"message":{message},"finish_reason":"{reason}"}}],{USAGE}}}"#
        );
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        let first = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        Self { first, rest: String::new() }
    }

    /// Events, each as a chunk of its own.
    fn stream(calls: &[String], slowly: bool) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut first = head.to_owned();
        let mut rest = String::new();
        if calls.is_empty() {
            for (at, word) in DONE.split_inclusive(' ').enumerate() {
                let to = if at == 0 { &mut first } else { &mut rest };
                event(to, &choice(&format!(r#"{{"content":"{word}"}}"#), None));
            }
        } else {
            let told = format!(r#"{{"tool_calls":[{}]}}"#, calls.join(","));
            event(&mut first, &choice(&told, None));
        }
        event(&mut rest, &choice("{}", Some(reason(!calls.is_empty()))));
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

/// The number that stands behind a word, if it is there.
fn wanted(body: &str, word: &str) -> Option<usize> {
    let (_, rest) = body.split_once(word)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A task for somebody else, of more steps than anybody lets it have.
fn given(task: usize, is_streamed: bool) -> String {
    let index = if is_streamed { format!(r#""index":{task},"#) } else { String::new() };
    format!(
        r#"{{{index}"id":"task_{task}","type":"function","function":{{"name":"ask_counter","arguments":"{{\"task\":\"steps:1000 of task {task}\"}}"}}}}"#
    )
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
