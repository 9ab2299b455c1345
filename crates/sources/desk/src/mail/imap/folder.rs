//! The folders of a mailbox, and which labels they are.

use encodify::utf7::IMAP;

use super::session::{ImapCommand, ImapSession};
use super::value::ImapValue;
use crate::backend::{BackendError, BackendErrorKind, MailLabel};

const MOST: usize = 1000;
/// Keywords that are shown as labels, and folders that are counted.
const MOST_COUNTED: usize = 100;

/// A folder that messages can lie in.
#[derive(Debug, Clone)]
pub(super) struct ImapFolder {
    /// As the server writes it.
    pub(super) name: String,
    pub(super) label: String,
}

/// The uses: the label, what servers call it, how it is made, and how it is usually called.
const USES: &[(&str, &str, &[&str])] = &[
    ("sent", "\\Sent", &["Sent", "Sent Items", "Sent Messages", "Sent Mail"]),
    ("drafts", "\\Drafts", &["Drafts", "Draft"]),
    ("archive", "\\Archive", &["Archive", "Archives"]),
    ("trash", "\\Trash", &["Trash", "Deleted Items", "Deleted Messages", "Bin"]),
    ("spam", "\\Junk", &["Junk", "Spam", "Junk E-mail", "Junk Email"]),
];

/// Whether a label is the one of a special folder.
pub(super) fn is_place(label: &str) -> bool {
    label == "inbox" || USES.iter().any(|(place, ..)| *place == label)
}

struct ImapListEntry {
    name: String,
    flags: Vec<String>,
    delimiter: String,
}

/// Every folder with its label, the inbox first.
pub(super) async fn all(session: &mut ImapSession) -> Result<Vec<ImapFolder>, BackendError> {
    let listed = listed(session).await?;
    let mut folders: Vec<ImapFolder> = Vec::new();
    let name_of = |label: &str, is_so: &dyn Fn(&ImapListEntry) -> bool| {
        let found = listed.iter().find(|listed| is_so(listed));
        found.map(|found| ImapFolder { name: found.name.clone(), label: label.to_owned() })
    };
    folders.extend(name_of("inbox", &|listed| listed.name.eq_ignore_ascii_case("INBOX")));
    for (label, used, names) in USES {
        let is_used = |listed: &ImapListEntry| {
            listed.flags.iter().any(|flag| flag.eq_ignore_ascii_case(used))
        };
        let is_called = |listed: &ImapListEntry| {
            let last = last_part(listed);
            listed.flags.iter().all(|flag| !is_use(flag))
                && names.iter().any(|name| name.eq_ignore_ascii_case(last))
        };
        folders.extend(name_of(label, &is_used).or_else(|| name_of(label, &is_called)));
    }
    for listed in &listed {
        let is_known = folders.iter().any(|folder| folder.name == listed.name);
        // Everything there is once more, or what is starred: none of it is a place.
        let is_view = listed.flags.iter().any(|flag| is_use(flag));
        if is_known || is_view || folders.len() >= MOST {
            continue;
        }
        // What is no UTF-7 (RFC 3501, 5.1.3) stays as it is.
        let label = IMAP.lenient().decode(&listed.name);
        let mut label = label.unwrap_or_else(|_| listed.name.clone());
        label.retain(|character| !character.is_control());
        if is_place(&label.to_ascii_lowercase()) {
            label.push_str(" (folder)");
        }
        folders.push(ImapFolder { name: listed.name.clone(), label });
    }
    Ok(folders)
}

fn is_use(flag: &str) -> bool {
    let uses = ["\\All", "\\Flagged", "\\Important"];
    let mut uses = uses.iter().chain(USES.iter().map(|(_, used, _)| used));
    uses.any(|used| used.eq_ignore_ascii_case(flag))
}

fn last_part(listed: &ImapListEntry) -> &str {
    if listed.delimiter.is_empty() {
        return &listed.name;
    }
    listed.name.rsplit(&listed.delimiter).next().unwrap_or(&listed.name)
}

async fn listed(session: &mut ImapSession) -> Result<Vec<ImapListEntry>, BackendError> {
    let list = ImapCommand::reads("LIST").string(b"").string(b"*");
    let list = if session.can("SPECIAL-USE") && session.can("LIST-EXTENDED") {
        list.words("RETURN (SPECIAL-USE)")
    } else {
        list
    };
    let answer = session.run(list).await?.done("list its folders")?;
    let read = |data: &Vec<ImapValue>| {
        let [list, flags, delimiter, name, ..] = data.as_slice() else { return None };
        let flags: Vec<String> = flags.list().iter().filter_map(ImapValue::text).collect();
        let is = |word: &str| flags.iter().any(|flag| flag.eq_ignore_ascii_case(word));
        if !list.is("LIST") || is("\\Noselect") || is("\\NonExistent") {
            return None;
        }
        let name = name.text()?;
        Some(ImapListEntry { name, flags, delimiter: delimiter.text().unwrap_or_default() })
    };
    Ok(answer.data.iter().filter_map(read).take(MOST).collect())
}

/// The folder of a place, which is made if it is missing.
pub(super) async fn place(
    session: &mut ImapSession,
    label: &str,
) -> Result<ImapFolder, BackendError> {
    let folders = all(session).await?;
    if let Some(found) = folders.iter().find(|folder| folder.label == label) {
        return Ok(found.clone());
    }
    let names = USES.iter().find(|(place, ..)| *place == label).map(|(.., names)| *names);
    let name = names.and_then(<[_]>::first).ok_or_else(|| {
        BackendError::new(
            BackendErrorKind::Broken,
            format!("the mail server has no folder for `{label}`"),
        )
    })?;
    // Some servers have everything below the inbox.
    let below = listed(session).await?.into_iter().find(|listed| {
        let inbox = format!("INBOX{}", listed.delimiter);
        !listed.delimiter.is_empty() && listed.name.starts_with(&inbox)
    });
    let is_flat = folders.iter().any(|folder| !folder.name.starts_with("INBOX"));
    let name = match below {
        Some(listed) if !is_flat => format!("INBOX{}{name}", listed.delimiter),
        _ => (*name).to_owned(),
    };
    let create = ImapCommand::writes("CREATE").string(name.as_bytes());
    session.run(create).await?.done("make a folder")?;
    Ok(ImapFolder { name, label: label.to_owned() })
}

/// The labels: places, folders, and the keywords of the inbox.
pub(super) async fn labels(session: &mut ImapSession) -> Result<Vec<MailLabel>, BackendError> {
    let folders = all(session).await?;
    let mut labels = Vec::new();
    for (at, folder) in folders.iter().enumerate() {
        let mut label = MailLabel { name: folder.label.clone(), total: None, unread: None };
        if at < MOST_COUNTED {
            let status = ImapCommand::reads("STATUS").string(folder.name.as_bytes());
            let answer = session.run(status.words("(MESSAGES UNSEEN)")).await?;
            let said =
                answer.data.iter().find(|data| data.first().is_some_and(|it| it.is("STATUS")));
            let counts = said.and_then(|data| data.get(2)).map_or(&[][..], ImapValue::list);
            for pair in counts.chunks_exact(2) {
                let [word, count] = pair else { continue };
                let count = count.number().map(u64::from);
                if word.is("MESSAGES") {
                    label.total = count;
                } else if word.is("UNSEEN") {
                    label.unread = count;
                }
            }
        }
        labels.push(label);
    }
    for (place, ..) in USES {
        // A place that nobody has made yet is there all the same: it is made when it is used.
        if labels.iter().all(|label| label.name != *place) {
            labels.push(MailLabel { name: (*place).to_owned(), total: Some(0), unread: Some(0) });
        }
    }
    for keyword in keywords(session).await? {
        if labels.iter().all(|label| !label.name.eq_ignore_ascii_case(&keyword)) {
            labels.push(MailLabel { name: keyword, total: None, unread: None });
        }
    }
    Ok(labels)
}

/// The keywords that the inbox knows.
async fn keywords(session: &mut ImapSession) -> Result<Vec<String>, BackendError> {
    let examine = session.run(ImapCommand::reads("EXAMINE").string(b"INBOX")).await?;
    // It is another folder now, and one that cannot be changed.
    session.selected = None;
    let said = examine.data.iter().find(|data| data.first().is_some_and(|it| it.is("FLAGS")));
    let flags = said.and_then(|data| data.get(1)).map_or(&[][..], ImapValue::list);
    let keywords = flags.iter().filter_map(ImapValue::text).filter(|flag| is_keyword(flag));
    Ok(keywords.take(MOST_COUNTED).collect())
}

/// Whether a flag is a label of the owner's: those of mailers begin with a dollar, as does
/// `NonJunk` of another make.
pub(super) fn is_keyword(flag: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+/!?=~'#:,;@&".contains(&byte);
    let others = ["junk", "nonjunk", "forwarded"];
    !flag.is_empty()
        && flag.len() <= 60
        && flag.bytes().all(plain)
        && !others.iter().any(|other| other.eq_ignore_ascii_case(flag))
}
