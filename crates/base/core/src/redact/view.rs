//! A text as its reader will decode it, with the way back to the places in the text.

use std::borrow::Cow;
use std::ops::Range;

use toolcrib_json::invisible::is_unseen;

/// How often a text may be JSON inside JSON.
const DEEPEST: usize = 3;

pub(super) struct TextView<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    way: ViewOffsets,
}

/// From a view back to the text.
enum ViewOffsets {
    /// The view is the text itself.
    Straight,
    /// For each byte where its writing begins in the text, and at last the text's end.
    Places(Vec<usize>),
    /// For each byte where its writing stands in the text: between them something was left out.
    Apart(Vec<Range<usize>>),
    /// There is none: who looks only asks whether something is there.
    Forgotten,
}

/// Looks at all views of a text until one is found that `is_wanted`; whether there is one.
/// `has_forms`: also as forms write a text, with `+` for a space.
pub(super) fn any(
    mut view: TextView<'_>,
    has_forms: bool,
    mut is_wanted: impl FnMut(&TextView<'_>) -> bool,
) -> bool {
    for _ in 0..=DEEPEST {
        let decoded = |is_form| TextView::percent_decoded(&view, is_form);
        // What nobody sees parts nothing for a reader, and is taken out of much that is shown.
        let mut is_wanted = |view: &TextView<'_>| {
            is_wanted(view) || view.without_unseen().is_some_and(|bare| is_wanted(&bare))
        };
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

impl<'a> TextView<'a> {
    pub(super) fn plain(text: &'a str) -> Self {
        Self { bytes: Cow::Borrowed(text.as_bytes()), way: ViewOffsets::Straight }
    }

    /// The same without the way back, which takes much longer to keep than to decode the text.
    pub(super) fn sketch(text: &'a str) -> Self {
        Self { bytes: Cow::Borrowed(text.as_bytes()), way: ViewOffsets::Forgotten }
    }

    /// Where a range of the view stands in the text.
    pub(super) fn source(&self, range: Range<usize>) -> Option<Range<usize>> {
        match &self.way {
            ViewOffsets::Straight => Some(range),
            ViewOffsets::Places(places) => Some(*places.get(range.start)?..*places.get(range.end)?),
            ViewOffsets::Apart(places) => {
                let last = places.get(range.start.max(range.end.saturating_sub(1)))?;
                Some(places.get(range.start)?.start..last.end)
            }
            ViewOffsets::Forgotten => None,
        }
    }

    /// With the escapes of JSON strings resolved, or none if there are no escapes.
    fn unescaped(&self) -> Option<TextView<'static>> {
        self.decoded([b'\\'; 2], escape)
    }

    /// With percent-encoding resolved; as forms write it, with `+` for a space, if asked for.
    fn percent_decoded(&self, is_form: bool) -> Option<TextView<'static>> {
        if is_form { self.decoded([b'+', b'%'], form) } else { self.decoded([b'%'; 2], percent) }
    }

    /// Without the letters that nobody sees, or none if there are no such letters. Line breaks are
    /// among them: what is long is broken into lines by some writers.
    fn without_unseen(&self) -> Option<TextView<'static>> {
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        let keeps_places = !matches!(self.way, ViewOffsets::Forgotten);
        let (mut place, mut has_some) = (0, false);
        while let Some(rest @ [_, ..]) = self.bytes.get(place..) {
            if let Some(length) = unseen(rest) {
                place += length;
                has_some = true;
                continue;
            }
            // The first may be a part of a letter that is seen, or of none.
            let seen = 1 + seen(rest.get(1..).unwrap_or_default());
            if !has_some && seen == self.bytes.len() {
                return None;
            }
            bytes.extend_from_slice(rest.get(..seen)?);
            if keeps_places {
                for place in place..place + seen {
                    places.push(self.source(place..place + 1)?);
                }
            }
            place += seen;
        }
        let way = if keeps_places { ViewOffsets::Apart(places) } else { ViewOffsets::Forgotten };
        has_some.then_some(TextView { bytes: Cow::Owned(bytes), way })
    }

    /// A writing begins with one of two signs, the first of which must be there; `read` takes a
    /// writing from the front and says what it means and how long it is.
    fn decoded(
        &self,
        [first, other]: [u8; 2],
        read: fn(&[u8]) -> Option<(DecodedBytes, usize)>,
    ) -> Option<TextView<'static>> {
        if !self.bytes.contains(&first) {
            return None;
        }
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut places = Vec::new();
        let keeps_places = !matches!(self.way, ViewOffsets::Forgotten);
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
            ViewOffsets::Places(places)
        } else {
            ViewOffsets::Forgotten
        };
        Some(TextView { bytes: Cow::Owned(bytes), way })
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

/// How many bytes stand before the first that may begin a letter which nobody sees.
fn seen(text: &[u8]) -> usize {
    let may_begin = |byte: &u8| !matches!(byte, b' '..=b'~');
    let (chunks, _) = text.as_chunks::<16>();
    let has_one = |chunk: &[u8; 16]| chunk.iter().fold(false, |has, byte| has | may_begin(byte));
    let passed = chunks.iter().take_while(|chunk| !has_one(chunk)).count() * 16;
    let rest = text.get(passed..).unwrap_or_default();
    passed + rest.iter().position(may_begin).unwrap_or(rest.len())
}

/// The length of the letter at the front, if it is one that nobody sees.
fn unseen(text: &[u8]) -> Option<usize> {
    let length = match text.first()? {
        0..0x80 => 1,
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return None,
    };
    let letter = str::from_utf8(text.get(..length)?).ok()?.chars().next()?;
    is_unseen(letter).then_some(length)
}

/// Up to four bytes, and how many they are.
type DecodedBytes = [u8; 5];

fn percent(text: &[u8]) -> Option<(DecodedBytes, usize)> {
    let [b'%', high, low, ..] = text else { return None };
    let byte = digit(*high)? << 4 | digit(*low)?;
    Some(([u8::try_from(byte).ok()?, 0, 0, 0, 1], 3))
}

fn form(text: &[u8]) -> Option<(DecodedBytes, usize)> {
    match text {
        [b'+', ..] => Some(([b' ', 0, 0, 0, 1], 1)),
        _ => percent(text),
    }
}

fn escape(text: &[u8]) -> Option<(DecodedBytes, usize)> {
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

/// What stands after `\u`; a character beyond sixteen bits is written as a pair, and in what is
/// shown to people between braces.
fn unicode(text: &[u8]) -> Option<(DecodedBytes, usize)> {
    if let [b'{', digits @ ..] = text {
        let length = digits.iter().take(7).position(|byte| *byte == b'}')?;
        let code = digits.get(..length).filter(|digits| !digits.is_empty())?;
        let code = code.iter().try_fold(0, |code, byte| Some(code << 4 | digit(*byte)?))?;
        return Some((utf8(code)?, length + 4));
    }
    let high = four(text)?;
    let (code, length) = match (high, text.get(4..).and_then(|rest| rest.strip_prefix(b"\\u"))) {
        (0xd800..0xdc00, Some(rest)) => {
            let low = four(rest)?.checked_sub(0xdc00)?;
            (0x10000 + ((high - 0xd800) << 10) + low, 12)
        }
        _ => (high, 6),
    };
    Some((utf8(code)?, length))
}

fn utf8(code: u32) -> Option<DecodedBytes> {
    let mut decoded = [0; 4];
    let count = u8::try_from(char::from_u32(code)?.encode_utf8(&mut decoded).len()).ok()?;
    let [a, b, c, d] = decoded;
    Some([a, b, c, d, count])
}

fn four(text: &[u8]) -> Option<u32> {
    text.get(..4)?.iter().try_fold(0, |code, byte| Some(code << 4 | digit(*byte)?))
}

fn digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}
