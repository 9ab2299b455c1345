//! What a server says, as values: the grammar of RFC 3501 without its details.
//!
//! Every answer is words, strings and lists of them, so one small reader does for all, and what a
//! server adds of its own is read too.

/// Lists in one another.
const MAX_DEPTH: usize = 40;
/// Values in one answer.
const MAX_VALUES: usize = 200_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImapValue {
    /// A word, with what stands in brackets behind it: `BODY[TEXT]<0>`.
    Atom(String),
    /// A quoted string or a literal.
    Text(Vec<u8>),
    List(Vec<ImapValue>),
    Nil,
}

impl ImapValue {
    /// An atom or text as text.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Atom(atom) => Some(atom.clone()),
            Self::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            Self::List(_) | Self::Nil => None,
        }
    }

    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Atom(atom) => Some(atom.as_bytes()),
            Self::Text(text) => Some(text),
            Self::List(_) | Self::Nil => None,
        }
    }

    pub(super) fn list(&self) -> &[ImapValue] {
        match self {
            Self::List(values) => values,
            Self::Atom(_) | Self::Text(_) | Self::Nil => &[],
        }
    }

    pub(super) fn number(&self) -> Option<u32> {
        match self {
            Self::Atom(atom) => atom.parse().ok(),
            Self::Text(_) | Self::List(_) | Self::Nil => None,
        }
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.bytes().is_some_and(|bytes| bytes.eq_ignore_ascii_case(word.as_bytes()))
    }
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImapResponse {
    /// `+`: it waits for more.
    Continue,
    /// What a command came to, or a word in between; `tag` is `*` for the latter.
    Status {
        tag: String,
        status: ImapStatus,
        code: Vec<ImapValue>,
        text: String,
    },
    Data(Vec<ImapValue>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImapStatus {
    Ok,
    No,
    Bad,
    Bye,
    Preauth,
}

/// Reads one answer with its literals; `None` if it is none.
pub fn read(bytes: &[u8]) -> Option<ImapResponse> {
    if bytes.starts_with(b"+") {
        return Some(ImapResponse::Continue);
    }
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let tag = std::str::from_utf8(bytes.get(..space)?).ok()?.to_owned();
    let rest = bytes.get(space + 1..)?;
    let end = rest.iter().position(|byte| b" \r\n".contains(byte)).unwrap_or(rest.len());
    let word = rest.get(..end)?.to_ascii_uppercase();
    let status = match &*word {
        b"OK" => ImapStatus::Ok,
        b"NO" => ImapStatus::No,
        b"BAD" => ImapStatus::Bad,
        b"BYE" => ImapStatus::Bye,
        b"PREAUTH" => ImapStatus::Preauth,
        _ if tag == "*" => {
            let mut reader = ImapParser { rest, left: MAX_VALUES };
            return reader.values(0).map(ImapResponse::Data);
        }
        _ => return None,
    };
    let said = rest.get(end..)?.trim_ascii();
    let (code, text) = match said.strip_prefix(b"[") {
        Some(coded) => {
            let end = coded.iter().position(|byte| *byte == b']')?;
            let mut reader = ImapParser { rest: coded.get(..end)?, left: MAX_VALUES };
            (reader.values(0).unwrap_or_default(), coded.get(end + 1..)?)
        }
        None => (Vec::new(), said),
    };
    let text = String::from_utf8_lossy(text.trim_ascii());
    let text = text.chars().filter(|one| !one.is_control()).take(300).collect();
    Some(ImapResponse::Status { tag, status, code, text })
}

struct ImapParser<'a> {
    rest: &'a [u8],
    left: usize,
}

impl ImapParser<'_> {
    /// Values up to the end, or to the bracket that closes a list.
    fn values(&mut self, depth: usize) -> Option<Vec<ImapValue>> {
        let mut values = Vec::new();
        loop {
            self.rest = self.rest.trim_ascii_start();
            let Some(first) = self.rest.first() else {
                return (depth == 0).then_some(values);
            };
            self.left = self.left.checked_sub(1)?;
            match first {
                b')' => {
                    self.skip(1);
                    return (depth > 0).then_some(values);
                }
                b'(' => {
                    self.skip(1);
                    if depth >= MAX_DEPTH {
                        return None;
                    }
                    values.push(ImapValue::List(self.values(depth + 1)?));
                }
                b'"' => values.push(self.quoted()?),
                b'{' => values.push(self.literal()?),
                _ => values.push(self.atom()?),
            }
        }
    }

    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn quoted(&mut self) -> Option<ImapValue> {
        let mut text = Vec::new();
        let mut bytes = self.rest.iter().enumerate().skip(1);
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'"' => {
                    self.skip(at + 1);
                    return Some(ImapValue::Text(text));
                }
                b'\\' => text.push(*bytes.next()?.1),
                other => text.push(*other),
            }
        }
        None
    }

    fn literal(&mut self) -> Option<ImapValue> {
        let end = self.rest.iter().position(|byte| *byte == b'}')?;
        let count = std::str::from_utf8(self.rest.get(1..end)?).ok()?;
        let count: usize = count.trim_end_matches('+').parse().ok()?;
        let after = self.rest.get(end + 1..)?;
        let after = after.strip_prefix(b"\r\n").or_else(|| after.strip_prefix(b"\n"))?;
        let text = after.get(..count)?.to_vec();
        self.rest = after.get(count..)?;
        Some(ImapValue::Text(text))
    }

    fn atom(&mut self) -> Option<ImapValue> {
        let mut brackets = 0_usize;
        let mut end = 0;
        for byte in self.rest {
            match byte {
                b'[' => brackets += 1,
                b']' => brackets = brackets.saturating_sub(1),
                b' ' | b'(' | b')' | b'"' if brackets == 0 => break,
                b'\r' | b'\n' => break,
                _ => {}
            }
            end += 1;
        }
        let atom = self.rest.get(..end).filter(|atom| !atom.is_empty())?;
        let atom = String::from_utf8_lossy(atom).into_owned();
        self.skip(end);
        Some(if atom.eq_ignore_ascii_case("NIL") { ImapValue::Nil } else { ImapValue::Atom(atom) })
    }
}

/// How many bytes follow a line: it ends with `{n}` if they do.
pub(super) fn literal_after(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n"))?;
    let line = line.strip_suffix(b"}")?;
    let start = line.iter().rposition(|byte| *byte == b'{')?;
    let count = std::str::from_utf8(line.get(start + 1..)?).ok()?;
    count.trim_end_matches('+').parse().ok()
}
