//! Strings that no reader of JSON takes: each costs itself and not the text around it.

/// What stands for a piece that cannot be read: the replacement character of Unicode.
const LOST: &[u8] = b"\\ufffd";

/// The same text with every string readable: one half of a pair of surrogates, an escape that there
/// is not, and bytes that are no UTF-8 become U+FFFD each; a control character becomes its escape.
///
/// `None`: nothing had to be changed. What stands between the strings stays as it is.
pub fn mended(text: &[u8]) -> Option<Vec<u8>> {
    let mut mending =
        StringMender { out: Vec::with_capacity(text.len()), within: false, changed: false };
    for chunk in text.utf8_chunks() {
        mending.take(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            mending.lost();
        }
    }
    mending.changed.then_some(mending.out)
}

struct StringMender {
    out: Vec<u8>,
    /// Inside a string.
    within: bool,
    changed: bool,
}

impl StringMender {
    fn take(&mut self, mut rest: &[u8]) {
        while let Some(byte) = rest.first() {
            let taken = match byte {
                b'"' => {
                    self.within = !self.within;
                    1
                }
                b'\\' if self.within => match escape(rest) {
                    EscapeSequence::Whole(bytes) => bytes,
                    EscapeSequence::Lost(bytes) => {
                        self.lost();
                        rest = rest.get(bytes..).unwrap_or_default();
                        continue;
                    }
                },
                ..=0x1f if self.within => {
                    self.changed = true;
                    self.out.extend(format!("\\u{byte:04x}").bytes());
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
                _ => 1,
            };
            let (whole, after) = rest.split_at(taken);
            self.out.extend_from_slice(whole);
            rest = after;
        }
    }

    fn lost(&mut self) {
        self.changed = true;
        self.out.extend_from_slice(if self.within { LOST } else { "\u{fffd}".as_bytes() });
    }
}

/// What stands at the start of a text that begins with a backslash, and how many bytes of it.
enum EscapeSequence {
    Whole(usize),
    Lost(usize),
}

fn escape(text: &[u8]) -> EscapeSequence {
    match (text.get(1), unit(text)) {
        (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), _) => {
            EscapeSequence::Whole(2)
        }
        (Some(b'u'), Some(0xd800..=0xdbff))
            if matches!(text.get(6..).and_then(unit), Some(0xdc00..=0xdfff)) =>
        {
            EscapeSequence::Whole(12)
        }
        (Some(b'u'), Some(0xd800..=0xdfff)) => EscapeSequence::Lost(6),
        (Some(b'u'), Some(_)) => EscapeSequence::Whole(6),
        // What it stood before is a letter like others.
        _ => EscapeSequence::Lost(1),
    }
}

/// The unit of UTF-16 that an escape `\u....` at the start of a text stands for.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0_u16, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}
