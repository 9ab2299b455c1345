//! Tools of our own that are there for whoever has a use for them, and for nobody else.

mod get_call;
mod read_result;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use tokio::sync::watch;
use toolcrib_core::{
    BoxFuture, Caller, Catalog, ErrorKind, Ledger, Response, Tool, ToolOutcome, ToolSpec,
};

/// Where they come from, for rules: no source of a file has this name with a tool of theirs.
pub(crate) const SOURCE: &str = "toolcrib";

/// Callers of one tenant of whom it is known that they had such a call; with one more all of them
/// are forgotten. So it is with tenants.
const MOST_DOUBTING: usize = 1_000;

/// The tools, and the snapshots that have them.
pub(crate) struct BuiltinTools {
    /// Reads a result that was too large to be shown whole.
    reader: Arc<dyn Tool>,
    /// Tells how a call stands; `None`: the ledger cannot.
    looker: Option<Arc<dyn Tool>>,
    ledger: Arc<dyn Ledger>,
    /// By tenant and subject: had a call of which nobody knew how it ended.
    doubting: ArcSwap<HashMap<String, HashSet<String>>>,
    /// The snapshots that were asked for, and what each is with some of the tools.
    latest: ArcSwap<Vec<BuiltinSnapshot>>,
    /// Counts how often somebody began to have a use for one.
    began: watch::Sender<u64>,
}

/// A snapshot, and what it is for whoever has these uses.
type BuiltinSnapshot = (Weak<Catalog>, BuiltinUses, Arc<Catalog>);

/// What a caller has a use for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BuiltinUses {
    reads: bool,
    looks_up: bool,
}

impl BuiltinTools {
    /// `None` only if a name were none.
    pub(crate) fn of(ledger: &Arc<dyn Ledger>) -> Option<Arc<Self>> {
        let reader = read_result::tool(Arc::clone(ledger)).ok()?;
        let mut looker = None;
        if ledger.supports_status() {
            looker = Some(get_call::tool(Arc::clone(ledger)).ok()?);
        }
        let (began, _) = watch::channel(0);
        Some(Arc::new(Self {
            reader,
            looker,
            ledger: Arc::clone(ledger),
            doubting: ArcSwap::default(),
            latest: ArcSwap::default(),
            began,
        }))
    }

    pub(crate) fn reader(&self) -> Arc<ToolSpec> {
        self.reader.shared_spec()
    }

    pub(crate) fn looker(&self) -> Option<Arc<ToolSpec>> {
        Some(self.looker.as_ref()?.shared_spec())
    }

    /// What a caller is shown: the snapshot, with the tools that they have a use for.
    pub(crate) fn catalog(&self, caller: &Caller, snapshot: Arc<Catalog>) -> Arc<Catalog> {
        let uses = self.uses(caller);
        let tools = uses.reads.then_some(&self.reader).into_iter();
        let tools: Vec<_> = tools.chain(self.looker.as_ref().filter(|_| uses.looks_up)).collect();
        if tools.is_empty() {
            return snapshot;
        }
        let is_of = |(of, with, _): &&BuiltinSnapshot| {
            std::ptr::eq(of.as_ptr(), Arc::as_ptr(&snapshot)) && *with == uses
        };
        if let Some((.., known)) = self.latest.load().iter().find(is_of) {
            return Arc::clone(known);
        }
        // Where another tool has the name, it keeps it.
        let with = tools.into_iter().fold(Arc::clone(&snapshot), |with, tool| {
            with.with(Arc::clone(tool)).map_or(with, Arc::new)
        });
        // To keep it for itself would keep it for ever.
        if Arc::ptr_eq(&with, &snapshot) {
            return snapshot;
        }
        // What nobody is shown any more is not kept.
        self.latest.rcu(|latest| {
            let of_now = latest.iter().filter(|(of, ..)| of.strong_count() > 0).cloned();
            let new = (Arc::downgrade(&snapshot), uses, Arc::clone(&with));
            of_now.chain([new]).collect::<Vec<_>>()
        });
        with
    }

    pub(crate) fn uses(&self, caller: &Caller) -> BuiltinUses {
        let doubting = self.doubting.load();
        let looks_up =
            doubting.get(&caller.tenant).is_some_and(|them| them.contains(&caller.subject));
        BuiltinUses { reads: self.ledger.keeps_for(caller), looks_up }
    }

    /// Learns from answers what their caller has a use for, and tells if that is more
    /// than before.
    pub(crate) fn hear(&self, caller: &Caller, before: BuiltinUses, responses: &[Response]) {
        let has_doubt = self.looker.is_some()
            && responses.iter().any(|response| match &response.outcome {
                ToolOutcome::Failed(error) => {
                    matches!(error.kind, ErrorKind::UnknownOutcome | ErrorKind::DuplicateOfUnknown)
                }
                ToolOutcome::Done(_) | ToolOutcome::Pending(_) | ToolOutcome::Denied { .. } => {
                    false
                }
            });
        if has_doubt && !before.looks_up {
            self.doubting.rcu(|doubting| {
                let mut doubting = HashMap::clone(doubting);
                if doubting.len() >= MOST_DOUBTING {
                    doubting.clear();
                }
                let them = doubting.entry(caller.tenant.clone()).or_default();
                if them.len() >= MOST_DOUBTING {
                    them.clear();
                }
                them.insert(caller.subject.clone());
                doubting
            });
        }
        let keeps = responses.iter().any(|response| response.whole.is_some());
        if (has_doubt && !before.looks_up) || (keeps && !before.reads) {
            self.begins();
        }
    }

    pub(crate) fn begins(&self) {
        self.began.send_modify(|count| *count += 1);
    }

    /// Resolves when somebody begins to have a use for one.
    pub(crate) fn begun(&self) -> BoxFuture<'static, ()> {
        let mut began = self.began.subscribe();
        Box::pin(async move {
            // The sender lives as long as the crib; without one nothing begins any more.
            if began.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
