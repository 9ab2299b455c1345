//! How messages come and go over HTTP: an answer is a body, or a stream where more may be said.

use std::io;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::answers;
use super::pipe;
use super::request::{FixtureRequest, is_modern};
use super::state::{FixtureOutput, FixtureState, SeenMessage};

/// Bytes of a head and of a body; a gateway that sends more is cut off.
const MOST_HEAD: u64 = 64 * 1024;
const MOST_BODY: usize = 64 << 20;

/// A request as it came.
struct FixtureHttpRequest {
    /// In lower case.
    head: String,
    body: Vec<u8>,
}

impl FixtureHttpRequest {
    /// `None` at the end of the connection.
    async fn read(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Self>> {
        let mut head = String::new();
        let mut limited = reader.take(MOST_HEAD);
        while !head.ends_with("\r\n\r\n") {
            if limited.read_line(&mut head).await? == 0 {
                return Ok(None);
            }
        }
        head.make_ascii_lowercase();
        let mut request = Self { head, body: Vec::new() };
        if request.header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            request.read_chunks(reader).await?;
        } else if let Some(length) = request.header("content-length") {
            let length = length.parse().ok().filter(|length| *length <= MOST_BODY);
            request.body.resize(length.ok_or(io::ErrorKind::InvalidData)?, 0);
            reader.read_exact(&mut request.body).await?;
        }
        Ok(Some(request))
    }

    async fn read_chunks(&mut self, reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
        loop {
            let mut line = String::new();
            (&mut *reader).take(MOST_HEAD).read_line(&mut line).await?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            if self.body.len().saturating_add(size) > MOST_BODY {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut chunk = vec![0; size.saturating_add(2)];
            reader.read_exact(&mut chunk).await?;
            chunk.truncate(size);
            self.body.extend(chunk);
            if size == 0 {
                return Ok(());
            }
        }
    }

    fn header(&self, wanted: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name == wanted).then(|| value.trim())
        })
    }
}

/// One connection; any trouble with it ends it.
pub(super) async fn converse(stream: TcpStream, state: Arc<FixtureState>) {
    let _ = stream.set_nodelay(true);
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    while let Ok(Some(request)) = FixtureHttpRequest::read(&mut reader).await {
        if request.head.starts_with("pipe ") {
            return pipe::serve(&mut reader, &mut writer, &state).await;
        }
        let mut line = FixtureLine { reader: &mut reader, writer: &mut writer, state: &state };
        if !line.answer(&request).await.unwrap_or(false) {
            return;
        }
    }
}

struct FixtureLine<'a, R, W> {
    reader: &'a mut R,
    writer: &'a mut W,
    state: &'a Arc<FixtureState>,
}

impl<R: AsyncBufRead + Unpin, W: AsyncWrite + Unpin> FixtureLine<'_, R, W> {
    /// Whether the connection goes on.
    async fn answer(&mut self, request: &FixtureHttpRequest) -> io::Result<bool> {
        let session = request.header("mcp-session-id").unwrap_or_default();
        let is_known = self.state.has_session(session);
        if request.head.starts_with("delete ") && is_known {
            self.state.end_session(session);
            return self.plain("200 OK", "", "").await;
        }
        if request.head.starts_with("get ") && is_known {
            let (output, outputs) = unbounded_channel();
            self.state.listens(session, None, &output);
            return self.stream(outputs, "", None).await;
        }
        if !request.head.starts_with("post ") {
            return self.plain("405 Method Not Allowed", "", "").await;
        }
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let Ok(message) = serde_json::from_str::<Value>(&text) else {
            return self.plain("400 Bad Request", "", "").await;
        };
        let is_modern = is_modern(&message);
        let place = if is_modern { self.state.name("http") } else { session.to_owned() };
        let begins = message["method"] == "initialize";
        if !is_modern && !begins && !is_known && message["method"] != "server/discover" {
            let status = if session.is_empty() { "400 Bad Request" } else { "404 Not Found" };
            return self.plain(status, "", "").await;
        }
        let head = request.head.clone();
        let place = if begins { self.state.begin_session() } else { place };
        let seen = SeenMessage { place: place.clone(), head, message: message.clone(), text };
        self.state.note(seen);
        if answers::take_without_answer(self.state, &place, &message) {
            return self.plain("202 Accepted", "", "").await;
        }
        let header = if begins { format!("Mcp-Session-Id: {place}\r\n") } else { String::new() };
        self.ask(place, message, is_modern, &header).await
    }

    async fn ask(
        &mut self,
        place: String,
        message: Value,
        is_modern: bool,
        header: &str,
    ) -> io::Result<bool> {
        let (output, mut outputs) = unbounded_channel();
        let streams =
            matches!(message["method"].as_str(), Some("tools/call" | "subscriptions/listen"));
        let id = message["id"].clone();
        let given_up = (place.clone(), id.clone());
        let state = Arc::clone(self.state);
        let request = FixtureRequest { place, message, is_modern, is_piped: false, output, state };
        let answering = tokio::spawn(answers::answer(request));
        if !streams {
            let Some(FixtureOutput::Message(message)) = outputs.recv().await else {
                return Ok(false);
            };
            return self.plain("200 OK", header, &message.to_string()).await;
        }
        // In 2026-07-28 whoever closes the stream gives the request up.
        let given_up = is_modern.then_some(given_up);
        let goes_on = self.stream(outputs, header, given_up).await;
        if is_modern {
            answering.abort();
        }
        goes_on
    }

    async fn plain(&mut self, status: &str, header: &str, body: &str) -> io::Result<bool> {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{header}Content-Length: {length}\r\n\r\n"
        );
        self.writer.write_all(head.as_bytes()).await?;
        self.writer.write_all(body.as_bytes()).await?;
        Ok(true)
    }

    /// Says what comes, until there is no more. `given_up`: what ends if nobody reads any more.
    async fn stream(
        &mut self,
        mut outputs: UnboundedReceiver<FixtureOutput>,
        header: &str,
        given_up: Option<(String, Value)>,
    ) -> io::Result<bool> {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{header}Transfer-Encoding: chunked\r\n\r\n"
        );
        self.writer.write_all(head.as_bytes()).await?;
        self.chunk(": hello\n\n").await?;
        let mut is_watched = true;
        loop {
            tokio::select! {
                output = outputs.recv() => match output {
                    Some(FixtureOutput::Message(message)) => {
                        self.chunk(&format!("event: message\ndata: {message}\n\n")).await?;
                    }
                    Some(FixtureOutput::Raw(raw)) => {
                        self.chunk(&format!("event: message\ndata: {raw}\n\n")).await?;
                    }
                    Some(FixtureOutput::Close) => return Ok(false),
                    None => {
                        self.writer.write_all(b"0\r\n\r\n").await?;
                        return Ok(true);
                    }
                },
                ahead = self.reader.fill_buf(), if is_watched => {
                    if ahead.map_or(true, <[u8]>::is_empty) {
                        if let Some((place, id)) = &given_up {
                            self.state.cancel((place, id));
                        }
                        return Ok(false);
                    }
                    is_watched = false;
                }
            }
        }
    }

    async fn chunk(&mut self, text: &str) -> io::Result<()> {
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        self.writer.write_all(chunk.as_bytes()).await?;
        self.writer.flush().await
    }
}
