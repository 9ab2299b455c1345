//! Bytes of a part out of how they travelled (RFC 2045), read around what is broken, and the text
//! that they are.

use std::borrow::Cow;

use mail_parser::decoders::charsets::map::charset_decoder;

/// How the bytes of a part travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferEncoding {
    AsTheyAre,
    Base64,
    Quoted,
}

impl TransferEncoding {
    /// By the value of `Content-Transfer-Encoding`.
    pub(super) fn read(name: Option<&str>) -> Self {
        match name.map(|name| name.trim().to_ascii_lowercase()).as_deref() {
            Some("base64") => Self::Base64,
            Some("quoted-printable") => Self::Quoted,
            _ => Self::AsTheyAre,
        }
    }

    pub(super) fn bytes(self, raw: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::AsTheyAre => Cow::Borrowed(raw),
            Self::Base64 => Cow::Owned(base64(raw)),
            Self::Quoted => Cow::Owned(quoted(raw)),
        }
    }
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Letters of the alphabet in a line, and whether the line is one of data: no words, and few
/// foreign letters.
fn counted(line: &[u8]) -> (usize, bool) {
    let line = line.trim_ascii();
    let own = line.iter().filter(|byte| sextet(**byte).is_some()).count();
    let ends = line.iter().map(|byte| usize::from(*byte == b'=')).sum::<usize>();
    let foreign = line.len() - own - ends;
    let has_words = line.iter().any(u8::is_ascii_whitespace);
    (own, !has_words && foreign * 4 <= own)
}

/// Letters outside of the alphabet are passed over, and what somebody put behind the data is none
/// of it: lines of words, and what stands behind an empty line after a `=`.
fn base64(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len() / 4 * 3);
    let mut bits = (0_u32, 0_u8);
    let (mut is_ended, mut is_apart) = (false, false);
    let mut lines = raw.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        if line.trim_ascii().is_empty() {
            is_apart = true;
            continue;
        }
        let (own, is_data) = counted(line);
        // A word alone behind the data is no whole number of bytes as a rule.
        let is_last = lines.clone().all(|line| line.trim_ascii().is_empty());
        let is_word = is_apart && bits.1 == 0 && own % 4 != 0 && !line.contains(&b'=') && is_last;
        let begins = out.is_empty() && bits.1 == 0;
        if (!begins && (!is_data || is_word)) || (is_ended && is_apart) {
            break;
        }
        is_apart = false;
        for byte in line {
            if *byte == b'=' {
                flush(&mut bits, &mut out);
                is_ended = true;
            } else if let Some(value) = sextet(*byte) {
                is_ended = false;
                bits = ((bits.0 << 6) | u32::from(value), bits.1 + 1);
                if bits.1 == 4 {
                    let [_, one, two, three] = bits.0.to_be_bytes();
                    out.extend([one, two, three]);
                    bits = (0, 0);
                }
            }
        }
    }
    flush(&mut bits, &mut out);
    out
}

/// The bytes of a group that is not full.
fn flush(bits: &mut (u32, u8), out: &mut Vec<u8>) {
    let [_, _, high, low] = match bits.1 {
        2 => (bits.0 >> 4).to_be_bytes(),
        3 => (bits.0 >> 2).to_be_bytes(),
        _ => [0; 4],
    };
    match bits.1 {
        2 => out.push(low),
        3 => out.extend([high, low]),
        _ => {}
    }
    *bits = (0, 0);
}

/// What is no code after a `=` stays as it is (RFC 2045, section 6.7).
fn quoted(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let hex = |byte: Option<&u8>| {
        byte.and_then(|byte| char::from(*byte).to_digit(16)).and_then(|it| u8::try_from(it).ok())
    };
    let mut lines = raw.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        // Spaces at the end of a line came on the way.
        let line = if is_last { line } else { line.trim_ascii_end() };
        // A rule of `=` was drawn by somebody behind the text, and breaks no line.
        let soft = line.strip_suffix(b"=").filter(|line| !line.ends_with(b"="));
        let (line, is_soft) = match soft {
            Some(line) => (line, true),
            None => (line, is_last),
        };
        let mut at = 0;
        while let Some(byte) = line.get(at) {
            let code = || Some((hex(line.get(at + 1))? << 4) | hex(line.get(at + 2))?);
            let code = if *byte == b'=' { code() } else { None };
            out.push(code.unwrap_or(*byte));
            at += if code.is_some() { 3 } else { 1 };
        }
        if !is_soft {
            out.push(b'\n');
        }
    }
    out
}

/// The text that bytes are: by the charset that is named, unless they are plainly of another.
pub(super) fn text(bytes: &[u8], charset: Option<&str>) -> String {
    let utf8 = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let name = charset.unwrap_or_default().trim().to_ascii_lowercase();
    let decode = |name: &str| charset_decoder(name.as_bytes()).map(|decode| decode(bytes));
    // Bytes that make sense as UTF-8 are nothing else but by chance: what claims to be of one
    // alphabet of the West is mislabelled then.
    let is_western = name.is_empty()
        || name == "us-ascii"
        || ["utf-8", "utf8", "iso-8859-1", "iso-8859-15", "latin1", "windows-1252", "cp1252"]
            .contains(&name.as_str());
    match (utf8, is_western) {
        (Ok(text), true) => text.to_owned(),
        (Ok(text), false) => decode(&name).unwrap_or_else(|| text.to_owned()),
        (Err(_), true) if matches!(name.as_str(), "" | "us-ascii" | "utf-8" | "utf8") => {
            mixed(bytes)
        }
        (Err(_), _) => decode(&name).unwrap_or_else(|| mixed(bytes)),
    }
}

/// Text that is UTF-8 but for some lines, which are of the West then.
fn mixed(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match (std::str::from_utf8(line), charset_decoder(b"windows-1252")) {
            (Ok(line), _) => out.push_str(line),
            (Err(_), Some(decode)) => out.push_str(&decode(line)),
            (Err(_), None) => out.push_str(&String::from_utf8_lossy(line)),
        }
    }
    out
}
