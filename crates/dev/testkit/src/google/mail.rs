//! Gmail v1.

mod decode;
mod part;
pub(super) mod stored_message;

use base64::Engine as _;
use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use self::part::FakeMessagePart;
use self::stored_message::StoredMessage;
use super::query::is_about;
use super::reply::{CheckedRequest, ServiceRefusal, ServiceReply, put};
use super::{OWNER, page};

const SYSTEM: [&str; 10] = [
    "INBOX",
    "SENT",
    "DRAFT",
    "TRASH",
    "SPAM",
    "UNREAD",
    "STARRED",
    "IMPORTANT",
    "CHAT",
    "CATEGORY_PERSONAL",
];

pub(super) struct FakeMailbox {
    messages: Vec<StoredMessage>,
    /// Id and the id of its message.
    drafts: Vec<(String, String)>,
    /// Id and name.
    labels: Vec<(String, String)>,
    number: u64,
    pub(super) sent: Vec<String>,
}

/// The bytes of a message in a body.
fn raw_of(message: &Map<String, Value>) -> Result<Vec<u8>, ServiceRefusal> {
    let raw = message.get("raw").and_then(Value::as_str).unwrap_or_default();
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(raw.trim_end_matches('=')).unwrap_or_default();
    let is_message =
        FakeMessagePart::read(&String::from_utf8_lossy(&bytes)).header("From").is_some();
    if is_message {
        Ok(bytes)
    } else {
        Err(ServiceRefusal::invalid("'raw' RFC822 payload required"))
    }
}

impl FakeMailbox {
    pub(super) fn new() -> Self {
        let (messages, drafts, labels, sent) = Default::default();
        Self { messages, drafts, labels, number: 0, sent }
    }

    pub(super) fn labels_of(&self, id: &str) -> Vec<String> {
        let found = self.messages.iter().find(|message| message.id == id);
        found.map(|message| message.labels.clone()).unwrap_or_default()
    }

    pub(super) fn deliver(&mut self, raw: &[u8]) -> String {
        let id = self.keep(raw.to_vec(), None, &["INBOX", "UNREAD"]);
        if let Ok(kept) = self.find(&id) {
            // It has been on its way.
            let date = jiff::fmt::rfc2822::parse(&kept.header("Date")).ok();
            kept.date = date.map_or(kept.date, |date| date.timestamp().as_millisecond());
        }
        id
    }

    fn keep(&mut self, raw: Vec<u8>, thread: Option<String>, labels: &[&str]) -> String {
        self.number += 1;
        let id = format!("18f0{:012x}", self.number);
        let date = Timestamp::now().as_millisecond();
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let thread = thread.unwrap_or_else(|| id.clone());
        self.messages.push(StoredMessage { id: id.clone(), thread, labels, raw, date });
        id
    }

    pub(super) fn perform(
        &mut self,
        operation: &str,
        request: &CheckedRequest,
        most: usize,
    ) -> Result<ServiceReply, ServiceRefusal> {
        if !["me", OWNER].contains(&request.place("userId")) {
            return Err(ServiceRefusal::new(403, "forbidden", "Delegation denied"));
        }
        let told = match operation {
            "users.getProfile" => json!({
                "emailAddress": OWNER, "messagesTotal": self.messages.len(), "historyId": "1",
            }),
            "users.labels.list" => {
                json!({ "labels": self.all_labels().collect::<Vec<_>>() })
            }
            "users.labels.get" => self.label(request.place("id"))?,
            "users.labels.create" => self.create_label(request)?,
            "users.messages.list" => self.list(request, most)?,
            "users.messages.get" => {
                let headers: Vec<&str> = request.all("metadataHeaders").collect();
                let format = request.query("format").unwrap_or("full");
                self.find(request.place("id"))?.told(format, &headers)
            }
            "users.messages.send" => self.send(&request.body)?,
            "users.messages.modify" => self.modify(request)?,
            "users.messages.trash" => self.relabel(request, &["TRASH"], &["INBOX"])?,
            "users.messages.untrash" => self.relabel(request, &[], &["TRASH"])?,
            "users.drafts.create" => self.draft(request)?,
            "users.drafts.list" => {
                let drafts = self.drafts.iter().rev().filter_map(|(id, message)| {
                    let message = self.messages.iter().find(|it| it.id == *message)?;
                    Some(json!({ "id": id, "message": message.short() }))
                });
                page("drafts", drafts.collect(), request.size(100, 500, most), request)?
            }
            "users.drafts.send" => self.send_draft(request)?,
            _ => return Err(ServiceRefusal::new(501, "notImplemented", operation)),
        };
        Ok(ServiceReply::Value(told))
    }

    fn find(&mut self, id: &str) -> Result<&mut StoredMessage, ServiceRefusal> {
        self.messages.iter_mut().find(|it| it.id == id).ok_or_else(ServiceRefusal::not_found)
    }

    fn all_labels(&self) -> impl Iterator<Item = Value> {
        let system = SYSTEM.iter().map(|id| json!({ "id": id, "name": id, "type": "system" }));
        let own =
            self.labels.iter().map(|(id, name)| json!({ "id": id, "name": name, "type": "user" }));
        system.chain(own)
    }

    fn knows(&self, label: &str) -> bool {
        SYSTEM.contains(&label) || self.labels.iter().any(|(id, _)| id == label)
    }

    fn label(&self, id: &str) -> Result<Value, ServiceRefusal> {
        let found = self.all_labels().find(|label| label.get("id") == Some(&json!(id)));
        let mut label = found.ok_or_else(ServiceRefusal::not_found)?;
        let with = || self.messages.iter().filter(|message| message.has(id));
        put(&mut label, "messagesTotal", json!(with().count()));
        put(
            &mut label,
            "messagesUnread",
            json!(with().filter(|message| message.has("UNREAD")).count()),
        );
        Ok(label)
    }

    fn create_label(&mut self, request: &CheckedRequest) -> Result<Value, ServiceRefusal> {
        let name = request.text("name").unwrap_or_default().to_owned();
        let is_there = self.labels.iter().any(|(_, own)| own.eq_ignore_ascii_case(&name))
            || SYSTEM.iter().any(|own| own.eq_ignore_ascii_case(&name));
        if name.is_empty() {
            return Err(ServiceRefusal::invalid("Invalid label name"));
        }
        if is_there {
            return Err(ServiceRefusal::new(409, "aborted", "Label name exists or conflicts"));
        }
        let id = format!("Label_{}", self.labels.len() + 1);
        self.labels.push((id.clone(), name.clone()));
        Ok(json!({ "id": id, "name": name, "type": "user" }))
    }

    fn list(&self, request: &CheckedRequest, most: usize) -> Result<Value, ServiceRefusal> {
        let wanted: Vec<&str> = request.all("labelIds").collect();
        let shows_all = request.is("includeSpamTrash");
        let query = request.query("q").unwrap_or_default();
        let mut found: Vec<&StoredMessage> = self.messages.iter().collect();
        found.retain(|message| {
            let is_hidden = !shows_all && (message.has("SPAM") || message.has("TRASH"));
            let has_all = wanted.iter().all(|label| message.has(label));
            has_all && !is_hidden && is_about(message, query)
        });
        found.sort_by(|one, other| (other.date, &other.id).cmp(&(one.date, &one.id)));
        let found: Vec<Value> = found.into_iter().map(StoredMessage::short).collect();
        let total = found.len();
        let mut told = page("messages", found, request.size(100, 500, most), request)?;
        put(&mut told, "resultSizeEstimate", json!(total));
        // As Gmail does where nothing is found.
        if let Some(told) = told.as_object_mut().filter(|_| total == 0) {
            told.remove("messages");
        }
        Ok(told)
    }

    fn send(&mut self, message: &Map<String, Value>) -> Result<Value, ServiceRefusal> {
        let raw = raw_of(message)?;
        let part = FakeMessagePart::read(&String::from_utf8_lossy(&raw));
        let receivers: String =
            ["To", "Cc", "Bcc"].iter().filter_map(|name| part.header(name)).collect();
        if !receivers.contains('@') {
            return Err(ServiceRefusal::invalid("Recipient address required"));
        }
        let thread = self.thread(message)?;
        self.sent.push(String::from_utf8_lossy(&raw).into_owned());
        let id = self.keep(raw, thread, &["SENT"]);
        let kept = self.find(&id)?;
        if receivers.contains(OWNER) {
            kept.labels.extend(["INBOX", "UNREAD"].map(str::to_owned));
        }
        Ok(kept.told("minimal", &[]))
    }

    /// The conversation that a message is to belong to.
    fn thread(&self, message: &Map<String, Value>) -> Result<Option<String>, ServiceRefusal> {
        let Some(thread) = message.get("threadId").and_then(Value::as_str) else { return Ok(None) };
        let is_there = self.messages.iter().any(|it| it.thread == thread);
        if is_there { Ok(Some(thread.to_owned())) } else { Err(ServiceRefusal::not_found()) }
    }

    fn draft(&mut self, request: &CheckedRequest) -> Result<Value, ServiceRefusal> {
        let message = request.body.get("message").and_then(Value::as_object);
        let message = message.ok_or_else(|| ServiceRefusal::invalid("Missing draft message"))?;
        let thread = self.thread(message)?;
        let message = self.keep(raw_of(message)?, thread, &["DRAFT"]);
        let id = format!("r-{}", 7000 + self.number);
        self.drafts.push((id.clone(), message.clone()));
        let mut told = self.find(&message)?.short();
        put(&mut told, "labelIds", json!(["DRAFT"]));
        Ok(json!({ "id": id, "message": told }))
    }

    fn send_draft(&mut self, request: &CheckedRequest) -> Result<Value, ServiceRefusal> {
        let id = request.text("id").unwrap_or_default();
        let place = self.drafts.iter().position(|(own, _)| own == id);
        let place = place.ok_or_else(ServiceRefusal::not_found)?;
        let message = self.drafts.get(place).map(|(_, message)| message.clone());
        let kept = self.find(&message.unwrap_or_default())?;
        let mut body = Map::new();
        body.insert("raw".to_owned(), json!(BASE64_URL_SAFE.encode(&kept.raw)));
        body.insert("threadId".to_owned(), json!(kept.thread));
        let gone = kept.id.clone();
        let told = self.send(&body)?;
        self.drafts.remove(place);
        self.messages.retain(|message| message.id != gone);
        Ok(told)
    }

    fn modify(&mut self, request: &CheckedRequest) -> Result<Value, ServiceRefusal> {
        let list = |name: &str| -> Vec<String> {
            let list = request.body.get(name).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (add, remove) = (list("addLabelIds"), list("removeLabelIds"));
        for label in add.iter().chain(&remove) {
            if !self.knows(label) || ["SENT", "DRAFT", "CHAT"].contains(&label.as_str()) {
                return Err(ServiceRefusal::invalid(&format!("Invalid label: {label}")));
            }
        }
        let add: Vec<&str> = add.iter().map(String::as_str).collect();
        let remove: Vec<&str> = remove.iter().map(String::as_str).collect();
        self.relabel(request, &add, &remove)
    }

    fn relabel(
        &mut self,
        request: &CheckedRequest,
        add: &[&str],
        remove: &[&str],
    ) -> Result<Value, ServiceRefusal> {
        let kept = self.find(request.place("id"))?;
        kept.labels.retain(|label| !remove.contains(&label.as_str()));
        for label in add {
            if !kept.has(label) {
                kept.labels.push((*label).to_owned());
            }
        }
        Ok(kept.told("minimal", &[]))
    }
}
