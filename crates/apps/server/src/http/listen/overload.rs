//! Where peers are told that there is no room: at once, and when to come again.

use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::http::routes::problem::ProblemKind;

/// Peers that are told so at the same time.
pub(crate) const MOST: usize = 64;
/// How long a peer may take to ask and to hear the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// As much of a request as is read before the answer.
const GLANCE: usize = 16 * 1024;

/// Peers behind TLS that are told so within a second; the others are hung up on. To greet costs a
/// signature, which those who got in would pay for.
const GREETED: u32 = 32;

/// Which of the peers behind TLS are greeted, only to be told to come again.
pub(crate) struct TlsGreetingLimit {
    since: Instant,
    left: u32,
}

impl TlsGreetingLimit {
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), left: GREETED }
    }

    pub(crate) fn greets_one_more(&mut self) -> bool {
        if self.since.elapsed() >= Duration::from_secs(1) {
            *self = Self::new();
        }
        let greets = self.left > 0;
        self.left = self.left.saturating_sub(1);
        greets
    }
}

/// Why a peer finds no room.
#[derive(Clone, Copy)]
pub(crate) enum OverloadReason {
    /// All connections are taken.
    Full,
    /// Those that one peer may have.
    TooMany,
}

impl OverloadReason {
    /// The first line, the title and the detail.
    fn words(self) -> (ProblemKind, [&'static str; 3]) {
        match self {
            Self::Full => (
                ProblemKind::Unavailable,
                [
                    "503 Service Unavailable",
                    "Not possible now",
                    "as many connections are open as there is room for: come again",
                ],
            ),
            Self::TooMany => (
                ProblemKind::TooMany,
                [
                    "429 Too Many Requests",
                    "Too many requests at the same time",
                    "this address has as many connections open as one may have: use those, or end one",
                ],
            ),
        }
    }
}

/// Answers whatever was asked with the one answer there is, and hangs up. `_places`: what it takes
/// meanwhile.
pub(crate) async fn turn_away<P>(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    why: OverloadReason,
    _places: P,
) {
    let told = async {
        match tls {
            None => tell(stream, why).await,
            Some(tls) => tell(tls.accept(stream).await?, why).await,
        }
    };
    // A peer that does not ask is let go like one that does not listen.
    let _ = timeout(PATIENCE, told).await;
}

async fn tell(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    why: OverloadReason,
) -> std::io::Result<()> {
    let mut seen = Vec::new();
    while !seen.windows(4).any(|end| end == b"\r\n\r\n") && seen.len() < GLANCE {
        if stream.read_buf(&mut seen).await? == 0 {
            return Ok(());
        }
    }
    let (kind, [line, title, detail]) = why.words();
    let (uri, status) = (kind.uri(), line.split(' ').next().unwrap_or_default());
    let problem =
        format!(r#"{{"type":"{uri}","title":"{title}","status":{status},"detail":"{detail}"}}"#);
    let answer = format!(
        "HTTP/1.1 {line}\r\ncontent-type: application/problem+json\r\n\
         retry-after: 1\r\ncache-control: no-store\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{problem}",
        problem.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    // What was sent and not read would make the system take the answer back.
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}
