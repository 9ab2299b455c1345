//! A server of the test's own: it writes down each request and answers as it is told.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A request in pieces.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Heard {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| unreachable!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut fitting = lines.filter(|(own, _)| own.eq_ignore_ascii_case(name));
        fitting.next().map(|(_, value)| value)
    }
}

pub(crate) struct Listener {
    pub(crate) url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
}

/// The head of an answer below its first line, and its body.
pub(crate) type Said = (u16, String, String);

impl Listener {
    pub(crate) fn start(answer: impl Fn(&Heard) -> Said + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", answer)
    }

    pub(crate) fn start_at(
        address: &str,
        answer: impl Fn(&Heard) -> Said + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::<Mutex<Vec<Heard>>>::default();
        let answer = Arc::new(answer);
        let all = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (all, answer) = (Arc::clone(&all), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &all, &*answer));
            }
        });
        Self { url, heard }
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

/// One request of a connection, which ends with its answer.
fn serve(mut stream: TcpStream, all: &Mutex<Vec<Heard>>, answer: &dyn Fn(&Heard) -> Said) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let (head, body) = loop {
        let Ok(count @ 1..) = stream.read(&mut piece) else { return };
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().filter_map(|line| line.split_once(": "));
        let mut length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize = length.next().map_or(0, |(_, value)| value.parse().unwrap());
        if body.len() >= length {
            break (head.to_owned(), body.to_owned());
        }
    };
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let request = Heard { path, head, body };
    let (status, lines, body) = answer(&request);
    all.lock().unwrap().push(request);
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n{lines}\r\n{body}"
    );
}
