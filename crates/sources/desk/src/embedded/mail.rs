//! The local mailbox: mail that was imported, written or sent to oneself, and an outbox.
//!
//! There is no server behind it. What is sent to the owner's own address arrives in the inbox at
//! once; what goes to anybody else, another tenant too, waits in the outbox and says so.

pub(crate) mod import;
mod label;
mod mbox;
mod query;
mod rows;
mod thread;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};
use toolcrib_core::BoxFuture;

use self::label::{PLACES, label_name};
use self::rows::{MessageOrigin, NewMessageRow};
use super::database::DeskDatabase;
use crate::backend::{
    BackendError, BackendErrorKind, BackendPage, MailBackend, MailFile, MailLabel, MailMessage,
    MailQuery, MessageHead, MessageMarks, NewMessage, Person,
};
use crate::mail::mime::{self, BccHandling, MessageStamp, is_address};

const WAITS: &str = "no mail server is configured: the message waits in the `outbox`, and nobody \
                     but the owner has it";

type LocalMailClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A mailbox for each owner in the desk's file.
#[derive(Clone)]
pub struct LocalMail {
    db: DeskDatabase,
    clock: LocalMailClock,
    people: Arc<BTreeMap<String, Person>>,
}

impl LocalMail {
    /// The clock of the machine, and addresses made of the owners' names: `local@localhost`.
    pub fn new(db: DeskDatabase) -> Self {
        Self { db, clock: Arc::new(Timestamp::now), people: Arc::default() }
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// The same with addresses of owners; one that cannot be written is refused.
    pub fn with_people(self, people: BTreeMap<String, Person>) -> Result<Self, mime::NotAnAddress> {
        match people.values().find(|person| !is_address(&person.address)) {
            Some(wrong) => Err(mime::NotAnAddress(wrong.address.clone())),
            None => Ok(Self { people: Arc::new(people), ..self }),
        }
    }

    fn person(&self, owner: &str) -> Person {
        if let Some(person) = self.people.get(owner) {
            return person.clone();
        }
        if is_address(owner) {
            return Person { address: owner.to_owned(), name: None };
        }
        let plain = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        let local: String =
            owner.chars().take(60).map(|one| if plain(one) { one } else { '-' }).collect();
        let local = if local.is_empty() { "owner" } else { &local };
        Person { address: format!("{local}@localhost"), name: None }
    }

    /// Asks the file in one transaction that writes.
    async fn change<T, F>(&self, change: F) -> Result<T, BackendError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, BackendError> + Send + 'static,
    {
        let ask = |connection: &mut Connection| {
            let turn = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let changed = change(&turn)?;
            turn.commit()?;
            Ok(changed)
        };
        self.db.ask(ask).await
    }

    /// Writes a message and keeps it where it goes.
    async fn write(
        &self,
        owner: &str,
        message: NewMessage,
        sending: bool,
    ) -> Result<MessageHead, BackendError> {
        let own = self.person(owner);
        let now = (self.clock)();
        let stamp = MessageStamp::new(own.clone(), now);
        let raw = mime::write(&message, &stamp, BccHandling::Kept)?;
        let thread = message.answers.as_ref().and_then(|answers| answers.thread.clone());
        let receivers = [message.to, message.cc, message.bcc].concat();
        let (labels, unread) =
            if sending { sent(&own, &receivers)? } else { (vec!["drafts"], false) };
        let origin = if sending { MessageOrigin::Sent } else { MessageOrigin::Draft };
        let owner = owner.to_owned();
        self.change(move |turn| {
            let labels = labels.into_iter().map(str::to_owned).collect();
            let kept = NewMessageRow { raw: &raw, date: now, origin, unread, labels, thread };
            let id = rows::keep(turn, &owner, kept)?;
            rows::head(turn, &owner, id)
        })
        .await
    }
}

/// The labels of what is sent, and whether it arrives as unread.
fn sent(own: &Person, receivers: &[Person]) -> Result<(Vec<&'static str>, bool), BackendError> {
    let is_own = |person: &Person| person.address.eq_ignore_ascii_case(&own.address);
    match (receivers.iter().any(is_own), receivers.iter().all(is_own)) {
        _ if receivers.is_empty() => Err(BackendError::new(
            BackendErrorKind::Invalid,
            "a message goes to somebody: name who gets it",
        )),
        (true, true) => Ok((vec!["sent", "inbox"], true)),
        (true, false) => Ok((vec!["outbox", "inbox"], true)),
        (false, _) => Ok((vec!["outbox"], false)),
    }
}

/// The number in an id that a caller gave back.
fn number(id: &str) -> Result<i64, BackendError> {
    id.parse().map_err(|_| BackendError::no("message", id))
}

impl MailBackend for LocalMail {
    fn address<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Person, BackendError>> {
        Box::pin(async move { Ok(self.person(owner)) })
    }

    fn labels<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<MailLabel>, BackendError>> {
        let owner = owner.to_owned();
        Box::pin(self.db.ask(move |connection| rows::labels(connection, &owner)))
    }

    fn messages<'a>(
        &'a self,
        owner: &'a str,
        query: MailQuery,
    ) -> BoxFuture<'a, Result<BackendPage<MessageHead>, BackendError>> {
        let owner = owner.to_owned();
        Box::pin(self.db.ask(move |connection| query::page(connection, &owner, &query)))
    }

    fn message<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<MailMessage, BackendError>> {
        Box::pin(async move {
            let (owner, id) = (owner.to_owned(), number(id)?);
            let ask = move |connection: &mut Connection| {
                let head = rows::head(connection, &owner, id)?;
                Ok((head, rows::raw(connection, &owner, id)?))
            };
            let (head, raw) = self.db.ask(ask).await?;
            let letter = mime::read(&raw).map_err(|error| {
                BackendError::new(BackendErrorKind::Broken, "this message cannot be read")
                    .because(error)
            })?;
            Ok(letter.into_message(head))
        })
    }

    fn files<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MailFile>, BackendError>> {
        Box::pin(async move {
            let (owner, id) = (owner.to_owned(), number(id)?);
            let ask = move |connection: &mut Connection| rows::raw(connection, &owner, id);
            let raw = self.db.ask(ask).await?;
            mime::files(&raw).map_err(|error| {
                BackendError::new(BackendErrorKind::Broken, "this message cannot be read")
                    .because(error)
            })
        })
    }

    fn draft<'a>(
        &'a self,
        owner: &'a str,
        message: NewMessage,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(self.write(owner, message, false))
    }

    fn send<'a>(
        &'a self,
        owner: &'a str,
        message: NewMessage,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(self.write(owner, message, true))
    }

    fn send_draft<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(async move {
            let (own, now) = (self.person(owner), (self.clock)());
            let (owner, id) = (owner.to_owned(), number(id)?);
            self.change(move |turn| {
                let raw = rows::raw(turn, &owner, id)?;
                if !rows::labels_of(turn, id)?.iter().any(|label| label == "drafts") {
                    let message = format!("the message `{id}` is no draft, so it is not sent");
                    return Err(BackendError::new(BackendErrorKind::Invalid, message));
                }
                let letter = mime::read(&raw).map_err(|error| {
                    BackendError::new(BackendErrorKind::Broken, "this draft cannot be read")
                        .because(error)
                })?;
                let receivers: Vec<Person> = letter.receivers().cloned().collect();
                let (labels, unread) = sent(&own, &receivers)?;
                rows::become_sent(turn, id, now, unread)?;
                rows::set_label(turn, id, "drafts", false)?;
                for label in labels {
                    rows::set_label(turn, id, label, true)?;
                }
                rows::head(turn, &owner, id)
            })
            .await
        })
    }

    fn mark<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        marks: MessageMarks,
    ) -> BoxFuture<'a, Result<MessageHead, BackendError>> {
        Box::pin(async move {
            let (owner, id) = (owner.to_owned(), number(id)?);
            self.change(move |turn| {
                rows::head(turn, &owner, id)?;
                mark(turn, &owner, id, &marks)?;
                rows::head(turn, &owner, id)
            })
            .await
        })
    }

    fn note(&self, head: &MessageHead) -> Option<String> {
        head.labels.iter().any(|label| label == "outbox").then(|| WAITS.to_owned())
    }
}

fn mark(turn: &Connection, owner: &str, id: i64, marks: &MessageMarks) -> Result<(), BackendError> {
    if let Some(unread) = marks.unread {
        rows::set_unread(turn, id, unread)?;
    }
    for label in &marks.remove {
        let label = label_name(label)?;
        rows::set_label(turn, id, &label, false)?;
    }
    for label in &marks.add {
        let label = label_name(label)?;
        match &*label {
            "inbox" | "archive" | "trash" | "spam" => {
                for place in PLACES {
                    rows::set_label(turn, id, place, false)?;
                }
            }
            "sent" | "outbox" | "drafts" => {
                let message =
                    format!("no message is put under `{label}` by hand: send or draft it");
                return Err(BackendError::new(BackendErrorKind::Invalid, message));
            }
            own => rows::know_label(turn, owner, own)?,
        }
        rows::set_label(turn, id, &label, true)?;
    }
    let labels = rows::labels_of(turn, id)?;
    if labels.iter().any(|label| PLACES.contains(&&**label)) {
        return Ok(());
    }
    // What is nowhere was archived, or taken out of the trash: then it goes back.
    let was_thrown = marks
        .remove
        .iter()
        .any(|label| ["trash", "spam"].contains(&&*label.trim().to_ascii_lowercase()));
    let place = match rows::origin(turn, id)? {
        MessageOrigin::Draft => "drafts",
        MessageOrigin::Sent if was_thrown => "sent",
        MessageOrigin::Received if was_thrown => "inbox",
        MessageOrigin::Sent | MessageOrigin::Received => "archive",
    };
    rows::set_label(turn, id, place, true)
}
