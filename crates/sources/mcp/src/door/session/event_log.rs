//! What is said on one stream of a session: kept for a while, so that a client whose connection
//! broke gets what it missed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolcrib_core::BoxFuture;

use crate::door::client::logs::LogListener;
use crate::door::client::outbound::Outbound;

/// Events of one stream that are kept; of more than these the oldest are forgotten.
const MOST: usize = 256;
/// The same in bytes. The newest is kept, however large it is.
const MOST_BYTES: usize = 1024 * 1024;

/// One stream: that of a request, or the one for what belongs to no request.
pub(crate) struct EventLog {
    /// Stands in the names of the events of a request.
    stream: Option<u64>,
    state: Mutex<EventLogState>,
    said: Notify,
}

#[derive(Default)]
struct EventLogState {
    events: VecDeque<Bytes>,
    bytes: usize,
    /// How many there were before the oldest that is kept.
    gone: u64,
    /// How many somebody has taken.
    taken: u64,
    /// Nothing is said any more.
    ended: Option<Instant>,
    readers: usize,
}

/// Somebody who reads it.
pub(crate) struct EventReader {
    log: Arc<EventLog>,
    /// So many it has.
    has: u64,
}

impl EventLog {
    pub(crate) fn of_request(stream: u64) -> Arc<Self> {
        Self::new(Some(stream))
    }

    pub(crate) fn of_session() -> Arc<Self> {
        Self::new(None)
    }

    fn new(stream: Option<u64>) -> Arc<Self> {
        Arc::new(Self { stream, state: Mutex::default(), said: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, EventLogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// That of the request whose stream it is.
    pub(super) fn number(&self) -> Option<u64> {
        self.stream
    }

    /// The name of the event before which there were so many.
    fn name(&self, count: u64) -> String {
        match self.stream {
            Some(stream) => format!("{count}/{stream}"),
            None => count.to_string(),
        }
    }

    /// Says a message, of which nothing is said if the stream has ended.
    pub(crate) fn push(&self, message: &[u8]) {
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        let count = state.gone + state.events.len() as u64 + 1;
        let mut event = format!("id: {}\ndata: ", self.name(count)).into_bytes();
        event.extend_from_slice(message);
        event.extend_from_slice(b"\n\n");
        state.bytes += event.len();
        state.events.push_back(event.into());
        while state.events.len() > MOST || (state.bytes > MOST_BYTES && state.events.len() > 1) {
            let Some(oldest) = state.events.pop_front() else { break };
            state.bytes -= oldest.len();
            state.gone += 1;
        }
        drop(state);
        self.said.notify_waiters();
    }

    /// Says the last message of a request: its answer, if its client wants that.
    pub(crate) fn end(&self, answer: Option<&[u8]>) {
        if let Some(answer) = answer {
            self.push(answer);
        }
        self.state().ended.get_or_insert_with(Instant::now);
        self.said.notify_waiters();
    }

    /// When nothing was said any more.
    pub(crate) fn ended(&self) -> Option<Instant> {
        self.state().ended
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state().events.is_empty()
    }

    /// Resolves once something was said.
    pub(crate) async fn said_something(&self) {
        loop {
            let said = self.said.notified();
            if !self.state().events.is_empty() {
                return;
            }
            said.await;
        }
    }

    /// Reads behind so many events; `None`: behind those that somebody has taken.
    pub(crate) fn read(self: &Arc<Self>, behind: Option<u64>) -> EventReader {
        let mut state = self.state();
        state.readers += 1;
        let has = behind.unwrap_or(state.taken);
        drop(state);
        EventReader { log: Arc::clone(self), has }
    }

    pub(crate) fn has_readers(&self) -> bool {
        self.state().readers > 0
    }
}

impl Outbound for EventLog {
    fn send(&self, message: Vec<u8>) -> BoxFuture<'_, bool> {
        self.push(&message);
        Box::pin(std::future::ready(true))
    }
}

impl LogListener for EventLog {
    fn listens(&self) -> bool {
        self.has_readers()
    }
}

impl EventReader {
    /// The next event. `None`: there is none any more. Dropping it loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            let said = self.log.said.notified();
            {
                let mut state = self.log.state();
                // What was forgotten meanwhile is missed.
                let at = self.has.max(state.gone);
                let next = usize::try_from(at - state.gone).ok();
                if let Some(event) = next.and_then(|next| state.events.get(next)).cloned() {
                    self.has = at + 1;
                    state.taken = state.taken.max(self.has);
                    return Some(event);
                }
                if state.ended.is_some() {
                    return None;
                }
            }
            said.await;
        }
    }

    /// Goes on behind what somebody has taken.
    pub(crate) fn catch_up(&mut self) {
        self.has = self.has.max(self.log.state().taken);
    }

    /// The name of the last event that it has.
    pub(crate) fn place(&self) -> String {
        self.log.name(self.has)
    }
}

impl Drop for EventReader {
    fn drop(&mut self) {
        self.log.state().readers -= 1;
    }
}
