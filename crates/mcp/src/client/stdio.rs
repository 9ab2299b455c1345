//! A connection over two pipes: one message a line, each line bounded.

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

use super::inflight::Calls;
pub(crate) use crate::protocol::lines::{Line, Lines};
pub(crate) use program_exit::follow;
pub(crate) use stdout_reader::reader_here;
pub use stdout_reader::reads_for_its_calls;

/// `None`: it is closed.
type Way = Option<Box<dyn AsyncWrite + Send + Unpin>>;

/// The way to a server.
pub(crate) type Writer = Arc<Mutex<Way>>;

/// The way to a server while nobody else writes.
pub(crate) type Free = OwnedMappedMutexGuard<Way, Box<dyn AsyncWrite + Send + Unpin>>;

/// Speaks with a server over its standard input and output.
pub(crate) struct Pipes {
    coming: mpsc::Receiver<Box<ServerJsonRpcMessage>>,
    writer: Writer,
    calls: Arc<Calls>,
}

/// Waits until nobody else writes. Dropping it loses nothing.
pub(crate) async fn free(writer: &Writer) -> io::Result<Free> {
    let way = Arc::clone(writer).lock_owned().await;
    OwnedMutexGuard::try_map(way, Option::as_mut).map_err(|_| io::ErrorKind::NotConnected.into())
}

/// Why a message was not written.
pub(crate) struct Unwritten {
    /// Some of it was.
    pub(crate) began: bool,
    pub(crate) error: io::Error,
}

/// Writes one message, whole; whoever drops it half-way spoils the pipe. Who does not take it takes
/// none after it either.
pub(crate) async fn write(
    mut way: Free,
    mut line: Vec<u8>,
    calls: &Calls,
) -> Result<(), Unwritten> {
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
        Unwritten { began, error }
    })
}

impl Pipes {
    pub(crate) fn new(
        (input, output): (ChildStdin, ChildStdout),
        calls: Arc<Calls>,
    ) -> io::Result<Self> {
        let coming = stdout_reader::read(output, Arc::clone(&calls))?;
        let input: Box<dyn AsyncWrite + Send + Unpin> = Box::new(input);
        let writer = Arc::new(Mutex::new(Some(input)));
        Ok(Self { coming, writer, calls })
    }

    /// What requests around the SDK are written to.
    pub(crate) fn writer(&self) -> Writer {
        Arc::clone(&self.writer)
    }
}

impl Transport<RoleClient> for Pipes {
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
