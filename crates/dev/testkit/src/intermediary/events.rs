//! What the gateway sends, read piece by piece and bounded.

use serde_json::Value;

/// Bytes of an event and of a whole answer, and events of a stream.
pub(super) const MOST_BYTES: usize = 64 << 20;
const MOST_EVENTS: usize = 100_000;

/// An event of a stream; a body of JSON is one without a name.
#[derive(Debug, Clone)]
pub(super) struct ClientEvent {
    pub(super) id: Option<String>,
    /// `None`: it has no data, or none that is JSON.
    pub(super) message: Option<Value>,
}

/// Puts events together.
#[derive(Default)]
pub(super) struct EventReader {
    rest: Vec<u8>,
    id: Option<String>,
    data: String,
    count: usize,
}

impl EventReader {
    /// The events that a chunk completes.
    pub(super) fn take(&mut self, chunk: &[u8]) -> Result<Vec<ClientEvent>, String> {
        self.rest.extend_from_slice(chunk);
        if self.rest.len() + self.data.len() > MOST_BYTES {
            return Err("an event is larger than is read".to_owned());
        }
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        let mut events = Vec::new();
        for line in String::from_utf8_lossy(&lines).lines() {
            if let Some(event) = self.line(line)? {
                events.push(event);
            }
        }
        Ok(events)
    }

    fn line(&mut self, line: &str) -> Result<Option<ClientEvent>, String> {
        let value = |value: &str| value.strip_prefix(' ').unwrap_or(value).to_owned();
        if let Some(more) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(&value(more));
        } else if let Some(id) = line.strip_prefix("id:") {
            self.id = Some(value(id));
        }
        let is_event = line.is_empty() && !(self.data.is_empty() && self.id.is_none());
        if !is_event {
            return Ok(None);
        }
        self.count += 1;
        if self.count > MOST_EVENTS {
            return Err("the stream has more events than are read".to_owned());
        }
        let data = std::mem::take(&mut self.data);
        let message = (!data.trim().is_empty()).then(|| serde_json::from_str(&data)).transpose();
        let message = message.map_err(|error| format!("an event is no JSON ({error}): {data}"))?;
        Ok(Some(ClientEvent { id: self.id.take(), message }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_put_together_wherever_the_chunks_are_cut() {
        let text = ": hi\r\nid: 0\nretry: 9\ndata: \n\nid: 7\ndata: {\"a\":\ndata: 1}\r\n\r\n\ndata: 2\n\n";
        for size in [1, 3, text.len()] {
            let mut reader = EventReader::default();
            let chunks = text.as_bytes().chunks(size);
            let events: Vec<_> = chunks.flat_map(|chunk| reader.take(chunk).unwrap()).collect();
            let read: Vec<_> = events
                .iter()
                .map(|event| (event.id.as_deref(), event.message.as_ref().map(Value::to_string)))
                .collect();
            let one = Some(r#"{"a":1}"#.to_owned());
            assert_eq!(read, [(Some("0"), None), (Some("7"), one), (None, Some("2".to_owned()))]);
        }
        assert!(EventReader::default().take(b"data: no\n\n").is_err());
    }
}
