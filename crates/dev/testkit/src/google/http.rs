//! HTTP as far as this server needs it: one request a connection.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use url::{Url, form_urlencoded};

/// A request as it came.
pub(super) struct GoogleHttpRequest {
    pub(super) method: String,
    /// As it was sent.
    pub(super) path: String,
    pub(super) pairs: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

const LARGEST: usize = 32 * 1024 * 1024;

impl GoogleHttpRequest {
    pub(super) fn read(stream: &mut TcpStream) -> Option<Self> {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
        let mut bytes = Vec::new();
        let mut chunk = [0; 8192];
        let head = loop {
            if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
                break end;
            }
            let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
            bytes.extend_from_slice(chunk.get(..read)?);
        };
        let mut body = bytes.split_off(head + 4);
        let head = String::from_utf8(bytes).ok()?;
        let mut lines = head.lines();
        let mut words = lines.next()?.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers: Vec<_> = lines.filter_map(|line| line.split_once(':')).collect();
        let headers = headers
            .into_iter()
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        let headers: Vec<(String, String)> = headers.collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0_usize);
        while body.len() < length.min(LARGEST) {
            let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
            body.extend_from_slice(chunk.get(..read)?);
        }
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Some(Self { method, path: path.to_owned(), pairs, headers, body })
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

pub(super) struct GoogleHttpResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl GoogleHttpResponse {
    pub(super) fn of(status: u16, body: &Value) -> Self {
        let media = "application/json; charset=UTF-8".to_owned();
        let headers = vec![("Content-Type".to_owned(), media)];
        Self { status, headers, body: body.to_string().into_bytes() }
    }

    pub(super) fn write(&self, stream: &mut TcpStream) {
        let mut head = format!("HTTP/1.1 {} Answer\r\nConnection: close\r\n", self.status);
        if self.status != 204 {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head += "\r\n";
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&self.body));
    }
}

/// What a browser does with an address: gets it, and goes where it is sent. The last body.
pub fn browse(address: &str) -> Option<String> {
    let mut address = Url::parse(address).ok()?;
    for _ in 0..5 {
        let host = address.host_str()?;
        let mut stream = TcpStream::connect((host, address.port()?)).ok()?;
        let target = address.query().map_or_else(String::new, |query| format!("?{query}"));
        let path = address.path();
        let request = format!("GET {path}{target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        match head.lines().find_map(|line| line.strip_prefix("Location: ")) {
            Some(next) => address = address.join(next).ok()?,
            None => return Some(body.to_owned()),
        }
    }
    None
}
