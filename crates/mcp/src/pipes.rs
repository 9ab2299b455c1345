//! A connection over two pipes: one message a line, each line bounded.

mod line;
mod probe;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;

use crate::calls::Calls;
use crate::frame::{self, Unreadable};
pub(crate) use line::{Line, Lines};
pub(crate) use probe::Probe;

/// Messages of one batch array (revision 2025-03-26) that are taken in.
const MOST_IN_BATCH: usize = 1_000;

/// The way to a server; `None`: it is closed.
pub(crate) type Writer = Arc<Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>>;

/// Speaks with a server over its standard input and output.
pub(crate) struct Pipes<R> {
    lines: Lines<R>,
    /// Messages of a batch that are not yet handed on.
    batch: VecDeque<Value>,
    writer: Writer,
    calls: Arc<Calls>,
    probe: Probe,
}

/// Writes one message, whole, unless it turns out not to be wanted once the way is free; whoever
/// drops it half-way spoils the pipe.
pub(crate) async fn write(
    writer: Writer,
    mut line: Vec<u8>,
    is_wanted: impl FnOnce() -> bool,
) -> Result<(), io::Error> {
    line.push(b'\n');
    let mut writer = writer.lock().await;
    let Some(writer) = writer.as_mut() else {
        return Err(io::ErrorKind::NotConnected.into());
    };
    if !is_wanted() {
        return Ok(());
    }
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R: AsyncRead + Send + Unpin> Pipes<R> {
    pub(crate) fn new(
        reader: R,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        calls: Arc<Calls>,
        probe: Probe,
    ) -> Self {
        let writer: Box<dyn AsyncWrite + Send + Unpin> = Box::new(writer);
        let writer = Arc::new(Mutex::new(Some(writer)));
        Self { lines: Lines::new(reader), batch: VecDeque::new(), writer, calls, probe }
    }

    /// What requests around the SDK are written to.
    pub(crate) fn writer(&self) -> Writer {
        Arc::clone(&self.writer)
    }

    /// What the SDK is to see of one message.
    fn take(&mut self, message: Value) -> Option<ServerJsonRpcMessage> {
        self.calls.hear(self.probe.read(message)?, None)
    }

    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if self.probe.was_answered_late() {
                return None;
            }
            if let Some(message) = self.batch.pop_front() {
                if let Some(seen) = self.take(message) {
                    return Some(seen);
                }
                continue;
            }
            let line = tokio::select! {
                biased;
                line = self.lines.next() => line,
                given_up = self.probe.waits_in_vain() => return Some(given_up),
            };
            match line {
                Line::Whole(line) => match self.calls.read(line) {
                    Ok(Value::Array(messages)) => {
                        self.batch.extend(messages.into_iter().take(MOST_IN_BATCH));
                    }
                    Ok(message) => {
                        if let Some(seen) = self.take(message) {
                            return Some(seen);
                        }
                    }
                    Err(Unreadable::TooDeep) => {
                        if let Some(seen) = self.calls.spoiled("it is nested too deep") {
                            return Some(seen);
                        }
                    }
                    Err(Unreadable::NoAnswer) => {
                        if let Some(seen) = self.calls.spoiled("it is no JSON") {
                            return Some(seen);
                        }
                    }
                    // What is no message is not answered: an echo would make a storm of it.
                    Err(Unreadable::NoJson(_)) => {}
                },
                Line::TooLong => {
                    if let Some(seen) = self.calls.spoiled(frame::TOO_LARGE) {
                        return Some(seen);
                    }
                }
                Line::End => return None,
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleClient> for Pipes<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.probe.sees(&message);
        let (writer, calls) = (Arc::clone(&self.writer), Arc::clone(&self.calls));
        async move {
            let line = serde_json::to_vec(&message)?;
            write(writer, line, || {
                calls.sending(&message);
                true
            })
            .await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let next = self.next().await;
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
