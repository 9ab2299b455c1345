//! Calls that do not run while somebody wants it so, whatever the rules say: asked in the gate, by
//! every door.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use serde_json::json;
use toolcrib_core::{
    BoxFuture, Caller, Fingerprint, Intent, Policy, ToolSpec, UnlistedAccess, UnlistedResource,
    Verdict,
};
use toolcrib_json::invisible::prose;

use crate::config::freezes::{FreezeFile, FreezeList, FreezeRow};
use crate::config::kept_file::KeptStamp;
use crate::config::overlays::now;

/// What is known of the file is as old as this at the most, in milliseconds: other processes write
/// it too.
const AGE: u64 = 250;
/// Freezes that are held in memory.
const MOST_HELD: usize = 50;
/// Of these, those that are kept for whoever may freeze the calls of all.
const HELD_BACK: usize = 10;
/// Freezes of the calls of one tenant.
const HELD_OF_TENANT: usize = 10;
/// Their numbers begin here: the file has smaller ones, and the page can still count them.
const FIRST_HELD: u64 = 1 << 48;

/// Knows what is frozen.
pub(crate) struct FreezeGuard {
    /// `None`: there is no place to keep any, and nothing is frozen.
    file: Option<FreezeFile>,
    begun: Instant,
    /// When the file was looked at last, in milliseconds since then.
    looked: AtomicU64,
    known: RwLock<KnownFreezes>,
}

#[derive(Default)]
struct KnownFreezes {
    stamp: Option<KeptStamp>,
    state: Arc<FreezeState>,
    /// The file was looked at.
    is_known: bool,
    held: Vec<HeldFreeze>,
    /// Held since the start.
    counted: u64,
}

/// A freeze that could not be written down: it holds as long as the process.
#[derive(Clone)]
pub(crate) struct HeldFreeze {
    pub(crate) row: FreezeRow,
    pub(crate) by: Arc<Caller>,
}

pub(crate) enum FreezeState {
    Known(FreezeList),
    /// Nobody can say what is frozen, so all is.
    Unreadable(String),
}

impl Default for FreezeState {
    fn default() -> Self {
        Self::Known(FreezeList::default())
    }
}

impl FreezeGuard {
    pub(crate) fn new(file: Option<FreezeFile>) -> Arc<Self> {
        let (looked, known) = (AtomicU64::new(0), RwLock::default());
        let guard = Self { file, begun: Instant::now(), looked, known };
        guard.look();
        Arc::new(guard)
    }

    pub(crate) fn file(&self) -> Option<&FreezeFile> {
        self.file.as_ref()
    }

    /// What is frozen, at most a moment old.
    pub(crate) fn state(&self) -> Arc<FreezeState> {
        let (now, last) = (self.elapsed(), self.looked.load(Ordering::Relaxed));
        let is_old = now.saturating_sub(last) >= AGE;
        if is_old
            && self.looked.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.look();
        }
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner).state)
    }

    /// Looks at the file now.
    pub(crate) fn look(&self) {
        let Some(file) = &self.file else { return };
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let stamp = match file.stamp() {
            Ok(stamp) => stamp,
            // What was known before stays, and where nothing can be kept nothing is frozen.
            Err(_) if known.is_known || file.is_out_of_reach() => return,
            Err(error) => {
                known.state = Arc::new(FreezeState::Unreadable(error.to_string()));
                (known.stamp, known.is_known) = (None, false);
                return;
            }
        };
        if stamp == known.stamp && !matches!(*known.state, FreezeState::Unreadable(_)) {
            return;
        }
        let state = match file.read() {
            Ok(mut list) => {
                list.rows.extend(known.held.iter().map(|held| held.row.clone()));
                FreezeState::Known(list)
            }
            Err(error) => FreezeState::Unreadable(format!("{error:#}")),
        };
        known.state = Arc::new(state);
        (known.stamp, known.is_known) = (stamp, true);
    }

    /// Has a freeze hold that could not be written down. `None`: too many are held.
    pub(crate) fn hold(&self, row: FreezeRow, by: Arc<Caller>) -> Option<FreezeRow> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let theirs = known.held.iter().filter(|held| held.row.tenant == row.tenant).count();
        let (most, most_theirs) = match row.tenant {
            None => (MOST_HELD, MOST_HELD),
            Some(_) => (MOST_HELD - HELD_BACK, HELD_OF_TENANT),
        };
        if known.held.len() >= most || theirs >= most_theirs {
            return None;
        }
        let row = FreezeRow { id: FIRST_HELD + known.counted, ..row };
        known.counted += 1;
        known.held.push(HeldFreeze { row: row.clone(), by });
        known.show_held();
        Some(row)
    }

    /// Those that are held in memory.
    pub(crate) fn held(&self) -> Vec<HeldFreeze> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).held.clone()
    }

    /// Holds one no more that is in memory; `None`: there is none of this number.
    pub(crate) fn let_go(&self, id: u64) -> Option<FreezeRow> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let place = known.held.iter().position(|held| held.row.id == id)?;
        let held = known.held.remove(place);
        known.show_held();
        Some(held.row)
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether a freeze of this number is held in memory and nowhere else.
    pub(crate) fn is_held(id: u64) -> bool {
        id >= FIRST_HELD
    }

    /// Why a call must not run now.
    fn forbids(&self, caller: &Caller, tool: &ToolSpec) -> Option<String> {
        match &*self.state() {
            FreezeState::Known(list) if list.rows.is_empty() => None,
            FreezeState::Known(list) => {
                let now = now();
                list.rows.iter().find(|row| row.holds(caller, tool, now)).map(told)
            }
            FreezeState::Unreadable(_) => Some(
                "frozen: nobody can say what is frozen, so no call runs; whoever runs the server \
                 has to put that right"
                    .to_owned(),
            ),
        }
    }
}

impl KnownFreezes {
    /// What is known to be frozen, with what is held by now.
    fn show_held(&mut self) {
        let FreezeState::Known(list) = &*self.state else { return };
        let mut list = list.clone();
        list.rows.retain(|row| !FreezeGuard::is_held(row.id));
        list.rows.extend(self.held.iter().map(|held| held.row.clone()));
        self.state = Arc::new(FreezeState::Known(list));
    }
}

/// For the model and the caller. Names of others stand in no word of it.
fn told(row: &FreezeRow) -> String {
    let why = row.why.as_deref().map_or_else(String::new, |why| format!(" ({})", prose(why)));
    let effects: Vec<_> = row.effects.iter().map(|effect| effect.as_str()).collect();
    format!(
        "frozen: a person has stopped calls that {}{why}; it is no fault of the call",
        effects.join(" or ")
    )
}

/// A policy under which nothing runs that is frozen.
pub(crate) struct FreezePolicy {
    guard: Arc<FreezeGuard>,
    inner: Arc<dyn Policy>,
}

impl FreezePolicy {
    pub(crate) fn new(guard: Arc<FreezeGuard>, inner: Arc<dyn Policy>) -> Self {
        Self { guard, inner }
    }
}

impl Policy for FreezePolicy {
    /// A tool that is frozen is still there: plans stay as they are, and the model is told why.
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.inner.sees(caller, tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let Some(reason) = self.guard.forbids(intent.caller, intent.tool) else {
            return self.inner.decide(intent);
        };
        Box::pin(async move {
            // Whoever may not have the tool is told what they would be told without it.
            match self.inner.decide(intent).await {
                Verdict::Deny(own) => Verdict::Deny(own),
                Verdict::Allow | Verdict::Ask(_) => Verdict::Deny(reason),
            }
        })
    }

    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.guard.forbids(caller, tool).is_none() && self.inner.lets_run(caller, tool)
    }

    fn stops(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.guard.forbids(caller, tool).is_some() || self.inner.stops(caller, tool)
    }

    /// With a freeze of some tools, one that nobody lists might be another name of theirs.
    fn is_per_tool(&self) -> bool {
        let singles_out = match &*self.guard.state() {
            FreezeState::Known(list) => list.lasting(now()).any(FreezeRow::singles_out),
            FreezeState::Unreadable(_) => true,
        };
        singles_out || self.inner.is_per_tool()
    }

    fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        self.inner.leave(caller, unlisted)
    }

    /// What the provider of a model runs is decided on with the plan, so that none is kept over a
    /// freeze.
    fn version(&self) -> Option<Fingerprint> {
        let inner = self.inner.version()?;
        let frozen: Vec<_> = match &*self.guard.state() {
            FreezeState::Known(list) if list.rows.is_empty() => return Some(inner),
            FreezeState::Known(list) => list.lasting(now()).map(|row| row.id).collect(),
            FreezeState::Unreadable(_) => vec![0],
        };
        Some(if frozen.is_empty() { inner } else { Fingerprint::of(&json!([inner, frozen])) })
    }
}
