//! Writing: a [`NewMessage`] to bytes that any server takes: ASCII, CRLF, lines of 78.
//!
//! Nothing that somebody wrote can become a header: addresses and ids are checked, and every other
//! text loses its line breaks before it is written.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use mail_builder::MessageBuilder;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::date::Date;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use mail_builder::mime::{BodyPart, MimePart};
use sha2::{Digest, Sha256};

use super::address::checked;
use super::header::{HeaderText, Mailboxes, field};
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
    for person in &message.bcc {
        checked(&person.address)?;
    }
    let mut mail = Vec::new();
    field(&mut mail, "Date", &date(stamp.date));
    people(&mut mail, "From", std::slice::from_ref(&stamp.from))?;
    people(&mut mail, "To", &message.to)?;
    people(&mut mail, "Cc", &message.cc)?;
    if hidden == BccHandling::Kept {
        people(&mut mail, "Bcc", &message.bcc)?;
    }
    field(&mut mail, "Subject", &HeaderText(&message.subject));
    if let Some(id) = id(&stamp.message_id) {
        field(&mut mail, "Message-ID", &MessageId::new(id));
    }
    if let Some(answered) = &message.answers {
        let answers = answered.message_id.as_deref().and_then(id);
        let mut references: Vec<_> = answered.references.iter().filter_map(|one| id(one)).collect();
        if let Some(answers) = answers {
            field(&mut mail, "In-Reply-To", &MessageId::new(answers.as_str()));
            references.retain(|reference| *reference != answers);
            references.push(answers);
        }
        if references.len() > MAX_REFERENCES {
            let last = references.len() - MAX_REFERENCES + 1;
            references.drain(1..last);
        }
        if !references.is_empty() {
            field(&mut mail, "References", &MessageId::from(references));
        }
    }
    field(&mut mail, "MIME-Version", &Raw::new("1.0"));
    MessageBuilder::new().body(body(message, stamp)).serialize_body(&mut mail);
    Ok(mail)
}

/// The text, with the files beside it if there are any.
fn body<'a>(message: &'a NewMessage, stamp: &MessageStamp) -> MimePart<'a> {
    let text = message.text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines = String::with_capacity(text.len() + 100);
    for line in text.strip_suffix('\n').unwrap_or(&text).split('\n') {
        // Other control characters end lines or texts for some servers, and are shown by none.
        lines.extend(line.chars().filter(|one| *one == '\t' || !one.is_control()));
        lines.push_str("\r\n");
    }
    let text = MimePart::new("text/plain", BodyPart::Text(lines.into()));
    if message.files.is_empty() {
        return text;
    }
    // No text holds what is made of it, so none can end before its files.
    let digest = Sha256::new()
        .chain_update(&stamp.message_id)
        .chain_update([0])
        .chain_update(&message.text)
        .finalize();
    let boundary = URL_SAFE_NO_PAD.encode(digest);
    let kind = ContentType::new("multipart/mixed").attribute("boundary", format!("=_{boundary}"));
    let parts = std::iter::once(text).chain(message.files.iter().map(multipart::part));
    MimePart::new(kind, BodyPart::Multipart(parts.collect()))
}

/// A message that was kept, as it is sent: without who is hidden, dated anew, and with what every
/// message must have (RFC 5322, 3.6). The rest stays byte for byte.
pub fn for_sending(raw: &[u8], stamp: &MessageStamp) -> Result<Vec<u8>, MimeWriteError> {
    let mut mail = Vec::with_capacity(raw.len() + 1000);
    field(&mut mail, "Date", &date(stamp.date));
    let mut kept = Vec::with_capacity(raw.len());
    let mut lines = raw.split_inclusive(|byte| *byte == b'\n');
    let mut is_left_out = false;
    let (mut has_from, mut has_id) = (false, false);
    for line in lines.by_ref() {
        // What one program takes for a line break, another does not: in a head there is one kind.
        let is_kept = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
        let content: Vec<u8> = line.iter().copied().filter(is_kept).collect();
        let content = content.trim_ascii_end();
        if line.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
            break;
        }
        // A line of blanks alone ends no head, whatever it shows: who is hidden may stand behind it.
        if content.is_empty() {
            continue;
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
        people(&mut mail, "From", std::slice::from_ref(&stamp.from))?;
    }
    if let Some(id) = id(&stamp.message_id).filter(|_| !has_id) {
        field(&mut mail, "Message-ID", &MessageId::new(id));
    }
    mail.append(&mut kept);
    mail.extend_from_slice(b"\r\n");
    for line in lines {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        mail.extend_from_slice(content.strip_suffix(b"\r").unwrap_or(content));
        mail.extend_from_slice(b"\r\n");
    }
    Ok(mail)
}

fn date(date: Timestamp) -> Date {
    Date::new(date.as_second())
}

/// A field with people; none without people.
fn people(mail: &mut Vec<u8>, name: &str, people: &[Person]) -> Result<(), MimeWriteError> {
    for person in people {
        checked(&person.address)?;
        if person.name.as_ref().is_some_and(|name| name.len() > MAX_LINE) {
            return Err(MimeWriteError::TooLong("name of somebody"));
        }
    }
    if !people.is_empty() {
        field(mail, name, &Mailboxes(people));
    }
    Ok(())
}
