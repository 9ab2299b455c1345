//! Texts of messages out of what they travel in.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Out of quoted-printable; `_` is a space in words of headers.
fn quoted_printable(text: &str, in_header: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        let hex = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, hex) {
            ('=', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            // The line goes on.
            ('=', None) if after.starts_with('\n') => rest = after.get(1..).unwrap_or_default(),
            ('_', _) if in_header => {
                bytes.push(b' ');
                rest = after;
            }
            _ => {
                bytes.extend(first.to_string().bytes());
                rest = after;
            }
        }
    }
    bytes
}

fn base64(text: &str) -> Vec<u8> {
    let letters: String = text.split_whitespace().collect();
    BASE64_STANDARD.decode(letters).unwrap_or_default()
}

/// A body by its `Content-Transfer-Encoding`.
pub(super) fn body(text: &str, encoding: &str) -> String {
    let bytes = match encoding.to_ascii_lowercase().as_str() {
        "quoted-printable" => quoted_printable(text, false),
        "base64" => base64(text),
        _ => return text.to_owned(),
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A header with its encoded words read (RFC 2047), all as UTF-8.
pub(super) fn header(text: &str) -> String {
    let joined = text.replace("?= =?", "?==?");
    let mut decoded = String::new();
    let mut rest = joined.as_str();
    while let Some((before, word)) = rest.split_once("=?") {
        decoded.push_str(before);
        let mut parts = word.splitn(3, '?');
        let (_, kind, after) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
        let Some((word, after)) = after.split_once("?=") else { break };
        let bytes = match kind {
            Some("B" | "b") => base64(word),
            _ => quoted_printable(word, true),
        };
        decoded.push_str(&String::from_utf8_lossy(&bytes));
        rest = after;
    }
    decoded + rest
}
