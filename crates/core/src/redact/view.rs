//! A text as its reader will decode it, with the way back to the places in the text.

use std::borrow::Cow;
use std::ops::Range;

/// How often a text may be JSON inside JSON.
const DEEPEST: usize = 3;

pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    way: Way,
}

/// From a view back to the text.
enum Way {
    /// The view is the text itself.
    Straight,
    /// For each byte where its writing begins in the text, and at last the text's end.
    Places(Vec<usize>),
    /// There is none: who looks only asks whether something is there.
    Forgotten,
}

/// Looks at all views of a text until one is found that `is_wanted`; whether there is one.
/// `has_forms`: also as forms write a text, with `+` for a space.
pub(super) fn any(
    mut view: View<'_>,
    has_forms: bool,
    mut is_wanted: impl FnMut(&View<'_>) -> bool,
) -> bool {
    for _ in 0..=DEEPEST {
        let decoded = |is_form| View::percent_decoded(&view, is_form);
        if is_wanted(&view)
            || decoded(false).is_some_and(|decoded| is_wanted(&decoded))
            || (has_forms && decoded(true).is_some_and(|decoded| is_wanted(&decoded)))
        {
            return true;
        }
        match view.unescaped() {
            Some(unescaped) => view = unescaped,
            None => break,
        }
    }
    false
}

impl<'a> View<'a> {
    pub(super) fn plain(text: &'a str) -> Self {
        Self { bytes: Cow::Borrowed(text.as_bytes()), way: Way::Straight }
    }

    /// The same without the way back, which takes much longer to keep than to decode the text.
    pub(super) fn sketch(text: &'a str) -> Self {
        Self { bytes: Cow::Borrowed(text.as_bytes()), way: Way::Forgotten }
    }

    /// Where a range of the view stands in the text.
    pub(super) fn source(&self, range: Range<usize>) -> Option<Range<usize>> {
        match &self.way {
            Way::Straight => Some(range),
            Way::Places(places) => Some(*places.get(range.start)?..*places.get(range.end)?),
            Way::Forgotten => None,
        }
    }

    /// With the escapes of JSON strings resolved, or none if there are no escapes.
    fn unescaped(&self) -> Option<View<'static>> {
        self.decoded([b'\\'; 2], escape)
    }

    /// With percent-encoding resolved; as forms write it, with `+` for a space, if asked for.
    fn percent_decoded(&self, is_form: bool) -> Option<View<'static>> {
        if is_form { self.decoded([b'+', b'%'], form) } else { self.decoded([b'%'; 2], percent) }
    }

    /// A writing begins with one of two signs, the first of which must be there; `read` takes a
    /// writing from the front and says what it means and how long it is.
    fn decoded(
        &self,
        [first, other]: [u8; 2],
        read: fn(&[u8]) -> Option<(Decoded, usize)>,
    ) -> Option<View<'static>> {
        if !self.bytes.contains(&first) {
            return None;
        }
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut places = Vec::new();
        let keeps_places = !matches!(self.way, Way::Forgotten);
        if keeps_places {
            places.reserve_exact(self.bytes.len() + 1);
        }
        let mut place = 0;
        while let Some(rest @ [sign, ..]) = self.bytes.get(place..) {
            let plain = plain(rest, first, other);
            if let Some(plain @ [_, ..]) = rest.get(..plain) {
                bytes.extend_from_slice(plain);
                if keeps_places {
                    for place in place..place + plain.len() {
                        places.push(self.source(place..place)?.start);
                    }
                }
                place += plain.len();
                continue;
            }
            let (decoded, length) = read(rest).unwrap_or(([*sign, 0, 0, 0, 1], 1));
            let [a, b, c, d, count] = decoded;
            let decoded = [a, b, c, d].into_iter().take(usize::from(count));
            if keeps_places {
                let start = self.source(place..place)?.start;
                places.extend(decoded.clone().map(|_| start));
            }
            bytes.extend(decoded);
            place += length;
        }
        let way = if keeps_places {
            places.push(self.source(self.bytes.len()..self.bytes.len())?.start);
            Way::Places(places)
        } else {
            Way::Forgotten
        };
        Some(View { bytes: Cow::Owned(bytes), way })
    }
}

/// How many bytes stand before the first of two signs. Sixteen are looked at in one step, without a
/// branch for each.
fn plain(text: &[u8], first: u8, other: u8) -> usize {
    let is_sign = |byte: &u8| *byte == first || *byte == other;
    let (chunks, _) = text.as_chunks::<16>();
    let has_sign = |chunk: &[u8; 16]| chunk.iter().fold(false, |has, byte| has | is_sign(byte));
    let passed = chunks.iter().take_while(|chunk| !has_sign(chunk)).count() * 16;
    let rest = text.get(passed..).unwrap_or_default();
    passed + rest.iter().position(is_sign).unwrap_or(rest.len())
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
