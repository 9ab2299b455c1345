//! Gmail v1: <https://developers.google.com/workspace/gmail/api/reference/rest>.
//!
//! An id of ours is Google's id of the message, also that of a draft. Messages are read as they
//! travelled, since nothing says in which letters Google's own parts are written.

mod head;
mod labels;
mod query;

use base64::Engine as _;
use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_core::BoxFuture;

use super::client::{GoogleApi, GoogleRequest};
use super::error::{broken, missing};
use super::{GoogleBackend, GoogleOperationEffect, few};
use crate::backend::{
    BackendError, BackendErrorKind, BackendPage, MailBackend, MailFile, MailLabel, MailMessage,
    MailQuery, MessageHead, MessageMarks, NewMessage, Person,
};
use crate::mail::mime::{self, BccHandling, MessageStamp};
pub(super) use head::GmailMessage;
pub(super) use labels::GmailLabels;

/// Messages on one page: each is a request of its own.
const LARGEST_PAGE: usize = 100;
/// Pages of 500 drafts that one is looked for in.
const MOST_PAGES: usize = 10;
/// Largest message as it travels, in base64.
const LARGEST_MESSAGE: u64 = 48 * 1024 * 1024;
/// All of a message but its texts.
const FIELDS: &str = "id,threadId,labelIds,snippet,internalDate,\
     payload(headers,filename,parts(filename,parts(filename,parts/filename)))";

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GmailMessagePage {
    messages: Vec<GmailMessage>,
    next_page_token: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GmailDraftPage {
    drafts: Vec<GmailDraft>,
    next_page_token: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GmailDraft {
    id: String,
    message: GmailMessage,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GmailProfile {
    email_address: String,
}

/// A path of the account's own.
fn path<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    ["gmail", "v1", "users", "me"].into_iter().chain(rest.iter().copied()).collect()
}

impl GoogleBackend {
    async fn own_address(&self) -> Result<&Person, BackendError> {
        let find = || async {
            let ask = GoogleRequest::get(GoogleApi::Gmail, &path(&["profile"]));
            let profile: GmailProfile = self.wire().ask(ask).await?;
            if profile.email_address.is_empty() {
                return Err(broken("an account without an address"));
            }
            Ok(Person { address: profile.email_address, name: None })
        };
        self.shared.address.get_or_try_init(find).await
    }

    async fn wired_head(&self, id: &str) -> Result<GmailMessage, BackendError> {
        let ask = GoogleRequest::get(GoogleApi::Gmail, &path(&["messages", id]))
            .with("format", "full")
            .with("fields", FIELDS);
        self.wire().ask(ask).await.map_err(|fault| missing(fault, "message", id))
    }

    async fn head(&self, id: &str) -> Result<MessageHead, BackendError> {
        let wired = self.wired_head(id).await?;
        let labels = self.labels_for(std::slice::from_ref(&wired)).await?;
        wired.head(&labels)
    }

    /// The names of labels, if one of these messages has a label of the owner's own.
    async fn labels_for(&self, messages: &[GmailMessage]) -> Result<GmailLabels, BackendError> {
        let mut ids = messages.iter().flat_map(|message| &message.label_ids);
        if ids.any(|id| labels::is_own(id)) {
            self.own_labels().await
        } else {
            Ok(GmailLabels::default())
        }
    }

    async fn own_labels(&self) -> Result<GmailLabels, BackendError> {
        self.wire().ask(GoogleRequest::get(GoogleApi::Gmail, &path(&["labels"]))).await
    }

    async fn all_labels(&self) -> Result<Vec<MailLabel>, BackendError> {
        let listed = self.own_labels().await?.listed();
        let counted = listed.into_iter().map(|(id, name)| async move {
            let Some(id) = id else { return Ok(MailLabel { name, total: None, unread: None }) };
            let ask = GoogleRequest::get(GoogleApi::Gmail, &path(&["labels", &id]));
            match self.wire().ask::<labels::GmailLabelCounts>(ask).await {
                Ok(counted) => Ok(counted.label(name)),
                // It went away just now.
                Err(fault) if fault.kind == BackendErrorKind::NotFound => {
                    Ok(MailLabel { name, total: None, unread: None })
                }
                Err(fault) => Err(fault),
            }
        });
        few(counted.collect()).await
    }

    async fn messages_found(
        &self,
        query: MailQuery,
    ) -> Result<BackendPage<MessageHead>, BackendError> {
        let place = match query.label.as_deref() {
            None => labels::GmailSearchScope::Anywhere,
            Some(name) => self.place(name).await?,
        };
        let limit = query.limit.clamp(1, LARGEST_PAGE);
        let shows_all = place.is_hidden().then_some("true");
        let ask = GoogleRequest::get(GoogleApi::Gmail, &path(&["messages"]))
            .with("maxResults", limit.to_string())
            .maybe("q", query::text(&query, &place))
            .maybe("labelIds", place.id())
            .maybe("includeSpamTrash", shows_all)
            .maybe("pageToken", query.cursor.clone());
        let listing: GmailMessagePage = self.wire().ask(ask).await?;
        let ids = listing.messages.into_iter().map(|it| it.id).filter(|id| !id.is_empty());
        // More than were asked for are not worth a request each.
        let heads = ids.take(limit).map(|id| async move {
            match self.wired_head(&id).await {
                Ok(head) => Ok(Some(head)),
                // It was deleted just now.
                Err(fault) if fault.kind == BackendErrorKind::NotFound => Ok(None),
                Err(fault) => Err(fault),
            }
        });
        let wired: Vec<GmailMessage> = few(heads.collect()).await?.into_iter().flatten().collect();
        let labels = self.labels_for(&wired).await?;
        let heads: Result<Vec<MessageHead>, BackendError> =
            wired.iter().map(|wired| wired.head(&labels)).collect();
        let items = heads?.into_iter().filter(|head| query::is_in_time(head, &query)).collect();
        let next = listing.next_page_token.filter(|token| !token.is_empty());
        Ok(BackendPage { items, next, unread: Vec::new() })
    }

    /// Where to look for what has a label of this name.
    async fn place(&self, name: &str) -> Result<labels::GmailSearchScope, BackendError> {
        if let Some(place) = labels::GmailSearchScope::of_system(name) {
            return Ok(place);
        }
        let own = self.own_labels().await?;
        own.id(name)
            .map(labels::GmailSearchScope::Label)
            .ok_or_else(|| BackendError::no("label", name))
    }

    /// A message, and its bytes as they travelled.
    async fn raw(&self, id: &str) -> Result<(GmailMessage, Vec<u8>), BackendError> {
        let ask = GoogleRequest::get(GoogleApi::Gmail, &path(&["messages", id]))
            .with("format", "raw")
            .up_to(LARGEST_MESSAGE);
        let wired: Result<GmailMessage, BackendError> = self.wire().ask(ask).await;
        let wired = wired.map_err(|fault| missing(fault, "message", id))?;
        let raw = wired.raw.as_deref().unwrap_or_default().trim_end_matches('=');
        let raw = BASE64_URL_SAFE_NO_PAD.decode(raw).map_err(|cause| odd().because(cause))?;
        Ok((wired, raw))
    }

    async fn whole(&self, id: &str) -> Result<MailMessage, BackendError> {
        let (wired, raw) = self.raw(id).await?;
        let letter = mime::read(&raw).map_err(|cause| odd().because(cause))?;
        let labels = self.labels_for(std::slice::from_ref(&wired)).await?;
        let has_attachments = !letter.attachments.is_empty();
        let head = wired.head_of(&letter, &labels, has_attachments)?;
        Ok(letter.into_message(head))
    }

    /// The message as Google takes it, in its conversation.
    async fn written(&self, message: &NewMessage) -> Result<Value, BackendError> {
        let from = self.own_address().await?.clone();
        let stamp = MessageStamp::new(from, Timestamp::now());
        // Google reads who is hidden, and takes them out.
        let raw = mime::write(message, &stamp, BccHandling::Kept);
        let raw =
            raw.map_err(|cause| BackendError::new(BackendErrorKind::Invalid, cause.to_string()))?;
        let raw = BASE64_URL_SAFE.encode(raw);
        let thread = message.answers.as_ref().and_then(|answers| answers.thread.as_deref());
        Ok(match thread {
            Some(thread) => json!({ "raw": raw, "threadId": thread }),
            None => json!({ "raw": raw }),
        })
    }

    async fn drafted(&self, message: NewMessage) -> Result<MessageHead, BackendError> {
        let body = json!({ "message": self.written(&message).await? });
        let ask = GoogleRequest::post(GoogleApi::Gmail, &path(&["drafts"]), body);
        let draft: Result<GmailDraft, BackendError> = self.wire().ask(ask).await;
        let draft = draft.map_err(|fault| no_thread(fault, &message))?;
        self.after_writing(draft.message).await
    }

    async fn sent(&self, message: NewMessage) -> Result<MessageHead, BackendError> {
        let body = self.written(&message).await?;
        let ask = GoogleRequest::post(GoogleApi::Gmail, &path(&["messages", "send"]), body);
        let sent: Result<GmailMessage, BackendError> = self.wire().ask(ask).await;
        self.after_writing(sent.map_err(|fault| no_thread(fault, &message))?).await
    }

    async fn draft_sent(&self, id: &str) -> Result<MessageHead, BackendError> {
        let draft = self.draft_of(id).await?;
        let body = json!({ "id": draft });
        let ask = GoogleRequest::post(GoogleApi::Gmail, &path(&["drafts", "send"]), body);
        let sent: Result<GmailMessage, BackendError> = self.wire().ask(ask).await;
        self.after_writing(sent.map_err(|fault| missing(fault, "draft", id))?).await
    }

    /// Google's id of the draft whose message this is.
    async fn draft_of(&self, message: &str) -> Result<String, BackendError> {
        let mut page: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let ask = GoogleRequest::get(GoogleApi::Gmail, &path(&["drafts"]))
                .with("maxResults", "500")
                .maybe("pageToken", page.take());
            let drafts: GmailDraftPage = self.wire().ask(ask).await?;
            let found = drafts.drafts.into_iter().find(|draft| draft.message.id == message);
            if let Some(draft) = found {
                return Ok(draft.id);
            }
            page = drafts.next_page_token.filter(|token| !token.is_empty());
            if page.is_none() {
                break;
            }
        }
        Err(BackendError::no("draft", message))
    }

    /// What was written as it is now. It is done, so that no failure of looking may say otherwise.
    async fn after_writing(&self, wired: GmailMessage) -> Result<MessageHead, BackendError> {
        match self.head(&wired.id).await {
            Ok(head) => Ok(head),
            Err(_) => wired.bare_head(&GmailLabels::default()),
        }
    }

    async fn marked(&self, id: &str, marks: MessageMarks) -> Result<MessageHead, BackendError> {
        let mut own = None;
        let mut change = labels::GmailLabelChange::new(&marks)?;
        for name in std::mem::take(&mut change.own_add) {
            let known = self.known(&mut own).await?.id(&name);
            let label = match known {
                Some(label) => label,
                None => self.new_label(&name).await?,
            };
            change.add.push(label);
        }
        for name in std::mem::take(&mut change.own_remove) {
            // What is not there is not on the message.
            change.remove.extend(self.known(&mut own).await?.id(&name));
        }
        let post = |what: &'static str, body: Value| async move {
            let ask = GoogleRequest::post(GoogleApi::Gmail, &path(&["messages", id, what]), body);
            self.wire().tell(ask).await.map_err(|fault| missing(fault, "message", id))
        };
        let put = |what: &'static str| async move {
            let ask = GoogleRequest::new(
                http::Method::POST,
                GoogleApi::Gmail,
                &path(&["messages", id, what]),
            );
            self.wire().tell(ask).await.map_err(|fault| missing(fault, "message", id))
        };
        if change.untrash {
            put("untrash").await?;
        }
        if !change.add.is_empty() || !change.remove.is_empty() {
            let body = json!({ "addLabelIds": change.add, "removeLabelIds": change.remove });
            post("modify", body).await?;
        }
        if change.trash {
            put("trash").await?;
        }
        self.head(id).await
    }

    async fn known<'a>(
        &self,
        own: &'a mut Option<GmailLabels>,
    ) -> Result<&'a GmailLabels, BackendError> {
        let labels = match own.take() {
            Some(labels) => labels,
            None => self.own_labels().await?,
        };
        Ok(own.insert(labels))
    }

    async fn new_label(&self, name: &str) -> Result<String, BackendError> {
        let body = json!({
            "name": name, "labelListVisibility": "labelShow", "messageListVisibility": "show",
        });
        let made: labels::GmailLabel = self
            .wire()
            .ask(GoogleRequest::post(GoogleApi::Gmail, &path(&["labels"]), body))
            .await?;
        Ok(made.id)
    }
}

fn odd() -> BackendError {
    broken("a message that cannot be read")
}

/// Of a new message only its conversation may be missing.
fn no_thread(fault: BackendError, message: &NewMessage) -> BackendError {
    let thread = message.answers.as_ref().and_then(|answers| answers.thread.as_deref());
    missing(fault, "conversation", thread.unwrap_or_default())
}

impl MailBackend for GoogleBackend {
    fn address<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Person, BackendError>> {
        Box::pin(
            self.within(GoogleOperationEffect::Reading, async {
                self.own_address().await.cloned()
            }),
        )
    }

    fn labels<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<MailLabel>, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, self.all_labels()))
    }

    fn messages<'a>(
        &'a self,
        _: &'a str,
        query: MailQuery,
    ) -> BoxFuture<'a, Result<BackendPage<MessageHead>, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, self.messages_found(query)))
    }

    fn message<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<MailMessage, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, self.whole(id)))
    }

    fn files<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MailFile>, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, async move {
            let (_, raw) = self.raw(id).await?;
            mime::files(&raw).map_err(|cause| odd().because(cause))
        }))
    }

    fn draft<'a>(
        &'a self,
        _: &'a str,
        message: NewMessage,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.drafted(message)))
    }

    fn send<'a>(
        &'a self,
        _: &'a str,
        message: NewMessage,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.sent(message)))
    }

    fn send_draft<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.draft_sent(id)))
    }

    fn mark<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
        marks: MessageMarks,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.marked(id, marks)))
    }
}
