//! A mailbox behind IMAP and SMTP, as the trait of mail has it.
//!
//! A message lies in one folder, which is a label of it; the keywords that it has are the others.
//! Folders with a special use (RFC 6154) are the labels of that use, whatever they are called. The
//! id of a message says its folder, the validity of the folder's numbers, and its number there; so
//! it is another one when the message was moved.
//!
//! Read in this order: `value` (what a server says), `session` (one connection), `folder`, `list`,
//! `place` (marks and copies), and here the trait.

mod changes;
mod fetch;
mod folder;
mod list;
mod search;
mod session;
mod value;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Mutex;
use tokio::time::Instant;
use toolcrib_core::BoxFuture;
use toolcrib_egress::Egress;

use self::fetch::ImapMessageId;
use self::session::ImapSession;
pub use self::value::{ImapResponse, ImapStatus, ImapValue, read as read_response};
use super::connection::MailServer;
use super::mime::{self, BccHandling, MessageStamp, is_address};
use super::smtp::submit;
use crate::backend::{
    BackendError, BackendErrorKind, BackendPage, MailBackend, MailFile, MailLabel, MailMessage,
    MailQuery, MessageHead, MessageMarks, NewMessage, Person,
};

/// A session that was silent for longer is asked whether it is still there; all are after this.
const FRESH: Duration = Duration::from_millis(200);

const NOT_COPIED: &str = "the message was sent, but no copy of it could be put into the sent \
                          folder: do not send it again";

/// A mailbox of one account: its owner is whoever asks.
#[derive(Clone)]
pub struct ImapMail {
    shared: Arc<ImapShared>,
}

/// Where mail of an account is read and sent, and as whom.
#[derive(Debug, Clone)]
pub struct ImapSettings {
    pub imap: MailServer,
    pub smtp: MailServer,
    pub from: Person,
}

struct ImapShared {
    egress: Egress,
    account: ImapSettings,
    /// What is left of the last call; taken out while it is in use, so that a call that is given
    /// up takes its connection along.
    session: Mutex<Option<(ImapSession, Instant)>>,
}

impl ImapMail {
    /// `egress` has to admit both servers. Nothing is connected to before it is needed.
    pub fn new(egress: Egress, account: ImapSettings) -> Result<Self, mime::NotAnAddress> {
        if !is_address(&account.from.address) {
            return Err(mime::NotAnAddress(account.from.address));
        }
        let shared = ImapShared { egress, account, session: Mutex::new(None) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Does something with a session that is alive. One at a time: the protocol has one folder
    /// open, and a model's calls come one after the other.
    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut ImapSession) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        let mut kept = self.shared.session.lock().await;
        let mut session = match kept.take() {
            Some((mut session, used)) => {
                if used.elapsed() < FRESH || session.is_alive().await {
                    session
                } else {
                    self.open().await?
                }
            }
            None => self.open().await?,
        };
        let done = work(&mut session).await;
        let is_whole = !done.as_ref().is_err_and(|fault| {
            matches!(
                fault.kind,
                BackendErrorKind::Interrupted
                    | BackendErrorKind::Unknown
                    | BackendErrorKind::Broken
            )
        });
        if is_whole {
            *kept = Some((session, Instant::now()));
        }
        done
    }

    async fn open(&self) -> Result<ImapSession, BackendError> {
        ImapSession::open(&self.shared.egress, &self.shared.account.imap).await
    }

    /// Sends bytes to everybody they go to, and keeps a copy. That the copy failed is no failure:
    /// the message is out, and `note` tells.
    async fn deliver(
        &self,
        raw: &[u8],
        copy: &[u8],
        stamp: &MessageStamp,
    ) -> Result<MessageHead, BackendError> {
        let letter = mime::read(copy).map_err(|error| {
            BackendError::new(BackendErrorKind::Broken, "this message cannot be read")
                .because(error)
        })?;
        let mut to: Vec<String> = letter.receivers().map(|person| person.address.clone()).collect();
        to.sort_unstable();
        to.dedup();
        if to.is_empty() {
            let message = "a message goes to somebody: name who gets it";
            return Err(BackendError::new(BackendErrorKind::Invalid, message));
        }
        let from = &self.shared.account.from.address;
        submit(&self.shared.egress, &self.shared.account.smtp, from, &to, raw).await?;
        let kept =
            self.with(async |session| changes::keep(session, "sent", copy, stamp).await).await;
        Ok(kept.unwrap_or_else(|_| MessageHead {
            id: String::new(),
            thread: fetch::thread(&letter),
            from: Some(stamp.from.clone()),
            snippet: letter.snippet(),
            to: letter.to,
            subject: letter.subject,
            date: stamp.date,
            unread: false,
            labels: Vec::new(),
            has_attachments: !letter.attachments.is_empty(),
        }))
    }

    fn stamp(&self) -> MessageStamp {
        MessageStamp::new(self.shared.account.from.clone(), Timestamp::now())
    }
}

fn unreadable(error: mime::MimeReadError) -> BackendError {
    BackendError::new(BackendErrorKind::Invalid, format!("this message cannot be read: {error}"))
}

impl MailBackend for ImapMail {
    fn address<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Person, BackendError>> {
        Box::pin(async { Ok(self.shared.account.from.clone()) })
    }

    fn labels<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<MailLabel>, BackendError>> {
        Box::pin(self.with(async |session| folder::labels(session).await))
    }

    fn messages<'a>(
        &'a self,
        _: &'a str,
        query: MailQuery,
    ) -> BoxFuture<'a, Result<BackendPage<MessageHead>, BackendError>> {
        Box::pin(self.with(async move |session| list::page(session, &query).await))
    }

    fn message<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<MailMessage, BackendError>> {
        Box::pin(self.with(async move |session| {
            let id = ImapMessageId::read(id)?;
            let (head, raw) = fetch::whole(session, &id).await?;
            Ok(mime::read(&raw).map_err(unreadable)?.into_message(head))
        }))
    }

    fn files<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MailFile>, BackendError>> {
        Box::pin(self.with(async move |session| {
            let (_, raw) = fetch::whole(session, &ImapMessageId::read(id)?).await?;
            mime::files(&raw).map_err(unreadable)
        }))
    }

    fn draft<'a>(
        &'a self,
        _: &'a str,
        message: NewMessage,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(async move {
            let stamp = self.stamp();
            let raw = mime::write(&message, &stamp, BccHandling::Kept)?;
            self.with(async |session| changes::keep(session, "drafts", &raw, &stamp).await).await
        })
    }

    fn send<'a>(
        &'a self,
        _: &'a str,
        message: NewMessage,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(async move {
            let stamp = self.stamp();
            let raw = mime::write(&message, &stamp, BccHandling::Left)?;
            let copy = mime::write(&message, &stamp, BccHandling::Kept)?;
            self.deliver(&raw, &copy, &stamp).await
        })
    }

    fn send_draft<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(async move {
            let stamp = self.stamp();
            let text = id;
            let id = ImapMessageId::read(id)?;
            let (head, copy) = self.with(async |session| fetch::whole(session, &id).await).await?;
            if !head.labels.iter().any(|label| label == "drafts") {
                let message = format!("the message `{text}` is no draft, so it is not sent");
                return Err(BackendError::new(BackendErrorKind::Invalid, message));
            }
            let raw = mime::for_sending(&copy, &stamp)?;
            let sent = self.deliver(&raw, &copy, &stamp).await?;
            // It is out; a draft that stays is a lesser evil than to call that a failure.
            let gone = self.with(async |session| changes::delete(session, &id).await).await;
            drop(gone);
            Ok(sent)
        })
    }

    fn mark<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
        marks: MessageMarks,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(self.with(async move |session| {
            let id = ImapMessageId::read(id)?;
            changes::mark(session, id, &marks, &self.shared.account.from).await
        }))
    }

    fn note(&self, head: &MessageHead) -> Option<String> {
        head.id.is_empty().then(|| NOT_COPIED.to_owned())
    }
}
