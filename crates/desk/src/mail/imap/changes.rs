//! Putting messages somewhere: copies of what was written, marks, and moves.

use jiff::tz::TimeZone;

use super::fetch::{self, Id};
use super::folder::{self, Folder, is_keyword, is_place};
use super::session::{Answer, Command, Session};
use super::value::Value;
use crate::backend::{Fault, FaultKind, Marks, MessageHead, Person};
use crate::mail::mime::{self, Stamp};

/// Keeps a message under a place, as read.
pub(super) async fn keep(
    session: &mut Session,
    place: &str,
    raw: &[u8],
    stamp: &Stamp,
) -> Result<MessageHead, Fault> {
    let folder = folder::place(session, place).await?;
    let flags = if place == "drafts" { "(\\Seen \\Draft)" } else { "(\\Seen)" };
    let date = stamp.date.to_zoned(TimeZone::UTC).strftime("\"%d-%b-%Y %H:%M:%S %z\"").to_string();
    let append = Command::writes("APPEND").string(folder.name.as_bytes()).words(flags).words(&date);
    let answer = session.run(append.literal(raw)).await?.done("keep the message")?;
    // So that it sees what was just put there.
    session.selected = None;
    let number = |at: usize| answer.code("APPENDUID")?.get(at)?.number();
    let id = match (number(0), number(1)) {
        (Some(validity), Some(uid)) => Id { folder: folder.name.clone(), validity, uid },
        _ => {
            find(session, &folder, mime::read(raw).ok().and_then(|letter| letter.message_id))
                .await?
        }
    };
    fetch::one(session, &id).await
}

/// The newest message in a folder of a `Message-ID`.
async fn find(
    session: &mut Session,
    folder: &Folder,
    message_id: Option<String>,
) -> Result<Id, Fault> {
    let lost = || {
        let message = format!("the message is in `{}` now: list it to see its id", folder.label);
        Fault::new(FaultKind::NotFound, message)
    };
    let message_id = message_id.ok_or_else(lost)?;
    let validity = session.select(&folder.name).await?.ok_or_else(lost)?.validity;
    let search = Command::reads("UID SEARCH HEADER Message-ID").string(message_id.as_bytes());
    let answer = session.run(search).await?.done("search")?;
    let found = answer.data.iter().filter(|data| data.first().is_some_and(|it| it.is("SEARCH")));
    let uid = found.flatten().filter_map(Value::number).max().ok_or_else(lost)?;
    Ok(Id { folder: folder.name.clone(), validity, uid })
}

/// What marks come to in a mailbox of folders.
#[derive(Default)]
struct Changes {
    goes_to: Option<String>,
    on: Vec<String>,
    off: Vec<String>,
}

/// Does what is to be done with a message; what cannot be done is said before anything is.
pub(super) async fn mark(
    session: &mut Session,
    id: Id,
    marks: &Marks,
    own: &Person,
) -> Result<MessageHead, Fault> {
    let head = fetch::one(session, &id).await?;
    let folders = folder::all(session).await?;
    let here = head.labels.first().cloned().unwrap_or_default();
    let Changes { goes_to, mut on, mut off } = changes(&head, &here, &folders, marks, own)?;
    fetch::go(session, &id).await?;
    let makes = session.selected.as_ref().is_some_and(|selected| selected.makes_keywords);
    if !on.is_empty() && !makes {
        let message = "the mail server takes no new labels in this folder: use one of its folders";
        return Err(Fault::new(FaultKind::Invalid, message));
    }
    match marks.unread {
        Some(true) => off.push("\\Seen".to_owned()),
        Some(false) => on.push("\\Seen".to_owned()),
        None => {}
    }
    for (sign, flags) in [("+", on), ("-", off)] {
        if !flags.is_empty() {
            let store = format!("{} {sign}FLAGS.SILENT ({})", id.uid, flags.join(" "));
            let store = Command::writes("UID STORE").words(&store);
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
    folders: &[Folder],
    marks: &Marks,
    own: &Person,
) -> Result<Changes, Fault> {
    let mut changes = Changes::default();
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
            return Err(Fault::new(FaultKind::Invalid, message));
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
            return Err(Fault::new(FaultKind::Invalid, message));
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
async fn transfer(session: &mut Session, id: &Id, folder: &Folder) -> Result<Id, Fault> {
    let message_id = message_id(session, id).await?;
    fetch::go(session, id).await?;
    let can_move = session.can("MOVE");
    let words = if can_move { "UID MOVE" } else { "UID COPY" };
    let command = Command::writes(words).words(&id.uid.to_string()).string(folder.name.as_bytes());
    let answer = session.run(command).await?.done("move the message")?;
    let copied = copied(&answer);
    if !can_move {
        delete(session, id).await?;
    }
    // So that it sees what is there now.
    session.selected = None;
    match copied {
        Some((validity, uid)) => Ok(Id { folder: folder.name.clone(), validity, uid }),
        None => find(session, folder, message_id).await,
    }
}

/// Where `COPYUID` says a single message went.
fn copied(answer: &Answer) -> Option<(u32, u32)> {
    let code = answer.code("COPYUID")?;
    Some((code.first()?.number()?, code.get(2)?.number()?))
}

async fn message_id(session: &mut Session, id: &Id) -> Result<Option<String>, Fault> {
    fetch::go(session, id).await?;
    let fetch = Command::reads("UID FETCH").words(&id.uid.to_string());
    let fetch = fetch.words("(UID BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])");
    let answer = session.run(fetch).await?.done("show a message")?;
    let found = fetch::fetched(answer.data).remove(&id.uid).ok_or_else(|| id.missing())?;
    let header = found.iter().find(|(name, _)| name.starts_with("BODY[")).map(|(_, value)| value);
    let header = header.and_then(Value::bytes).unwrap_or_default();
    Ok(mime::read(header).ok().and_then(|letter| letter.message_id))
}

/// Takes a message away for good, and no other.
pub(super) async fn delete(session: &mut Session, id: &Id) -> Result<(), Fault> {
    fetch::go(session, id).await?;
    let store = format!("{} +FLAGS.SILENT (\\Deleted)", id.uid);
    session.run(Command::writes("UID STORE").words(&store)).await?.done("delete the message")?;
    // Without the first, others that somebody marked would go as well; then it stays marked.
    if session.can("UIDPLUS") {
        let expunge = Command::writes("UID EXPUNGE").words(&id.uid.to_string());
        session.run(expunge).await?.done("delete the message")?;
    }
    Ok(())
}
