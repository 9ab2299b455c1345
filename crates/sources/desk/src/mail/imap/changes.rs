//! Putting messages somewhere: copies of what was written, marks, and moves.

use jiff::tz::TimeZone;

use super::fetch::{self, ImapMessageId};
use super::folder::{self, ImapFolder, is_keyword, is_place};
use super::session::{ImapCommand, ImapCommandResult, ImapSession};
use super::value::ImapValue;
use crate::backend::{BackendError, BackendErrorKind, MessageHead, MessageMarks, Person};
use crate::mail::mime::{self, MessageStamp};

/// Keeps a message under a place, as read.
pub(super) async fn keep(
    session: &mut ImapSession,
    place: &str,
    raw: &[u8],
    stamp: &MessageStamp,
) -> Result<MessageHead, BackendError> {
    let folder = folder::place(session, place).await?;
    let flags = if place == "drafts" { "(\\Seen \\Draft)" } else { "(\\Seen)" };
    let date = stamp.date.to_zoned(TimeZone::UTC).strftime("\"%d-%b-%Y %H:%M:%S %z\"").to_string();
    let append =
        ImapCommand::writes("APPEND").string(folder.name.as_bytes()).words(flags).words(&date);
    let answer = session.run(append.literal(raw)).await?.done("keep the message")?;
    // So that it sees what was just put there.
    session.selected = None;
    let number = |at: usize| answer.code("APPENDUID")?.get(at)?.number();
    let id = match (number(0), number(1)) {
        (Some(validity), Some(uid)) => ImapMessageId { folder: folder.name.clone(), validity, uid },
        _ => {
            find(session, &folder, mime::read(raw).ok().and_then(|letter| letter.message_id))
                .await?
        }
    };
    fetch::one(session, &id).await
}

/// The newest message in a folder of a `Message-ID`.
async fn find(
    session: &mut ImapSession,
    folder: &ImapFolder,
    message_id: Option<String>,
) -> Result<ImapMessageId, BackendError> {
    let lost = || {
        let message = format!("the message is in `{}` now: list it to see its id", folder.label);
        BackendError::new(BackendErrorKind::NotFound, message)
    };
    let message_id = message_id.ok_or_else(lost)?;
    let validity = session.select(&folder.name).await?.ok_or_else(lost)?.validity;
    let search = ImapCommand::reads("UID SEARCH HEADER Message-ID").string(message_id.as_bytes());
    let answer = session.run(search).await?.done("search")?;
    let found = answer.data.iter().filter(|data| data.first().is_some_and(|it| it.is("SEARCH")));
    let uid = found.flatten().filter_map(ImapValue::number).max().ok_or_else(lost)?;
    Ok(ImapMessageId { folder: folder.name.clone(), validity, uid })
}

/// What marks come to in a mailbox of folders.
#[derive(Default)]
struct ImapMarkChanges {
    goes_to: Option<String>,
    on: Vec<String>,
    off: Vec<String>,
}

/// Does what is to be done with a message; what cannot be done is said before anything is.
pub(super) async fn mark(
    session: &mut ImapSession,
    id: ImapMessageId,
    marks: &MessageMarks,
    own: &Person,
) -> Result<MessageHead, BackendError> {
    let head = fetch::one(session, &id).await?;
    let folders = folder::all(session).await?;
    let here = head.labels.first().cloned().unwrap_or_default();
    let ImapMarkChanges { goes_to, mut on, mut off } = changes(&head, &here, &folders, marks, own)?;
    fetch::go(session, &id).await?;
    let makes = session.selected.as_ref().is_some_and(|selected| selected.makes_keywords);
    if !on.is_empty() && !makes {
        let message = "the mail server takes no new labels in this folder: use one of its folders";
        return Err(BackendError::new(BackendErrorKind::Invalid, message));
    }
    match marks.unread {
        Some(true) => off.push("\\Seen".to_owned()),
        Some(false) => on.push("\\Seen".to_owned()),
        None => {}
    }
    for (sign, flags) in [("+", on), ("-", off)] {
        if !flags.is_empty() {
            let store = format!("{} {sign}FLAGS.SILENT ({})", id.uid, flags.join(" "));
            let store = ImapCommand::writes("UID STORE").words(&store);
            session.run(store).await?.done("mark the message")?;
        }
    }
    let id = match goes_to.filter(|place| *place != here) {
        Some(label) => {
            let known = folders.into_iter().find(|folder| folder.label == label);
            let folder = match known {
                Some(folder) => folder,
                None => folder::place(session, &label).await?,
            };
            transfer(session, &id, &folder).await?
        }
        None => id,
    };
    fetch::one(session, &id).await
}

fn changes(
    head: &MessageHead,
    here: &str,
    folders: &[ImapFolder],
    marks: &MessageMarks,
    own: &Person,
) -> Result<ImapMarkChanges, BackendError> {
    let mut changes = ImapMarkChanges::default();
    for label in &marks.remove {
        let label = label.trim();
        if label.eq_ignore_ascii_case(here) {
            changes.goes_to = Some(place_without(head, here, own).to_owned());
        } else if is_keyword(label) {
            changes.off.push(label.to_owned());
        }
    }
    for label in &marks.add {
        let label = label.trim();
        let lower = label.to_ascii_lowercase();
        let known = folders.iter().find(|folder| folder.label.eq_ignore_ascii_case(label));
        if ["sent", "drafts"].contains(&&*lower) {
            let message = format!("no message is put under `{lower}` by hand: send or draft it");
            return Err(BackendError::new(BackendErrorKind::Invalid, message));
        }
        if is_place(&lower) {
            changes.goes_to = Some(lower);
        } else if let Some(folder) = known {
            changes.goes_to = Some(folder.label.clone());
        } else if is_keyword(label) {
            changes.on.push(label.to_owned());
        } else {
            let message = "a new label on this server is 1 to 60 letters, digits, `-` and `_` \
                           without spaces; a folder that is there already may have any name";
            return Err(BackendError::new(BackendErrorKind::Invalid, message));
        }
    }
    Ok(changes)
}

/// Where a message goes that is taken out of its folder: out of the trash it goes back.
fn place_without(head: &MessageHead, here: &str, own: &Person) -> &'static str {
    let is_own = |person: &Person| person.address.eq_ignore_ascii_case(&own.address);
    if !["trash", "spam"].contains(&here) {
        "archive"
    } else if head.from.as_ref().is_some_and(is_own) && !head.to.iter().any(is_own) {
        "sent"
    } else {
        "inbox"
    }
}

/// Moves a message and gives its new id.
async fn transfer(
    session: &mut ImapSession,
    id: &ImapMessageId,
    folder: &ImapFolder,
) -> Result<ImapMessageId, BackendError> {
    let message_id = message_id(session, id).await?;
    fetch::go(session, id).await?;
    let can_move = session.can("MOVE");
    let words = if can_move { "UID MOVE" } else { "UID COPY" };
    let command =
        ImapCommand::writes(words).words(&id.uid.to_string()).string(folder.name.as_bytes());
    let answer = session.run(command).await?.done("move the message")?;
    let copied = copied(&answer);
    if !can_move {
        delete(session, id).await?;
    }
    // So that it sees what is there now.
    session.selected = None;
    match copied {
        Some((validity, uid)) => Ok(ImapMessageId { folder: folder.name.clone(), validity, uid }),
        None => find(session, folder, message_id).await,
    }
}

/// Where `COPYUID` says a single message went.
fn copied(answer: &ImapCommandResult) -> Option<(u32, u32)> {
    let code = answer.code("COPYUID")?;
    Some((code.first()?.number()?, code.get(2)?.number()?))
}

async fn message_id(
    session: &mut ImapSession,
    id: &ImapMessageId,
) -> Result<Option<String>, BackendError> {
    fetch::go(session, id).await?;
    let fetch = ImapCommand::reads("UID FETCH").words(&id.uid.to_string());
    let fetch = fetch.words("(UID BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])");
    let answer = session.run(fetch).await?.done("show a message")?;
    let found = fetch::fetched(answer.data).remove(&id.uid).ok_or_else(|| id.missing())?;
    let header = found.iter().find(|(name, _)| name.starts_with("BODY[")).map(|(_, value)| value);
    let header = header.and_then(ImapValue::bytes).unwrap_or_default();
    Ok(mime::read(header).ok().and_then(|letter| letter.message_id))
}

/// Takes a message away for good, and no other.
pub(super) async fn delete(
    session: &mut ImapSession,
    id: &ImapMessageId,
) -> Result<(), BackendError> {
    fetch::go(session, id).await?;
    let store = format!("{} +FLAGS.SILENT (\\Deleted)", id.uid);
    session
        .run(ImapCommand::writes("UID STORE").words(&store))
        .await?
        .done("delete the message")?;
    // Without the first, others that somebody marked would go as well; then it stays marked.
    if session.can("UIDPLUS") {
        let expunge = ImapCommand::writes("UID EXPUNGE").words(&id.uid.to_string());
        session.run(expunge).await?.done("delete the message")?;
    }
    Ok(())
}
