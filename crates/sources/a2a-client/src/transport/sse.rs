//! Server-sent events as their data, bounded.
//!
//! Source: the HTML standard, "Server-sent events", "Interpreting an event stream".

use std::collections::VecDeque;

/// Cuts bytes into events, of which none is longer than a bound.
pub(crate) struct SseEvents {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return, whose line end is over.
    after_return: bool,
    /// Largest event, in bytes.
    most: usize,
}

/// An event is longer than the bound.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LongEvent;

impl SseEvents {
    pub(crate) fn new(most: usize) -> Self {
        Self { line: Vec::new(), data: Vec::new(), has_data: false, after_return: false, most }
    }

    /// Takes the next bytes, and puts the data of each event that they end behind the others.
    pub(crate) fn push(
        &mut self,
        chunk: &[u8],
        ready: &mut VecDeque<String>,
    ) -> Result<(), LongEvent> {
        for byte in chunk {
            let is_rest_of_end = *byte == b'\n' && self.after_return;
            self.after_return = *byte == b'\r';
            match byte {
                b'\n' if is_rest_of_end => {}
                b'\n' | b'\r' => self.end_line(ready)?,
                _ if self.line.len() > self.most => return Err(LongEvent),
                _ => self.line.push(*byte),
            }
        }
        Ok(())
    }

    fn end_line(&mut self, ready: &mut VecDeque<String>) -> Result<(), LongEvent> {
        if self.line.is_empty() {
            if self.has_data {
                ready.push_back(String::from_utf8_lossy(&self.data).into_owned());
            }
            self.data.clear();
            self.has_data = false;
            return Ok(());
        }
        let line = self.line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.line);
        let value = match line.strip_prefix(b"data") {
            Some([]) => Some(&[][..]),
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => Some(value),
            Some(_) | None => None,
        };
        if let Some(value) = value {
            if self.data.len() + value.len() > self.most {
                return Err(LongEvent);
            }
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
            self.has_data = true;
        }
        self.line.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]], most: usize) -> Result<Vec<String>, LongEvent> {
        let mut ready = VecDeque::new();
        let mut events = SseEvents::new(most);
        for chunk in chunks {
            events.push(chunk, &mut ready)?;
        }
        Ok(ready.into())
    }

    #[test]
    fn events_are_the_same_wherever_they_are_cut_and_however_lines_end() {
        let stream = "id: 1\nevent: x\ndata: {\"a\":\ndata: 1}\n\n: ping\n\ndata:two\n\ndata\n\n";
        let wanted = ["{\"a\":\n1}", "two", ""];
        for ending in ["\n", "\r", "\r\n"] {
            let stream = stream.replace('\n', ending);
            for cut in 0..stream.len() {
                let (first, rest) = stream.as_bytes().split_at(cut);
                assert_eq!(read(&[first, rest], 100), Ok(wanted.map(str::to_owned).to_vec()));
            }
        }
    }

    #[test]
    fn an_event_longer_than_the_bound_is_refused_before_it_is_kept() {
        assert_eq!(read(&[b"data: 123456\n\n"], 5), Err(LongEvent));
        assert_eq!(read(&[b"data: 123\ndata: 456\n\n"], 12), Ok(vec!["123\n456".to_owned()]));
        assert_eq!(read(&[b"data: 123\ndata: 456\n\n"], 10), Ok(vec!["123\n456".to_owned()]));
        let endless: Vec<&[u8]> = vec![b"aaaaaaaaaa"; 50];
        assert_eq!(read(&endless, 100), Err(LongEvent));
    }
}
