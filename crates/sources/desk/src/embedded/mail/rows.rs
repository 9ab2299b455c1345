//! The rows of the mailbox: messages, their labels, and the words they are found by.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::label::PLACES;
use super::thread;
use crate::backend::{BackendError, BackendErrorKind, MailLabel, MessageHead, Person};
use crate::mail::mime::{self, MimeMessage};

/// Labels that one owner may make.
const MOST_LABELS: i64 = 500;

/// What the columns of a head are called, in the order in which [`read_head`] takes them.
pub(super) const HEAD: &str = "m.id, m.thread, m.date, m.unread, m.attachments, m.head, \
     (SELECT group_concat(name, char(10)) FROM mail_label WHERE message = m.id)";

/// A message to keep.
pub(super) struct NewMessageRow<'a> {
    pub(super) raw: &'a [u8],
    pub(super) date: Timestamp,
    pub(super) origin: MessageOrigin,
    pub(super) unread: bool,
    pub(super) labels: Vec<String>,
    /// The conversation that it was written for.
    pub(super) thread: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageOrigin {
    Received,
    Sent,
    Draft,
}

impl ToSql for MessageOrigin {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self {
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Draft => "draft",
        }))
    }
}

impl FromSql for MessageOrigin {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(match value.as_str()? {
            "sent" => Self::Sent,
            "draft" => Self::Draft,
            _ => Self::Received,
        })
    }
}

/// What a list tells of a message beside its columns.
#[derive(Serialize, Deserialize)]
struct HeadRecord {
    from: Option<PersonRecord>,
    to: Vec<PersonRecord>,
    subject: String,
    snippet: String,
}

#[derive(Serialize, Deserialize)]
struct PersonRecord(String, Option<String>);

impl From<&Person> for PersonRecord {
    fn from(person: &Person) -> Self {
        Self(person.address.clone(), person.name.clone())
    }
}

impl From<PersonRecord> for Person {
    fn from(PersonRecord(address, name): PersonRecord) -> Self {
        Self { address, name }
    }
}

/// Keeps a message and gives its id.
pub(super) fn keep(
    turn: &Connection,
    owner: &str,
    kept: NewMessageRow<'_>,
) -> Result<i64, BackendError> {
    let letter = mime::read(kept.raw).map_err(|error| {
        BackendError::new(BackendErrorKind::Invalid, format!("it cannot be kept: {error}"))
    })?;
    keep_letter(turn, owner, kept, &letter)
}

/// The same of one that was read already.
pub(super) fn keep_letter(
    turn: &Connection,
    owner: &str,
    kept: NewMessageRow<'_>,
    letter: &MimeMessage,
) -> Result<i64, BackendError> {
    let head = HeadRecord {
        from: letter.from.as_ref().map(PersonRecord::from),
        to: letter.to.iter().map(PersonRecord::from).collect(),
        subject: letter.subject.clone(),
        snippet: letter.snippet(),
    };
    let insert = "INSERT INTO mail_message \
         (owner, fingerprint, thread, topic, date, origin, unread, attachments, head, raw) \
         VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    turn.prepare_cached(insert)?.execute(params![
        owner,
        fingerprint(letter, kept.raw),
        thread::topic(&letter.subject),
        kept.date.as_microsecond(),
        kept.origin,
        kept.unread,
        !letter.attachments.is_empty(),
        serde_json::to_string(&head).map_err(broken)?,
        kept.raw,
    ])?;
    let id = turn.last_insert_rowid();
    let known = kept.thread.and_then(|thread| thread.parse().ok());
    let thread = thread::join(turn, owner, id, letter, known)?;
    turn.execute("UPDATE mail_message SET thread = ?2 WHERE id = ?1", [id, thread])?;
    let words = "INSERT INTO mail_words (rowid, subject, text, sender, receivers) \
         VALUES (?1, ?2, ?3, ?4, ?5)";
    let receivers = everybody(letter.receivers());
    let sender = everybody(letter.from.iter());
    turn.prepare_cached(words)?.execute(params![
        id,
        letter.subject,
        letter.text,
        sender,
        receivers
    ])?;
    for label in kept.labels {
        if !PLACES.contains(&&*label) {
            know_label(turn, owner, &label)?;
        }
        set_label(turn, id, &label, true)?;
    }
    Ok(id)
}

/// Whether an owner has a message already.
pub(super) fn has(
    turn: &Connection,
    owner: &str,
    letter: &MimeMessage,
    raw: &[u8],
) -> Result<bool, BackendError> {
    let ask = "SELECT 1 FROM mail_message WHERE owner = ?1 AND fingerprint = ?2";
    let found = turn.prepare_cached(ask)?.exists(params![owner, fingerprint(letter, raw)])?;
    Ok(found)
}

fn fingerprint(letter: &MimeMessage, raw: &[u8]) -> String {
    let digest = || {
        // No `Message-ID` has a space.
        format!("sha256 {}", STANDARD.encode(Sha256::digest(raw)))
    };
    letter.message_id.clone().unwrap_or_else(digest)
}

fn everybody<'a>(people: impl Iterator<Item = &'a Person>) -> String {
    let mut text = String::new();
    for person in people {
        text.push_str(person.name.as_deref().unwrap_or_default());
        text.push(' ');
        text.push_str(&person.address);
        text.push('\n');
    }
    text
}

/// The head of one message of an owner.
pub(super) fn head(turn: &Connection, owner: &str, id: i64) -> Result<MessageHead, BackendError> {
    let ask = format!("SELECT {HEAD} FROM mail_message m WHERE m.id = ?1 AND m.owner = ?2");
    let found = turn.prepare_cached(&ask)?.query_row(params![id, owner], read_head).optional()?;
    found.ok_or_else(|| BackendError::no("message", &id.to_string()))
}

pub(super) fn read_head(row: &Row<'_>) -> rusqlite::Result<MessageHead> {
    let head: String = row.get(5)?;
    let wrong = |error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(5, rusqlite::types::Type::Text, error)
    };
    let head: HeadRecord = serde_json::from_str(&head).map_err(|error| wrong(error.into()))?;
    let date = Timestamp::from_microsecond(row.get(2)?).map_err(|error| wrong(error.into()))?;
    let labels: Option<String> = row.get(6)?;
    Ok(MessageHead {
        id: row.get::<_, i64>(0)?.to_string(),
        thread: Some(row.get::<_, i64>(1)?.to_string()),
        from: head.from.map(Person::from),
        to: head.to.into_iter().map(Person::from).collect(),
        subject: head.subject,
        date,
        snippet: head.snippet,
        unread: row.get(3)?,
        labels: labels.map_or_else(Vec::new, |all| all.lines().map(str::to_owned).collect()),
        has_attachments: row.get(4)?,
    })
}

pub(super) fn raw(turn: &Connection, owner: &str, id: i64) -> Result<Vec<u8>, BackendError> {
    let ask = "SELECT raw FROM mail_message WHERE id = ?1 AND owner = ?2";
    let found = turn.prepare_cached(ask)?.query_row(params![id, owner], |row| row.get(0));
    found.optional()?.ok_or_else(|| BackendError::no("message", &id.to_string()))
}

pub(super) fn origin(turn: &Connection, id: i64) -> Result<MessageOrigin, BackendError> {
    let ask = "SELECT origin FROM mail_message WHERE id = ?1";
    Ok(turn.query_row(ask, [id], |row| row.get(0))?)
}

pub(super) fn become_sent(
    turn: &Connection,
    id: i64,
    now: Timestamp,
    unread: bool,
) -> Result<(), BackendError> {
    let change = "UPDATE mail_message SET origin = ?2, date = ?3, unread = ?4 WHERE id = ?1";
    turn.execute(change, params![id, MessageOrigin::Sent, now.as_microsecond(), unread])?;
    Ok(())
}

pub(super) fn set_unread(turn: &Connection, id: i64, unread: bool) -> Result<(), BackendError> {
    turn.execute("UPDATE mail_message SET unread = ?2 WHERE id = ?1", params![id, unread])?;
    Ok(())
}

pub(super) fn labels_of(turn: &Connection, id: i64) -> Result<Vec<String>, BackendError> {
    let mut ask = turn.prepare_cached("SELECT name FROM mail_label WHERE message = ?1")?;
    let found = ask.query_map([id], |row| row.get(0))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn set_label(
    turn: &Connection,
    id: i64,
    name: &str,
    is_on: bool,
) -> Result<(), BackendError> {
    let change = if is_on {
        "INSERT OR IGNORE INTO mail_label (message, name) VALUES (?1, ?2)"
    } else {
        "DELETE FROM mail_label WHERE message = ?1 AND name = ?2"
    };
    turn.prepare_cached(change)?.execute(params![id, name])?;
    Ok(())
}

/// Makes a label of the owner's if it is not there.
pub(super) fn know_label(turn: &Connection, owner: &str, name: &str) -> Result<(), BackendError> {
    let make = "INSERT OR IGNORE INTO mail_own_label (owner, name) VALUES (?1, ?2)";
    let added = turn.prepare_cached(make)?.execute(params![owner, name])?;
    let count = "SELECT count(*) FROM mail_own_label WHERE owner = ?1";
    if added > 0 && turn.query_row(count, [owner], |row| row.get::<_, i64>(0))? > MOST_LABELS {
        let message = format!("there are {MOST_LABELS} labels already: use one of them");
        return Err(BackendError::new(BackendErrorKind::Invalid, message));
    }
    Ok(())
}

/// Every label: the places, then the owner's own by name.
pub(super) fn labels(turn: &Connection, owner: &str) -> Result<Vec<MailLabel>, BackendError> {
    let own = "SELECT name FROM mail_own_label WHERE owner = ?1 ORDER BY name";
    let mut own = turn.prepare_cached(own)?;
    let own: Vec<String> =
        own.query_map([owner], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let count = "SELECT count(*), coalesce(sum(m.unread), 0) FROM mail_message m \
         JOIN mail_label l ON l.message = m.id WHERE m.owner = ?1 AND l.name = ?2";
    let mut count = turn.prepare_cached(count)?;
    let names = PLACES.iter().map(|place| (*place).to_owned()).chain(own);
    let counted = names.map(|name| {
        let number = |value: i64| u64::try_from(value).ok();
        let (total, unread) =
            count.query_row(params![owner, name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(MailLabel { name, total: number(total), unread: number(unread) })
    });
    counted.collect()
}

fn broken(error: serde_json::Error) -> BackendError {
    BackendError::new(BackendErrorKind::Broken, "the message could not be kept").because(error)
}
