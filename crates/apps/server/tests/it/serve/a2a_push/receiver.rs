//! A receiver of notifications, on this machine.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::serve::support::eventually;

/// What came.
#[derive(Clone)]
pub(crate) struct Notified {
    /// The head of the request, in small letters.
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// What is answered to the one with this number; `None`: nothing ever.
type Answering = dyn Fn(usize) -> Option<String> + Send + Sync;

pub(crate) struct Receiver {
    pub(crate) port: u16,
    came: Arc<Mutex<Vec<Notified>>>,
}

impl Receiver {
    pub(crate) fn taking() -> Self {
        Self::answering(|_| Some(status("204 No Content")))
    }

    pub(crate) fn answering(
        answer: impl Fn(usize) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let came = Arc::new(Mutex::new(Vec::new()));
        let (noted, answer): (_, Arc<Answering>) = (Arc::clone(&came), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
                std::thread::spawn(move || serve(&stream, &noted, &*answer));
            }
        });
        Self { port, came }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub(crate) fn came(&self) -> Vec<Notified> {
        self.came.lock().unwrap().clone()
    }

    /// All that came, once the last of it is in this state.
    pub(crate) fn until(&self, state: &str) -> Vec<Notified> {
        let is_there = || {
            let last = self.came().pop();
            last.is_some_and(|last| {
                last.body["statusUpdate"]["status"]["state"] == state
                    || last.body["status"]["state"] == state
            })
        };
        assert!(eventually(is_there), "{:?}", self.bodies());
        self.came()
    }

    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.came().into_iter().map(|came| came.body).collect()
    }
}

pub(crate) fn status(line: &str) -> String {
    format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n")
}

fn serve(stream: &TcpStream, noted: &Mutex<Vec<Notified>>, answer: &Answering) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let number = {
            let mut noted = noted.lock().unwrap();
            noted.push(request);
            noted.len() - 1
        };
        match answer(number) {
            Some(reply) => (&*stream).write_all(reply.as_bytes()).unwrap(),
            None => std::thread::sleep(Duration::from_mins(2)),
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Notified> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.trim().parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(Notified { head, body: serde_json::from_slice(&body).unwrap() })
}
