//! A connection over two pipes: one message a line, each line bounded.

mod line;
mod seat;

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard, mpsc};

use crate::calls::Calls;
pub(crate) use line::{Line, Lines};
pub(crate) use seat::reader_here;
pub use seat::reads_for_its_calls;

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

/// Writes one message, whole; whoever drops it half-way spoils the pipe.
pub(crate) async fn write(mut way: Free, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    way.write_all(&line).await?;
    way.flush().await
}

impl Pipes {
    pub(crate) fn new(
        (input, output): (ChildStdin, ChildStdout),
        calls: Arc<Calls>,
    ) -> io::Result<Self> {
        let coming = seat::read(output, Arc::clone(&calls))?;
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
            write(way, line).await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let next = self.coming.recv().await.map(|came| *came);
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
