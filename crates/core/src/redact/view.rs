//! A text as its reader will decode it, with the way back to the places in the text.

use std::borrow::Cow;
use std::ops::Range;

pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// For each byte where its writing begins in the text, and at last the text's end; none if
    /// the view is the text itself.
    places: Option<Vec<usize>>,
}

impl<'a> View<'a> {
    pub(super) fn plain(text: &'a str) -> Self {
        Self { bytes: Cow::Borrowed(text.as_bytes()), places: None }
    }

    /// Where a range of the view stands in the text.
    pub(super) fn source(&self, range: Range<usize>) -> Option<Range<usize>> {
        let Some(places) = &self.places else { return Some(range) };
        Some(*places.get(range.start)?..*places.get(range.end)?)
    }

    /// With the escapes of JSON strings resolved, or none if there are no escapes.
    pub(super) fn unescaped(&self) -> Option<View<'static>> {
        self.decoded(b'\\', escape)
    }

    /// With percent-encoding resolved; as forms write it, with `+` for a space, if asked for.
    pub(super) fn percent_decoded(&self, is_form: bool) -> Option<View<'static>> {
        if is_form { self.decoded(b'+', form) } else { self.decoded(b'%', percent) }
    }

    /// `sign` is what at least one writing begins with; `read` takes a writing from the front and
    /// says what it means and how long it is.
    fn decoded(
        &self,
        sign: u8,
        read: fn(&[u8]) -> Option<(Decoded, usize)>,
    ) -> Option<View<'static>> {
        if !self.bytes.contains(&sign) {
            return None;
        }
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut places = Vec::with_capacity(self.bytes.len() + 1);
        let mut place = 0;
        while let Some(rest @ [first, ..]) = self.bytes.get(place..) {
            let (decoded, length) = read(rest).unwrap_or(([*first, 0, 0, 0, 1], 1));
            let [a, b, c, d, count] = decoded;
            let start = self.source(place..place)?.start;
            for byte in [a, b, c, d].into_iter().take(usize::from(count)) {
                bytes.push(byte);
                places.push(start);
            }
            place += length;
        }
        places.push(self.source(self.bytes.len()..self.bytes.len())?.start);
        Some(View { bytes: Cow::Owned(bytes), places: Some(places) })
    }
}

/// Up to four bytes, and how many they are.
type Decoded = [u8; 5];

fn percent(text: &[u8]) -> Option<(Decoded, usize)> {
    let [b'%', high, low, ..] = text else { return None };
    let byte = digit(*high)? << 4 | digit(*low)?;
    Some(([u8::try_from(byte).ok()?, 0, 0, 0, 1], 3))
}

fn form(text: &[u8]) -> Option<(Decoded, usize)> {
    match text {
        [b'+', ..] => Some(([b' ', 0, 0, 0, 1], 1)),
        _ => percent(text),
    }
}

fn escape(text: &[u8]) -> Option<(Decoded, usize)> {
    let [b'\\', kind, rest @ ..] = text else { return None };
    let simple = |byte| Some(([byte, 0, 0, 0, 1], 2));
    match kind {
        b'"' | b'\\' | b'/' => simple(*kind),
        b'b' => simple(8),
        b'f' => simple(12),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'u' => unicode(rest),
        _ => None,
    }
}

/// What stands after `\u`; a character beyond sixteen bits is written as a pair.
fn unicode(text: &[u8]) -> Option<(Decoded, usize)> {
    let high = four(text)?;
    let (code, length) = match (high, text.get(4..).and_then(|rest| rest.strip_prefix(b"\\u"))) {
        (0xd800..0xdc00, Some(rest)) => {
            let low = four(rest)?.checked_sub(0xdc00)?;
            (0x10000 + ((high - 0xd800) << 10) + low, 12)
        }
        _ => (high, 6),
    };
    let mut decoded = [0; 4];
    let count = u8::try_from(char::from_u32(code)?.encode_utf8(&mut decoded).len()).ok()?;
    let [a, b, c, d] = decoded;
    Some(([a, b, c, d, count], length))
}

fn four(text: &[u8]) -> Option<u32> {
    text.get(..4)?.iter().try_fold(0, |code, byte| Some(code << 4 | digit(*byte)?))
}

fn digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}
