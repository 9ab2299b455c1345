//! What can be told of a message without reading it: whose it is, and whether it answers.
//!
//! For what is too large, too deep or no JSON: the fields that say so stand on the outermost level,
//! and a look at the brackets and quotes finds them, also in a text that comes piece by piece.

use rmcp::model::RequestId;
use serde::Deserialize as _;

use crate::protocol::id::StrictRequestId;

/// Longest key or value that is looked at, in bytes.
const LONGEST: usize = 256;

/// What was seen of a message so far.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that was seen")]
pub(crate) struct MessageOutline {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// What stands on the outermost level since the last comma or colon.
    word: Vec<u8>,
    /// The key that the next value has.
    key: Vec<u8>,
    id: Option<RequestId>,
    is_object: bool,
    /// Something else stands before it.
    is_noise: bool,
    has_method: bool,
    has_answer: bool,
}

impl MessageOutline {
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.take(text);
        outline
    }

    /// Takes in more of the text.
    pub(crate) fn take(&mut self, text: &[u8]) {
        for byte in text {
            self.next(*byte);
        }
    }

    /// Whether it looks as an answer to a request does: a line of a log that went astray does not.
    pub(crate) fn is_answer(&self) -> bool {
        self.has_answer && !self.has_method && !self.is_noise
    }

    /// The id that it has, if that was seen.
    pub(crate) fn id(&self) -> Option<&RequestId> {
        self.id.as_ref().filter(|_| !self.is_noise)
    }

    fn next(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return self.keep(byte);
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.keep(byte);
                self.is_object |= self.depth == 0 && byte == b'{';
                self.depth += 1;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.ends_value();
                }
                self.depth = self.depth.saturating_sub(1);
                self.keep(byte);
            }
            b':' if self.is_outermost() => self.ends_key(),
            b',' if self.is_outermost() => self.ends_value(),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn is_outermost(&self) -> bool {
        self.depth == 1 && self.is_object
    }

    fn keep(&mut self, byte: u8) {
        self.is_noise |= self.depth == 0 && !self.is_object && byte != b'{';
        if self.is_outermost() && self.word.len() < LONGEST {
            self.word.push(byte);
        }
    }

    fn ends_key(&mut self) {
        self.key = std::mem::take(&mut self.word);
        match self.key.as_slice() {
            b"\"method\"" => self.has_method = true,
            b"\"result\"" | b"\"error\"" => self.has_answer = true,
            _ => {}
        }
    }

    fn ends_value(&mut self) {
        let word = std::mem::take(&mut self.word);
        // Of two the last one counts, as it does where the whole is read.
        if std::mem::take(&mut self.key) == b"\"id\"" {
            let mut reader = serde_json::Deserializer::from_slice(&word);
            self.id = StrictRequestId::deserialize(&mut reader).ok().map(|StrictRequestId(id)| id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a text in one piece and byte by byte: whose answer it is.
    fn answers(text: &str) -> Option<String> {
        let whole = MessageOutline::of(text.as_bytes());
        let mut single = MessageOutline::default();
        text.bytes().for_each(|byte| single.take(&[byte]));
        assert_eq!((whole.id(), whole.is_answer()), (single.id(), single.is_answer()), "{text}");
        whole.id().filter(|_| whole.is_answer()).map(ToString::to_string)
    }

    #[test]
    fn whose_an_answer_is_shows_wherever_its_id_stands() {
        let deep = "[".repeat(100_000);
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":NaN}"#, Some("7")),
            (
                r#"{"result":{"id":1,"a":[{"id":2}],"s":"}],\"id\":3"},"id" : "x","jsonrpc":"2.0"}"#,
                Some("x"),
            ),
            (r#"{"id":5,"error":{"code":1,"message":"\ud800"}}"#, Some("5")),
            (r#" {"id":5,"result":{"content":[{"te"#, Some("5")),
            (&format!(r#"{{"result":{deep},"id":4}}"#), None),
            (&format!(r#"{{"id":4,"result":{deep}"#), Some("4")),
            (r#"{"id":5,"method":"ping","result":1}"#, None),
            (r#"{"id":5}"#, None),
            (r#"{"id":null,"result":{}}"#, None),
            (r#"{"id":{"a":1},"result":{}}"#, None),
            (r#"INFO {"id":5,"result":{}}"#, None),
            (r#"{"id":5,"result":{}} as told"#, Some("5")),
            (r#"[{"id":5,"result":{}}]"#, None),
            (r#""id":5,"result":1"#, None),
            ("{}", None),
            ("", None),
        ] {
            let shown: String = text.chars().take(60).collect();
            assert_eq!(answers(text).as_deref(), id, "{shown}");
        }
    }
}
