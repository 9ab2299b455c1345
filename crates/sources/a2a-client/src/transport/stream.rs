//! The events of an agent as they come.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::StreamExt;
use http::{HeaderMap, StatusCode};
use tokio::time::timeout;
use toolcrib_egress::StreamedResponse;

use super::fault::AgentFault;
use super::reply::{result, unwrapped};
use super::sse::SseEvents;
use crate::protocol::event::AgentEvent;
use crate::protocol::wire::WireForm;

/// A stream of events; dropping it hangs up.
pub(crate) struct AgentStream {
    body: StreamedResponse,
    form: WireForm,
    status: StatusCode,
    headers: HeaderMap,
    events: SseEvents,
    ready: VecDeque<String>,
    /// Largest event, in bytes.
    most: u64,
    /// Bytes that may still come.
    left: u64,
    /// How many bytes may come in all, for words.
    all: u64,
}

impl AgentStream {
    /// `most`: of one event, and of all together.
    pub(crate) fn new(body: StreamedResponse, form: WireForm, (most, all): (u64, u64)) -> Self {
        let (status, headers) = (body.status, body.headers.clone());
        let events = SseEvents::new(usize::try_from(most).unwrap_or(usize::MAX));
        Self { body, form, status, headers, events, ready: VecDeque::new(), most, left: all, all }
    }

    /// Whether it is a stream of events, and not one answer.
    pub(crate) fn is_events(&self) -> bool {
        let kind = self.headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_events = kind.is_some_and(|kind| {
            kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
        });
        self.status.is_success() && is_events
    }

    /// Reads what is no stream of events to its end.
    pub(crate) async fn whole(mut self, idle: Duration) -> Result<AgentEvent, AgentFault> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk(idle).await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() as u64 > self.most {
                return Err(AgentFault::TooLarge(self.most));
            }
        }
        result(self.status, &self.headers, &bytes).map(|value| AgentEvent::read(&value, self.form))
    }

    /// The next event; `None`: the stream is over. `idle`: how long it may be silent.
    pub(crate) async fn next(&mut self, idle: Duration) -> Result<Option<AgentEvent>, AgentFault> {
        loop {
            if let Some(data) = self.ready.pop_front() {
                if data.trim().is_empty() {
                    continue;
                }
                let value = serde_json::from_str(&data);
                let value =
                    value.map_err(|_| AgentFault::Unreadable("has an event without JSON"))?;
                let value = unwrapped(value, self.status, &self.headers)?;
                return Ok(Some(AgentEvent::read(&value, self.form)));
            }
            let Some(chunk) = self.chunk(idle).await? else { return Ok(None) };
            let pushed = self.events.push(&chunk, &mut self.ready);
            pushed.map_err(|_| AgentFault::TooLarge(self.most))?;
        }
    }

    async fn chunk(&mut self, idle: Duration) -> Result<Option<bytes::Bytes>, AgentFault> {
        let next = timeout(idle, self.body.next()).await;
        let Some(chunk) = next.map_err(|_| AgentFault::Silent(idle))? else { return Ok(None) };
        let chunk = chunk.map_err(AgentFault::Egress)?;
        let left = self.left.checked_sub(chunk.len() as u64);
        self.left = left.ok_or(AgentFault::TooLarge(self.all))?;
        Ok(Some(chunk))
    }
}
