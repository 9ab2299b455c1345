//! An agent that gives one answer, written by the suite, for a client to read.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Bytes of a head, and of a body.
const MOST_BYTES: u64 = 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// Dropped, it answers no more.
pub(super) struct StandIn {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl StandIn {
    /// `golden`: the answer, to whatever is asked; to who asks for a card, if it is one.
    pub(super) fn start(operation: &str, golden: Value) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let is_card = operation == "get_agent_card";
        thread::spawn(move || {
            for line in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let golden = golden.clone();
                // A client that hangs up is its own affair.
                thread::spawn(move || answer(line, address, is_card, &golden).ok());
            }
        });
        Ok(Self { address, is_over })
    }

    pub(super) fn base(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that.
        let _ = TcpStream::connect(self.address);
    }
}

fn answer(
    mut line: TcpStream,
    address: SocketAddr,
    is_card: bool,
    golden: &Value,
) -> std::io::Result<()> {
    line.set_read_timeout(Some(PATIENCE))?;
    line.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(line.try_clone()?.take(MOST_BYTES));
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<u64>().ok())?
    });
    let mut body = Vec::new();
    reader.take(length.unwrap_or(0)).read_to_end(&mut body)?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let told = if head.starts_with("GET") && is_card {
        golden.clone()
    } else if head.starts_with("GET") {
        card(address)
    } else {
        envelope(&asked, golden)
    };
    let told = told.to_string();
    let length = told.len();
    write!(
        line,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{told}"
    )?;
    line.flush()
}

/// The answer under the id that the client chose: the suite cannot know it.
fn envelope(asked: &Value, golden: &Value) -> Value {
    let id = asked.get("id").cloned().unwrap_or_default();
    let part = |name: &str| golden.get(name).cloned();
    match (part("error"), part("result")) {
        (Some(error), _) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        (None, Some(result)) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        (None, None) => json!({ "jsonrpc": "2.0", "id": id, "result": golden }),
    }
}

fn card(address: SocketAddr) -> Value {
    json!({
        "name": "Stand-in", "description": "Gives the answers of the suite.", "version": "1.0.0",
        "supportedInterfaces": [{
            "url": format!("http://{address}/"), "protocolBinding": "JSONRPC",
            "protocolVersion": "1.0",
        }],
        "capabilities": { "streaming": false, "extendedAgentCard": true },
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{
            "id": "suite", "name": "Suite", "description": "Gives answers.", "tags": ["suite"],
        }],
    })
}
