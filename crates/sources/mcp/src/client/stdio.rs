//! A connection over two pipes: one message a line, each line bounded.

pub(crate) mod local_reader;
mod program_exit;
mod stdout_reader;

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard, mpsc};

use super::inflight::InFlight;
pub use local_reader::enable_local_stdout_reader;
pub(crate) use program_exit::follow;

/// `None`: it is closed.
type ServerStdin = Option<Box<dyn AsyncWrite + Send + Unpin>>;

/// The way to a server.
pub(crate) type SharedStdin = Arc<Mutex<ServerStdin>>;

/// The way to a server while nobody else writes.
pub(crate) type StdinGuard = OwnedMappedMutexGuard<ServerStdin, Box<dyn AsyncWrite + Send + Unpin>>;

/// Speaks with a server over its standard input and output.
pub(crate) struct StdioTransport {
    coming: mpsc::Receiver<Box<ServerJsonRpcMessage>>,
    writer: SharedStdin,
    calls: Arc<InFlight>,
}

/// Waits until nobody else writes. Dropping it loses nothing.
pub(crate) async fn free(writer: &SharedStdin) -> io::Result<StdinGuard> {
    let way = Arc::clone(writer).lock_owned().await;
    OwnedMutexGuard::try_map(way, Option::as_mut).map_err(|_| io::ErrorKind::NotConnected.into())
}

/// Why a message was not written.
pub(crate) struct StdioWriteError {
    /// Some of it was.
    pub(crate) began: bool,
    pub(crate) error: io::Error,
}

/// Writes one message, whole; whoever drops it half-way spoils the pipe. Who does not take it takes
/// none after it either.
pub(crate) async fn write(
    mut way: StdinGuard,
    mut line: Vec<u8>,
    calls: &InFlight,
) -> Result<(), StdioWriteError> {
    line.push(b'\n');
    let mut began = false;
    let writing = async {
        let first = way.write(&line).await?;
        began = first > 0;
        way.write_all(line.get(first..).unwrap_or_default()).await?;
        way.flush().await
    };
    // A program that reads nothing, or a helper that holds its input, would hold this for ever.
    let written = tokio::select! {
        biased;
        written = writing => written,
        () = calls.closed.cancelled() => Err(io::ErrorKind::NotConnected.into()),
    };
    written.map_err(|error| {
        calls.deaf.cancel();
        StdioWriteError { began, error }
    })
}

impl StdioTransport {
    pub(crate) fn new(
        (input, output): (ChildStdin, ChildStdout),
        calls: Arc<InFlight>,
    ) -> io::Result<Self> {
        let coming = stdout_reader::read(output, Arc::clone(&calls))?;
        let input: Box<dyn AsyncWrite + Send + Unpin> = Box::new(input);
        let writer = Arc::new(Mutex::new(Some(input)));
        Ok(Self { coming, writer, calls })
    }

    /// What requests around the SDK are written to.
    pub(crate) fn writer(&self) -> SharedStdin {
        Arc::clone(&self.writer)
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (writer, calls) = (Arc::clone(&self.writer), Arc::clone(&self.calls));
        async move {
            let line = serde_json::to_vec(&message)?;
            let way = free(&writer).await?;
            calls.sending(&message);
            write(way, line, &calls).await.map_err(|unwritten| unwritten.error)
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        // Somebody may hold the pipe of a program that has ended, and say nothing.
        let next = tokio::select! {
            biased;
            next = self.coming.recv() => next.map(|came| *came),
            () = self.calls.closed.cancelled() => None,
        };
        if next.is_none() {
            // The SDK may take seconds to wind up; whoever waits for an answer need not.
            self.calls.closed.cancel();
        }
        next
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.calls.closed.cancel();
        // A server that does not read holds the lock for as long as it lives.
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.take();
        }
        Ok(())
    }
}
