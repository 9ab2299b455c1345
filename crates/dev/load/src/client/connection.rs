//! One connection over HTTP/1.1 that stays open.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::LoadError;

/// Largest answer that is taken in, in bytes.
const LARGEST: usize = 64 * 1024 * 1024;

pub(crate) struct ClientConnection {
    stream: TcpStream,
    /// What came and is not read yet.
    buffer: Vec<u8>,
}

/// An answer, whole.
pub(crate) struct ClientReply {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// What a head says of the body behind it.
enum BodyLength {
    Known(usize),
    Chunks,
}

impl ClientConnection {
    pub(crate) async fn open(address: &str) -> Result<Self, LoadError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request and waits for its whole answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<ClientReply, LoadError> {
        self.stream.write_all(request).await?;
        let head = self.until(b"\r\n\r\n").await?;
        let head = String::from_utf8_lossy(&head).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut session = None;
        let mut length = BodyLength::Known(0);
        for line in head.lines().skip(1) {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                length = BodyLength::Known(value.parse()?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                length = BodyLength::Chunks;
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                session = Some(value.to_owned());
            }
        }
        let body = match length {
            BodyLength::Known(length) => self.take(length).await?,
            BodyLength::Chunks => self.chunks().await?,
        };
        Ok(ClientReply { status, session, body })
    }

    /// Sends a request and reads its answer up to this.
    pub(crate) async fn ask_until(
        &mut self,
        request: &[u8],
        marker: &[u8],
    ) -> Result<(), LoadError> {
        self.stream.write_all(request).await?;
        self.until(marker).await?;
        Ok(())
    }

    /// Reads what is left of an answer in chunks, with what stands between them.
    pub(crate) async fn rest_of_chunks(&mut self) -> Result<Vec<u8>, LoadError> {
        self.until(b"\r\n0\r\n\r\n").await
    }

    async fn chunks(&mut self) -> Result<Vec<u8>, LoadError> {
        let mut body = Vec::new();
        loop {
            let size = self.until(b"\r\n").await?;
            let size = String::from_utf8_lossy(&size);
            let size = usize::from_str_radix(size.trim().split(';').next().unwrap_or(""), 16)?;
            let piece = self.take(size).await?;
            self.until(b"\r\n").await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&piece);
            if body.len() > LARGEST {
                return Err("the answer is too large".into());
            }
        }
    }

    /// Everything to the end of these bytes.
    async fn until(&mut self, end: &[u8]) -> Result<Vec<u8>, LoadError> {
        loop {
            let found = self.buffer.windows(end.len()).position(|window| window == end);
            if let Some(at) = found {
                return Ok(self.buffer.drain(..at + end.len()).collect());
            }
            self.more().await?;
        }
    }

    async fn take(&mut self, count: usize) -> Result<Vec<u8>, LoadError> {
        if count > LARGEST {
            return Err("the answer is too large".into());
        }
        while self.buffer.len() < count {
            self.more().await?;
        }
        Ok(self.buffer.drain(..count).collect())
    }

    async fn more(&mut self) -> Result<(), LoadError> {
        if self.buffer.len() > LARGEST {
            return Err("the answer is too large".into());
        }
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err("the server hung up".into()),
            _ => Ok(()),
        }
    }
}
