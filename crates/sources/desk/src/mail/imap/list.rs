//! Lists: the newest first over one folder or all, in pages that new mail does not shift.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::fetch::{self, date, fetched, set};
use super::folder::{self, ImapFolder, is_keyword, is_place};
use super::search::conditions;
use super::session::{ImapCommand, ImapSession};
use super::value::ImapValue;
use crate::backend::{BackendError, BackendErrorKind, BackendPage, MailQuery, MessageHead};

const MOST: usize = 200;
/// Messages of one folder whose date is asked for one page.
const MOST_DATED: usize = 2000;
/// Folders that are looked through when no label is named.
const MOST_FOLDERS: usize = 60;
/// Heads that are looked at for one page where servers cannot search for what is asked.
const MOST_LOOKED_AT: usize = 400;

/// A message in the order of lists: seconds, then folder and number.
type MessagePosition = (Reverse<i64>, String, Reverse<u32>);

/// One page of what a query asks for. Without a label, trash and spam are left out.
pub(super) async fn page(
    session: &mut ImapSession,
    query: &MailQuery,
) -> Result<BackendPage<MessageHead>, BackendError> {
    let limit = query.limit.clamp(1, MOST);
    let after = query.cursor.as_deref().map(cursor).transpose()?;
    let (folders, keyword) = folders(session, query.label.as_deref()).await?;
    let mut places = Vec::new();
    for folder in &folders {
        let found = places_in(session, folder, query, keyword.as_deref(), after.as_ref()).await?;
        places.extend(found);
    }
    places.sort_unstable();
    let mut items = Vec::new();
    let mut next = None;
    let mut rest = places.as_slice();
    let mut looked_at = 0;
    while !rest.is_empty() && items.len() < limit && looked_at < MOST_LOOKED_AT {
        let (chunk, later) = rest.split_at(limit.min(rest.len()));
        rest = later;
        looked_at += chunk.len();
        let found = heads(session, &folders, chunk).await?;
        for (place, head) in chunk.iter().zip(found) {
            if items.len() == limit {
                break;
            }
            next = Some(place);
            let is_asked = |head: &MessageHead| {
                query.has_attachments.is_none_or(|asked| asked == head.has_attachments)
            };
            items.extend(head.filter(is_asked));
        }
    }
    let is_last = places.last() == next;
    let next = next
        .filter(|_| !is_last)
        .map(|(Reverse(date), folder, Reverse(uid))| format!("{date}.{uid}.{folder}"));
    Ok(BackendPage { items, next, unread: Vec::new() })
}

fn cursor(text: &str) -> Result<MessagePosition, BackendError> {
    let mut parts = text.splitn(3, '.');
    let mut read = || {
        let date = parts.next()?.parse().ok()?;
        let uid = parts.next()?.parse().ok()?;
        Some((Reverse(date), parts.next()?.to_owned(), Reverse(uid)))
    };
    read().ok_or_else(|| {
        let message = "this is no `cursor` of a list before: leave it out to begin anew";
        BackendError::new(BackendErrorKind::Invalid, message)
    })
}

/// Where to look, and for which keyword.
async fn folders(
    session: &mut ImapSession,
    label: Option<&str>,
) -> Result<(Vec<ImapFolder>, Option<String>), BackendError> {
    let mut folders = folder::all(session).await?;
    let Some(label) = label.map(str::trim) else {
        folders.retain(|folder| !["trash", "spam"].contains(&&*folder.label));
        folders.truncate(MOST_FOLDERS);
        return Ok((folders, None));
    };
    if let Some(found) = folders.iter().find(|folder| folder.label.eq_ignore_ascii_case(label)) {
        return Ok((vec![found.clone()], None));
    }
    if is_place(&label.to_ascii_lowercase()) || !is_keyword(label) {
        return Ok((Vec::new(), None));
    }
    folders.truncate(MOST_FOLDERS);
    Ok((folders, Some(label.to_owned())))
}

/// The messages of a folder that a query asks for, after the place where the last page ended.
async fn places_in(
    session: &mut ImapSession,
    folder: &ImapFolder,
    query: &MailQuery,
    keyword: Option<&str>,
    after: Option<&MessagePosition>,
) -> Result<Vec<MessagePosition>, BackendError> {
    if session.select(&folder.name).await?.is_none() {
        return Ok(Vec::new());
    }
    let until = after.and_then(|(Reverse(date), ..)| Timestamp::from_second(*date).ok());
    // Sorted by the server, the newest are known without the dates of all others.
    let sorts = session.can("SORT");
    let words = if sorts { "UID SORT (REVERSE ARRIVAL) UTF-8" } else { "UID SEARCH CHARSET UTF-8" };
    let command = conditions(ImapCommand::reads(words), query, keyword, until)?;
    let answer = session.run(command).await?.done("search")?;
    let is_found =
        |data: &&Vec<ImapValue>| data.first().is_some_and(|it| it.is("SEARCH") || it.is("SORT"));
    let found = answer.data.iter().filter(is_found).flatten();
    let mut uids: Vec<u32> = found.filter_map(ImapValue::number).collect();
    if !sorts {
        uids.sort_unstable_by_key(|uid| Reverse(*uid));
    }
    uids.truncate(MOST_DATED);
    if uids.is_empty() {
        return Ok(Vec::new());
    }
    let fetch = ImapCommand::reads("UID FETCH").words(&set(&uids)).words("(UID INTERNALDATE)");
    let answer = session.run(fetch).await?.done("show its messages")?;
    let place = |(uid, pairs): (u32, Vec<(String, ImapValue)>)| {
        let date = date(&pairs)?;
        let is_within = query.after.is_none_or(|after| date >= after)
            && query.before.is_none_or(|before| date < before);
        let place = (Reverse(date.as_second()), folder.name.clone(), Reverse(uid));
        (is_within && after.is_none_or(|after| place > *after)).then_some(place)
    };
    Ok(fetched(answer.data).into_iter().filter_map(place).collect())
}

/// The heads of messages in their order, each folder asked once.
async fn heads(
    session: &mut ImapSession,
    folders: &[ImapFolder],
    places: &[MessagePosition],
) -> Result<Vec<Option<MessageHead>>, BackendError> {
    let mut heads = vec![None; places.len()];
    for folder in folders {
        let here: Vec<u32> =
            places.iter().filter(|place| place.1 == folder.name).map(|place| place.2.0).collect();
        if here.is_empty() || session.select(&folder.name).await?.is_none() {
            continue;
        }
        let mut found = fetch::heads(session, folder, &here).await?;
        for (head, place) in heads.iter_mut().zip(places) {
            if place.1 == folder.name {
                *head = found.remove(&place.2.0);
            }
        }
    }
    Ok(heads)
}
