//! Which conversation a message belongs to: by what it refers to, else by its subject.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use crate::backend::BackendError;
use crate::mail::mime::MimeMessage;

/// What stands before the subject of an answer, in the languages that mailers write.
const ANSWERS: &[&str] = &["re", "aw", "sv", "antw", "ref", "fwd", "fw", "wg"];

/// The conversation of a new message: an existing one, or one of its own, named by its id. Where
/// it shows that two were one, they become one.
pub(super) fn join(
    turn: &Connection,
    owner: &str,
    id: i64,
    letter: &MimeMessage,
    known: Option<i64>,
) -> Result<i64, BackendError> {
    let ids: Vec<&String> = letter.message_id.iter().chain(&letter.references).collect();
    let mut threads = BTreeSet::new();
    let mut ask =
        turn.prepare_cached("SELECT thread FROM mail_thread WHERE owner = ?1 AND message_id = ?2")?;
    for message_id in &ids {
        threads.extend(
            ask.query_row(params![owner, message_id], |row| row.get::<_, i64>(0)).optional()?,
        );
    }
    if let Some(known) = known {
        let is_there = "SELECT 1 FROM mail_message WHERE owner = ?1 AND thread = ?2";
        if turn.prepare_cached(is_there)?.exists(params![owner, known])? {
            threads.insert(known);
        }
    }
    if threads.is_empty() && letter.references.is_empty() && is_answer(&letter.subject) {
        let same = "SELECT thread FROM mail_message \
             WHERE owner = ?1 AND topic = ?2 AND id <> ?3 ORDER BY date DESC LIMIT 1";
        let topic = topic(&letter.subject);
        let mut same = turn.prepare_cached(same)?;
        threads.extend(
            same.query_row(params![owner, topic, id], |row| row.get::<_, i64>(0)).optional()?,
        );
    }
    let thread = threads.pop_first().unwrap_or(id);
    for other in threads {
        let row = params![owner, other, thread];
        let messages = "UPDATE mail_message SET thread = ?3 WHERE owner = ?1 AND thread = ?2";
        turn.prepare_cached(messages)?.execute(row)?;
        let names = "UPDATE mail_thread SET thread = ?3 WHERE owner = ?1 AND thread = ?2";
        turn.prepare_cached(names)?.execute(row)?;
    }
    let note = "INSERT OR REPLACE INTO mail_thread (owner, message_id, thread) VALUES (?1, ?2, ?3)";
    let mut note = turn.prepare_cached(note)?;
    for message_id in ids {
        note.execute(params![owner, message_id, thread])?;
    }
    Ok(thread)
}

/// A subject without what answers put before it.
pub(super) fn topic(subject: &str) -> String {
    let mut topic = subject.trim();
    while let Some(rest) = answered(topic) {
        topic = rest;
    }
    topic.to_lowercase()
}

fn is_answer(subject: &str) -> bool {
    answered(subject.trim()).is_some_and(|rest| !rest.is_empty())
}

/// What follows `Re:` or `Re[2]:`.
fn answered(subject: &str) -> Option<&str> {
    let (mark, rest) = subject.split_once(':')?;
    let mark = mark.split_once('[').map_or(mark, |(mark, _)| mark).trim();
    let is_known = ANSWERS.iter().any(|known| known.eq_ignore_ascii_case(mark));
    is_known.then(|| rest.trim_start())
}
