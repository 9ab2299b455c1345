//! Writing: a [`NewMessage`] to bytes that any server takes: ASCII, CRLF, lines of 78.
//!
//! Nothing that somebody wrote can become a header: addresses and ids are checked, and every other
//! text loses its line breaks before it is written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

use super::address::checked;
use super::line::{WIDTH, body, field, one_line};
use super::multipart;
use super::read::id;
use super::write_error::MimeWriteError;
use crate::backend::{NewMessage, Person};

/// Everybody whom one message goes to.
const MAX_RECEIVERS: usize = 200;
/// Bytes of text.
const MAX_TEXT: usize = 1 << 20;
/// Bytes of a subject or name.
const MAX_LINE: usize = 1000;
/// References that are written: the first, which names the conversation, and the last ones.
const MAX_REFERENCES: usize = 20;
/// Bytes of text in one encoded word, which is at most 75 characters (RFC 2047, 2).
const WORD: usize = 42;

/// What a message is given when it is written.
#[derive(Debug, Clone)]
pub struct MessageStamp {
    pub from: Person,
    pub date: Timestamp,
    /// Its `Message-ID` without brackets.
    pub message_id: String,
}

impl MessageStamp {
    /// A stamp with a new `Message-ID`, of the domain that the sender has.
    pub fn new(from: Person, date: Timestamp) -> Self {
        let domain = from.address.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
        let message_id = format!("{}@{domain}", uuid::Uuid::new_v4());
        Self { from, date, message_id }
    }
}

/// Who gets a message without being named in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BccHandling {
    /// Written down: for the owner's own folder.
    Kept,
    /// Left out: for what others get.
    Left,
}

/// The bytes of a message.
pub fn write(
    message: &NewMessage,
    stamp: &MessageStamp,
    hidden: BccHandling,
) -> Result<Vec<u8>, MimeWriteError> {
    let receivers = message.to.len() + message.cc.len() + message.bcc.len();
    if receivers > MAX_RECEIVERS {
        return Err(MimeWriteError::Receivers(receivers));
    }
    if message.subject.len() > MAX_LINE {
        return Err(MimeWriteError::TooLong("subject"));
    }
    if message.text.len() > MAX_TEXT {
        return Err(MimeWriteError::TooLong("text"));
    }
    multipart::check(&message.files)?;
    let files: usize = message.files.iter().map(|file| file.bytes.len() / 2 * 3 + 1000).sum();
    let mut mail = String::with_capacity(message.text.len() + files + 1000);
    field(&mut mail, "Date", &date(stamp.date));
    people(&mut mail, "From", std::slice::from_ref(&stamp.from))?;
    people(&mut mail, "To", &message.to)?;
    people(&mut mail, "Cc", &message.cc)?;
    for person in &message.bcc {
        checked(&person.address)?;
    }
    if hidden == BccHandling::Kept {
        people(&mut mail, "Bcc", &message.bcc)?;
    }
    field(&mut mail, "Subject", &words("Subject: ".len(), &message.subject));
    if let Some(id) = id(&stamp.message_id) {
        field(&mut mail, "Message-ID", &format!("<{id}>"));
    }
    if let Some(answered) = &message.answers {
        let answers = answered.message_id.as_deref().and_then(id);
        let mut references: Vec<_> = answered.references.iter().filter_map(|one| id(one)).collect();
        if let Some(answers) = answers {
            field(&mut mail, "In-Reply-To", &format!("<{answers}>"));
            references.retain(|reference| *reference != answers);
            references.push(answers);
        }
        if references.len() > MAX_REFERENCES {
            let last = references.len() - MAX_REFERENCES + 1;
            references.drain(1..last);
        }
        if !references.is_empty() {
            let bracketed: Vec<_> = references.iter().map(|id| format!("<{id}>")).collect();
            field(&mut mail, "References", &bracketed.join("\r\n "));
        }
    }
    field(&mut mail, "MIME-Version", "1.0");
    if message.files.is_empty() {
        field(&mut mail, "Content-Type", "text/plain; charset=utf-8");
        body(&mut mail, &message.text, None);
    } else {
        multipart::mixed(&mut mail, &message.text, &message.files, &stamp.message_id);
    }
    Ok(mail.into_bytes())
}

/// A message that was kept, as it is sent: without who is hidden, dated anew, and with what every
/// message must have (RFC 5322, 3.6). The rest stays byte for byte.
pub fn for_sending(raw: &[u8], stamp: &MessageStamp) -> Result<Vec<u8>, MimeWriteError> {
    let mut head = String::new();
    field(&mut head, "Date", &date(stamp.date));
    let mut kept = Vec::with_capacity(raw.len());
    let mut lines = raw.split_inclusive(|byte| *byte == b'\n');
    let mut is_left_out = false;
    let (mut has_from, mut has_id) = (false, false);
    for line in lines.by_ref() {
        // What one program takes for a line break, another does not: in a head there is one kind.
        let is_kept = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
        let content: Vec<u8> = line.iter().copied().filter(is_kept).collect();
        let content = content.trim_ascii_end();
        if content.is_empty() {
            break;
        }
        if !content.starts_with(b" ") && !content.starts_with(b"\t") {
            let name = content.split(|byte| *byte == b':').next().unwrap_or_default();
            let is = |known: &[u8]| name.trim_ascii_end().eq_ignore_ascii_case(known);
            is_left_out = is(b"bcc") || is(b"date") || is(b"resent-bcc");
            has_from |= is(b"from");
            has_id |= is(b"message-id");
        }
        if !is_left_out {
            kept.extend_from_slice(content);
            kept.extend_from_slice(b"\r\n");
        }
    }
    if !has_from {
        people(&mut head, "From", std::slice::from_ref(&stamp.from))?;
    }
    if let Some(id) = id(&stamp.message_id).filter(|_| !has_id) {
        field(&mut head, "Message-ID", &format!("<{id}>"));
    }
    let mut mail = head.into_bytes();
    mail.append(&mut kept);
    mail.extend_from_slice(b"\r\n");
    for line in lines {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        mail.extend_from_slice(content.strip_suffix(b"\r").unwrap_or(content));
        mail.extend_from_slice(b"\r\n");
    }
    Ok(mail)
}

fn date(date: Timestamp) -> String {
    // Years that mail cannot say are none that a clock shows.
    rfc2822::to_string(&date.to_zoned(TimeZone::UTC)).unwrap_or_default()
}

/// A field with people, one a line; none without people.
fn people(mail: &mut String, name: &str, people: &[Person]) -> Result<(), MimeWriteError> {
    if people.is_empty() {
        return Ok(());
    }
    let mut written = Vec::with_capacity(people.len());
    for person in people {
        let address = checked(&person.address)?;
        let given = person.name.as_deref().unwrap_or_default();
        if given.len() > MAX_LINE {
            return Err(MimeWriteError::TooLong("name of somebody"));
        }
        let shown = phrase(name.len() + 2, given);
        written.push(if shown.is_empty() {
            address.to_owned()
        } else {
            format!("{shown}\r\n <{address}>")
        });
    }
    field(mail, name, &written.join(",\r\n "));
    Ok(())
}

/// A name before an address: quoted, or in encoded words.
fn phrase(used: usize, name: &str) -> String {
    let name = one_line(name);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_'".contains(&byte);
    if name.bytes().all(is_plain) && name.len() < WIDTH - used {
        return name;
    }
    if is_ascii_text(&name) && name.len() < WIDTH - used {
        return format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    }
    encoded(&name)
}

/// Free text of a header: folded, or in encoded words.
fn words(used: usize, text: &str) -> String {
    let text = one_line(text);
    if !is_ascii_text(&text) || text.split(' ').any(|word| word.len() > WIDTH - used) {
        return encoded(&text);
    }
    let mut folded = String::with_capacity(text.len() + 10);
    let mut width = used;
    for word in text.split(' ') {
        if width > used && width + word.len() > WIDTH {
            folded.push_str("\r\n ");
            width = 1;
        } else if !folded.is_empty() {
            folded.push(' ');
            width += 1;
        }
        folded.push_str(word);
        width += word.len();
    }
    folded
}

/// Whether a header may hold a text as it is: what looks like an encoded word would be decoded.
fn is_ascii_text(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && !text.contains("=?")
}

fn encoded(text: &str) -> String {
    let mut written: Vec<String> = Vec::new();
    let mut word = String::new();
    let finish = |word: &mut String, written: &mut Vec<String>| {
        if !word.is_empty() {
            written.push(format!("=?utf-8?B?{}?=", STANDARD.encode(std::mem::take(word))));
        }
    };
    for character in text.chars() {
        // A character is never cut in two (RFC 2047, 5).
        if word.len() + character.len_utf8() > WORD {
            finish(&mut word, &mut written);
        }
        word.push(character);
    }
    finish(&mut word, &mut written);
    written.join("\r\n ")
}
