//! A run with all that a replay needs, as one file.

use std::fmt::Write as _;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib_core::{LedgerError, RunLedger, RunStage, StoredRun};

use super::tape::{TAPE_FORM, TapeEntry, TapeHead};
use super::words::TextPool;
use crate::event::RunEvent;
use crate::event::stored::{StoredEvent, events_of, input_of};
use crate::item::ThreadItem;
use crate::saved::{SAVED_VERSION, SavedRun};

/// The form of the file.
const FORM: u32 = 1;

/// Largest file that is read, in bytes.
const LARGEST: usize = 256 << 20;

/// A run that was written down: its thread, what came to it, and the events that it told.
#[derive(Debug, Clone, PartialEq)]
pub struct Cassette {
    head: CassetteHead,
    state: String,
    /// Items of the thread, each as JSON.
    items: Vec<String>,
    /// Events and what came, each as JSON, in the order of being written.
    log: Vec<String>,
}

/// What a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CassetteHead {
    pub id: String,
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    pub thread: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    pub state: RunStage,
    /// In seconds since 1970.
    pub created_at: u64,
}

/// A cassette cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CassetteError {
    #[error("the cassette is of a later version (form {0}): update toolcrib")]
    Newer(u32),
    #[error("the cassette is larger than {LARGEST} bytes")]
    TooLarge,
    /// What it is, and what is wrong with it.
    #[error("the cassette cannot be read: {0}")]
    Unreadable(String),
    #[error(
        "what came to this run is not on record: it began under an earlier version, and can be \
         shown but not replayed"
    )]
    Earlier,
}

/// What is played to a run.
pub(crate) struct CassetteTape {
    pub(crate) head: TapeHead,
    pub(crate) entries: Vec<TapeEntry>,
    pub(crate) saved: SavedRun,
    pub(crate) items: Vec<ThreadItem>,
    pub(crate) pool: TextPool,
    /// The events, each as JSON.
    pub(crate) events: Vec<String>,
}

#[derive(Deserialize)]
struct CassetteFile<'a> {
    cassette: u32,
    run: CassetteHead,
    #[serde(borrow)]
    state: &'a RawValue,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
    #[serde(borrow)]
    log: Vec<&'a RawValue>,
}

impl Cassette {
    /// A run of a ledger as it stands; `None`: it has none of this id.
    pub async fn load(ledger: &dyn RunLedger, run: &str) -> Result<Option<Self>, LedgerError> {
        let Some(stored) = ledger.load(run).await? else { return Ok(None) };
        // It may have gone on since.
        let most = usize::try_from(stored.events).unwrap_or(usize::MAX);
        let log = ledger.events(run, 0, most).await?;
        Ok(Some(Self::of(stored, log)))
    }

    /// A run as a ledger has it, with all that was written of it one after the other.
    pub fn of(stored: StoredRun, log: Vec<String>) -> Self {
        let summary = stored.summary;
        let created = summary.created.duration_since(UNIX_EPOCH);
        let head = CassetteHead {
            id: summary.id,
            agent: summary.agent,
            profile: summary.profile,
            thread: summary.thread,
            previous: summary.previous,
            state: summary.stage,
            created_at: created.map_or(0, |since| since.as_secs()),
        };
        Self { head, state: stored.state, items: stored.items, log }
    }

    /// Reads what [`Cassette::to_json`] wrote.
    pub fn read(text: &str) -> Result<Self, CassetteError> {
        if text.len() > LARGEST {
            return Err(CassetteError::TooLarge);
        }
        let unreadable = |error: serde_json::Error| CassetteError::Unreadable(error.to_string());
        let file: CassetteFile<'_> = serde_json::from_str(text).map_err(unreadable)?;
        if file.cassette > FORM {
            return Err(CassetteError::Newer(file.cassette));
        }
        // However it was indented since.
        let plain = |raw: &RawValue| {
            let value: Value = serde_json::from_str(raw.get()).map_err(unreadable)?;
            Ok(value.to_string())
        };
        let all = |list: &[&RawValue]| -> Result<Vec<String>, CassetteError> {
            list.iter().map(|raw| plain(raw)).collect()
        };
        Ok(Self {
            head: file.run,
            state: plain(file.state)?,
            items: all(&file.items)?,
            log: all(&file.log)?,
        })
    }

    /// As one file, with a line for each item and each event.
    pub fn to_json(&self) -> String {
        let head = serde_json::to_string(&self.head).unwrap_or_default();
        let state = &self.state;
        let mut text = format!("{{\"cassette\":{FORM},\n\"run\":{head},\n\"state\":{state},\n");
        for (name, list) in [("items", &self.items), ("log", &self.log)] {
            let _ = write!(text, "\"{name}\":[\n{}\n]", list.join(",\n"));
            text.push_str(if name == "items" { ",\n" } else { "}\n" });
        }
        text
    }

    pub fn head(&self) -> &CassetteHead {
        &self.head
    }

    /// The events that the run told, in order.
    pub fn events(&self) -> Result<Vec<RunEvent>, CassetteError> {
        events_of(&self.log).map_err(|error| CassetteError::Unreadable(error.to_string()))
    }

    /// Its thread as it was at the end.
    pub fn items(&self) -> Result<Vec<ThreadItem>, CassetteError> {
        let items = self.items.iter().enumerate().map(|(number, item)| {
            serde_json::from_str(item).map_err(|error| {
                CassetteError::Unreadable(format!("item {number} of its thread: {error}"))
            })
        });
        items.collect()
    }

    /// Where the run stands, without its thread.
    pub fn saved(&self) -> Result<SavedRun, CassetteError> {
        let saved: SavedRun = serde_json::from_str(&self.state)
            .map_err(|error| CassetteError::Unreadable(format!("its state: {error}")))?;
        if saved.version > SAVED_VERSION {
            return Err(CassetteError::Newer(saved.version));
        }
        Ok(saved)
    }

    pub(crate) fn tape(&self) -> Result<CassetteTape, CassetteError> {
        let mut entries = Vec::new();
        for (number, row) in self.log.iter().enumerate() {
            let Some(came) = input_of(row) else { continue };
            entries.push(serde_json::from_str(came).map_err(|error| {
                CassetteError::Unreadable(format!("entry {number} of its log: {error}"))
            })?);
        }
        let mut entries = entries.into_iter();
        let Some(TapeEntry::Begun(head)) = entries.next() else {
            return Err(CassetteError::Earlier);
        };
        if head.form > TAPE_FORM {
            return Err(CassetteError::Newer(head.form));
        }
        let items = self.items()?;
        if head.items > items.len() {
            return Err(CassetteError::Unreadable("its thread is shorter than it began".into()));
        }
        let (pool, events) = self.told(&items)?;
        Ok(CassetteTape {
            head,
            entries: entries.collect(),
            saved: self.saved()?,
            items,
            pool,
            events,
        })
    }

    /// The texts that are named by their digests, and the events as JSON.
    fn told(&self, items: &[ThreadItem]) -> Result<(TextPool, Vec<String>), CassetteError> {
        let bytes = self.log.iter().chain(&self.items).map(String::len).sum();
        let (mut pool, mut lines) = (TextPool::new(bytes), Vec::new());
        let line = |event: RunEvent| serde_json::to_string(&event).unwrap_or_default();
        for (number, row) in self.log.iter().enumerate() {
            if input_of(row).is_some() {
                continue;
            }
            let event: StoredEvent = serde_json::from_str(row).map_err(|error| {
                CassetteError::Unreadable(format!("entry {number} of its log: {error}"))
            })?;
            match event {
                StoredEvent::Text { text_pieces: pieces } => {
                    pool.put(&pieces.concat());
                    let events = pieces.into_iter().map(|delta| RunEvent::Text { delta });
                    lines.extend(events.map(line));
                }
                StoredEvent::Reasoning { reasoning_pieces: pieces } => {
                    pool.put(&pieces.concat());
                    let events = pieces.into_iter().map(|delta| RunEvent::Reasoning { delta });
                    lines.extend(events.map(line));
                }
                // They are on record of the run that told them, and come from no tape.
                StoredEvent::One(RunEvent::Child { .. } | RunEvent::ChildStarted { .. }) => {}
                StoredEvent::One(event) => {
                    if let RunEvent::CallDone { response } = &event {
                        pool.put(&response.text);
                    }
                    // As it was written: what this version does not know of it counts too.
                    lines.push(row.clone());
                }
            }
        }
        // What was changed among the events is told by comparison, and what was said is found here.
        for item in items {
            match item {
                ThreadItem::Assistant { text, .. } => pool.put(text),
                ThreadItem::Results { results, .. } => {
                    for result in results {
                        pool.put(&result.text);
                    }
                }
                ThreadItem::System { .. }
                | ThreadItem::User { .. }
                | ThreadItem::Summary { .. } => {}
            }
        }
        Ok((pool, lines))
    }
}
