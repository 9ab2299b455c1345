//! How many requests are under way, in all and of one caller: what each of them may hold is
//! bounded, so all are. Streams that listen go on for ever and hold little: they are counted apart,
//! so that they keep nobody from calling, and by caller, so that nobody takes all connections.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use http::{HeaderValue, header};
use toolcrib_config::ServerLimits;
use toolcrib_core::Caller;

use crate::http::routes::problem::{HttpProblem, ProblemKind};

pub(crate) struct ConcurrencyLimit {
    /// Requests at the same time.
    most: usize,
    /// Requests of one caller at the same time, and as many streams that listen.
    per_caller: usize,
    now: Mutex<ConcurrencyCounts>,
}

#[derive(Default)]
struct ConcurrencyCounts {
    all: usize,
    by_caller: CallerCounts,
    listening: CallerCounts,
}

type CallerCounts = HashMap<CallerKey, usize, RandomState>;

/// A request that is under way, or a stream that listens, until this is dropped.
pub(crate) struct ConcurrencyPermit {
    busy: Arc<ConcurrencyLimit>,
    who: CallerKey,
    kind: PermitKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PermitKind {
    /// A request, until it is answered.
    Asks,
    Listens,
}

/// The one who asks, whatever the token may do.
#[derive(Clone)]
struct CallerKey(Arc<Caller>);

impl Hash for CallerKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.0.tenant, &self.0.subject).hash(state);
    }
}

impl PartialEq for CallerKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&other.0)
    }
}

impl Eq for CallerKey {}

impl ConcurrencyLimit {
    pub(crate) fn new(bounds: &ServerLimits) -> Self {
        let (most, per_caller) = (bounds.requests, bounds.per_caller);
        Self { most, per_caller, now: Mutex::default() }
    }

    pub(crate) fn enter(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
    ) -> Result<ConcurrencyPermit, HttpProblem> {
        let who = CallerKey(Arc::clone(caller));
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let own = now.by_caller.get(&who).copied().unwrap_or_default();
        if own >= self.per_caller {
            let most = self.per_caller;
            let detail = format!("{most} requests of this caller are under way: wait for one");
            return Err(later(ProblemKind::TooMany, detail));
        }
        if now.all >= self.most {
            let detail = "as many requests are under way as are taken: come again";
            return Err(later(ProblemKind::Unavailable, detail));
        }
        now.all += 1;
        now.by_caller.insert(who.clone(), own + 1);
        Ok(ConcurrencyPermit { busy: Arc::clone(self), who, kind: PermitKind::Asks })
    }

    pub(crate) fn listen(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
    ) -> Result<ConcurrencyPermit, HttpProblem> {
        let who = CallerKey(Arc::clone(caller));
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let own = now.listening.get(&who).copied().unwrap_or_default();
        if own >= self.per_caller {
            let most = self.per_caller;
            let detail = format!("{most} streams of this caller listen: end one of them");
            return Err(later(ProblemKind::TooMany, detail));
        }
        now.listening.insert(who.clone(), own + 1);
        Ok(ConcurrencyPermit { busy: Arc::clone(self), who, kind: PermitKind::Listens })
    }
}

fn later(kind: ProblemKind, detail: impl Into<String>) -> HttpProblem {
    HttpProblem::new(kind, detail).with(header::RETRY_AFTER, HeaderValue::from_static("1"))
}

impl Drop for ConcurrencyPermit {
    fn drop(&mut self) {
        let mut now = self.busy.now.lock().unwrap_or_else(PoisonError::into_inner);
        match self.kind {
            PermitKind::Listens => leave(&mut now.listening, &self.who),
            PermitKind::Asks => {
                now.all -= 1;
                leave(&mut now.by_caller, &self.who);
            }
        }
    }
}

fn leave(counts: &mut CallerCounts, who: &CallerKey) {
    if let Some(count) = counts.get_mut(who) {
        *count -= 1;
        if *count == 0 {
            counts.remove(who);
        }
    }
}
