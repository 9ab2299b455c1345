//! Import of mail from files of mbox: as a stream, and twice the same file adds nothing.

use std::io::{self, BufReader, Read};

use jiff::Timestamp;
use mail_parser::MessageParser;
use serde::Serialize;

use super::label::{PLACES, label_name};
use super::mbox::{MboxMessage, MboxReader};
use super::rows::{MessageOrigin, NewMessageRow};
use super::{LocalMail, rows};
use crate::backend::{BackendError, BackendErrorKind};
use crate::mail::mime::{self, MimeMessage};

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MailImportReport {
    pub added: u64,
    /// Were there before.
    pub known: u64,
    /// Could not be read, with the reasons of the first hundred.
    pub skipped: u64,
    pub reasons: Vec<SkippedMessage>,
}

/// A message of a file that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedMessage {
    /// The first message of the file is 1.
    pub position: u64,
    pub reason: String,
}

const MOST_REASONS: usize = 100;
/// Messages that are kept in one transaction, and bytes of them.
const BATCH: usize = 100;
const BATCH_BYTES: usize = 16 << 20;

/// A message of a file that was read, or why it could not be.
struct ImportMessage {
    position: u64,
    letter: Result<MimeMessage, String>,
    raw: Vec<u8>,
    date: Option<Timestamp>,
    labels: Vec<String>,
    unread: bool,
}

impl LocalMail {
    /// Puts the messages of an mbox file under `label`, as read unless the file says otherwise
    /// (`Status`, `X-Gmail-Labels`). What went before a failure stays, and is known the next time.
    pub async fn import_mbox(
        &self,
        owner: &str,
        reader: impl Read + Send + 'static,
        label: &str,
    ) -> Result<MailImportReport, BackendError> {
        let label = label_name(label)?;
        if ["sent", "outbox", "drafts"].contains(&&*label) {
            let message = "import into `inbox`, `archive` or a label of your own";
            return Err(BackendError::new(BackendErrorKind::Invalid, message));
        }
        let mut mbox =
            off(move || MboxReader::open(BufReader::new(reader))).await?.ok_or_else(|| {
                let message = "this is no mbox file: its first line begins with `From `";
                BackendError::new(BackendErrorKind::Invalid, message)
            })?;
        let mut imported = MailImportReport::default();
        let mut position = 0;
        loop {
            let label = label.clone();
            let (back, batch) = off(move || {
                let batch = batch(&mut mbox, position, &label)?;
                Ok((mbox, batch))
            })
            .await?;
            mbox = back;
            if batch.is_empty() {
                return Ok(imported);
            }
            position += u64::try_from(batch.len()).unwrap_or_default();
            let (owner, now) = (owner.to_owned(), (self.clock)());
            imported = self
                .change(move |turn| {
                    for ready in batch {
                        keep(turn, &owner, ready, now, &mut imported)?;
                    }
                    Ok(imported)
                })
                .await?;
        }
    }
}

/// Reads on a thread that may wait.
async fn off<T: Send + 'static>(
    read: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, BackendError> {
    let wrong = |error: Box<dyn std::error::Error + Send + Sync>| {
        BackendError::new(BackendErrorKind::Broken, "the mbox file could not be read to its end")
            .because(error)
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(done) => done.map_err(|error| wrong(error.into())),
        Err(error) => Err(wrong(error.into())),
    }
}

fn batch<R: io::BufRead>(
    mbox: &mut MboxReader<R>,
    before: u64,
    label: &str,
) -> io::Result<Vec<ImportMessage>> {
    let mut batch = Vec::new();
    let (mut bytes, mut position) = (0, before);
    while batch.len() < BATCH && bytes < BATCH_BYTES {
        let Some(found) = mbox.read()? else { break };
        position += 1;
        let ready = ready(found, position, label);
        bytes += ready.raw.len();
        batch.push(ready);
    }
    Ok(batch)
}

fn ready(found: MboxMessage, position: u64, label: &str) -> ImportMessage {
    let letter = match &found.raw {
        Some(raw) => mime::read(raw).map_err(|error| error.to_string()),
        None => Err(mime::MimeReadError::TooLarge.to_string()),
    };
    let raw = found.raw.unwrap_or_default();
    let date = letter.as_ref().ok().and_then(|letter| letter.date).or(found.delivered);
    let (labels, unread) = if letter.is_ok() { said(&raw, label) } else { Default::default() };
    ImportMessage { position, letter, raw, date, labels, unread }
}

/// The labels of a message and whether it is unread, as the programs that wrote the file say.
fn said(raw: &[u8], label: &str) -> (Vec<String>, bool) {
    let head = MessageParser::default().parse_headers(raw);
    let field = |name: &'static str| {
        let value = head.as_ref()?.header(name)?.as_text()?;
        Some(value.to_owned())
    };
    let mut unread = field("Status").is_some_and(|status| !status.contains('R'));
    let Some(given) = field("X-Gmail-Labels") else { return (vec![label.to_owned()], unread) };
    let mut labels = Vec::new();
    let mut place = label.to_owned();
    for name in given.split(',').filter_map(|name| label_name(name).ok()).take(20) {
        match &*name.to_ascii_lowercase() {
            "unread" => unread = true,
            "opened" | "archived" | "important" | "starred" => {}
            // These stay what they are wherever the rest goes.
            kept @ ("trash" | "spam" | "sent") => kept.clone_into(&mut place),
            lower if PLACES.contains(&lower) || lower == "draft" => {}
            _ => labels.push(name),
        }
    }
    labels.push(place);
    (labels, unread)
}

fn keep(
    turn: &rusqlite::Connection,
    owner: &str,
    ready: ImportMessage,
    now: Timestamp,
    imported: &mut MailImportReport,
) -> Result<(), BackendError> {
    let ImportMessage { position, letter, raw, date, labels, unread } = ready;
    let letter = match letter {
        Ok(letter) => letter,
        Err(reason) => {
            imported.skipped += 1;
            if imported.reasons.len() < MOST_REASONS {
                imported.reasons.push(SkippedMessage { position, reason });
            }
            return Ok(());
        }
    };
    if rows::has(turn, owner, &letter, &raw)? {
        imported.known += 1;
        return Ok(());
    }
    let date = date.unwrap_or(now);
    let kept = NewMessageRow {
        raw: &raw,
        date,
        origin: MessageOrigin::Received,
        unread,
        labels,
        thread: None,
    };
    rows::keep_letter(turn, owner, kept, &letter)?;
    imported.added += 1;
    Ok(())
}
