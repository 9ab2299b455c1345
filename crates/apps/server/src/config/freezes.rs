//! What is frozen on this machine: calls that do not run, however the rules are. One file for each
//! configuration, in the state folder, so that it outlives a restart.

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use toolcrib_core::{Caller, Effect, ToolSpec};

use super::kept_file::{KeptFile, KeptStamp};
use super::overlays::now;

/// Largest file of it, in bytes.
const LARGEST: u64 = 8 << 20;
/// Freezes at the same time at the most.
const MOST: usize = 1_000;
/// Of these, those that are kept for whoever may freeze the calls of all.
const KEPT_BACK: usize = 200;
/// Freezes of the calls of one tenant.
const MOST_OF_TENANT: usize = 50;
/// Kinds of effects there are.
const ALL_EFFECTS: usize = 3;
/// Longest word of why, in characters.
pub(crate) const LONGEST_WHY: usize = 500;
/// Longest name of what is frozen, in characters.
pub(crate) const LONGEST_NAME: usize = 256;
/// How long one may be meant to hold, in seconds.
pub(crate) const LONGEST_FREEZE: u64 = 10 * 366 * 86_400;

/// Where the freezes of a configuration are kept.
#[derive(Debug, Clone)]
pub(crate) struct FreezeFile(KeptFile);

/// All of them, in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FreezeList {
    /// Counts what was set and lifted.
    pub(crate) version: u64,
    pub(crate) rows: Vec<FreezeRow>,
}

/// What does not run, and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FreezeRow {
    /// The version that it came with.
    pub(crate) id: u64,
    pub(crate) scope: FreezeScope,
    /// Of the source, caller, tenant or tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Whose calls alone; `None`: those of all tenants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tenant: Option<String>,
    /// Calls of tools of these effects.
    pub(crate) effects: Vec<Effect>,
    pub(crate) by: String,
    /// In seconds since 1970, as `until`.
    pub(crate) at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<u64>,
}

/// There are as many as there may be.
#[derive(Debug)]
pub(crate) struct TooManyFreezes(String);

impl fmt::Display for TooManyFreezes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TooManyFreezes {}

/// What a freeze is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub(crate) enum FreezeScope {
    All,
    Source,
    Caller,
    Tenant,
    Tool,
}

impl FreezeFile {
    /// `None`: there is no state folder.
    pub(crate) fn of(config: &Path) -> Option<Self> {
        KeptFile::of(config, "freezes", LARGEST).map(Self)
    }

    pub(crate) fn read(&self) -> Result<FreezeList> {
        let unreadable = || {
            format!(
                "what is frozen cannot be read: correct `{}`, or remove it, which lifts all of it",
                self.0.path().display()
            )
        };
        let Some(text) = self.0.text().with_context(unreadable)? else {
            return Ok(FreezeList::default());
        };
        serde_json::from_str(&text).with_context(unreadable)
    }

    /// Whether nothing can be kept where it would lie.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        self.0.is_out_of_reach()
    }

    pub(crate) fn stamp(&self) -> std::io::Result<Option<KeptStamp>> {
        self.0.stamp()
    }

    /// Adds one. `record` hears of it, with its number, before it holds.
    pub(crate) fn set(
        &self,
        row: FreezeRow,
        record: impl FnOnce(&FreezeRow) -> Result<()>,
    ) -> Result<FreezeRow> {
        let _lock = self.0.lock()?;
        let mut list = self.current()?;
        list.version += 1;
        let row = FreezeRow { id: list.version, ..row };
        let most = if row.tenant.is_some() { MOST - KEPT_BACK } else { MOST };
        if list.rows.len() >= most {
            let told = format!("there are {most} freezes: lift some, or freeze all");
            return Err(TooManyFreezes(told).into());
        }
        let theirs = list.rows.iter().filter(|other| other.tenant == row.tenant).count();
        if row.tenant.is_some() && theirs >= MOST_OF_TENANT {
            let told = format!(
                "there are {MOST_OF_TENANT} freezes of this tenant: have some of them lifted"
            );
            return Err(TooManyFreezes(told).into());
        }
        record(&row)?;
        list.rows.push(row.clone());
        self.write(&list)?;
        Ok(row)
    }

    /// Adds one that held before without being written down. One that a try which failed has left
    /// is not written twice.
    pub(crate) fn keep(&self, row: FreezeRow) -> Result<FreezeRow> {
        let known = self.read()?.rows.into_iter().find(|known| known.is_like(&row));
        known.map_or_else(|| self.set(row, |_| Ok(())), Ok)
    }

    /// `None`: there is none of this number.
    pub(crate) fn lift(
        &self,
        id: u64,
        record: impl FnOnce(&FreezeRow) -> Result<()>,
    ) -> Result<Option<FreezeRow>> {
        let _lock = self.0.lock()?;
        let mut list = self.current()?;
        let Some(place) = list.rows.iter().position(|row| row.id == id) else { return Ok(None) };
        let row = list.rows.remove(place);
        record(&row)?;
        list.version += 1;
        self.write(&list)?;
        Ok(Some(row))
    }

    /// Those whose time is not over.
    fn current(&self) -> Result<FreezeList> {
        let (mut list, now) = (self.read()?, now());
        list.rows.retain(|row| row.lasts(now));
        Ok(list)
    }

    fn write(&self, list: &FreezeList) -> Result<()> {
        let text = serde_json::to_string_pretty(list)?;
        if !self.0.takes(&text) {
            bail!("the freezes take more than {} MiB: lift some", LARGEST >> 20);
        }
        self.0.write(&text)
    }
}

impl FreezeList {
    /// Those whose time is not over.
    pub(crate) fn lasting(&self, now: u64) -> impl Iterator<Item = &FreezeRow> {
        self.rows.iter().filter(move |row| row.lasts(now))
    }
}

impl FreezeRow {
    pub(crate) fn lasts(&self, now: u64) -> bool {
        self.until.is_none_or(|until| until > now)
    }

    /// Whether a call of the tool must not run.
    pub(crate) fn holds(&self, caller: &Caller, tool: &ToolSpec, now: u64) -> bool {
        let is = |own: &str| self.name.as_deref() == Some(own);
        let is_of = match self.scope {
            FreezeScope::All => true,
            FreezeScope::Source => is(tool.origin.source.as_str()),
            FreezeScope::Caller => is(&caller.subject),
            FreezeScope::Tenant => is(&caller.tenant),
            FreezeScope::Tool => is(tool.name.as_str()),
        };
        is_of
            && self.tenant.as_ref().is_none_or(|tenant| *tenant == caller.tenant)
            && self.effects.contains(&tool.effect)
            && self.lasts(now)
    }

    /// Whether it is the same but for its number.
    fn is_like(&self, other: &Self) -> bool {
        Self { id: other.id, ..self.clone() } == *other
    }

    /// Whether it is about some tools and not about others.
    pub(crate) fn singles_out(&self) -> bool {
        self.scope == FreezeScope::Tool || self.effects.len() < ALL_EFFECTS
    }

    /// What is frozen, in words: ``calls of `github` that write or destroy``.
    pub(crate) fn words(&self) -> String {
        let effects: Vec<_> = self.effects.iter().map(|effect| effect.as_str()).collect();
        let name = self.name.as_deref().unwrap_or_default();
        let of = match self.scope {
            FreezeScope::All => "all calls".to_owned(),
            FreezeScope::Source => format!("calls of tools of `{name}`"),
            FreezeScope::Caller => format!("calls of the caller `{name}`"),
            FreezeScope::Tenant => format!("calls of the tenant `{name}`"),
            FreezeScope::Tool => format!("calls of `{name}`"),
        };
        let within = self.tenant.as_ref().map_or_else(String::new, |own| format!(" of `{own}`"));
        format!("{of}{within} that {}", effects.join(" or "))
    }
}
