//! Lists of messages: the newest first, in pages that new mail does not shift.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::label::label_name;
use super::rows;
use crate::backend::{BackendError, BackendErrorKind, BackendPage, MailQuery, MessageHead};

const MOST: usize = 200;
const MOST_WORDS: usize = 30;
const LONGEST_TEXT: usize = 1000;

/// One page of what a query asks for. Without a label, trash and spam are left out.
pub(super) fn page(
    connection: &Connection,
    owner: &str,
    query: &MailQuery,
) -> Result<BackendPage<MessageHead>, BackendError> {
    let limit = query.limit.clamp(1, MOST);
    let (condition, values) = condition(owner, query)?;
    let ask = format!(
        "SELECT {} FROM mail_message m WHERE {condition} \
         ORDER BY m.date DESC, m.id DESC LIMIT {}",
        rows::HEAD,
        limit + 1
    );
    let mut ask = connection.prepare_cached(&ask)?;
    let found = ask.query_map(params_from_iter(values), rows::read_head)?;
    let mut items = found.collect::<rusqlite::Result<Vec<_>>>()?;
    let is_last = items.len() <= limit;
    items.truncate(limit);
    let next = items.last().filter(|_| !is_last);
    let next = next.map(|head| format!("{}.{}", head.date.as_microsecond(), head.id));
    Ok(BackendPage { items, next, unread: Vec::new() })
}

fn condition(owner: &str, query: &MailQuery) -> Result<(String, Vec<Value>), BackendError> {
    let mut condition = "m.owner = ?".to_owned();
    let mut values = vec![Value::from(owner.to_owned())];
    let mut and = |text: &str, value: Option<Value>| {
        condition.push_str(" AND ");
        condition.push_str(text);
        values.extend(value);
    };
    if let Some(label) = &query.label {
        let has = "EXISTS (SELECT 1 FROM mail_label WHERE message = m.id AND name = ?)";
        and(has, Some(label_name(label)?.into()));
    } else {
        let thrown = "NOT EXISTS (SELECT 1 FROM mail_label WHERE message = m.id \
             AND name IN ('trash', 'spam'))";
        and(thrown, None);
    }
    if let Some(words) = words(query)? {
        let found = "m.id IN (SELECT rowid FROM mail_words WHERE mail_words MATCH ?)";
        and(found, Some(words.into()));
    }
    if let Some(unread) = query.unread {
        and("m.unread = ?", Some(unread.into()));
    }
    if let Some(attachments) = query.has_attachments {
        and("m.attachments = ?", Some(attachments.into()));
    }
    if let Some(after) = query.after {
        and("m.date >= ?", Some(after.as_microsecond().into()));
    }
    if let Some(before) = query.before {
        and("m.date < ?", Some(before.as_microsecond().into()));
    }
    if let Some(cursor) = &query.cursor {
        let place = cursor
            .split_once('.')
            .and_then(|(date, id)| Some((date.parse::<i64>().ok()?, id.parse::<i64>().ok()?)));
        let (date, id) = place.ok_or_else(|| {
            let message = "this is no `cursor` of a list before: leave it out to begin anew";
            BackendError::new(BackendErrorKind::Invalid, message)
        })?;
        and(&format!("(m.date, m.id) < (?, {id})"), Some(date.into()));
    }
    Ok((condition, values))
}

/// What the index of words is asked: each word as a beginning of words, all of them there.
fn words(query: &MailQuery) -> Result<Option<String>, BackendError> {
    let asked = [
        ("", &query.text),
        ("{sender} : ", &query.from),
        ("{receivers} : ", &query.to),
        ("{subject} : ", &query.subject),
    ];
    let mut terms = Vec::new();
    for (column, text) in asked {
        let Some(text) = text else { continue };
        let before = terms.len();
        // Quotes make a text of whatever the index has a meaning for.
        let plain = |word: &str| word.replace(['"', '\0'], " ");
        let says = |word: &&str| word.chars().any(char::is_alphanumeric);
        terms.extend(
            text.split_whitespace()
                .filter(says)
                .map(|word| format!("{column}\"{}\" *", plain(word))),
        );
        let is_none = terms.len() == before;
        if is_none || text.len() > LONGEST_TEXT || terms.len() > MOST_WORDS {
            let message = "a search is 1 to 30 words with letters or digits in them";
            return Err(BackendError::new(BackendErrorKind::Invalid, message));
        }
    }
    Ok((!terms.is_empty()).then(|| terms.join(" AND ")))
}
