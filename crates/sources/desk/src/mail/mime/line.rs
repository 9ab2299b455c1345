//! Lines of a message that any server takes: fields of a header, and text.

use std::fmt::Write;

pub(super) const WIDTH: usize = 76;

pub(super) fn field(mail: &mut String, name: &str, value: &str) {
    mail.push_str(name);
    mail.push_str(": ");
    mail.push_str(value);
    mail.push_str("\r\n");
}

/// A text without line breaks and other control characters, each of which becomes a space.
pub(super) fn one_line(text: &str) -> String {
    let spaced = text.split(|character: char| character.is_control() || character.is_whitespace());
    spaced.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The encoding, the empty line and the text, in which `without` does not stand as it is.
pub(super) fn body(mail: &mut String, text: &str, without: Option<&str>) {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = || text.strip_suffix('\n').unwrap_or(&text).split('\n');
    let is_plain = |line: &str| {
        let plain = |byte: u8| byte == b'\t' || byte == b' ' || byte.is_ascii_graphic();
        line.len() <= 78 && line.bytes().all(plain)
    };
    let is_plain = lines().all(is_plain) && without.is_none_or(|it| !text.contains(it));
    field(mail, "Content-Transfer-Encoding", if is_plain { "7bit" } else { "quoted-printable" });
    mail.push_str("\r\n");
    for line in lines() {
        if is_plain {
            mail.push_str(line);
        } else {
            quoted_printable(mail, line);
        }
        mail.push_str("\r\n");
    }
}

/// One line of text (RFC 2045, 6.7).
fn quoted_printable(mail: &mut String, line: &str) {
    let mut width = 0;
    let mut bytes = line.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let is_last = bytes.peek().is_none();
        let is_plain = byte.is_ascii_graphic() && byte != b'=';
        let is_space = (byte == b' ' || byte == b'\t') && !is_last;
        let needs = if is_plain || is_space { 1 } else { 3 };
        if width + needs >= WIDTH {
            mail.push_str("=\r\n");
            width = 0;
        }
        if needs == 1 {
            mail.push(char::from(byte));
        } else {
            // Writing into a string does not fail.
            let _ = write!(mail, "={byte:02X}");
        }
        width += needs;
    }
}
