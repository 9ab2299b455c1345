//! A message as Gmail tells of it, and its head.

use jiff::Timestamp;
use serde::Deserialize;

use super::labels::GmailLabels;
use crate::backend::{BackendError, MessageHead};
use crate::google::error::broken;
use crate::mail::mime::{self, MimeMessage};

/// Longest snippet, in characters.
const SNIPPET: usize = 150;
/// Longest header that is looked at, in characters.
const LONGEST: usize = 16 * 1024;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::google) struct GmailMessage {
    pub(super) id: String,
    thread_id: Option<String>,
    pub(super) label_ids: Vec<String>,
    snippet: Option<String>,
    internal_date: Option<String>,
    payload: GmailPart,
    pub(super) raw: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GmailPart {
    filename: Option<String>,
    headers: Vec<GmailHeader>,
    parts: Vec<GmailPart>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GmailHeader {
    name: String,
    value: String,
}

impl GmailPart {
    /// The depth is bounded by the reader of JSON.
    fn has_attachments(&self) -> bool {
        self.filename.as_ref().is_some_and(|name| !name.is_empty())
            || self.parts.iter().any(Self::has_attachments)
    }

    /// What the headers say, read by the one reader of mail.
    fn letter(&self) -> MimeMessage {
        let mut head = String::new();
        for wanted in ["From", "To", "Subject"] {
            let found = self.headers.iter().find(|it| it.name.eq_ignore_ascii_case(wanted));
            let Some(header) = found else { continue };
            let value = header.value.chars().take(LONGEST);
            head.push_str(wanted);
            head.push_str(": ");
            head.extend(value.map(|it| if it.is_control() { ' ' } else { it }));
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        mime::read(head.as_bytes()).unwrap_or_default()
    }
}

impl GmailMessage {
    pub(in crate::google) fn head(
        &self,
        labels: &GmailLabels,
    ) -> Result<MessageHead, BackendError> {
        self.head_of(&self.payload.letter(), labels, self.payload.has_attachments())
    }

    pub(super) fn head_of(
        &self,
        letter: &MimeMessage,
        labels: &GmailLabels,
        has_attachments: bool,
    ) -> Result<MessageHead, BackendError> {
        let date = self.internal_date.as_deref().and_then(|text| text.parse().ok());
        let date = date.and_then(|date| Timestamp::from_millisecond(date).ok());
        let date = date.ok_or_else(|| broken("a message without a date"))?;
        Ok(MessageHead {
            from: letter.from.clone(),
            to: letter.to.clone(),
            subject: letter.subject.clone(),
            date,
            has_attachments,
            ..self.bare_head(labels)?
        })
    }

    /// What can be said without having read it.
    pub(super) fn bare_head(&self, labels: &GmailLabels) -> Result<MessageHead, BackendError> {
        if self.id.is_empty() {
            return Err(broken("a message without an id"));
        }
        let snippet = unescaped(self.snippet.as_deref().unwrap_or_default());
        Ok(MessageHead {
            id: self.id.clone(),
            thread: self.thread_id.clone(),
            from: None,
            to: Vec::new(),
            subject: String::new(),
            date: Timestamp::now(),
            snippet: snippet.trim().chars().take(SNIPPET).collect(),
            unread: self.label_ids.iter().any(|id| id == "UNREAD"),
            labels: labels.names(&self.label_ids),
            has_attachments: false,
        })
    }
}

/// Gmail escapes its snippets as for a page.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        // No entity is longer, so that each `&` costs the same.
        let name = after.char_indices().take(9).find(|(_, it)| *it == ';').map(|(end, _)| end);
        let meant =
            name.and_then(|end| Some((character(after.get(..end)?)?, after.get(end + 1..)?)));
        let (meant, after) = meant.unwrap_or(('&', after));
        plain.push(meant);
        rest = after;
    }
    plain.push_str(rest);
    plain.retain(|character| !character.is_control());
    plain
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "nbsp" => Some(' '),
        _ => char::from_u32(entity.strip_prefix('#')?.parse().ok()?),
    }
}
