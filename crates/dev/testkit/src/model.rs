//! A model that does as a script says, behind the four model APIs, on a port of the loopback.

mod given;
mod wire;

use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// What the model does when it is asked.
#[derive(Debug, Clone)]
pub enum ScriptedTurn {
    /// It says this, word by word.
    Says(String),
    /// It says this and calls these: names with arguments.
    Calls(String, Vec<(String, Value)>),
    /// It refuses with a status, headers and a body.
    Refuses(u16, Vec<(String, String)>, String),
    /// It begins an answer and hangs up after so many bytes of it.
    BreaksOff(Box<ScriptedTurn>, usize),
    /// It waits so long before it answers.
    Waits(Duration, Box<ScriptedTurn>),
    /// These bytes in the place of a stream.
    Writes(String),
    /// A whole answer in the shape of its API, piece by piece.
    Gives(Value),
    /// Its stream has no usage.
    TellsNoUsage(Box<ScriptedTurn>),
}

/// A request that the model was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAsked {
    pub path: String,
    /// Its headers, by their names in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

/// Says what is done about a request; its number counts from 0.
type Script = Arc<dyn Fn(usize, &ModelAsked) -> ScriptedTurn + Send + Sync>;

/// Dropped, it answers no more.
pub struct ScriptedModel {
    shared: Arc<ModelShared>,
    address: SocketAddr,
}

struct ModelShared {
    script: Script,
    count: AtomicUsize,
    asked: Mutex<Vec<ModelAsked>>,
    is_over: AtomicBool,
}

impl ScriptedTurn {
    /// One call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::Calls(String::new(), vec![(name.to_owned(), arguments)])
    }

    /// These calls at once.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let calls = calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone()));
        Self::Calls(String::new(), calls.collect())
    }

    pub fn says(text: &str) -> Self {
        Self::Says(text.to_owned())
    }
}

impl ScriptedModel {
    /// A model that takes these turns one after the other, and says "done" from then on.
    ///
    /// # Errors
    /// There is no port.
    pub fn of(turns: impl IntoIterator<Item = ScriptedTurn>) -> std::io::Result<Self> {
        let turns: Vec<_> = turns.into_iter().collect();
        Self::by(move |number, _| {
            turns.get(number).cloned().unwrap_or_else(|| ScriptedTurn::says("done"))
        })
    }

    /// A model that decides by the body of the request.
    ///
    /// # Errors
    /// There is no port.
    pub fn by(
        script: impl Fn(usize, &Value) -> ScriptedTurn + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        Self::by_request(move |number, asked| script(number, &asked.body))
    }

    /// A model that decides by the whole request.
    ///
    /// # Errors
    /// There is no port.
    pub fn by_request(
        script: impl Fn(usize, &ModelAsked) -> ScriptedTurn + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ModelShared {
            script: Arc::new(script),
            count: AtomicUsize::new(0),
            asked: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for line in listener.incoming() {
                if serving.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(line) = line else { continue };
                let shared = Arc::clone(&serving);
                // A client that hangs up is no fault of the test.
                thread::spawn(move || shared.serve(line).ok());
            }
        });
        Ok(Self { shared, address })
    }

    /// What stands before the paths of an API: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<ModelAsked> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that.
        let _ = TcpStream::connect(self.address);
    }
}

impl ModelShared {
    fn serve(&self, line: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(line.try_clone()?);
        let Some(asked) = read(&mut reader)? else { return Ok(()) };
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let turn = (self.script)(number, &asked);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
        answer(line, &asked, number, turn)
    }
}

fn answer(
    mut line: TcpStream,
    asked: &ModelAsked,
    number: usize,
    turn: ScriptedTurn,
) -> std::io::Result<()> {
    let (mut turn, mut cut, mut has_usage) = (turn, usize::MAX, true);
    loop {
        turn = match turn {
            ScriptedTurn::BreaksOff(inner, after) => {
                cut = after;
                *inner
            }
            ScriptedTurn::Waits(pause, inner) => {
                thread::sleep(pause);
                *inner
            }
            ScriptedTurn::TellsNoUsage(inner) => {
                has_usage = false;
                *inner
            }
            other @ (ScriptedTurn::Says(_)
            | ScriptedTurn::Calls(..)
            | ScriptedTurn::Refuses(..)
            | ScriptedTurn::Writes(_)
            | ScriptedTurn::Gives(_)) => {
                turn = other;
                break;
            }
        };
    }
    let (status, headers, kind, body) = match turn {
        ScriptedTurn::Refuses(status, headers, body) => (status, headers, "application/json", body),
        ScriptedTurn::Writes(body) => (200, Vec::new(), "text/event-stream", body),
        ScriptedTurn::Gives(reply) => {
            (200, Vec::new(), "text/event-stream", given::events(&asked.path, &reply))
        }
        ScriptedTurn::Says(text) => {
            let (kind, body) = wire::reply(asked, number, &text, &[], has_usage);
            (200, Vec::new(), kind, body)
        }
        ScriptedTurn::Calls(text, calls) => {
            let (kind, body) = wire::reply(asked, number, &text, &calls, has_usage);
            (200, Vec::new(), kind, body)
        }
        // They were opened above.
        ScriptedTurn::BreaksOff(..) | ScriptedTurn::Waits(..) | ScriptedTurn::TellsNoUsage(_) => {
            return Ok(());
        }
    };
    let mut head = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    line.write_all(head.as_bytes())?;
    let is_cut = cut < body.len();
    let body = body.get(..cut.min(body.len())).unwrap_or(&body);
    // An event at a time, as a model writes.
    for piece in body.split_inclusive("\n\n") {
        line.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes())?;
    }
    if !is_cut {
        line.write_all(b"0\r\n\r\n")?;
    }
    line.flush()
}

fn read(reader: &mut impl std::io::BufRead) -> std::io::Result<Option<ModelAsked>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let path = first.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.trim().split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(ModelAsked { path, headers, body }))
}
