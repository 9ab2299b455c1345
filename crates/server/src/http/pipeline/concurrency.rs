//! How many requests are under way, in all and of one caller: what each of them may hold is
//! bounded, so all are. Streams that listen go on for ever and hold little: they are counted apart,
//! so that they keep nobody from calling, and by caller, so that nobody takes all connections.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use http::{HeaderValue, header};
use toolcrib::Caller;
use toolcrib::config::Bounds;

use crate::http::routes::problem::{Kind, Problem};

pub(crate) struct Busy {
    /// Requests at the same time.
    most: usize,
    /// Requests of one caller at the same time, and as many streams that listen.
    per_caller: usize,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    all: usize,
    by_caller: Counts,
    listening: Counts,
}

type Counts = HashMap<Who, usize, RandomState>;

/// A request that is under way, or a stream that listens, until this is dropped.
pub(crate) struct Place {
    busy: Arc<Busy>,
    who: Who,
    kind: Stay,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stay {
    /// A request, until it is answered.
    Asks,
    Listens,
}

/// The one who asks, whatever the token may do.
#[derive(Clone)]
struct Who(Arc<Caller>);

impl Hash for Who {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.0.tenant, &self.0.subject).hash(state);
    }
}

impl PartialEq for Who {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&other.0)
    }
}

impl Eq for Who {}

impl Busy {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let (most, per_caller) = (bounds.requests, bounds.per_caller);
        Self { most, per_caller, now: Mutex::default() }
    }

    pub(crate) fn enter(self: &Arc<Self>, caller: &Arc<Caller>) -> Result<Place, Problem> {
        let who = Who(Arc::clone(caller));
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let own = now.by_caller.get(&who).copied().unwrap_or_default();
        if own >= self.per_caller {
            let most = self.per_caller;
            let detail = format!("{most} requests of this caller are under way: wait for one");
            return Err(later(Kind::TooMany, detail));
        }
        if now.all >= self.most {
            let detail = "as many requests are under way as are taken: come again";
            return Err(later(Kind::Unavailable, detail));
        }
        now.all += 1;
        now.by_caller.insert(who.clone(), own + 1);
        Ok(Place { busy: Arc::clone(self), who, kind: Stay::Asks })
    }

    pub(crate) fn listen(self: &Arc<Self>, caller: &Arc<Caller>) -> Result<Place, Problem> {
        let who = Who(Arc::clone(caller));
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let own = now.listening.get(&who).copied().unwrap_or_default();
        if own >= self.per_caller {
            let most = self.per_caller;
            let detail = format!("{most} streams of this caller listen: end one of them");
            return Err(later(Kind::TooMany, detail));
        }
        now.listening.insert(who.clone(), own + 1);
        Ok(Place { busy: Arc::clone(self), who, kind: Stay::Listens })
    }
}

fn later(kind: Kind, detail: impl Into<String>) -> Problem {
    Problem::new(kind, detail).with(header::RETRY_AFTER, HeaderValue::from_static("1"))
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut now = self.busy.now.lock().unwrap_or_else(PoisonError::into_inner);
        match self.kind {
            Stay::Listens => leave(&mut now.listening, &self.who),
            Stay::Asks => {
                now.all -= 1;
                leave(&mut now.by_caller, &self.who);
            }
        }
    }
}

fn leave(counts: &mut Counts, who: &Who) {
    if let Some(count) = counts.get_mut(who) {
        *count -= 1;
        if *count == 0 {
            counts.remove(who);
        }
    }
}
