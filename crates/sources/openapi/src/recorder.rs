//! For tests: a server that remembers every request as it came and answers by a script.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// Makes the answer to the request of this number (from 0) as bytes; empty: closes the line;
/// [`HANG`]: holds it.
type RecorderScript = dyn Fn(usize, &str) -> String + Send + Sync;

/// The answer that never comes.
pub(crate) const HANG: &str = "hang";

/// Shared by cloning.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) url: Url,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    pub(crate) async fn start(
        script: impl Fn(usize, &str) -> String + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let recorder = Self { url, requests: Arc::default() };
        let (requests, script) = (Arc::clone(&recorder.requests), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(
                    stream,
                    Arc::clone(&requests),
                    Arc::clone(&script) as Arc<RecorderScript>,
                ));
            }
        });
        recorder
    }

    /// Head and body of every request, in the order of their coming.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An answer with a body of this type.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

pub(crate) fn json(body: &str) -> String {
    answer("200 OK", "content-type: application/json\r\n", body)
}

async fn serve(
    mut stream: TcpStream,
    requests: Arc<Mutex<Vec<String>>>,
    script: Arc<RecorderScript>,
) {
    let mut bytes = Vec::new();
    loop {
        while whole(&bytes).is_none() {
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let rest = bytes.split_off(whole(&bytes).unwrap());
        let request = String::from_utf8_lossy(&bytes).into_owned();
        bytes = rest;
        let number = {
            let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(request.clone());
            requests.len() - 1
        };
        let answer = script(number, &request);
        if answer == HANG {
            std::future::pending::<()>().await;
        }
        if answer.is_empty() || stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The length of the first whole request, if it has come.
fn whole(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let length = length.map_or(0, |length| length.trim().parse().unwrap());
    (bytes.len() >= head + length).then_some(head + length)
}
