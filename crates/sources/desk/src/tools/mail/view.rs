//! An email as it is told.

use schemars::JsonSchema;
use serde::Serialize;

use crate::backend::{Attachment, MailLabel, MailMessage, MessageHead, Person};
use crate::tools::times::{CallClock, iso};

/// Receivers in a list.
const SHOWN_PEOPLE: usize = 10;

#[derive(Serialize, JsonSchema)]
pub(crate) struct MessageHeadView {
    id: String,
    /// What the emails of one conversation have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<PersonView>,
    /// The first 10 receivers.
    to: Vec<PersonView>,
    subject: String,
    /// ISO 8601 with offset.
    date: String,
    /// For people: `Tue 24 Nov 2026 14:00`.
    when: String,
    /// Its first words.
    snippet: String,
    unread: bool,
    labels: Vec<String>,
    has_attachments: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct MessageView {
    #[serde(flatten)]
    head: MessageHeadView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cc: Vec<PersonView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bcc: Vec<PersonView>,
    /// Where answers go, if not to `from`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reply_to: Vec<PersonView>,
    /// As plain text.
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<AttachmentView>,
}

#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct PersonView {
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct AttachmentView {
    name: String,
    /// Such as `application/pdf`.
    media: String,
    /// Bytes.
    size: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct LabelView {
    name: String,
    /// Emails with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    /// Those of them that are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<u64>,
}

/// An email in a list.
pub(crate) fn head(head: MessageHead, times: &CallClock) -> MessageHeadView {
    let date = times.at(head.date);
    MessageHeadView {
        id: head.id,
        thread: head.thread,
        from: head.from.map(PersonView::from),
        to: people(head.to.into_iter().take(SHOWN_PEOPLE)),
        subject: head.subject,
        date: iso(&date),
        when: times.say_moment(&date),
        snippet: head.snippet,
        unread: head.unread,
        labels: head.labels,
        has_attachments: head.has_attachments,
    }
}

/// An email whole.
pub(crate) fn message(mut message: MailMessage, times: &CallClock) -> MessageView {
    let to = people(std::mem::take(&mut message.head.to).into_iter());
    MessageView {
        head: MessageHeadView { to, ..head(message.head, times) },
        cc: people(message.cc.into_iter()),
        bcc: people(message.bcc.into_iter()),
        reply_to: people(message.reply_to.into_iter()),
        text: message.text,
        attachments: message.attachments.into_iter().map(AttachmentView::from).collect(),
    }
}

fn people(people: impl Iterator<Item = Person>) -> Vec<PersonView> {
    people.map(PersonView::from).collect()
}

impl From<Person> for PersonView {
    fn from(Person { address, name }: Person) -> Self {
        Self { address, name }
    }
}

impl From<Attachment> for AttachmentView {
    fn from(Attachment { name, media, size }: Attachment) -> Self {
        Self { name, media, size }
    }
}

impl From<MailLabel> for LabelView {
    fn from(MailLabel { name, total, unread }: MailLabel) -> Self {
        Self { name, total, unread }
    }
}
