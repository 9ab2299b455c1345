//! Lines of bounded length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::frame::MessageOutline;

const READ_AT_ONCE: usize = 64 * 1024;
/// A buffer that grew beyond this is given back after its line.
const KEPT: usize = 256 * 1024;

pub(crate) enum BoundedLine<'a> {
    Whole(&'a [u8]),
    /// What can be told of it: as soon as it is too long and it was seen whose it is, or where the
    /// line ends.
    TooLong(&'a MessageOutline),
    End,
}

/// Reads lines; dropping a read loses nothing.
pub(crate) struct BoundedLines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Bytes of the longest line.
    longest: usize,
    /// The line in `line` was given out and is to go.
    given: bool,
    /// The rest of a line that was too long is being passed over.
    skipping: bool,
    /// Of that line, and whether it is still to be told of.
    outline: MessageOutline,
    is_owed: bool,
}

impl<R: AsyncRead + Unpin> BoundedLines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        let reader = BufReader::with_capacity(READ_AT_ONCE, reader);
        let (line, outline) = (Vec::new(), MessageOutline::default());
        Self { reader, line, longest, given: false, skipping: false, outline, is_owed: false }
    }

    pub(crate) fn source(&mut self) -> &mut R {
        self.reader.get_mut()
    }

    pub(crate) async fn next(&mut self) -> BoundedLine<'_> {
        if std::mem::take(&mut self.given) {
            self.line.clear();
            self.line.shrink_to(KEPT);
        }
        loop {
            let Ok(available) = self.reader.fill_buf().await else {
                return BoundedLine::End;
            };
            if available.is_empty() {
                return BoundedLine::End;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or(available);
            let used = part.len() + usize::from(end.is_some());
            let fits = !self.skipping && self.line.len() + part.len() <= self.longest;
            if fits {
                self.line.extend_from_slice(part);
            } else {
                if !self.skipping {
                    self.outline = MessageOutline::of(&std::mem::take(&mut self.line));
                    self.is_owed = true;
                }
                self.outline.take(part);
            }
            // Nothing is awaited between the copy and this.
            self.reader.consume(used);
            if !fits {
                self.skipping = end.is_none();
                if self.is_owed && (self.outline.id().is_some() || end.is_some()) {
                    self.is_owed = false;
                    return BoundedLine::TooLong(&self.outline);
                }
            }
            if end.is_some() && fits && !self.line.trim_ascii().is_empty() {
                self.given = true;
                return BoundedLine::Whole(&self.line);
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
        let mut lines = BoundedLines::new(text, LONGEST);
        let mut seen = Vec::new();
        loop {
            match lines.next().await {
                BoundedLine::Whole(line) => seen.push(String::from_utf8_lossy(line).into_owned()),
                BoundedLine::TooLong(outline) => seen.push(format!("too long: {:?}", outline.id())),
                BoundedLine::End => return seen,
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
        assert_eq!(seen[2..], ["too long: None", "last"], "{seen:?}");
    }

    #[tokio::test]
    async fn whose_a_line_is_that_is_too_long_is_told_as_soon_as_it_is_seen() {
        let long = "x".repeat(2 * LONGEST);
        let text = format!(
            "{{\"id\":7,\"result\":\"{long}\"}}\n{{\"result\":\"{long}\",\"id\":8}}\n{{}}\n"
        );
        let told = ["too long: Some(Number(7))", "too long: Some(Number(8))", "{}"];
        assert_eq!(all(text.as_bytes()).await, told);
    }
}
