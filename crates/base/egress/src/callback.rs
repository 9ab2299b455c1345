//! Where a browser brings the answer of a sign-in: this machine, one port, one answer (RFC 8252).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use url::Url;

/// How long a browser may take to say what it wants.
const REQUEST: Duration = Duration::from_secs(10);
const LONGEST_REQUEST: usize = 16 * 1024;
/// Browsers open connections ahead of need; more than these are left waiting.
const CONNECTIONS: usize = 16;

/// What an address that a browser came by means to whoever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackVerdict {
    /// It is the answer, and we are let in.
    Welcome,
    /// It is the answer, and we are not.
    Declined,
    /// It is nothing that anybody waits for: the next one may be.
    Stray,
}

/// A listener for one answer.
pub struct LoopbackListener {
    listener: TcpListener,
    address: Url,
}

impl LoopbackListener {
    /// How long a person may take.
    pub const PATIENCE: Duration = Duration::from_mins(5);

    /// Listens on a port of the system's choice, for a path such as `/callback`.
    pub async fn listen(path: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let address = Url::parse(&format!("http://127.0.0.1:{port}{path}"));
        Ok(Self { listener, address: address.map_err(io::Error::other)? })
    }

    /// Where the browser is to be sent.
    pub fn address(&self) -> &Url {
        &self.address
    }

    /// The address by which the answer came, as `judge` knows it: it is shown those at our address
    /// and path, with their queries. `None`: nobody came in time.
    pub async fn answer(
        self,
        judge: impl Fn(&Url) -> CallbackVerdict + Send + Sync + 'static,
    ) -> Option<Url> {
        timeout(Self::PATIENCE, self.wait(Arc::new(judge))).await.ok()
    }

    async fn wait(self, judge: Arc<dyn Fn(&Url) -> CallbackVerdict + Send + Sync>) -> Url {
        let mut visitors = JoinSet::new();
        loop {
            tokio::select! {
                arrived = self.listener.accept(), if visitors.len() < CONNECTIONS => {
                    if let Ok((stream, _)) = arrived {
                        visitors.spawn(visit(stream, self.address.clone(), Arc::clone(&judge)));
                    } else {
                        // Out of file handles, most likely: they come back.
                        sleep(Duration::from_millis(50)).await;
                    }
                }
                Some(visited) = visitors.join_next() => {
                    if let Ok(Some(url)) = visited {
                        return url;
                    }
                }
            }
        }
    }
}

/// Reads one request and answers it.
async fn visit(
    mut stream: TcpStream,
    address: Url,
    judge: Arc<dyn Fn(&Url) -> CallbackVerdict + Send + Sync>,
) -> Option<Url> {
    let target = timeout(REQUEST, target(&mut stream)).await.ok()??;
    let url = address.join(&target).ok()?;
    let is_here = url.origin() == address.origin() && url.path() == address.path();
    let found = if is_here { judge(&url) } else { CallbackVerdict::Stray };
    let (status, text) = match found {
        CallbackVerdict::Welcome => ("200 OK", "toolcrib has the answer. You can close this page."),
        CallbackVerdict::Declined => {
            ("200 OK", "toolcrib was not let in. You can close this page.")
        }
        CallbackVerdict::Stray => ("404 Not Found", "Nobody waits for this."),
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    // The answer counts even if the browser does not stay to hear ours.
    let _ = timeout(REQUEST, async {
        stream.write_all(reply.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    (found != CallbackVerdict::Stray).then_some(url)
}

/// The target of a GET request: `/callback?code=...`.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        if read.len() > LONGEST_REQUEST || stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
    let text = String::from_utf8(read).ok()?;
    let line = text.lines().next()?;
    let target = line.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1")?;
    target.starts_with('/').then(|| target.to_owned())
}
