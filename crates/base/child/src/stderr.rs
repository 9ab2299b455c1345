//! The end of what a program wrote to its standard error.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::sync::watch;

/// The end of a program's standard error; clones show the same, also after its end.
#[derive(Clone)]
pub struct StderrTail {
    kept: Arc<Mutex<TailBuffer>>,
    is_closed: watch::Receiver<bool>,
}

struct TailBuffer {
    /// So many at the most.
    most: usize,
    bytes: VecDeque<u8>,
    lost: u64,
}

impl StderrTail {
    /// Reads on a task of its own, so that a program never waits for somebody to listen.
    pub(crate) fn follow(stderr: std::process::ChildStderr, most: usize) -> io::Result<Self> {
        let mut stderr = ChildStderr::from_std(stderr)?;
        let kept = Arc::new(Mutex::new(TailBuffer { most, bytes: VecDeque::new(), lost: 0 }));
        let (closed, is_closed) = watch::channel(false);
        let tail = Self { kept: Arc::clone(&kept), is_closed };
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
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(self.most);
        self.bytes.drain(..over);
        self.lost += over as u64;
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
    use std::collections::VecDeque;

    use super::{TailBuffer, escape};

    const KEPT: usize = 1_000;

    #[test]
    fn the_last_bytes_are_kept_and_the_others_counted() {
        let mut kept = TailBuffer { most: KEPT, bytes: VecDeque::new(), lost: 0 };
        for letter in *b"abc" {
            kept.add(&vec![letter; KEPT / 2]);
        }
        assert_eq!(kept.bytes.len(), KEPT);
        assert_eq!((kept.bytes[0], kept.bytes[KEPT - 1], kept.lost), (b'b', b'c', KEPT as u64 / 2));
    }

    #[test]
    fn what_moves_the_cursor_is_written_out() {
        let text = "one\ntwo\r\u{1b}[2Jthree\u{202e}four\tfive";
        assert_eq!(escape(text), "one\ntwo\\u{d}\\u{1b}[2Jthree\\u{202e}four\tfive");
    }
}
