//! Reading: bytes of a stranger to a [`MimeMessage`], within bounds.

use jiff::Timestamp;
use mail_parser::{Addr, Address, HeaderValue, MessageParser, MessagePart, MimeHeaders, PartType};

use super::body::{body, contents, is_text};
use super::html;
use crate::backend::{Attachment, MailFile, MailMessage, MessageHead, Person};

/// Largest message that is read, in bytes.
pub const MAX_MESSAGE: usize = 32 << 20;
/// Bytes of text that a message shows.
const MAX_TEXT: usize = 256 << 10;
/// Messages that may lie in one another: each is a step of the parser's stack.
const MAX_NESTED: usize = 50;
const MAX_PARTS: usize = 2000;
const MAX_ATTACHMENTS: usize = 200;
const MAX_PEOPLE: usize = 500;
const MAX_REFERENCES: usize = 100;
const MAX_LINE: usize = 1000;
/// Characters of a snippet.
const SNIPPET: usize = 150;

/// Why bytes are no message that we read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MimeReadError {
    #[error("it is larger than 32 MiB")]
    TooLarge,
    #[error("it has too many parts in one another")]
    TooDeep,
    #[error("it has no header of a message")]
    NoHeader,
}

/// What a message says, apart from where it lies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MimeMessage {
    pub from: Option<Person>,
    pub to: Vec<Person>,
    pub cc: Vec<Person>,
    pub bcc: Vec<Person>,
    pub reply_to: Vec<Person>,
    pub subject: String,
    pub date: Option<Timestamp>,
    /// Plain text; what was cut says so at its end.
    pub text: String,
    pub attachments: Vec<Attachment>,
    /// Without brackets, as are the references; the direct answer is the last of them.
    pub message_id: Option<String>,
    pub references: Vec<String>,
}

/// Reads a message. Damage is read around as far as it goes.
pub fn read(raw: &[u8]) -> Result<MimeMessage, MimeReadError> {
    Ok(letter(&parsed(raw)?))
}

/// The files beside the text of a message, in the order of [`MimeMessage::attachments`]; texts are
/// UTF-8, whatever they were.
pub fn files(raw: &[u8]) -> Result<Vec<MailFile>, MimeReadError> {
    let message = parsed(raw)?;
    let file = |part: &MessagePart<'_>| {
        let Attachment { name, media, .. } = attachment(&message, part);
        MailFile { name, media, bytes: contents(&message, part).into_owned() }
    };
    Ok(attachments(&message).map(file).collect())
}

/// The parts that are files and no text of the message.
fn attachments<'a>(
    message: &'a mail_parser::Message<'_>,
) -> impl Iterator<Item = &'a MessagePart<'a>> {
    let parts = message.attachments().filter(|part| !is_text(message, part));
    parts.take(MAX_ATTACHMENTS)
}

fn parsed(raw: &[u8]) -> Result<mail_parser::Message<'_>, MimeReadError> {
    if raw.len() > MAX_MESSAGE {
        return Err(MimeReadError::TooLarge);
    }
    // Counted before, since the parser would build them all.
    if count(raw, b"message/rfc822", MAX_NESTED) + count(raw, b"message/global", MAX_NESTED)
        >= MAX_NESTED
        || count(raw, b"boundary", MAX_PARTS) >= MAX_PARTS
    {
        return Err(MimeReadError::TooDeep);
    }
    let message = MessageParser::default().parse(raw).ok_or(MimeReadError::NoHeader)?;
    if message.headers().is_empty() {
        return Err(MimeReadError::NoHeader);
    }
    Ok(message)
}

fn letter(message: &mail_parser::Message<'_>) -> MimeMessage {
    let mut references = ids(message.references());
    for id in ids(message.in_reply_to()) {
        if !references.contains(&id) {
            references.push(id);
        }
    }
    let surplus = references.len().saturating_sub(MAX_REFERENCES);
    references.drain(..surplus);
    let date = message.date().and_then(|date| Timestamp::from_second(date.to_timestamp()).ok());
    MimeMessage {
        from: people(message.from()).into_iter().next(),
        to: people(message.to()),
        cc: people(message.cc()),
        bcc: people(message.bcc()),
        reply_to: people(message.reply_to()),
        subject: line(message.subject().unwrap_or_default()),
        date,
        text: text(message),
        attachments: attachments(message).map(|part| attachment(message, part)).collect(),
        message_id: message.message_id().and_then(id),
        references,
    }
}

impl MimeMessage {
    /// The first words: what stands before a quote, on one line.
    pub fn snippet(&self) -> String {
        let own = self.text.lines().filter(|line| !line.starts_with('>'));
        let mut words = own.flat_map(str::split_whitespace);
        let mut snippet = String::new();
        while snippet.len() < SNIPPET * 4 {
            let Some(word) = words.next() else { break };
            if !snippet.is_empty() {
                snippet.push(' ');
            }
            snippet.push_str(html::cut(word, SNIPPET * 4));
        }
        snippet.chars().take(SNIPPET).collect()
    }

    /// Everybody whom it names, as one line for a search.
    pub(crate) fn receivers(&self) -> impl Iterator<Item = &Person> {
        self.to.iter().chain(&self.cc).chain(&self.bcc)
    }

    /// The message of a backend, which knows where it lies.
    pub fn into_message(self, head: MessageHead) -> MailMessage {
        MailMessage {
            head,
            cc: self.cc,
            bcc: self.bcc,
            reply_to: self.reply_to,
            text: self.text,
            attachments: self.attachments,
            message_id: self.message_id,
            references: self.references,
        }
    }
}

/// How often a word stands in bytes, case aside, counted to a bound.
fn count(raw: &[u8], word: &[u8], most: usize) -> usize {
    let matches = raw.windows(word.len()).filter(|window| window.eq_ignore_ascii_case(word));
    matches.take(most).count()
}

fn text(message: &mail_parser::Message<'_>) -> String {
    let whole = body(message);
    let kept = html::cut(&whole, MAX_TEXT);
    let mut text: String = kept
        .chars()
        .filter(|character| matches!(character, '\n' | '\t') || !character.is_control())
        .collect();
    text.truncate(text.trim_end().len());
    if kept.len() < whole.len() {
        text.push_str("\n[the rest of this message is not shown]");
    }
    text
}

fn attachment(message: &mail_parser::Message<'_>, part: &MessagePart<'_>) -> Attachment {
    let media = part.content_type().map(|media| {
        let kind = media.c_type.to_ascii_lowercase();
        let sub = media.c_subtype.as_deref().unwrap_or("*").to_ascii_lowercase();
        line(&format!("{kind}/{sub}"))
    });
    let of_kind = match &part.body {
        PartType::Message(_) => "message/rfc822",
        PartType::Text(_) => "text/plain",
        PartType::Html(_) => "text/html",
        PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Multipart(_) => {
            "application/octet-stream"
        }
    };
    Attachment {
        name: part.attachment_name().map_or_else(|| "unnamed".to_owned(), line),
        media: media.unwrap_or_else(|| of_kind.to_owned()),
        size: u64::try_from(contents(message, part).len()).unwrap_or(u64::MAX),
    }
}

fn people(address: Option<&Address<'_>>) -> Vec<Person> {
    let all: Vec<&Addr<'_>> = match address {
        Some(Address::List(list)) => list.iter().take(MAX_PEOPLE).collect(),
        Some(Address::Group(groups)) => {
            groups.iter().flat_map(|group| &group.addresses).take(MAX_PEOPLE).collect()
        }
        None => Vec::new(),
    };
    let person = |addr: &&Addr<'_>| {
        let address = line(addr.address.as_deref()?);
        let name = addr.name.as_deref().map(line).filter(|name| !name.is_empty());
        (!address.is_empty()).then_some(Person { address, name })
    };
    all.iter().filter_map(person).collect()
}

fn ids(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(one) => id(one).into_iter().collect(),
        HeaderValue::TextList(list) => list.iter().filter_map(|one| id(one)).collect(),
        HeaderValue::Address(_)
        | HeaderValue::DateTime(_)
        | HeaderValue::ContentType(_)
        | HeaderValue::Received(_)
        | HeaderValue::Empty => Vec::new(),
    }
}

/// A `Message-ID` without brackets, if it can be written again.
pub(super) fn id(text: &str) -> Option<String> {
    let id = text.trim().trim_start_matches('<').trim_end_matches('>');
    let is_fit = !id.is_empty()
        && id.len() <= 250
        && id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'<' && byte != b'>');
    is_fit.then(|| id.to_owned())
}

/// One line without control characters, bounded.
fn line(text: &str) -> String {
    let words = html::cut(text, MAX_LINE)
        .split(|character: char| character.is_whitespace() || character.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
