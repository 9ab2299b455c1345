//! What came to a run: kept while it goes on, or played to it again.

use std::collections::VecDeque;

use tokio_util::sync::CancellationToken;

use super::tape::{BatchEntry, TapeEntry, TurnEntry};
use super::words::TextPool;
use crate::event::WaitingTool;
use crate::item::ThreadItem;
use crate::run::RunEffect;

/// The tape of a run.
#[derive(Default)]
pub(crate) enum RunTape {
    /// Nothing is kept.
    #[default]
    None,
    /// What came and is not written yet.
    Kept(Vec<TapeEntry>),
    Played(Box<TapePlayer>),
}

/// A tape that is played.
pub(crate) struct TapePlayer {
    entries: VecDeque<TapeEntry>,
    /// The thread as it was at the end.
    pub(crate) items: Vec<ThreadItem>,
    pub(crate) pool: TextPool,
    /// What the run cannot be told of.
    pub(crate) fault: Option<String>,
    /// Whether the run stops before each batch.
    stops_at_batches: bool,
    /// The batch before which it stopped may go on.
    lets_pass: bool,
}

impl RunTape {
    /// `entry`: made only where it is kept.
    pub(crate) fn note(&mut self, entry: impl FnOnce() -> TapeEntry) {
        if let Self::Kept(entries) = self {
            entries.push(entry());
        }
    }

    /// What is to be written.
    pub(crate) fn drain(&mut self) -> Vec<TapeEntry> {
        if let Self::Kept(entries) = self { std::mem::take(entries) } else { Vec::new() }
    }

    pub(crate) fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }

    pub(crate) fn player(&mut self) -> Option<&mut TapePlayer> {
        if let Self::Played(player) = self { Some(player) } else { None }
    }

    pub(crate) fn is_played(&self) -> bool {
        matches!(self, Self::Played(_))
    }

    /// Whether there is something that this leads to; of a run that is not played, always.
    pub(crate) fn leads_on(&mut self, effect: &RunEffect) -> bool {
        let Some(player) = self.player() else { return true };
        if player.fault.is_some() {
            return false;
        }
        match (effect, player.entries.front()) {
            (RunEffect::Ask { .. }, Some(TapeEntry::Turn(_)))
            | (RunEffect::Check { .. }, Some(TapeEntry::Judged(_) | TapeEntry::Cancelled)) => true,
            (RunEffect::Call(_), Some(TapeEntry::Batch(_))) => {
                !player.stops_at_batches || std::mem::take(&mut player.lets_pass)
            }
            _ => false,
        }
    }

    /// Whether the run was cancelled behind a batch.
    pub(crate) fn was_cancelled(&mut self, cancel: &CancellationToken) -> bool {
        if let Some(player) = self.player() {
            let is_next = matches!(player.entries.front(), Some(TapeEntry::Cancelled));
            return is_next && player.entries.pop_front().is_some();
        }
        let is_cancelled = cancel.is_cancelled();
        if is_cancelled {
            self.note(|| TapeEntry::Cancelled);
        }
        is_cancelled
    }

    /// When a run ended: then, or now.
    pub(crate) fn end(&mut self, now: u64) -> u64 {
        if let Some(player) = self.player() {
            return player.end();
        }
        self.note(|| TapeEntry::Ended { at: now });
        now
    }
}

impl TapePlayer {
    pub(crate) fn new(
        entries: impl IntoIterator<Item = TapeEntry>,
        items: Vec<ThreadItem>,
        pool: TextPool,
    ) -> Self {
        Self {
            entries: entries.into_iter().collect(),
            items,
            pool,
            fault: None,
            stops_at_batches: false,
            lets_pass: false,
        }
    }

    /// The same, for whoever looks at each batch before it goes on.
    pub(crate) fn stop_at_batches(&mut self) {
        self.stops_at_batches = true;
    }

    pub(crate) fn let_pass(&mut self) {
        self.lets_pass = true;
    }

    pub(crate) fn front(&self) -> Option<&TapeEntry> {
        self.entries.front()
    }

    /// What comes, from now on.
    pub(crate) fn ahead(&self) -> impl Iterator<Item = &TapeEntry> {
        self.entries.iter()
    }

    pub(crate) fn next(&mut self) -> Option<TapeEntry> {
        self.entries.pop_front()
    }

    pub(crate) fn turn(&mut self) -> Option<Box<TurnEntry>> {
        match self.entries.pop_front() {
            Some(TapeEntry::Turn(turn)) => Some(turn),
            other => self.put_back(other),
        }
    }

    pub(crate) fn batch(&mut self) -> Option<BatchEntry> {
        match self.entries.pop_front() {
            Some(TapeEntry::Batch(batch)) => Some(batch),
            other => self.put_back(other),
        }
    }

    /// What was known of the calls that came to be waited for.
    pub(crate) fn waiting(&mut self) -> Vec<WaitingTool> {
        match self.entries.pop_front() {
            Some(TapeEntry::Waiting(calls)) => calls,
            other => {
                let absent: Option<()> = self.put_back(other);
                if absent.is_none() {
                    self.fails("what was known of the calls that wait is not on record");
                }
                Vec::new()
            }
        }
    }

    fn end(&mut self) -> u64 {
        match self.entries.pop_front() {
            Some(TapeEntry::Ended { at }) => at,
            other => {
                let absent: Option<()> = self.put_back(other);
                if absent.is_none() {
                    self.fails("the run ends where it did not end");
                }
                0
            }
        }
    }

    fn put_back<T>(&mut self, entry: Option<TapeEntry>) -> Option<T> {
        if let Some(entry) = entry {
            self.entries.push_front(entry);
        }
        None
    }

    /// The first fault counts.
    pub(crate) fn fails(&mut self, fault: impl Into<String>) {
        self.fault.get_or_insert_with(|| fault.into());
    }
}
