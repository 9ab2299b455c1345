//! The end of what a program wrote to its standard error.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::sync::watch;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Lines that are told at the most, and of which is known when they came.
const MOST_LINES: usize = 200;
/// Letters of such a line.
const LONGEST_LINE: usize = 4_000;

/// The end of a program's standard error; clones show the same, also after its end.
#[derive(Clone)]
pub struct StderrTail {
    number: u64,
    kept: Arc<Mutex<TailBuffer>>,
    is_closed: watch::Receiver<bool>,
}

struct TailBuffer {
    /// So many at the most.
    most: usize,
    bytes: VecDeque<u8>,
    lost: u64,
    /// Lines that ended, from the beginning.
    ended: u64,
    /// When the last of them did.
    times: VecDeque<SystemTime>,
}

/// A line of a program's standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StderrLine {
    /// Counted from 1.
    pub number: u64,
    pub at: SystemTime,
    /// Safe to print; of a long one the beginning.
    pub text: String,
}

impl StderrTail {
    /// Reads on a task of its own, so that a program never waits for somebody to listen.
    pub(crate) fn follow(stderr: std::process::ChildStderr, most: usize) -> io::Result<Self> {
        let mut stderr = ChildStderr::from_std(stderr)?;
        let kept = Arc::new(Mutex::new(TailBuffer::new(most)));
        let (closed, is_closed) = watch::channel(false);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let tail = Self { number, kept: Arc::clone(&kept), is_closed };
        tokio::spawn(async move {
            let mut space = vec![0; 16 << 10];
            while let Ok(count @ 1..) = stderr.read(&mut space).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.add(space.get(..count).unwrap_or_default());
            }
            closed.send_replace(true);
        });
        Ok(tail)
    }

    /// What is kept, safe to print: lines stay lines, and whatever else could move the cursor or
    /// turn the text around is written out (`\u{1b}`).
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.bytes.iter().copied().collect()
        };
        escape(&String::from_utf8_lossy(&bytes))
    }

    /// The lines behind this number, the oldest first and 200 at the most. One that has not ended is
    /// told once nobody can write any more.
    pub fn lines(&self, after: u64) -> Vec<StderrLine> {
        let is_closed = *self.is_closed.borrow();
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).lines(after, is_closed)
    }

    /// Another number for each program of this process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes came before those that are kept.
    pub fn lost(&self) -> u64 {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).lost
    }

    /// Until nobody can write any more.
    pub(crate) async fn closed(&self) {
        let _ = self.is_closed.clone().wait_for(|is_closed| *is_closed).await;
    }
}

impl TailBuffer {
    fn new(most: usize) -> Self {
        Self { most, bytes: VecDeque::new(), lost: 0, ended: 0, times: VecDeque::new() }
    }

    fn add(&mut self, bytes: &[u8]) {
        let now = SystemTime::now();
        for _ in bytes.iter().filter(|byte| **byte == b'\n') {
            self.ended += 1;
            if self.times.len() >= MOST_LINES {
                self.times.pop_front();
            }
            self.times.push_back(now);
        }
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(self.most);
        self.bytes.drain(..over);
        self.lost += over as u64;
    }

    fn lines(&mut self, after: u64, is_closed: bool) -> Vec<StderrLine> {
        let ended = self.ended;
        let times = self.times.clone();
        let time = |number: u64| {
            let back = usize::try_from(ended.saturating_sub(number)).unwrap_or(usize::MAX);
            times.iter().rev().nth(back).copied()
        };
        let bytes = &*self.bytes.make_contiguous();
        // Of the first that is kept the beginning is gone, and with it what would be masked in it.
        let whole = bytes.iter().position(|byte| *byte == b'\n').filter(|_| self.lost > 0);
        let bytes = bytes.get(whole.map_or(0, |end| end + 1)..).unwrap_or_default();
        // What stands behind the last line break: a line that has not ended.
        let mut pieces = bytes.rsplit(|byte| *byte == b'\n');
        let rest = pieces.next().filter(|rest| is_closed && !rest.is_empty());
        let numbered = rest.map(|rest| (ended + 1, rest)).into_iter();
        let mut lines: Vec<_> = numbered
            .chain((1..=ended).rev().zip(pieces))
            .take_while(|(number, _)| *number > after)
            .take(MOST_LINES)
            .map(|(number, line)| {
                let text = String::from_utf8_lossy(line.get(..LONGEST_LINE * 4).unwrap_or(line));
                let text: String = text.chars().take(LONGEST_LINE).collect();
                let at = time(number).or(times.back().copied());
                StderrLine { number, at: at.unwrap_or(SystemTime::UNIX_EPOCH), text: escape(&text) }
            })
            .collect();
        lines.reverse();
        lines
    }
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => safe.push(character),
            _ if is_unsafe(character) => {
                let _ = write!(safe, "{}", character.escape_unicode());
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// Control characters, marks of direction, and characters without width.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::{MOST_LINES, TailBuffer, escape};

    const KEPT: usize = 1_000;

    #[test]
    fn the_last_bytes_are_kept_and_the_others_counted() {
        let mut kept = TailBuffer::new(KEPT);
        for letter in *b"abc" {
            kept.add(&vec![letter; KEPT / 2]);
        }
        assert_eq!(kept.bytes.len(), KEPT);
        assert_eq!((kept.bytes[0], kept.bytes[KEPT - 1], kept.lost), (b'b', b'c', KEPT as u64 / 2));
    }

    #[test]
    fn the_last_lines_are_told_behind_a_number_and_one_that_has_not_ended_at_the_end() {
        let mut kept = TailBuffer::new(KEPT);
        let told = |kept: &mut TailBuffer, after, is_closed| -> Vec<_> {
            let lines = kept.lines(after, is_closed).into_iter();
            lines.map(|line| (line.number, line.text)).collect()
        };
        assert_eq!(told(&mut kept, 0, true), []);
        kept.add(b"one\n\nthr");
        let first = [(1, "one".to_owned()), (2, String::new())];
        assert_eq!(told(&mut kept, 0, false), first);
        kept.add(b"ee\x1b\nfour");
        let third = (3, "three\\u{1b}".to_owned());
        assert_eq!(told(&mut kept, 2, false), std::slice::from_ref(&third));
        assert_eq!(told(&mut kept, 2, true), [third, (4, "four".to_owned())]);
        assert_eq!(told(&mut kept, 9, true), []);
        for _ in 0..MOST_LINES * 2 {
            kept.add(b"x\n");
        }
        let all = told(&mut kept, 0, true);
        let last = 3 + MOST_LINES as u64 * 2;
        assert_eq!((all.len(), all[0].0, all[MOST_LINES - 1].0), (MOST_LINES, last - 199, last));
    }

    #[test]
    fn what_moves_the_cursor_is_written_out() {
        let text = "one\ntwo\r\u{1b}[2Jthree\u{202e}four\tfive";
        assert_eq!(escape(text), "one\ntwo\\u{d}\\u{1b}[2Jthree\\u{202e}four\tfive");
    }
}
