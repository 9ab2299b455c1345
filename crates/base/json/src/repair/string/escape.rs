//! What the content of a string says: escapes, right and wrong, and raw control characters.

use crate::repair::lookahead::{closes_string, opens_string};
use crate::repair::note::{RepairKind, RepairNotes};

/// The text of a string's `content`, which begins at byte `base` of the whole text.
pub(crate) fn decode(content: &str, quote: char, base: usize, notes: &mut RepairNotes) -> String {
    let mut text = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(character) = rest.chars().next() {
        let at = base + content.len() - rest.len();
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
        if character == '\\' {
            let (taken, change) = escape(rest, quote, &mut text);
            rest = rest.get(taken..).unwrap_or_default();
            if let Some(change) = change {
                notes.add(change, at);
            }
            continue;
        }
        if character < ' ' {
            notes.add(RepairKind::RawControl, at);
        } else if closes_string(quote, character) {
            notes.add(RepairKind::InnerQuote, at);
        }
        text.push(character);
    }
    text
}

/// Writes what the escape says whose backslash stands before `rest`; tells the bytes it takes.
fn escape(rest: &str, quote: char, text: &mut String) -> (usize, Option<RepairKind>) {
    let Some(character) = rest.chars().next() else {
        text.push('\\');
        return (0, Some(RepairKind::StrayBackslash));
    };
    let plain = match character {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '/' | '\\' | '"' => character,
        _ if character == quote => character,
        'u' | 'U' | 'x' => return coded(rest, text),
        _ if opens_string(character) => {
            text.push(character);
            return (character.len_utf8(), Some(RepairKind::OddEscape));
        }
        _ => {
            text.push('\\');
            return (0, Some(RepairKind::StrayBackslash));
        }
    };
    text.push(plain);
    (character.len_utf8(), None)
}

/// `uXXXX`, a pair of them, or Python's `xXX` and `UXXXXXXXX`.
fn coded(rest: &str, text: &mut String) -> (usize, Option<RepairKind>) {
    let digits = match rest.bytes().next() {
        Some(b'u') => 4,
        Some(b'x') => 2,
        _ => 8,
    };
    let Some(code) = hex(rest, 1, digits) else {
        text.push('\\');
        return (0, Some(RepairKind::StrayBackslash));
    };
    let taken = digits + 1;
    if digits != 4 {
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return (taken, Some(RepairKind::OddEscape));
    }
    if let Some(character) = char::from_u32(code) {
        text.push(character);
        return (taken, None);
    }
    let low = rest.get(taken..).filter(|rest| rest.starts_with("\\u")).and_then(|r| hex(r, 2, 4));
    match low {
        Some(low @ 0xDC00..=0xDFFF) if code < 0xDC00 => {
            let joined = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            text.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            (taken + 6, None)
        }
        _ => {
            text.push(char::REPLACEMENT_CHARACTER);
            (taken, Some(RepairKind::OddEscape))
        }
    }
}

fn hex(text: &str, from: usize, digits: usize) -> Option<u32> {
    let digits = text.get(from..from + digits)?;
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| all)
}
