//! A model that calls a tool in each turn but the last, and that tool: both take as long as was
//! drawn for the number of the task and of the turn, the same in every measurement.

use std::fmt::Write as _;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::settings::RolloutSettings;
use crate::LoadError;

/// How much slower the slow tool is.
const SLOWER: u32 = 100;
/// Connections that wait to be taken.
const BACKLOG: u32 = 8_192;

pub(super) const DOCUMENT: &str = r#"{
  "openapi": "3.1.0", "info": {"title": "Service", "version": "1"},
  "paths": {"/wait/{millis}": {"get": {"operationId": "wait", "summary": "Waits so long.",
    "parameters": [{"name": "millis", "in": "path", "required": true,
      "schema": {"type": "integer"}}],
    "responses": {"200": {"description": "waited"}}}}}
}"#;

/// How long everything takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawnWork {
    pub(super) settings: RolloutSettings,
    /// One task in so many has a tool in its second turn that is a hundred times slower.
    pub(super) slow_one_in: Option<usize>,
}

impl DrawnWork {
    /// What the model takes for a turn, from 0.
    pub(super) fn model(&self, task: usize, turn: usize) -> Duration {
        drawn(self.settings.model, (task, turn, 1))
    }

    pub(super) fn tool(&self, task: usize, turn: usize) -> Duration {
        let plain = drawn(self.settings.tool, (task, turn, 2));
        let is_slow =
            turn == 1 && self.slow_one_in.is_some_and(|one_in| task.is_multiple_of(one_in));
        if is_slow { plain * SLOWER } else { plain }
    }

    /// What the slowest of so many tasks takes, if nothing comes between.
    pub(super) fn slowest(&self, tasks: usize) -> Duration {
        let last = self.settings.turns.saturating_sub(1);
        let chain = |task: usize| {
            let calls = (0..last).map(|turn| self.model(task, turn) + self.tool(task, turn));
            calls.sum::<Duration>() + self.model(task, last)
        };
        (0..tasks).map(chain).max().unwrap_or_default()
    }
}

/// Between both, the same for the same numbers.
fn drawn([least, most]: [Duration; 2], of: (usize, usize, u64)) -> Duration {
    let (task, turn, what) = of;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for part in [task as u64, turn as u64, what] {
        state = (state ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
    }
    let span = u64::try_from(most.saturating_sub(least).as_micros()).unwrap_or(0);
    least + Duration::from_micros(state % (span + 1))
}

/// Ends when it is dropped.
pub(super) struct RolloutService {
    /// `host:port`.
    pub(super) address: String,
    pub(super) work: DrawnWork,
    _end: oneshot::Sender<()>,
}

impl RolloutService {
    /// Listens on a port of the loopback, on a thread of its own.
    pub(super) fn start(work: DrawnWork) -> Result<Self, LoadError> {
        let (end, ended) = oneshot::channel::<()>();
        let (bound, address) = std::sync::mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = listen() else { return };
                let _ = bound.send(listener.local_addr());
                tokio::select! {
                    () = serve(&listener, work) => {}
                    // Also when the other end is dropped.
                    _ = ended => {}
                }
            });
        });
        let address = address.recv()??.to_string();
        Ok(Self { address, work, _end: end })
    }

    /// The file of an agent over both, which takes so many calls at once.
    pub(super) fn configuration(&self, calls: usize) -> String {
        let address = &self.address;
        let most = calls.max(128);
        format!(
            "allow = [\"*\"]\n\n[limits]\nper_source = {most}\nper_tenant = {most}\n\n\
             [model]\nurl = \"http://{address}/v1\"\nname = \"load\"\nretries = 0\n\n\
             [[source]]\nid = \"web\"\nprefix = \"\"\n[source.openapi]\ndocument = \"service.json\"\n\
             base_url = \"http://{address}\"\n"
        )
    }
}

fn listen() -> std::io::Result<TcpListener> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.bind(std::net::SocketAddr::from(([127, 0, 0, 1], 0)))?;
    socket.listen(BACKLOG)
}

async fn serve(listener: &TcpListener, work: DrawnWork) {
    while let Ok((line, _)) = listener.accept().await {
        // A client that hangs up is no fault of a measurement.
        tokio::spawn(async move { answer_all(line, work).await.ok() });
    }
}

async fn answer_all(mut line: TcpStream, work: DrawnWork) -> Result<(), LoadError> {
    line.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(8 * 1024);
    while let Some(request) = request(&mut line, &mut buffer).await? {
        let body = if let Some((_, rest)) = request.split_once("/wait/") {
            let millis = rest.split_whitespace().next().unwrap_or_default();
            tokio::time::sleep(Duration::from_millis(millis.parse()?)).await;
            "{\"waited\":true}".to_owned()
        } else {
            let (pause, body) = turn(&request, work)?;
            tokio::time::sleep(pause).await;
            body
        };
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        let reply = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        line.write_all(reply.as_bytes()).await?;
    }
    Ok(())
}

/// A turn of the model, and how long it takes.
fn turn(request: &str, work: DrawnWork) -> Result<(Duration, String), LoadError> {
    let task = request.split_once("task:").map_or("", |(_, rest)| rest);
    let task = task.split(';').next().unwrap_or_default().parse()?;
    // Only the messages with results have this field.
    let turn = request.matches("\"tool_call_id\"").count();
    let (message, reason) = if turn + 1 < work.settings.turns {
        let millis = work.tool(task, turn).as_millis();
        (
            format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{turn}","type":"function","function":{{"name":"wait","arguments":"{{\"millis\":{millis}}}"}}}}]}}"#
            ),
            "tool_calls",
        )
    } else {
        (r#"{"role":"assistant","content":"All is done."}"#.to_owned(), "stop")
    };
    let mut body = String::new();
    write!(
        body,
        r#"{{"id":"x","object":"chat.completion","created":1,"model":"load","choices":[{{"index":0,"message":{message},"finish_reason":"{reason}"}}],"usage":{{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}}}"#
    )?;
    Ok((work.model(task, turn), body))
}

/// Head and body of the next request; `None` when the client has hung up.
async fn request(line: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Option<String>, LoadError> {
    loop {
        let end = buffer.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
        if let Some(end) = end {
            let head = String::from_utf8_lossy(buffer.get(..end).unwrap_or_default());
            let head = head.to_ascii_lowercase();
            let length = head.split_once("content-length:").map_or("0", |(_, rest)| rest);
            let length: usize = length.lines().next().unwrap_or("0").trim().parse()?;
            if buffer.len() >= end + length {
                let whole = buffer.drain(..end + length).collect();
                return Ok(Some(String::from_utf8(whole)?));
            }
        }
        if line.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}
