//! Server-sent events, bounded, as messages for the SDK.
//!
//! Source: the HTML standard, "Server-sent events", "Interpreting an event stream".

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt};
use rmcp::model::{ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use toolcrib_egress::StreamedResponse;

use super::exchange::{HttpExchangeError, broken};
use crate::client::inflight::{InFlight, UpstreamRequest};
use crate::protocol::frame::{self, MessageOutline};

/// Longest pause that a server may ask for before a stream is opened again, in milliseconds.
const LONGEST_RETRY: u64 = 60_000;

/// `slot`: of the request whose answer this stream is.
pub(super) fn read(
    body: StreamedResponse,
    calls: Arc<InFlight>,
    slot: Option<Arc<UpstreamRequest>>,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let reader = SseReader {
        body,
        lines: SseParser::new(calls.bounds.message),
        ready: VecDeque::new(),
        failed: None,
        calls,
        slot,
    };
    stream::unfold(Some(reader), |reader| async {
        let mut reader = reader?;
        loop {
            if let Some(event) = reader.ready.pop_front() {
                return Some((Ok(event), Some(reader)));
            }
            if let Some(error) = reader.failed {
                return Some((Err(SseError::Body(Box::new(error))), None));
            }
            reader.failed = match reader.body.next().await {
                // What comes after the end is only read past.
                Some(Ok(_)) if reader.has_ended() => {
                    return Some((Ok(Sse::default()), Some(reader)));
                }
                Some(Ok(chunk)) => reader.take(&chunk).err(),
                Some(Err(error)) => Some(broken(error)),
                None => return None,
            };
        }
    })
    // Who reads on after the end finds the end again.
    .fuse()
    .boxed()
}

struct SseReader {
    body: StreamedResponse,
    lines: SseParser,
    ready: VecDeque<Sse>,
    /// Why nothing more is read.
    failed: Option<HttpExchangeError>,
    calls: Arc<InFlight>,
    slot: Option<Arc<UpstreamRequest>>,
}

impl SseReader {
    fn has_ended(&self) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.has_ended())
    }

    fn take(&mut self, chunk: &[u8]) -> Result<(), HttpExchangeError> {
        let mut rest = chunk;
        loop {
            match self.lines.next(&mut rest) {
                Ok(Some(event)) => self.hear(event),
                Ok(None) => return Ok(()),
                Err(error) => {
                    let (outline, slot) = (self.lines.outline(), self.slot.as_ref());
                    let told = self.calls.spoiled(frame::TOO_LARGE, &outline, slot);
                    let is_of_one = slot.is_some();
                    self.tell(told.and_then(|told| written(&told)));
                    if is_of_one {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// What the SDK is to see of an event: its place in the stream always, its message if it must.
    fn hear(&mut self, event: SseEvent) {
        let is_message = matches!(event.kind.as_str(), "" | "message");
        let text = event.data.as_bytes();
        let slot = self.slot.clone();
        let is_told =
            is_message && !text.is_empty() && self.calls.take_usual(text, slot.as_ref()).is_none();
        self.ready.push_back(Sse { event: None, data: None, id: event.id, retry: event.retry });
        if !is_told {
            return;
        }
        let heard: Vec<_> = match self.calls.read(text) {
            Ok(message) => frame::each(message)
                .filter_map(|message| self.calls.hear(message, slot.as_ref()))
                .collect(),
            Err(unreadable) => {
                let (why, outline) = (unreadable.words(), MessageOutline::of(text));
                self.calls.spoiled(why, &outline, slot.as_ref()).into_iter().collect()
            }
        };
        for heard in &heard {
            self.tell(written(heard));
        }
    }

    fn tell(&mut self, data: Option<String>) {
        if data.is_some() {
            self.ready.push_back(Sse { event: None, data, id: None, retry: None });
        }
    }
}

/// A message as the SDK reads it.
fn written(message: &ServerJsonRpcMessage) -> Option<String> {
    if let ServerJsonRpcMessage::Response(response) = message
        && matches!(response.result, ServerResult::EmptyResult(_))
    {
        // The result itself stands in its slot, and the SDK needs to hear of an end alone. It tries
        // one shape of result after the other, and errors have only one.
        let id = serde_json::to_string(&response.id).ok()?;
        return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":0,"message":""}}}}"#));
    }
    serde_json::to_string(message).ok()
}

#[derive(Default)]
pub(super) struct SseEvent {
    pub(super) kind: String,
    pub(super) data: String,
    id: Option<String>,
    retry: Option<u64>,
}

/// Puts events together from chunks that are cut anywhere.
pub(super) struct SseParser {
    /// Bytes of the longest event.
    longest: usize,
    line: Vec<u8>,
    /// The last line ended with a carriage return, and a line feed still belongs to it.
    after_return: bool,
    event: SseEvent,
    has_fields: bool,
    /// The rest of an event that was too long is being passed over.
    is_skipping: bool,
}

impl SseParser {
    pub(super) fn new(longest: usize) -> Self {
        let (line, event) = (Vec::new(), SseEvent::default());
        Self { longest, line, after_return: false, event, has_fields: false, is_skipping: false }
    }

    /// What can be told of the event that is being put together.
    pub(super) fn outline(&self) -> MessageOutline {
        let mut outline = MessageOutline::of(self.event.data.as_bytes());
        outline.take(self.line.strip_prefix(b"data:").unwrap_or(&self.line));
        outline
    }

    /// The next whole event; `rest` is what is left of the chunk. After one that is too long those
    /// behind it can be read.
    pub(super) fn next(&mut self, rest: &mut &[u8]) -> Result<Option<SseEvent>, HttpExchangeError> {
        if self.is_skipping {
            // Of a line that is passed over it counts only that it is not empty.
            self.line.truncate(1);
            self.event = SseEvent::default();
        }
        loop {
            if !rest.is_empty() && std::mem::take(&mut self.after_return) {
                *rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            let is_too_long = self.line.len() + part.len() + self.event.data.len() > self.longest;
            if is_too_long || self.is_skipping {
                // Enough of it to see whose it is.
                let most = if self.is_skipping { 1 } else { self.longest };
                let seen = most.saturating_sub(self.line.len()).min(part.len());
                self.line.extend_from_slice(part.get(..seen).unwrap_or_default());
                if !std::mem::replace(&mut self.is_skipping, true) {
                    return Err(HttpExchangeError::TooLarge);
                }
            } else {
                self.line.extend_from_slice(part);
            }
            let Some((last, after)) = after.split_first() else {
                *rest = after;
                return Ok(None);
            };
            *rest = after;
            self.after_return = *last == b'\r' && after.is_empty();
            if *last == b'\r'
                && let Some(shorter) = after.strip_prefix(b"\n")
            {
                *rest = shorter;
            }
            let line = std::mem::take(&mut self.line);
            if line.is_empty() {
                let event = std::mem::take(&mut self.event);
                let is_whole = !std::mem::take(&mut self.is_skipping);
                if std::mem::take(&mut self.has_fields) && is_whole {
                    return Ok(Some(event));
                }
            } else if !self.is_skipping {
                self.field(&line);
            }
        }
    }

    fn field(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => {
                if !self.event.data.is_empty() {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.kind),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => {
                self.event.retry = value.parse().ok().map(|retry: u64| retry.min(LONGEST_RETRY));
            }
            _ => return,
        }
        self.has_fields = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&str]) -> Vec<(String, String, Option<String>, Option<u64>)> {
        let (mut lines, mut seen) = (SseParser::new(200), Vec::new());
        for chunk in chunks {
            let mut rest = chunk.as_bytes();
            while let Some(event) = lines.next(&mut rest).unwrap() {
                seen.push((event.kind, event.data, event.id, event.retry));
            }
        }
        seen
    }

    #[test]
    fn events_are_put_together_wherever_the_chunks_are_cut() {
        let text = ": hi\r\nid: 7\r\nretry: 99999999\r\ndata: one\r\ndata:two\r\n\r\n\nevent: x\rdata: \r\rdata: é\n\n";
        let whole = events(&[text]);
        let expected = [
            (String::new(), "one\ntwo".to_owned(), Some("7".to_owned()), Some(LONGEST_RETRY)),
            ("x".to_owned(), String::new(), None, None),
            (String::new(), "é".to_owned(), None, None),
        ];
        assert_eq!(whole, expected);
        let single: Vec<_> =
            text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]).collect();
        assert_eq!(events(&single), whole);
    }

    #[test]
    fn an_event_that_is_too_long_costs_itself_alone() {
        let mut lines = SseParser::new(1_000);
        let mut text = b"data: one\n\ndata: {\"id\":7,\"result\":\"".to_vec();
        text.extend(vec![b'x'; 5_000]);
        text.extend(b"\"}\ndata: more\nid: 3\n\ndata: two\n\n");
        for size in [1, 7, 100, text.len()] {
            let mut seen = Vec::new();
            for chunk in text.chunks(size) {
                let mut rest = chunk;
                loop {
                    match lines.next(&mut rest) {
                        Ok(Some(event)) => seen.push(event.data),
                        Ok(None) => break,
                        Err(_) => seen.push(format!("{:?}", lines.outline().id())),
                    }
                }
            }
            assert_eq!(seen, ["one", "Some(Number(7))", "two"], "{size}");
        }
    }
}
