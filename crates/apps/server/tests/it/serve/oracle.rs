//! An API that counts what is asked of it, and documents whose operations lead there.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

/// Answers everything with `{"ok":true}`.
pub(crate) struct Oracle {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Oracle {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let own = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = Arc::clone(&own);
                std::thread::spawn(move || while answer(&stream, &own).is_some() {});
            }
        });
        Self { url, asked }
    }

    /// The first line of each request so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers one request; `None`: the peer is gone.
fn answer(mut stream: &TcpStream, asked: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(said) = line.strip_prefix("content-length:") {
            length = said.trim().parse().ok()?;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    asked.lock().unwrap().push(first.trim().to_owned());
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n";
    stream.write_all(format!("{head}{{\"ok\":true}}").as_bytes()).ok()
}

/// An operation: its name, and a word that stands in its texts and its schema and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) word: String,
}

/// A document of these operations, each of which reads.
pub(crate) fn document(operations: &[&Operation]) -> Value {
    let path = |operation: &&Operation| {
        let Operation { name, word } = operation;
        let parameter = json!({
            "name": format!("p{word}"), "in": "query", "schema": { "type": "string" },
        });
        let get = json!({
            "operationId": name,
            "summary": format!("Tells {word}."),
            "description": format!("Tells of {word} what there is."),
            "tags": [format!("t{word}")],
            "parameters": [parameter],
            "responses": { "200": { "description": "Told." } },
        });
        (format!("/{name}"), json!({ "get": get }))
    };
    let paths: Map<String, Value> = operations.iter().map(path).collect();
    json!({ "openapi": "3.1.0", "info": { "title": "t", "version": "1" }, "paths": paths })
}
