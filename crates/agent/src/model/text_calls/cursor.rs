//! A place in a text that moves on and never back.

use std::collections::BTreeMap;

/// Reads a text from its beginning to its end.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(crate) fn starts_with(&self, what: &str) -> bool {
        self.rest().starts_with(what)
    }

    /// Whether the place is behind this character.
    pub(crate) fn is_behind(&self, letter: char) -> bool {
        self.text.get(..self.at).is_some_and(|before| before.ends_with(letter))
    }

    /// Moves on; to the end if a character would be cut.
    pub(crate) fn skip(&mut self, bytes: usize) {
        let to = self.at.saturating_add(bytes);
        self.at = if self.text.is_char_boundary(to) { to } else { self.text.len() };
    }

    pub(crate) fn skip_to_end(&mut self) {
        self.at = self.text.len();
    }

    pub(crate) fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    pub(crate) fn eat(&mut self, what: &str) -> bool {
        let is_there = self.starts_with(what);
        if is_there {
            self.at += what.len();
        }
        is_there
    }

    pub(crate) fn take_while(&mut self, is_of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|letter| !is_of(letter)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// What stands before `end`; then the place is behind it.
    pub(crate) fn take_until(&mut self, end: &str) -> Option<&'a str> {
        let (taken, _) = self.rest().split_once(end)?;
        self.at += taken.len() + end.len();
        Some(taken)
    }

    /// The JSON object or list that begins here, by its brackets; `None`: it never ends.
    pub(crate) fn take_json(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = json_end(rest)?;
        self.at += end;
        rest.get(..end)
    }
}

/// Where the brackets of a JSON text are all closed.
fn json_end(text: &str) -> Option<usize> {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        if is_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where each closing tag of a text stands: looked for one by one, each that is missing would cost
/// a reading of the whole text.
pub(crate) struct ClosingTags<'a>(BTreeMap<&'a str, Vec<usize>>);

impl<'a> ClosingTags<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let mut tags: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, opening) in text.match_indices("</") {
            let rest = text.get(at + opening.len()..).unwrap_or_default();
            let name = name(rest);
            if rest.get(name.len()..).is_some_and(|rest| rest.starts_with('>')) {
                tags.entry(name).or_default().push(at);
            }
        }
        Self(tags)
    }

    /// The first `</NAME>` that does not stand before this place.
    pub(crate) fn next(&self, name: &str, from: usize) -> Option<usize> {
        let places = self.0.get(name)?;
        places.get(places.partition_point(|at| *at < from)).copied()
    }
}

/// Longest name of a tag, in bytes: a little more than any API lets tools have.
const LONGEST_NAME: usize = 128;

/// The name with which a text begins, as a tag may have it; empty where it is none.
pub(crate) fn name(text: &str) -> &str {
    let is_of_name =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let end = text.bytes().take(LONGEST_NAME).take_while(|byte| is_of_name(*byte)).count();
    text.get(..end).unwrap_or_default()
}

/// How many bytes at the end of a text may be the beginning of `sign`.
pub(crate) fn open_end(text: &str, sign: &str) -> usize {
    let longest = text.len().min(sign.len() - 1);
    (1..=longest)
        .rev()
        .find(|length| text.ends_with(sign.get(..*length).unwrap_or("\0")))
        .unwrap_or(0)
}
