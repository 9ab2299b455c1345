//! The forms of a secret that are searched for as they are.

use std::ops::Range;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// One way to write a secret.
pub(super) struct SecretForm {
    bytes: Vec<u8>,
    /// Characters next to it that hold some of its bits and some of a neighbour's.
    before: usize,
    after: usize,
}

/// As it is, in hex, and in base64 wherever it may begin in a longer text.
pub(super) fn of(secret: &str) -> Vec<SecretForm> {
    let plain = |bytes: Vec<u8>| SecretForm { bytes, before: 0, after: 0 };
    let digits = |digits: &[u8; 16]| {
        let byte = |byte: u8| [byte >> 4, byte & 15];
        let places = secret.bytes().flat_map(byte);
        places.filter_map(|place| digits.get(usize::from(place)).copied()).collect::<Vec<u8>>()
    };
    let mut forms = vec![
        plain(secret.as_bytes().to_vec()),
        plain(digits(b"0123456789abcdef")),
        plain(digits(b"0123456789ABCDEF")),
    ];
    // Some writers of addresses leave a `%` as it is, so that reading back gives another text.
    let spared = |byte: u8| match byte {
        b' '..=b'~' => vec![byte],
        _ => format!("%{byte:02X}").into_bytes(),
    };
    let partly: Vec<u8> = secret.bytes().flat_map(spared).collect();
    if partly != secret.as_bytes() {
        forms.push(plain(partly));
    }
    for shift in 0..3 {
        forms.push(base64(secret.as_bytes(), shift, STANDARD));
        forms.push(base64(secret.as_bytes(), shift, URL_SAFE));
    }
    forms
}

/// The characters that only the secret decides, if `shift` bytes stand before it in its group of
/// three.
fn base64(secret: &[u8], shift: usize, alphabet: &[u8; 64]) -> SecretForm {
    let mut bytes = vec![0; shift];
    bytes.extend_from_slice(secret);
    let bits = bytes.len() * 8;
    let six = |start: usize| {
        let pair = |index: usize| u16::from(bytes.get(index).copied().unwrap_or_default());
        let word = pair(start / 8) << 8 | pair(start / 8 + 1);
        usize::from(word >> (10 - start % 8) & 63)
    };
    let first = (shift * 8).div_ceil(6);
    let whole = (first..bits / 6).filter_map(|place| alphabet.get(six(place * 6)).copied());
    let before = usize::from(shift > 0);
    SecretForm { bytes: whole.collect(), before, after: usize::from(!bits.is_multiple_of(6)) }
}

/// How much of a form is searched for: the rest of a long one is compared, since each letter that
/// is searched for costs memory.
const BEGINNING: usize = 64;

impl SecretForm {
    /// What is searched for.
    pub(super) fn beginning(&self) -> &[u8] {
        self.bytes.get(..BEGINNING).unwrap_or(&self.bytes)
    }

    /// The place of the form that begins here as it is searched for; `None`: it goes on otherwise.
    pub(super) fn whole(&self, text: &[u8], start: usize) -> Option<Range<usize>> {
        let is_whole = text.get(start..)?.starts_with(&self.bytes);
        is_whole.then(|| self.widen(text, start..start + self.bytes.len()))
    }

    /// The place of a hit together with the characters that hold the rest of its bits.
    fn widen(&self, text: &[u8], hit: Range<usize>) -> Range<usize> {
        let is_base64 = |place: usize| {
            text.get(place).is_some_and(|byte| STANDARD.contains(byte) || URL_SAFE.contains(byte))
        };
        let start = hit.start.saturating_sub(self.before);
        let end = hit.end + self.after;
        Range {
            start: if is_base64(start) { start } else { hit.start },
            end: if is_base64(end.saturating_sub(1)) { end } else { hit.end },
        }
    }
}
