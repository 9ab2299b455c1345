//! Labels: Gmail's names for them, and ours.
//!
//! <https://developers.google.com/workspace/gmail/api/guides/labels>

use serde::Deserialize;

use crate::backend::{BackendError, BackendErrorKind, MailLabel, MessageMarks};

/// Ours, and Gmail's. Archived is what has none of the first five.
const SYSTEM: &[(&str, &str)] = &[
    ("inbox", "INBOX"),
    ("sent", "SENT"),
    ("drafts", "DRAFT"),
    ("trash", "TRASH"),
    ("spam", "SPAM"),
    ("starred", "STARRED"),
    ("important", "IMPORTANT"),
];
const PLACES: usize = 5;
const ARCHIVE: &str = "archive";
/// Labels whose messages are counted: each is a request.
const MOST_COUNTED: usize = 40;
/// Longest name of a label, in characters.
const LONGEST: usize = 225;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(in crate::google) struct GmailLabels {
    labels: Vec<GmailLabel>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct GmailLabel {
    pub(super) id: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct GmailLabelCounts {
    messages_total: Option<u64>,
    messages_unread: Option<u64>,
}

impl GmailLabelCounts {
    pub(super) fn label(self, name: String) -> MailLabel {
        MailLabel { name, total: self.messages_total, unread: self.messages_unread }
    }
}

/// Gmail's id of a label that every account has.
fn system(name: &str) -> Option<&'static str> {
    SYSTEM.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, id)| *id)
}

/// Whether an id is of a label that the owner made: Gmail's own are in capitals.
pub(super) fn is_own(id: &str) -> bool {
    id.bytes().any(|byte| byte.is_ascii_lowercase())
}

impl GmailLabels {
    /// Gmail's id of a label of the owner's own.
    pub(super) fn id(&self, name: &str) -> Option<String> {
        let mut own = self.labels.iter().filter(|label| is_own(&label.id));
        own.find(|label| label.name.eq_ignore_ascii_case(name)).map(|label| label.id.clone())
    }

    /// Our names for the labels of a message; categories and the like are nobody's labels.
    pub(super) fn names(&self, ids: &[String]) -> Vec<String> {
        let known = SYSTEM.iter().filter(|(_, id)| ids.iter().any(|it| it == id));
        let mut names: Vec<String> = known.map(|(name, _)| (*name).to_owned()).collect();
        let placed = SYSTEM.iter().take(PLACES).any(|(_, id)| ids.iter().any(|it| it == id));
        if !placed {
            names.insert(0, ARCHIVE.to_owned());
        }
        let own = self.labels.iter().filter(|label| is_own(&label.id) && ids.contains(&label.id));
        names.extend(own.map(|label| label.name.clone()));
        names
    }

    /// All labels by our names, with the ids of those that are counted.
    pub(super) fn listed(self) -> Vec<(Option<String>, String)> {
        let system = SYSTEM.iter().map(|(name, id)| (Some((*id).to_owned()), (*name).to_owned()));
        let mut listed: Vec<_> = system.collect();
        listed.insert(PLACES, (None, ARCHIVE.to_owned()));
        let own = self.labels.into_iter().filter(|label| is_own(&label.id));
        listed.extend(own.map(|label| (Some(label.id), label.name)));
        for (id, _) in listed.iter_mut().skip(MOST_COUNTED) {
            *id = None;
        }
        listed
    }
}

/// Where to look for messages.
pub(super) enum GmailSearchScope {
    Anywhere,
    Archive,
    /// By Gmail's id.
    Label(String),
}

impl GmailSearchScope {
    pub(super) fn of_system(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case(ARCHIVE) {
            return Some(Self::Archive);
        }
        system(name).map(|id| Self::Label(id.to_owned()))
    }

    pub(super) fn id(&self) -> Option<String> {
        match self {
            Self::Label(id) => Some(id.clone()),
            Self::Anywhere | Self::Archive => None,
        }
    }

    /// Whether Gmail shows what lies there only to whom asks for it.
    pub(super) fn is_hidden(&self) -> bool {
        matches!(self, Self::Label(id) if id == "TRASH" || id == "SPAM")
    }
}

/// What marks mean in labels of Gmail's.
#[derive(Default)]
pub(super) struct GmailLabelChange {
    pub(super) add: Vec<String>,
    pub(super) remove: Vec<String>,
    /// Names of the owner's own.
    pub(super) own_add: Vec<String>,
    pub(super) own_remove: Vec<String>,
    pub(super) trash: bool,
    pub(super) untrash: bool,
}

impl GmailLabelChange {
    pub(super) fn new(marks: &MessageMarks) -> Result<Self, BackendError> {
        let mut this = Self::default();
        for name in &marks.add {
            this.put_on(name.trim())?;
        }
        for name in &marks.remove {
            this.take_off(name.trim())?;
        }
        match marks.unread {
            Some(true) => this.add.push("UNREAD".to_owned()),
            Some(false) => this.remove.push("UNREAD".to_owned()),
            None => {}
        }
        // One that is put on and taken off is taken off.
        this.add.retain(|id| !this.remove.contains(id));
        Ok(this)
    }

    fn put_on(&mut self, name: &str) -> Result<(), BackendError> {
        if name.eq_ignore_ascii_case(ARCHIVE) {
            self.remove.push("INBOX".to_owned());
            return Ok(());
        }
        match system(name) {
            Some("TRASH") => self.trash = true,
            Some(id @ ("SENT" | "DRAFT")) => return Err(fixed(id)),
            Some(id) => self.add.push(id.to_owned()),
            None if !is_name(name) => {
                let message =
                    format!("a label has a name of 1 to {LONGEST} characters on one line");
                return Err(BackendError::new(BackendErrorKind::Invalid, message));
            }
            None => self.own_add.push(name.to_owned()),
        }
        Ok(())
    }

    fn take_off(&mut self, name: &str) -> Result<(), BackendError> {
        if name.eq_ignore_ascii_case(ARCHIVE) {
            self.add.push("INBOX".to_owned());
            return Ok(());
        }
        match system(name) {
            Some("TRASH") => self.untrash = true,
            Some(id @ ("SENT" | "DRAFT")) => return Err(fixed(id)),
            Some(id) => self.remove.push(id.to_owned()),
            None => self.own_remove.push(name.to_owned()),
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    let is_long = name.chars().count() > LONGEST;
    !name.is_empty() && !is_long && !name.chars().any(char::is_control)
}

fn fixed(id: &str) -> BackendError {
    let name = SYSTEM.iter().find(|(_, own)| *own == id).map_or(id, |(name, _)| name);
    let message = format!("`{name}` is where Gmail puts a message itself: take another label");
    BackendError::new(BackendErrorKind::Invalid, message)
}
