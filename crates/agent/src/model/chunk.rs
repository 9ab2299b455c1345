//! Events of a stream, taken out of its bytes however they are cut.
//!
//! The format: <https://html.spec.whatwg.org/multipage/server-sent-events.html>. Servers write it in
//! all its forms: with and without a blank after `data:`, with lines that end in CR LF, and without
//! the empty line behind the last event.

use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::time::timeout;
use toolcrib_egress::StreamedResponse;

/// How long the end of a stream may take whose last event was there.
const END: Duration = Duration::from_millis(50);
/// So much is read behind the last event, in bytes.
const MOST_BEHIND: usize = 64 << 10;
/// Largest event, in bytes.
const LARGEST: usize = 16 << 20;

/// Reads the `data` of events.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    /// A line that has no end yet.
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The line before ended with CR, so that an LF belongs to it.
    after_return: bool,
    has_begun: bool,
}

/// An event is larger than any model writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl EventReader {
    /// Takes bytes and gives the data of the events that are whole with them.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooLarge> {
        let mut events = Vec::new();
        for byte in bytes {
            let ends = match byte {
                b'\n' if self.after_return => {
                    self.after_return = false;
                    continue;
                }
                b'\n' | b'\r' => true,
                _ => false,
            };
            self.after_return = *byte == b'\r';
            if ends {
                self.end_line(&mut events);
            } else {
                self.line.push(*byte);
                if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > LARGEST {
                    return Err(TooLarge);
                }
            }
        }
        Ok(events)
    }

    /// What is left where the bytes end: many servers leave the last empty line out.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        let mut events = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut events);
        }
        events.pop().or(self.data)
    }

    fn end_line(&mut self, events: &mut Vec<Vec<u8>>) {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.has_begun, true) && line.starts_with("\u{feff}".as_bytes())
        {
            line.drain(..3);
        }
        if line.is_empty() {
            events.extend(self.data.take());
            return;
        }
        let Some(said) = line.strip_prefix(b"data") else { return };
        let said = match said {
            [] => said,
            [b':', b' ', rest @ ..] | [b':', rest @ ..] => rest,
            // Another field, whose name begins so.
            _ => return,
        };
        match &mut self.data {
            None => self.data = Some(said.to_vec()),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(said);
            }
        }
    }
}

/// Reads what is left behind the last event: a connection can only be used again once its answer
/// is over. A server that leaves it open is not waited for.
pub(crate) async fn drain(mut response: Pin<&mut StreamedResponse>) {
    let rest = async {
        let mut left = MOST_BEHIND;
        while let Some(Ok(bytes)) = response.next().await {
            left = left.saturating_sub(bytes.len());
            if left == 0 {
                return;
            }
        }
    };
    // Too late: it is opened anew for the next request.
    let _ = timeout(END, rest).await;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::EventReader;

    fn read(bytes: &[u8], cuts: &[usize]) -> Vec<String> {
        let (mut reader, mut events, mut from) = (EventReader::default(), Vec::new(), 0);
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.sort_unstable();
        for to in cuts.into_iter().chain([bytes.len()]) {
            events.extend(reader.push(&bytes[from..to]).unwrap());
            from = to;
        }
        events.extend(reader.finish());
        events.into_iter().map(|event| String::from_utf8(event).unwrap()).collect()
    }

    #[test]
    fn events_are_read_in_all_the_forms_that_servers_write() {
        let text = "\u{feff}data: 1\n\ndata:2\r\n\r\n: still there\n\nevent: x\rdata: 3\rdata: 4\r\r\
                    database: no\n\ndata\n\ndata: last";
        assert_eq!(read(text.as_bytes(), &[]), ["1", "2", "3\n4", "", "last"]);
    }

    proptest! {
        #[test]
        fn wherever_the_bytes_are_cut_the_events_are_the_same(
            text in "(data: ?[a-z]{0,3}|: c|id: 4|event: x|\r\n|\n|\r|\n\n|\r\n\r\n|é){0,24}",
            cuts in prop::collection::vec(any::<usize>(), 0..6),
        ) {
            prop_assert_eq!(read(text.as_bytes(), &cuts), read(text.as_bytes(), &[]));
        }
    }
}
