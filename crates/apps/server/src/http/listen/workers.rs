//! Threads that each serve their own connections.
//!
//! A runtime that shares its tasks between threads wakes another thread whenever a task is ready,
//! and the switching cost more than the requests did. A connection stays on the thread that got
//! it, with the calls that its requests make and the connections upstream that those use. What may
//! hold on to its thread runs elsewhere: the gate sees to that.

use std::io;
use std::sync::Arc;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolcrib_mcp::enable_local_stdout_reader;

/// The threads, which end when the last of these is dropped.
#[derive(Clone)]
pub(crate) struct Workers {
    handles: Vec<Handle>,
    next: usize,
    #[expect(dead_code, reason = "it acts when it is dropped")]
    end: Arc<DropGuard>,
}

impl Workers {
    /// One for each processor.
    pub(crate) fn start() -> io::Result<Self> {
        let end = CancellationToken::new();
        let wished = thread::available_parallelism().map_or(1, usize::from);
        let handles = (0..wished).map(|_| start(end.clone())).collect::<io::Result<_>>()?;
        Ok(Self { handles, next: 0, end: Arc::new(end.drop_guard()) })
    }

    /// The runtime of whoever calls, for the few connections of one person.
    pub(crate) fn here() -> Self {
        let end = CancellationToken::new();
        Self { handles: vec![Handle::current()], next: 0, end: Arc::new(end.drop_guard()) }
    }

    /// The threads in turn; `None` only if there were none.
    pub(crate) fn next(&mut self) -> Option<&Handle> {
        self.next = (self.next + 1) % self.handles.len().max(1);
        self.handles.get(self.next)
    }
}

fn start(end: CancellationToken) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new().name("connections".to_owned()).spawn(move || {
        // Whoever calls a child from here may have its answer read here.
        enable_local_stdout_reader();
        runtime.block_on(end.cancelled());
        // What still waits for others has nobody left to answer.
        runtime.shutdown_background();
    })?;
    Ok(handle)
}
