//! What stands behind the server: an HTTP service and an MCP child, which both count what they do.
//!
//! What is done is named by the caller (`nonce`), and how it ends by `how`.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::process::Folder;

/// Counts, by name; and which of those that are answered late may be answered.
#[derive(Clone, Default)]
pub(crate) struct Oracle {
    counts: Arc<Mutex<HashMap<String, u32>>>,
    /// How often each idempotency key came.
    keys: Arc<Mutex<HashMap<String, u32>>>,
    let_go: Arc<(Mutex<HashSet<String>>, Condvar)>,
}

impl Oracle {
    pub(crate) fn count(&self, nonce: &str) -> u32 {
        self.counts.lock().unwrap().get(nonce).copied().unwrap_or(0)
    }

    pub(crate) fn all(&self) -> HashMap<String, u32> {
        self.counts.lock().unwrap().clone()
    }

    fn did(&self, nonce: &str) {
        *self.counts.lock().unwrap().entry(nonce.to_owned()).or_default() += 1;
    }

    /// How often each key came, fewest first.
    pub(crate) fn keys(&self) -> Vec<u32> {
        let mut times: Vec<_> = self.keys.lock().unwrap().values().copied().collect();
        times.sort_unstable();
        times
    }

    /// How often this key has come by now.
    fn came(&self, key: &str) -> u32 {
        let mut keys = self.keys.lock().unwrap();
        let times = keys.entry(key.to_owned()).or_default();
        *times += 1;
        *times
    }

    /// Has what is done `late` under this name answered.
    pub(crate) fn let_go(&self, nonce: &str) {
        self.let_go.0.lock().unwrap().insert(nonce.to_owned());
        self.let_go.1.notify_all();
    }

    fn await_leave(&self, nonce: &str) {
        let names = self.let_go.0.lock().unwrap();
        let _names = self.let_go.1.wait_while(names, |names| !names.contains(nonce)).unwrap();
    }
}

/// What the service does at a moment of a request; the test may end the server there.
pub(crate) type AtMoment = Arc<dyn Fn(&str) + Send + Sync>;

pub(crate) struct Upstream {
    pub(crate) oracle: Oracle,
    pub(crate) port: u16,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        Self::with(Arc::new(|_| {}))
    }

    pub(crate) fn with(moment: AtMoment) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, oracle) = (listener.local_addr().unwrap().port(), Oracle::default());
        let counts = oracle.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (counts, moment) = (counts.clone(), Arc::clone(&moment));
                std::thread::spawn(move || serve(&stream.unwrap(), &counts, &*moment));
            }
        });
        Self { oracle, port }
    }

    /// A folder with a configuration of both sources; `more` stands before them.
    pub(crate) fn furnish(&self, more: &str) -> Folder {
        let folder = Folder::new();
        folder.write("child.py", CHILD);
        let port = self.port;
        let child = format!(
            "[[source]]\nid = \"child\"\n\
             mcp = {{ command = [\"python3\", \"child.py\", \"{port}\"], cwd = \".\" }}\n"
        );
        self.write(folder, &format!("{more}\n{child}"))
    }

    /// The same of the service alone.
    pub(crate) fn furnish_web(&self, more: &str) -> Folder {
        self.write(Folder::new(), more)
    }

    fn write(&self, folder: Folder, more: &str) -> Folder {
        folder.write("service.json", DOCUMENT);
        let port = self.port;
        let web = format!(
            "[[source]]\nid = \"web\"\n[source.openapi]\ndocument = \"service.json\"\n\
             base_url = \"http://127.0.0.1:{port}\"\n"
        );
        folder.write("crib.toml", &format!("{more}\n{web}"));
        folder
    }
}

/// Serves one connection until it is closed.
fn serve(mut stream: &TcpStream, oracle: &Oracle, moment: &(dyn Fn(&str) + Send + Sync)) {
    moment("connected");
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut length, mut key) = (0, String::new());
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header).unwrap_or(0) == 0 {
                return;
            }
            if header == "\r\n" {
                break;
            }
            match header.to_lowercase().split_once(':') {
                Some(("content-length", bytes)) => length = bytes.trim().parse().unwrap_or(0),
                Some(("idempotency-key", it)) => it.trim().clone_into(&mut key),
                _ => {}
            }
        }
        moment("head read");
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let mut parts = path.trim_start_matches('/').splitn(3, '/');
        let (what, how) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let nonce = parts.next().unwrap_or_default();
        // `pay-N` knows a repetition by its key, and breaks the line of the first N.
        let payment = how.strip_prefix("pay-").map(|lost| (oracle.came(&key), lost.parse()));
        if what != "see" && payment.as_ref().is_none_or(|(times, _)| *times == 1) {
            oracle.did(nonce);
        }
        let is_lost = payment.is_some_and(|(times, lost)| lost.is_ok_and(|lost| times <= lost));
        moment("done");
        if how == "late" {
            oracle.await_leave(nonce);
        }
        if is_lost || !answer(stream, how, (nonce, oracle.count(nonce)), moment) {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
        moment("answered");
        let _ = stream.flush();
    }
}

/// `times`: how often it was done. `false`: the connection is over.
fn answer(
    mut stream: &TcpStream,
    how: &str,
    (nonce, times): (&str, u32),
    moment: &(dyn Fn(&str) + Send + Sync),
) -> bool {
    let body = match how.strip_prefix("large-") {
        Some(size) => format!("{{\"did\":\"{}\"}}", "y".repeat(size.parse().unwrap_or(1))),
        None if how == "count" => format!("{{\"times\":{times}}}"),
        None => format!("{{\"did\":\"{nonce}\"}}"),
    };
    let length = body.len();
    let (status, pause) = match how.split_once('-') {
        Some(("slow", pause)) => (200, pause.parse().unwrap_or(0)),
        Some(("status", status)) => (status.parse().unwrap_or(500), 0),
        _ => (200, 0),
    };
    std::thread::sleep(Duration::from_millis(pause));
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    match how {
        "reset" => false,
        "hang" => {
            std::thread::sleep(Duration::from_mins(1));
            false
        }
        "half" => {
            let _ = stream.write_all(&head.as_bytes()[..30]);
            false
        }
        "truncated" => {
            let _ = stream.write_all(format!("{head}{}", &body[..length / 2]).as_bytes());
            false
        }
        _ => {
            let _ = stream.write_all(head.as_bytes());
            moment("half answered");
            stream.write_all(body.as_bytes()).is_ok()
        }
    }
}

const DOCUMENT: &str = r#"{
  "openapi": "3.1.0", "info": {"title": "Service", "version": "1"},
  "paths": {
    "/do/{how}/{nonce}": {"post": {"operationId": "act", "summary": "Does something.",
      "parameters": [
        {"name": "how", "in": "path", "required": true, "schema": {"type": "string"}},
        {"name": "nonce", "in": "path", "required": true, "schema": {"type": "string"}}],
      "responses": {"200": {"description": "done"}}}},
    "/see/{how}/{nonce}": {"get": {"operationId": "see", "summary": "Looks.",
      "parameters": [
        {"name": "how", "in": "path", "required": true, "schema": {"type": "string"}},
        {"name": "nonce", "in": "path", "required": true, "schema": {"type": "string"}}],
      "responses": {"200": {"description": "seen"}}}}
  }
}"#;

/// A child that tells the service what it does, so that both count in one place.
const CHILD: &str = r#"
import json, os, socket, sys, threading, time

def tell(path):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as line:
        line.sendall(("POST " + path + " HTTP/1.1\r\nhost: x\r\n\r\n").encode())
        line.recv(4096)

lock = threading.Lock()

def reply(message):
    with lock:
        print(json.dumps(message), flush=True)

def act(asked):
    arguments = asked["params"]["arguments"]
    nonce, how = arguments["nonce"], arguments["how"]
    if how != "before":
        tell("/did/ok/" + nonce)
    if how in ("before", "die"):
        os._exit(3)
    if how == "hang":
        return
    if how == "late":
        tell("/see/late/" + nonce)
    if how.startswith("slow-"):
        time.sleep(int(how[5:]) / 1000)
    reply({"jsonrpc": "2.0", "id": asked["id"],
           "result": {"content": [{"type": "text", "text": "did " + nonce}]}})

SCHEMA = {"type": "object", "required": ["nonce", "how"],
          "properties": {"nonce": {"type": "string"}, "how": {"type": "string"}}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        answer = {"protocolVersion": asked["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "c", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer = {"tools": [{"name": "act", "description": "Does something.",
                             "inputSchema": SCHEMA}]}
    elif asked["method"] == "tools/call":
        threading.Thread(target=act, args=(asked,)).start()
        continue
    else:
        reply({"jsonrpc": "2.0", "id": asked["id"],
               "error": {"code": -32601, "message": "unknown method"}})
        continue
    reply({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
"#;
