//! Files of mbox: many messages behind one another, each after a line that begins with `From `
//! (RFC 4155; escaped by `>` as mboxrd has it, which reads what mboxo writes too).

use std::io::{self, BufRead};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::mail::mime::MAX_MESSAGE;

/// One message of a file.
pub(super) struct MboxMessage {
    /// When it was delivered, where its first line says so.
    pub(super) delivered: Option<Timestamp>,
    /// `None`: it is larger than what is read.
    pub(super) raw: Option<Vec<u8>>,
}

/// Reads a file message by message, never more of it than one.
pub(super) struct MboxReader<R> {
    reader: R,
    /// The first line of the next message.
    next: Option<Vec<u8>>,
}

impl<R: BufRead> MboxReader<R> {
    /// `None` if the file does not begin as one of mbox does; an empty file has no messages.
    pub(super) fn open(mut reader: R) -> io::Result<Option<Self>> {
        let mut first = Vec::new();
        while line(&mut reader, &mut first)? && first.trim_ascii().is_empty() {
            first.clear();
        }
        // Editors put a mark before files of UTF-8.
        let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&first).to_vec();
        Ok(if first.is_empty() {
            Some(Self { reader, next: None })
        } else {
            first.starts_with(b"From ").then_some(Self { reader, next: Some(first) })
        })
    }

    /// The next message; `None` at the end.
    pub(super) fn read(&mut self) -> io::Result<Option<MboxMessage>> {
        let Some(first) = self.next.take() else { return Ok(None) };
        let mut raw = Vec::new();
        let mut is_too_large = false;
        let mut is_after_empty = false;
        let mut bytes = Vec::new();
        while line(&mut self.reader, &mut bytes)? {
            if is_after_empty && bytes.starts_with(b"From ") {
                self.next = Some(bytes);
                break;
            }
            let unquoted = bytes.iter().position(|byte| *byte != b'>').unwrap_or(0);
            let is_escaped = unquoted > 0
                && bytes.get(unquoted..).is_some_and(|rest| rest.starts_with(b"From "));
            is_after_empty = bytes.trim_ascii().is_empty();
            let kept = bytes.get(usize::from(is_escaped)..).unwrap_or_default();
            if raw.len() + kept.len() > MAX_MESSAGE {
                is_too_large = true;
                raw = Vec::new();
            }
            if !is_too_large {
                raw.extend_from_slice(kept);
            }
            bytes.clear();
        }
        // The empty line before the next message is none of this one.
        let end = raw.strip_suffix(b"\n").map(|raw| raw.strip_suffix(b"\r").unwrap_or(raw));
        if let Some(end) = end.filter(|end| end.ends_with(b"\n")).map(<[u8]>::len) {
            raw.truncate(end);
        }
        let raw = (!is_too_large).then_some(raw);
        Ok(Some(MboxMessage { delivered: delivered(&first), raw }))
    }
}

/// Reads one line with its end. Of a line that is longer than a message may be, no more is kept
/// than shows that.
fn line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let mut is_any = false;
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok(is_any);
        }
        is_any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |end| end + 1);
        if line.len() <= MAX_MESSAGE {
            line.extend_from_slice(buffer.get(..taken).unwrap_or_default());
        }
        reader.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// `From somebody@example.org Tue Nov 24 14:00:00 2026`, in universal time.
fn delivered(line: &[u8]) -> Option<Timestamp> {
    let line = std::str::from_utf8(line).ok()?;
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let at = words
        .iter()
        .position(|word| ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(word))?;
    let date = words.get(at + 1..)?;
    let (day, year) = (date.get(..3)?.join(" "), *date.iter().rev().find(|word| word.len() == 4)?);
    let date = DateTime::strptime("%b %d %H:%M:%S %Y", format!("{day} {year}")).ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}
