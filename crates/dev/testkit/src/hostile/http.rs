//! The server over HTTP, within a test or as a program: a message is a body or an event.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use super::answer::{HostileMemory, HostileRequest, HostileStep, steps};
use super::script::{HostileScript, ScriptMoment};
use super::stdio::record;

/// A server on a port of the loopback; dropped, it answers no more.
pub struct HostileServer {
    shared: Arc<HostileShared>,
    address: SocketAddr,
}

struct HostileShared {
    script: HostileScript,
    memory: HostileMemory,
    received: Mutex<Vec<(String, String)>>,
    sessions: AtomicU64,
    /// Requests since the last session began.
    requests: AtomicU64,
    is_over: AtomicBool,
}

impl HostileServer {
    /// Listens, and behaves as the words say; see [`super::WORDS`].
    pub fn start(words: &[&str]) -> Result<Self, String> {
        let script = HostileScript::parse(words)?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let shared = Arc::new(HostileShared {
            script,
            memory: HostileMemory::default(),
            received: Mutex::default(),
            sessions: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), serving) = (stream, Arc::clone(&serving)) else { continue };
                thread::spawn(move || serving.converse(&stream));
            }
        });
        Ok(Self { shared, address })
    }

    /// Where it answers.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Each request so far: its first line with its headers, and its body.
    pub fn received(&self) -> Vec<(String, String)> {
        self.shared.received().clone()
    }

    /// Serves until the process ends.
    pub(super) fn wait(&self) {
        while !self.shared.is_over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_mins(1));
        }
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

/// What a client sent.
struct ReceivedRequest {
    head: String,
    body: Vec<u8>,
}

/// The largest request that is read; clients under test are honest.
const LONGEST_BODY: u64 = 64 << 20;

impl ReceivedRequest {
    /// `None` at the end of the connection.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(None);
            }
        }
        let mut incoming = Self { head, body: Vec::new() };
        let length = incoming.header("content-length").and_then(|length| length.parse().ok());
        reader.take(length.unwrap_or(0).min(LONGEST_BODY)).read_to_end(&mut incoming.body)?;
        Ok(Some(incoming))
    }

    fn header(&self, wanted: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    }
}

impl HostileShared {
    fn received(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One connection; any trouble with it ends it.
    fn converse(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Ok(Some(incoming)) = ReceivedRequest::read(&mut reader) {
            let body = String::from_utf8_lossy(&incoming.body).into_owned();
            self.received().push((incoming.head.trim_end().to_owned(), body));
            let is_recorded = record(&self.script, &incoming.body).is_ok();
            let is_over = self.is_over.load(Ordering::Relaxed);
            if !is_recorded || is_over || !self.reply(stream, &incoming).unwrap_or(false) {
                return;
            }
        }
    }

    /// Answers a request; whether the connection goes on.
    fn reply(&self, stream: &TcpStream, incoming: &ReceivedRequest) -> io::Result<bool> {
        let plain = |status: &str, headers: &str| send(stream, status, headers, b"");
        if incoming.head.starts_with("GET ") && self.script.has("list-changed") {
            let ready = HostileRequest::read(br#"{"method":"notifications/initialized"}"#);
            let steps = ready.map(|ready| steps(&self.script, &self.memory, &ready));
            self.stream(stream, steps.unwrap_or_default(), None)?;
            thread::sleep(Duration::from_hours(24));
        }
        if !incoming.head.starts_with("POST ") {
            return plain("405 Method Not Allowed", "Allow: POST\r\n");
        }
        let Some(request) = HostileRequest::read(&incoming.body) else {
            return plain("202 Accepted", "");
        };
        let moment = request.moment();
        let session = match self.session(incoming, &request) {
            Ok(session) => session,
            Err(status) => return plain(status, ""),
        };
        if let Some(place) = self.script.at("redirect", moment) {
            return plain("307 Temporary Redirect", &format!("Location: {place}\r\n"));
        }
        if let Some(status) = self.script.at("status", moment) {
            return plain(&format!("{status} As Told"), "");
        }
        let mut steps = steps(&self.script, &self.memory, &request);
        while let Some(HostileStep::Wait(pause)) = steps.first() {
            thread::sleep(*pause);
            steps.remove(0);
        }
        match steps.as_slice() {
            [] => plain("202 Accepted", ""),
            [HostileStep::Exit, ..] => {
                self.is_over.store(true, Ordering::Relaxed);
                Ok(false)
            }
            [HostileStep::Message(body)] if self.script.at("sse", moment).is_none() => {
                self.whole(stream, moment, &session, body)
            }
            _ => self.stream(stream, steps, Some((moment, &session))).map(|()| false),
        }
    }

    /// The header of a new session, or the status of a request that has none.
    fn session(
        &self,
        incoming: &ReceivedRequest,
        request: &HostileRequest,
    ) -> Result<String, &'static str> {
        if !self.script.has("session") && !self.script.has("forget") {
            return Ok(String::new());
        }
        if request.method == "initialize" {
            self.requests.store(0, Ordering::Relaxed);
            let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
            return Ok(format!("Mcp-Session-Id: session-{number}\r\n"));
        }
        let current = format!("session-{}", self.sessions.load(Ordering::Relaxed));
        let count = self.requests.fetch_add(1, Ordering::Relaxed);
        let is_forgotten = self.script.setting("forget").is_some_and(|most| count >= most);
        match incoming.header("mcp-session-id") {
            None => Err("400 Bad Request"),
            Some(session) if session != current || is_forgotten => Err("404 Not Found"),
            Some(_) => Ok(String::new()),
        }
    }

    /// A body whose length is known.
    fn whole(
        &self,
        mut stream: &TcpStream,
        moment: ScriptMoment,
        session: &str,
        body: &[u8],
    ) -> io::Result<bool> {
        let promised = body.len() as u64 + self.script.number("long", moment).unwrap_or_default();
        let kind = self.script.at("type", moment).unwrap_or("application/json");
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{session}Content-Length: {promised}\r\n\r\n"
        );
        if let Some(pause) = self.script.number("drip", moment) {
            for byte in [head.as_bytes(), body].concat() {
                stream.write_all(&[byte])?;
                thread::sleep(Duration::from_millis(pause));
            }
            return Ok(true);
        }
        stream.write_all(head.as_bytes())?;
        let is_cut = self.script.at("cut", moment).is_some();
        let (first, second) = body.split_at(body.len() / 2);
        stream.write_all(first)?;
        if !is_cut {
            stream.write_all(second)?;
        }
        Ok(!is_cut && promised == body.len() as u64)
    }

    /// A stream of events, which ends with the connection.
    fn stream(
        &self,
        mut stream: &TcpStream,
        steps: Vec<HostileStep>,
        answer: Option<(ScriptMoment, &str)>,
    ) -> io::Result<()> {
        let (moment, session) = answer.unwrap_or((ScriptMoment::Other, ""));
        let kind = self.script.at("type", moment).unwrap_or("text/event-stream");
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{session}Connection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let mut is_within = false;
        for step in steps {
            // What follows a part of a message completes it.
            let start: &[u8] = if is_within { b"" } else { b"data: " };
            match step {
                HostileStep::Message(bytes) if self.script.at("cut", moment).is_some() => {
                    let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
                    return stream.write_all(&[start, half].concat());
                }
                HostileStep::Message(bytes) => {
                    stream.write_all(&[start, bytes.as_slice(), b"\n\n"].concat())?;
                    is_within = false;
                }
                HostileStep::Bytes(bytes) => {
                    stream.write_all(&[start, bytes.as_slice()].concat())?;
                    is_within = true;
                }
                HostileStep::Endless(bytes) => loop {
                    stream.write_all(&bytes)?;
                },
                HostileStep::Wait(pause) => thread::sleep(pause),
                HostileStep::Exit => {
                    self.is_over.store(true, Ordering::Relaxed);
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// A short answer; the connection goes on.
fn send(mut stream: &TcpStream, status: &str, headers: &str, body: &[u8]) -> io::Result<bool> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    Ok(true)
}
