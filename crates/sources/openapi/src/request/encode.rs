//! Percent-encoding: what may stand unencoded where.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All but the unreserved characters of RFC 3986: a value that cannot be taken for structure.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What one path segment may hold besides: `/`, `?` and `#` would begin something else.
const SEGMENT: &AsciiSet = &VALUE
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// What one value of a query may hold besides: `&`, `;`, `+`, `#` and brackets mean something to
/// those who take a query apart.
const QUERY: &AsciiSet = &VALUE
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b'=');

/// What the fixed query of a document may hold besides: its owner knows what it means.
const FIXED: &AsciiSet = &QUERY.remove(b';').remove(b'+').remove(b'[').remove(b']');

/// How a place wants its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Unreserved characters stand, all others are encoded.
    Strict,
    /// `allowReserved` within one path segment.
    Segment,
    /// `allowReserved` within one value of a query; what is percent-encoded already stays so.
    Query,
    /// `application/x-www-form-urlencoded`: strict, with `+` for a space.
    Form,
    /// As it is: headers, and cookies of the style `cookie`.
    Raw,
}

impl Encoding {
    pub(crate) fn apply(self, text: &str) -> String {
        match self {
            Self::Strict => utf8_percent_encode(text, VALUE).to_string(),
            Self::Segment => utf8_percent_encode(text, SEGMENT).to_string(),
            Self::Query => around_triplets(text, QUERY),
            Self::Form => utf8_percent_encode(text, VALUE).to_string().replace("%20", "+"),
            Self::Raw => text.to_owned(),
        }
    }
}

/// The fixed text of a path as the document wrote it: what is encoded already stays so.
pub(crate) fn fixed(text: &str) -> String {
    around_triplets(text, SEGMENT)
}

/// A name or a value of the fixed query of a document: what is encoded already stays so.
pub(crate) fn fixed_pair(text: &str) -> String {
    around_triplets(text, FIXED)
}

/// A name in a query as its reader sees it.
pub(crate) fn as_read(name: &str) -> Cow<'_, str> {
    if name.contains('+') {
        return Cow::Owned(decoded(&name.replace('+', " ")).into_owned());
    }
    decoded(name)
}

/// A piece of a URL as its reader sees it.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// Whether a server, or a proxy before it that decodes once more, would take the segment or a part
/// of it for "here" or "one up".
///
/// What stands behind a `;` is no part of a name to Java servers.
pub(crate) fn is_dot_segment(segment: &str) -> bool {
    /// More often than any chain of proxies decodes.
    const ROUNDS: usize = 5;
    let is_dots = |part: &str| matches!(part.split(';').next(), Some("." | ".."));
    let mut text = Cow::Borrowed(segment);
    for _ in 0..ROUNDS {
        if text.split(['/', '\\']).any(is_dots) {
            return true;
        }
        let next = decoded(&text).into_owned();
        if next == *text {
            return false;
        }
        text = Cow::Owned(next);
    }
    // What is still not in its last form has been wrapped on purpose.
    true
}

fn around_triplets(text: &str, set: &'static AsciiSet) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        out.extend(utf8_percent_encode(before, set));
        let digits = from.as_bytes().get(1..3);
        let is_triplet = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let (kept, after) = from.split_at(if is_triplet { 3 } else { 1 });
        out.push_str(if is_triplet { kept } else { "%25" });
        rest = after;
    }
    out.extend(utf8_percent_encode(rest, set));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_can_be_taken_for_structure() {
        let hostile = "a/b?c=d&e#f;g+h i\r\n\0%2e\\ü";
        assert_eq!(
            Encoding::Strict.apply(hostile),
            "a%2Fb%3Fc%3Dd%26e%23f%3Bg%2Bh%20i%0D%0A%00%252e%5C%C3%BC"
        );
        assert_eq!(
            Encoding::Segment.apply(hostile),
            "a%2Fb%3Fc=d&e%23f;g+h%20i%0D%0A%00%252e%5C%C3%BC"
        );
        assert_eq!(
            Encoding::Query.apply(hostile),
            "a/b?c=d%26e%23f%3Bg%2Bh%20i%0D%0A%00%2e%5C%C3%BC"
        );
        assert_eq!(Encoding::Form.apply("a b+c~"), "a+b%2Bc~");
        assert_eq!(Encoding::Query.apply("50%"), "50%25");
    }

    #[test]
    fn a_dot_segment_is_seen_however_often_it_is_encoded() {
        for dots in [".", "..", "%2e", ".%2E", "%2e%2e", "%252e%252e", "%25252e."] {
            assert!(is_dot_segment(dots), "{dots}");
        }
        for hidden in ["%2e%2fa", "a%2f..%2f..%2fb", "a/..", "..%5cb", "a\\.", "..;a", "b%2f..%3bc"]
        {
            assert!(is_dot_segment(hidden), "{hidden}");
        }
        for other in ["...", "a.", "", "a/b", "..a", "a;..", "%zz", "100%25"] {
            assert!(!is_dot_segment(other), "{other}");
        }
    }
}
