//! Fields of a header, with what `mail-builder` leaves to whoever uses it: a plain text that looks
//! like an encoded word is written as one, since readers would decode it.

use encodify::Fold;
use encodify::rfc2047::B;
use mail_builder::Writer;
use mail_builder::headers::Header;
use mail_builder::headers::address::EmailAddress;
use mail_builder::headers::text::Text;

use crate::backend::Person;

/// Characters of a line with encoded words (RFC 2047, 2).
const WIDTH: usize = 76;

pub(super) fn field(mail: &mut Vec<u8>, name: &str, value: &impl Header) {
    mail.write(name.as_bytes());
    mail.write(b": ");
    value.write_header(mail, name.len() + 2);
}

/// A text without line breaks and other control characters, each of which becomes a space.
pub(super) fn one_line(text: &str) -> String {
    let spaced = text.split(|character: char| character.is_control() || character.is_whitespace());
    spaced.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a reader would take a plain text for an encoded one.
pub(super) fn looks_encoded(text: &str) -> bool {
    text.contains("=?")
}

/// Free text.
pub(super) struct HeaderText<'a>(pub(super) &'a str);

impl Header for HeaderText<'_> {
    fn write_header(&self, output: &mut impl Writer, column: usize) {
        let text = one_line(self.0);
        let is_long = |word: &str| word.len() > WIDTH.saturating_sub(column);
        if looks_encoded(&text) || text.split(' ').any(is_long) {
            output.write(encoded(&text, column).as_bytes());
            output.write(b"\r\n");
        } else {
            Text::new(text).write_header(output, column);
        }
    }
}

/// Addresses that were checked, one a line, each with the name of whoever has it.
pub(super) struct Mailboxes<'a>(pub(super) &'a [Person]);

impl Header for Mailboxes<'_> {
    fn write_header(&self, output: &mut impl Writer, column: usize) {
        let mut column = column;
        for (at, person) in self.0.iter().enumerate() {
            if at > 0 {
                output.write(b",\r\n ");
                column = 1;
            }
            let name = person.name.as_deref().map(one_line).filter(|name| !name.is_empty());
            let is_encoded = name.as_deref().is_some_and(looks_encoded);
            let mut written = Vec::new();
            if let Some(name) = name.as_deref().filter(|_| is_encoded) {
                written.write(encoded(name, column).as_bytes());
                written.write(b"\r\n ");
            }
            let name = name.filter(|_| !is_encoded).map(Into::into);
            let address = EmailAddress { name, email: person.address.as_str().into() };
            address.write_header(&mut written, column);
            output.write(written.strip_suffix(b"\r\n").unwrap_or(&written));
        }
        output.write(b"\r\n");
    }
}

/// A text in encoded words, on a line that has so many characters before it.
fn encoded(text: &str, column: usize) -> String {
    let mut words = String::new();
    let mut column = column;
    B.encode_words("utf-8", text, &mut column, Fold::HEADER, &mut words);
    words
}
