//! Messages out of a folder, without marking them as read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::fmt::strtime;

use super::folder::{self, ImapFolder, is_keyword};
use super::session::{ImapCommand, ImapSession};
use super::value::ImapValue;
use crate::backend::{BackendError, BackendErrorKind, MessageHead};
use crate::mail::mime::{self, MAX_MESSAGE, MimeMessage};

/// Of a head: all of its fields that are worth reading, and the beginning of its text.
const HEAD: &str = "(UID FLAGS INTERNALDATE BODYSTRUCTURE BODY.PEEK[HEADER]<0.32768> \
                    BODY.PEEK[TEXT]<0.4096>)";

/// Where a message is: `INBOX:1732288:5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ImapMessageId {
    pub(super) folder: String,
    pub(super) validity: u32,
    pub(super) uid: u32,
}

impl ImapMessageId {
    pub(super) fn read(text: &str) -> Result<Self, BackendError> {
        let mut parts = text.rsplitn(3, ':');
        let read = || {
            let uid = parts.next()?.parse().ok().filter(|uid| *uid > 0)?;
            let validity = parts.next()?.parse().ok()?;
            let folder =
                parts.next().filter(|folder| !folder.is_empty() && folder.len() <= 1000)?;
            Some(Self { folder: folder.to_owned(), validity, uid })
        };
        let mut read = read;
        read().ok_or_else(|| BackendError::no("message", text))
    }

    pub(super) fn write(&self) -> String {
        format!("{}:{}:{}", self.folder, self.validity, self.uid)
    }

    pub(super) fn missing(&self) -> BackendError {
        BackendError::no("message", &self.write())
    }
}

/// Goes to where a message is.
pub(super) async fn go(session: &mut ImapSession, id: &ImapMessageId) -> Result<(), BackendError> {
    match session.select(&id.folder).await? {
        Some(selected) if selected.validity == id.validity => Ok(()),
        _ => Err(id.missing()),
    }
}

/// What was fetched of each message, by its number.
pub(super) fn fetched(data: Vec<Vec<ImapValue>>) -> BTreeMap<u32, Vec<(String, ImapValue)>> {
    let mut found: BTreeMap<u32, Vec<(String, ImapValue)>> = BTreeMap::new();
    for said in data {
        let [_, fetch, ImapValue::List(pairs)] = said.as_slice() else { continue };
        if !fetch.is("FETCH") {
            continue;
        }
        let pairs: Vec<(String, ImapValue)> = pairs
            .chunks_exact(2)
            .filter_map(|pair| Some((pair.first()?.text()?, pair.get(1)?.clone())))
            .collect();
        let uid = pairs.iter().find(|(name, _)| name.eq_ignore_ascii_case("UID"));
        if let Some(uid) = uid.and_then(|(_, uid)| uid.number()) {
            // Flags that change meanwhile come as a line of their own.
            found.entry(uid).or_default().extend(pairs);
        }
    }
    found
}

fn item<'a>(pairs: &'a [(String, ImapValue)], name: &str) -> Option<&'a ImapValue> {
    let is_so =
        |given: &str| given.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    pairs.iter().find(|(given, _)| is_so(given)).map(|(_, value)| value)
}

/// When a message came, of what was fetched.
pub(super) fn date(pairs: &[(String, ImapValue)]) -> Option<Timestamp> {
    let text = item(pairs, "INTERNALDATE")?.text()?;
    let read = strtime::parse("%d-%b-%Y %H:%M:%S %z", text.trim()).ok()?;
    read.to_timestamp().ok()
}

/// The heads of messages of the folder that the session is in.
pub(super) async fn heads(
    session: &mut ImapSession,
    folder: &ImapFolder,
    uids: &[u32],
) -> Result<BTreeMap<u32, MessageHead>, BackendError> {
    if uids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let validity = session.selected.as_ref().map_or(0, |selected| selected.validity);
    let set = set(uids);
    let fetch = ImapCommand::reads("UID FETCH").words(&set).words(HEAD);
    let answer = session.run(fetch).await?.done("show its messages")?;
    let wanted = |(uid, pairs): (u32, Vec<(String, ImapValue)>)| {
        if !uids.contains(&uid) {
            return None;
        }
        let id = ImapMessageId { folder: folder.name.clone(), validity, uid };
        Some((uid, head(&id, &folder.label, &pairs)?))
    };
    Ok(fetched(answer.data).into_iter().filter_map(wanted).collect())
}

pub(super) fn set(uids: &[u32]) -> String {
    let mut set = String::new();
    for uid in uids {
        if !set.is_empty() {
            set.push(',');
        }
        set.push_str(&uid.to_string());
    }
    set
}

fn head(id: &ImapMessageId, label: &str, pairs: &[(String, ImapValue)]) -> Option<MessageHead> {
    let mut raw = item(pairs, "BODY[HEADER]")?.bytes()?.to_vec();
    raw.extend_from_slice(item(pairs, "BODY[TEXT]").and_then(ImapValue::bytes).unwrap_or_default());
    // What cannot be read has an empty head, so that it can still be put away.
    let letter = mime::read(&raw).unwrap_or_default();
    let flags: Vec<String> = item(pairs, "FLAGS")
        .map_or(&[][..], ImapValue::list)
        .iter()
        .filter_map(ImapValue::text)
        .collect();
    let is = |flag: &str| flags.iter().any(|own| own.eq_ignore_ascii_case(flag));
    let mut labels = vec![label.to_owned()];
    labels.extend(flags.iter().filter(|flag| is_keyword(flag)).cloned());
    Some(MessageHead {
        id: id.write(),
        thread: thread(&letter),
        snippet: letter.snippet(),
        from: letter.from,
        to: letter.to,
        subject: letter.subject,
        date: date(pairs).or(letter.date).unwrap_or(Timestamp::UNIX_EPOCH),
        unread: !is("\\Seen"),
        labels,
        has_attachments: item(pairs, "BODYSTRUCTURE").is_some_and(has_attachments),
    })
}

/// What the messages of a conversation have in common: the first that they refer to.
pub(super) fn thread(letter: &MimeMessage) -> Option<String> {
    letter.references.first().or(letter.message_id.as_ref()).cloned()
}

/// Whether a structure has a part that is no text, or is said to be an attachment.
fn has_attachments(structure: &ImapValue) -> bool {
    let parts = structure.list();
    match parts.first() {
        Some(ImapValue::List(_)) => {
            parts.iter().take_while(|part| matches!(part, ImapValue::List(_))).any(has_attachments)
        }
        Some(kind) => {
            let is_said =
                |part: &ImapValue| part.list().first().is_some_and(|it| it.is("attachment"));
            !kind.is("text") || parts.iter().any(is_said)
        }
        None => false,
    }
}

/// A message: its head and all of its bytes.
pub(super) async fn whole(
    session: &mut ImapSession,
    id: &ImapMessageId,
) -> Result<(MessageHead, Vec<u8>), BackendError> {
    let head = one(session, id).await?;
    let fetch = ImapCommand::reads("UID FETCH").words(&id.uid.to_string());
    let fetch = fetch.words(&format!("(UID BODY.PEEK[]<0.{}>)", MAX_MESSAGE + 1));
    let answer = session.run(fetch).await?.done("show a message")?;
    let mut found = fetched(answer.data);
    let pairs = found.remove(&id.uid).ok_or_else(|| id.missing())?;
    let raw = item(&pairs, "BODY[]").and_then(ImapValue::bytes).map(<[u8]>::to_vec);
    let raw = raw.ok_or_else(|| {
        BackendError::new(
            BackendErrorKind::Broken,
            "the mail server shows a message without its text",
        )
    })?;
    Ok((head, raw))
}

/// The head of one message.
pub(super) async fn one(
    session: &mut ImapSession,
    id: &ImapMessageId,
) -> Result<MessageHead, BackendError> {
    go(session, id).await?;
    let label = label(session, &id.folder).await?;
    go(session, id).await?;
    let folder = ImapFolder { name: id.folder.clone(), label };
    let mut heads = heads(session, &folder, &[id.uid]).await?;
    heads.remove(&id.uid).ok_or_else(|| id.missing())
}

/// The label of a folder.
async fn label(session: &mut ImapSession, name: &str) -> Result<String, BackendError> {
    let folders = folder::all(session).await?;
    let found = folders.into_iter().find(|folder| folder.name == name);
    Ok(found.map_or_else(|| name.to_owned(), |folder| folder.label))
}
