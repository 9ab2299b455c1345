//! What became of tools while a configuration was served: what was changed over the file, accepted,
//! kept out, and defined anew by its source. It is for people to read, and decides nothing.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_config::{OverlayPath, OverlayRow};
use toolcrib_core::{Fingerprint, ToolSpec};

use super::kept_file::KeptFile;
use super::overlays::now;

/// Largest file, in bytes.
const LARGEST: u64 = 4 << 20;
/// What is kept at the most; the oldest goes first.
const MOST: usize = 5_000;
/// Of these, what sources did: one that defines its tools anew all the time must not push out what
/// people did.
const MOST_REDEFINED: usize = 2_000;
/// For how long, in seconds.
pub(crate) const REMEMBERED: u64 = 180 * 86_400;
/// Longest value, in bytes of JSON: of a longer one it is kept that there was one.
const LONGEST_VALUE: usize = 2_000;

/// Where the history of a configuration is kept.
#[derive(Debug, Clone)]
pub(crate) struct HistoryFile(KeptFile);

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptHistory {
    entries: Vec<HistoryEntry>,
}

/// One thing that happened. What does not belong to its kind is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryEntry {
    /// In seconds since 1970.
    pub(crate) at: u64,
    pub(crate) act: HistoryAct,
    /// `None`: the source did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<HistoryChange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) definition: Option<HistoryDefinition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HistoryAct {
    /// A field was changed over the file.
    Changed,
    /// Such a change was taken back, or another took its place.
    TakenBack,
    /// A pin file has taken the tool as it was.
    Accepted,
    KeptOut,
    /// Its source defines it otherwise.
    Redefined,
}

/// A field, and what it was set to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryChange {
    /// The number of its row in the overlay.
    pub(crate) row: u64,
    pub(crate) path: OverlayPath,
    #[serde(default)]
    pub(crate) value: Value,
    /// The value was too long to be kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
    /// When it was to end by itself, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<u64>,
}

/// A tool as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryDefinition {
    pub(crate) source: String,
    pub(crate) tool: String,
    pub(crate) fingerprint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
}

impl HistoryFile {
    /// `None`: there is no state folder, and so nothing is kept.
    pub(crate) fn of(config: &Path) -> Option<Self> {
        KeptFile::of(config, "history", LARGEST).map(Self)
    }

    /// All of it, oldest first.
    pub(crate) fn read(&self) -> Result<Vec<HistoryEntry>> {
        let unreadable = || {
            let path = self.0.path().display();
            format!(
                "the history of the tools cannot be read: remove `{path}`, which begins it anew"
            )
        };
        let Some(text) = self.0.text().with_context(unreadable)? else { return Ok(Vec::new()) };
        let kept: KeptHistory = serde_json::from_str(&text).with_context(unreadable)?;
        let since = now().saturating_sub(REMEMBERED);
        Ok(kept.entries.into_iter().filter(|entry| entry.at >= since).collect())
    }

    pub(crate) fn add(&self, new: Vec<HistoryEntry>) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let _lock = self.0.lock()?;
        let mut entries = self.read()?;
        entries.extend(new);
        forget(&mut entries);
        loop {
            let text = serde_json::to_string(&KeptHistory { entries: entries.clone() })?;
            if self.0.takes(&text) || entries.is_empty() {
                return self.0.write(&text);
            }
            entries.drain(..entries.len().div_ceil(2));
        }
    }
}

/// Leaves as many as are kept.
fn forget(entries: &mut Vec<HistoryEntry>) {
    let is_of_source = |entry: &HistoryEntry| entry.act == HistoryAct::Redefined;
    let of_sources = entries.iter().filter(|entry| is_of_source(entry)).count();
    let mut too_many = of_sources.saturating_sub(MOST_REDEFINED);
    entries.retain(|entry| {
        let goes = too_many > 0 && is_of_source(entry);
        too_many -= usize::from(goes);
        !goes
    });
    entries.drain(..entries.len().saturating_sub(MOST));
}

impl HistoryEntry {
    /// A row that was made, by whoever made it.
    pub(crate) fn changed(row: &OverlayRow) -> Self {
        let (by, why) = (Some(row.by.clone()), row.why.clone());
        let change = Some(HistoryChange::of(row));
        Self { at: row.at, act: HistoryAct::Changed, by, why, change, definition: None }
    }

    pub(crate) fn taken_back(row: &OverlayRow, by: &str, at: u64) -> Self {
        let change = Some(HistoryChange::of(row));
        let (by, why) = (Some(by.to_owned()), None);
        Self { at, act: HistoryAct::TakenBack, by, why, change, definition: None }
    }

    /// A decision about a tool as it was.
    pub(crate) fn decided(act: HistoryAct, spec: &ToolSpec, by: &str, why: Option<&str>) -> Self {
        let (by, why) = (Some(by.to_owned()), why.map(str::to_owned));
        let definition = Some(HistoryDefinition::of(spec, spec.fingerprint(), None));
        Self { at: now(), act, by, why, change: None, definition }
    }

    pub(crate) fn redefined(spec: &ToolSpec, before: Fingerprint, after: Fingerprint) -> Self {
        let definition = Some(HistoryDefinition::of(spec, after, Some(before)));
        let act = HistoryAct::Redefined;
        Self { at: now(), act, by: None, why: None, change: None, definition }
    }

    /// Whether it is about this tool, or about all of its source.
    pub(crate) fn is_of(&self, source: &str, tool: &str) -> bool {
        let keys = self.change.iter().flat_map(|change| change.path.keys().iter());
        let keys: Vec<_> = keys.map(String::as_str).collect();
        let is_of_path = match keys.as_slice() {
            ["tool", name, ..] => *name == tool,
            ["source", id, ..] => *id == source,
            _ => false,
        };
        let is_defined = |own: &HistoryDefinition| own.source == source && own.tool == tool;
        is_of_path || self.definition.as_ref().is_some_and(is_defined)
    }
}

impl HistoryChange {
    fn of(row: &OverlayRow) -> Self {
        let is_cut = row.value.to_string().len() > LONGEST_VALUE;
        let value = if is_cut { Value::Null } else { row.value.clone() };
        Self { row: row.id, path: row.path.clone(), value, is_cut, until: row.until }
    }
}

impl HistoryDefinition {
    fn of(spec: &ToolSpec, fingerprint: Fingerprint, before: Option<Fingerprint>) -> Self {
        Self {
            source: spec.origin.source.to_string(),
            tool: spec.name.to_string(),
            fingerprint: fingerprint.to_string(),
            before: before.map(|before| before.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(act: HistoryAct, at: u64) -> HistoryEntry {
        HistoryEntry { at, act, by: None, why: None, change: None, definition: None }
    }

    #[test]
    fn a_source_that_defines_its_tools_all_the_time_pushes_out_nothing_that_people_did() {
        let mut entries = vec![entry(HistoryAct::Accepted, 0)];
        for at in 1..=7_000 {
            entries.push(entry(HistoryAct::Redefined, at));
            forget(&mut entries);
        }
        let mut kept = vec![entry(HistoryAct::Accepted, 0)];
        kept.extend((5_001..=7_000).map(|at| entry(HistoryAct::Redefined, at)));
        assert_eq!(entries, kept);
        for at in 7_001..=12_000 {
            entries.push(entry(HistoryAct::Changed, at));
            forget(&mut entries);
        }
        let newest: Vec<_> = (7_001..=12_000).map(|at| entry(HistoryAct::Changed, at)).collect();
        assert_eq!(entries, newest);
    }
}
