//! Lines of bounded length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

const READ_AT_ONCE: usize = 64 * 1024;
/// A buffer that grew beyond this is given back after its line.
const KEPT: usize = 256 * 1024;

pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
    End,
}

/// Reads lines; dropping a read loses nothing.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Bytes of the longest line.
    longest: usize,
    /// The line in `line` was given out and is to go.
    given: bool,
    /// The rest of a line that was too long is being passed over.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        let reader = BufReader::with_capacity(READ_AT_ONCE, reader);
        Self { reader, line: Vec::new(), longest, given: false, skipping: false }
    }

    pub(super) fn source(&mut self) -> &mut R {
        self.reader.get_mut()
    }

    pub(crate) async fn next(&mut self) -> Line<'_> {
        if std::mem::take(&mut self.given) {
            self.line.clear();
            self.line.shrink_to(KEPT);
        }
        loop {
            let Ok(available) = self.reader.fill_buf().await else {
                return Line::End;
            };
            if available.is_empty() {
                return Line::End;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or(available);
            let used = part.len() + usize::from(end.is_some());
            let fits = !self.skipping && self.line.len() + part.len() <= self.longest;
            if fits {
                self.line.extend_from_slice(part);
            }
            // Nothing is awaited between the copy and this.
            self.reader.consume(used);
            if !fits && !std::mem::replace(&mut self.skipping, end.is_none()) {
                self.line = Vec::new();
                return Line::TooLong;
            }
            if end.is_some() && fits && !self.line.trim_ascii().is_empty() {
                self.given = true;
                return Line::Whole(&self.line);
            }
            if end.is_some() {
                self.line.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: usize = 200 * 1024;

    async fn all(text: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(text, LONGEST);
        let mut seen = Vec::new();
        loop {
            match lines.next().await {
                Line::Whole(line) => seen.push(String::from_utf8_lossy(line).into_owned()),
                Line::TooLong => seen.push("too long".to_owned()),
                Line::End => return seen,
            }
        }
    }

    #[tokio::test]
    async fn a_line_beyond_the_bound_costs_itself_alone() {
        let mut text = b"{}\r\n\n".to_vec();
        text.extend(vec![b'x'; LONGEST]);
        text.push(b'\n');
        text.extend(vec![b'y'; LONGEST + 1]);
        text.extend(b"\nlast\nno end");
        let seen = all(&text).await;
        assert_eq!(seen.len(), 4);
        assert_eq!((seen[0].as_str(), seen[1].len()), ("{}\r", LONGEST));
        assert_eq!(seen[2..], ["too long", "last"]);
    }
}
