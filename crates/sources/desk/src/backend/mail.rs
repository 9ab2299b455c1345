//! What keeps mail and sends it.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;
use toolcrib_core::BoxFuture;

use super::error::BackendError;
use super::page::BackendPage;
use super::person::Person;

/// A mailbox. Where a message lies and how it is marked is all a label: `inbox`, `sent`, `drafts`,
/// `trash`, `spam` and `archive` in every backend, and those of the owner beside them.
pub trait MailBackend: Send + Sync {
    /// The owner's own address: who mail comes from.
    fn address<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Person, BackendError>>;

    fn labels<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<MailLabel>, BackendError>>;

    /// The newest first.
    fn messages<'a>(
        &'a self,
        owner: &'a str,
        query: MailQuery,
    ) -> BoxFuture<'a, Result<BackendPage<MessageHead>, BackendError>>;

    /// One message; reading it does not mark it as read.
    fn message<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<MailMessage, BackendError>>;

    /// The files beside the text of a message, with what is in them.
    fn files<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MailFile>, BackendError>>;

    /// Keeps a draft and sends nothing.
    fn draft<'a>(
        &'a self,
        owner: &'a str,
        message: NewMessage,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>>;

    /// Sends a message; what was sent lies under `sent`.
    fn send<'a>(
        &'a self,
        owner: &'a str,
        message: NewMessage,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>>;

    /// Sends a draft, which is none afterwards.
    fn send_draft<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>>;

    /// Puts labels on and takes them off; `inbox` taken off is archived, `trash` put on is deleted
    /// for the time being. A label of the owner that is not there is made.
    fn mark<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        marks: MessageMarks,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>>;

    /// What whoever sent a message has to know of its way, where it did not just go out: that it
    /// waits in an outbox, or that no copy of it could be kept. `head` is what sending gave.
    fn note(&self, head: &MessageHead) -> Option<String> {
        let _ = head;
        None
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MailLabel {
    pub name: String,
    /// Messages with it, and those of them that are not read, where the backend knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<u64>,
}

/// A message without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageHead {
    pub id: String,
    /// What the messages of one conversation have in common, where the backend knows.
    pub thread: Option<String>,
    pub from: Option<Person>,
    pub to: Vec<Person>,
    pub subject: String,
    /// When it was received or sent.
    pub date: Timestamp,
    /// Its first words, some 150 characters at the most.
    pub snippet: String,
    pub unread: bool,
    pub labels: Vec<String>,
    pub has_attachments: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailMessage {
    pub head: MessageHead,
    pub cc: Vec<Person>,
    pub bcc: Vec<Person>,
    pub reply_to: Vec<Person>,
    /// As plain text; made of its HTML if it has nothing else.
    pub text: String,
    pub attachments: Vec<Attachment>,
    /// Its `Message-ID` without brackets, and those of the messages that it follows.
    pub message_id: Option<String>,
    pub references: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attachment {
    pub name: String,
    /// Its media type, such as `application/pdf`.
    pub media: String,
    /// Bytes.
    pub size: u64,
}

/// A file beside the text of a message.
#[derive(Clone, PartialEq, Eq)]
pub struct MailFile {
    pub name: String,
    /// Its media type, such as `application/pdf`.
    pub media: String,
    pub bytes: Vec<u8>,
}

/// Bytes are counted: there may be millions.
impl fmt::Debug for MailFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "File({:?}, {:?}, {} bytes)", self.name, self.media, self.bytes.len())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewMessage {
    pub to: Vec<Person>,
    pub cc: Vec<Person>,
    pub bcc: Vec<Person>,
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// Some 20, of 20 MiB together at the most.
    pub files: Vec<MailFile>,
    /// What it answers, if it answers something.
    pub answers: Option<ReplyContext>,
}

/// What a reply says of the message before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplyContext {
    /// The id of the conversation, where the backend has such.
    pub thread: Option<String>,
    /// The `Message-ID` that it answers, without brackets.
    pub message_id: Option<String>,
    pub references: Vec<String>,
}

/// What is put on and taken off a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageMarks {
    pub add: Vec<String>,
    pub remove: Vec<String>,
    pub unread: Option<bool>,
}

/// What is not set is not asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MailQuery {
    /// Words that all must stand in subject, text or people, case aside.
    pub text: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub subject: Option<String>,
    pub label: Option<String>,
    pub unread: Option<bool>,
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub has_attachments: Option<bool>,
    pub limit: usize,
    pub cursor: Option<String>,
}
