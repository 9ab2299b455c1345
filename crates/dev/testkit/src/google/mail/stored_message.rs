//! A message of the mailbox, and what is told of it.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use serde_json::{Value, json};

use super::decode;
use super::part::FakeMessagePart;
use crate::google::reply::put;

/// A message as it is kept.
pub(crate) struct StoredMessage {
    pub(super) id: String,
    pub(super) thread: String,
    pub(super) labels: Vec<String>,
    pub(super) raw: Vec<u8>,
    /// Milliseconds since 1970.
    pub(crate) date: i64,
}

impl StoredMessage {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// A header as a reader sees it.
    pub(crate) fn header(&self, name: &str) -> String {
        decode::header(FakeMessagePart::read(&self.text()).header(name).unwrap_or_default())
    }

    /// All that a reader sees.
    pub(crate) fn words(&self) -> String {
        FakeMessagePart::read(&self.text()).words()
    }

    pub(crate) fn has(&self, label: &str) -> bool {
        self.labels.iter().any(|own| own == label)
    }

    pub(crate) fn has_attachments(&self) -> bool {
        FakeMessagePart::read(&self.text()).has_attachments()
    }

    pub(super) fn short(&self) -> Value {
        json!({ "id": self.id, "threadId": self.thread })
    }

    pub(super) fn told(&self, format: &str, headers: &[&str]) -> Value {
        let mut told = self.short();
        let part = FakeMessagePart::read(&self.text());
        put(&mut told, "labelIds", json!(self.labels));
        put(&mut told, "snippet", json!(part.snippet()));
        put(&mut told, "internalDate", json!(self.date.to_string()));
        put(&mut told, "historyId", json!("1"));
        put(&mut told, "sizeEstimate", json!(self.raw.len()));
        match format {
            "raw" => put(&mut told, "raw", json!(BASE64_URL_SAFE.encode(&self.raw))),
            "minimal" => {}
            "metadata" => put(&mut told, "payload", part.told_metadata(headers)),
            _ => put(&mut told, "payload", part.told("", &mut 0)),
        }
        told
    }
}
