//! Where peers are told that there is no room: at once, and when to come again.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::problem::Kind;

/// Peers that are told so at the same time.
pub(crate) const MOST: usize = 64;
/// How long a peer may take to ask and to hear the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// As much of a request as is read before the answer.
const GLANCE: usize = 16 * 1024;

/// Answers whatever was asked with the one answer there is, and hangs up.
pub(crate) async fn turn_away(mut stream: TcpStream) {
    // A peer that does not ask is let go like one that does not listen.
    let _ = timeout(PATIENCE, tell(&mut stream)).await;
}

async fn tell(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut seen = Vec::new();
    while !seen.windows(4).any(|end| end == b"\r\n\r\n") && seen.len() < GLANCE {
        if stream.read_buf(&mut seen).await? == 0 {
            return Ok(());
        }
    }
    let problem = format!(
        r#"{{"type":"{}","title":"Not possible now","status":503,"detail":"as many connections are open as there is room for: come again"}}"#,
        Kind::Unavailable.uri()
    );
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n\
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
