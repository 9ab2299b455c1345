//! What is said on one stream of a session: kept for a while, so that a client whose connection
//! broke gets what it missed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolcrib_core::BoxFuture;

use super::kept_bytes::KeptBytes;
use crate::door::client::logs::LogListener;
use crate::door::client::outbound::{Outbound, OutboundKind};

/// Notifications of one stream that are kept; of more than these the oldest are forgotten. What
/// somebody waits for stays.
const MOST: usize = 256;
/// The same in bytes.
const MOST_BYTES: usize = 1024 * 1024;

/// One stream: that of a request, or the one for what belongs to no request.
pub(crate) struct EventLog {
    /// Stands in the names of the events of a request.
    stream: Option<u64>,
    state: Mutex<EventLogState>,
    told: Notify,
    /// What is kept on all streams together.
    kept: Arc<KeptBytes>,
}

#[derive(Default)]
struct EventLogState {
    events: VecDeque<LoggedEvent>,
    /// Of notifications among them.
    notifications: usize,
    /// Of notifications.
    bytes: usize,
    /// The number of the last one that was said.
    said: u64,
    /// The number of the last one that somebody has taken.
    taken: u64,
    /// Nothing is said any more.
    ended: Option<Instant>,
    readers: usize,
}

struct LoggedEvent {
    /// So many were said with it.
    number: u64,
    kind: OutboundKind,
    text: Bytes,
}

impl EventLogState {
    /// Forgets the oldest notifications where there are too many.
    fn forget(&mut self, kept: &KeptBytes) {
        let is_too_much = |state: &Self| {
            let is_large = state.bytes > MOST_BYTES || kept.is_over();
            state.notifications > MOST || (is_large && state.notifications > 1)
        };
        while is_too_much(self) {
            let is_notification = |event: &LoggedEvent| event.kind == OutboundKind::Notification;
            let oldest = self.events.iter().position(is_notification);
            let Some(event) = oldest.and_then(|at| self.events.remove(at)) else { return };
            self.notifications -= 1;
            self.bytes -= event.text.len();
            kept.remove(event.text.len());
        }
    }
}

/// Somebody who reads it.
pub(crate) struct EventReader {
    log: Arc<EventLog>,
    /// So many it has.
    has: u64,
}

impl EventLog {
    /// That of a request of this session, under a number.
    pub(super) fn of_request(&self, stream: u64) -> Arc<Self> {
        Self::new(Some(stream), Arc::clone(&self.kept), 0)
    }

    /// That of a session, whose events have numbers behind this one.
    pub(crate) fn of_session(kept: Arc<KeptBytes>, first: u64) -> Arc<Self> {
        Self::new(None, kept, first)
    }

    fn new(stream: Option<u64>, kept: Arc<KeptBytes>, first: u64) -> Arc<Self> {
        let state = EventLogState { said: first, taken: first, ..EventLogState::default() };
        Arc::new(Self { stream, state: Mutex::new(state), told: Notify::new(), kept })
    }

    /// Whether all streams together keep more than they may.
    pub(super) fn is_over(&self) -> bool {
        self.kept.is_over()
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
    pub(crate) fn push(&self, message: &[u8], kind: OutboundKind) {
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        state.said += 1;
        let number = state.said;
        let mut text = format!("id: {}\ndata: ", self.name(number)).into_bytes();
        text.extend_from_slice(message);
        text.extend_from_slice(b"\n\n");
        if kind == OutboundKind::Notification {
            state.notifications += 1;
            state.bytes += text.len();
        }
        self.kept.add(text.len());
        state.events.push_back(LoggedEvent { number, kind, text: text.into() });
        state.forget(&self.kept);
        drop(state);
        self.told.notify_waiters();
    }

    /// Says the last message of a request: its answer, if its client wants that.
    pub(crate) fn end(&self, answer: Option<&[u8]>) {
        if let Some(answer) = answer {
            self.push(answer, OutboundKind::Awaited);
        }
        self.state().ended.get_or_insert_with(Instant::now);
        self.told.notify_waiters();
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
            let told = self.told.notified();
            if !self.state().events.is_empty() {
                return;
            }
            told.await;
        }
    }

    /// Reads behind so many events; `None`: behind those that somebody has taken.
    pub(crate) fn read(self: &Arc<Self>, behind: Option<u64>) -> EventReader {
        let mut state = self.state();
        state.readers += 1;
        // A number that nothing had here is of another process, where none of these was heard.
        let has = behind.map_or(state.taken, |behind| if behind > state.said { 0 } else { behind });
        drop(state);
        EventReader { log: Arc::clone(self), has }
    }

    pub(crate) fn has_readers(&self) -> bool {
        self.state().readers > 0
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.kept.remove(state.events.iter().map(|event| event.text.len()).sum());
    }
}

impl Outbound for EventLog {
    fn send(&self, message: Vec<u8>, kind: OutboundKind) -> BoxFuture<'_, bool> {
        self.push(&message, kind);
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
            let told = self.log.told.notified();
            {
                let mut state = self.log.state();
                let next = state.events.partition_point(|event| event.number <= self.has);
                if let Some(event) = state.events.get(next) {
                    let text = event.text.clone();
                    self.has = event.number;
                    state.taken = state.taken.max(self.has);
                    return Some(text);
                }
                if state.ended.is_some() {
                    return None;
                }
            }
            told.await;
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
