//! A server that says what it is told to, over a real socket.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a helper of tests")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolcrib_egress::{Egress, Network};
use url::Url;

/// What happens on one connection after the head of a request has come.
#[derive(Clone)]
pub(crate) enum Say {
    /// Bytes, with a pause before each but the first, in milliseconds; then the end.
    Bytes(Vec<Vec<u8>>, u64),
    /// Bytes for the first request; the second is read, and then the line breaks.
    OnlyOnce(Vec<u8>),
    /// Bytes, then silence.
    Silence(Vec<u8>),
    /// Not even the request is read.
    Garbage,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(say: Say) -> Self {
        Self::start_on(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, say).await
    }

    pub(crate) async fn start_on(address: IpAddr, port: u16, say: Say) -> Self {
        let listener = TcpListener::bind((address, port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, heard) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let (counter, ears) = (Arc::clone(&accepted), Arc::clone(&heard));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(talk(stream, say.clone(), Arc::clone(&ears)));
            }
        });
        Self { address, accepted, heard }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    /// A way out to this server alone.
    pub(crate) fn egress(&self) -> Egress {
        Egress::only([self.url("/")], Network::default()).unwrap()
    }

    /// Connections so far.
    pub(crate) fn connects(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// The requests so far, as they came.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// An answer with a body of a length that is told.
pub(crate) fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len())
        .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

async fn talk(mut stream: TcpStream, say: Say, ears: Arc<Mutex<Vec<String>>>) {
    if matches!(say, Say::Garbage) {
        drop(stream.write_all(b"220 this is no TLS\r\n").await);
        return;
    }
    if !hear(&mut stream, &ears).await {
        return;
    }
    match say {
        Say::Bytes(parts, pause) => {
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    tokio::time::sleep(std::time::Duration::from_millis(pause)).await;
                }
                if stream.write_all(part).await.is_err() {
                    return;
                }
            }
            drop(stream.shutdown().await);
        }
        Say::OnlyOnce(whole) => {
            drop(stream.write_all(&whole).await);
            hear(&mut stream, &ears).await;
        }
        Say::Silence(part) => {
            drop(stream.write_all(&part).await);
            std::future::pending::<()>().await;
        }
        Say::Garbage => {}
    }
}

/// Takes in a request, if one comes.
pub(crate) async fn hear(stream: &mut (impl AsyncRead + Unpin), ears: &Mutex<Vec<String>>) -> bool {
    let mut request = Vec::new();
    let mut chunk = vec![0; 65536];
    while !is_whole(&request) {
        match stream.read(&mut chunk).await {
            Ok(count) if count > 0 => request.extend_from_slice(&chunk[..count]),
            _ => return false,
        }
    }
    ears.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
    true
}

/// Whether the head is there and as much of the body as it says.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    body.len() >= length.unwrap_or(0)
}
