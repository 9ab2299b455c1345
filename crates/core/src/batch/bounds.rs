//! How many calls run at once: of one batch, to one source, for one tenant.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::fast::RandomState;
use tokio::sync::oneshot;

use super::within::within;
use crate::limits::CribLimits;
use crate::name::SourceId;

/// The places of a process.
pub(super) struct Bounds {
    sources: Shared<SourceId>,
    tenants: Shared<String>,
    queue: Arc<Queue>,
    patience: Duration,
}

impl Bounds {
    pub(super) fn new(limits: &CribLimits) -> Self {
        let most = [limits.per_batch, limits.per_source, limits.per_tenant];
        let queue = Queue { most: most.map(|most| most.max(1)), waiting: Mutex::default() };
        Self {
            sources: Shared::default(),
            tenants: Shared::default(),
            queue: Arc::new(queue),
            patience: limits.queue,
        }
    }

    pub(super) fn batch(&self, tenant: &str) -> BatchBounds {
        BatchBounds {
            batch: Taken::default(),
            tenant: self.tenants.of(&tenant.to_owned()),
            source: Mutex::new(None),
        }
    }
}

/// The places that the calls of one batch compete for.
pub(super) struct BatchBounds {
    batch: Taken,
    tenant: Taken,
    /// The source asked for last: most batches know only one.
    source: Mutex<Option<(SourceId, Taken)>>,
}

impl BatchBounds {
    /// Waits for a place, as long as the queue allows. Nothing is held while something else is
    /// waited for: a full tenant takes no place of a source from the others, nor the reverse.
    pub(super) async fn place(&self, bounds: &Bounds, source: &SourceId) -> Option<Place> {
        let wanted =
            [Arc::clone(&self.batch), self.source(bounds, source), Arc::clone(&self.tenant)];
        match bounds.queue.ask(wanted) {
            Ok(place) => Some(place),
            Err(given) => within(bounds.patience, given).await?.ok(),
        }
    }

    fn source(&self, bounds: &Bounds, id: &SourceId) -> Taken {
        let mut last = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, places)) if known == id => Arc::clone(places),
            _ => {
                let places = bounds.sources.of(id);
                *last = Some((id.clone(), Arc::clone(&places)));
                places
            }
        }
    }
}

/// How many places of a batch, a source or a tenant are taken. It changes with the queue locked.
type Taken = Arc<AtomicUsize>;

/// Of a batch, of a source, of a tenant.
type Wanted = [Taken; 3];

/// Who waits, in the order of their coming. All three places of a call are taken at once or none
/// is: calls that hold one and wait for another could hand them round among each other for ever.
struct Queue {
    most: [usize; 3],
    waiting: Mutex<VecDeque<Waiting>>,
}

struct Waiting {
    wanted: Wanted,
    give: oneshot::Sender<Place>,
}

/// A place taken; given back when it is dropped.
pub(super) struct Place {
    taken: Wanted,
    queue: Arc<Queue>,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, or where it will come.
    fn ask(self: &Arc<Self>, wanted: Wanted) -> Result<Place, oneshot::Receiver<Place>> {
        let mut waiting = self.waiting();
        if self.takes(&wanted) {
            return Ok(Place { taken: wanted, queue: Arc::clone(self) });
        }
        let (give, given) = oneshot::channel();
        waiting.push_back(Waiting { wanted, give });
        Err(given)
    }

    /// Takes all three if all are free. The queue is locked.
    fn takes(&self, wanted: &Wanted) -> bool {
        let mut places = wanted.iter().zip(self.most);
        let are_free = places.all(|(taken, most)| taken.load(Ordering::Relaxed) < most);
        if are_free {
            for taken in wanted {
                taken.fetch_add(1, Ordering::Relaxed);
            }
        }
        are_free
    }

    fn give_back(self: &Arc<Self>, taken: &Wanted) {
        let mut given = Vec::new();
        {
            let mut waiting = self.waiting();
            for taken in taken {
                taken.fetch_sub(1, Ordering::Relaxed);
            }
            if waiting.is_empty() {
                return;
            }
            waiting.retain(|waiting| !waiting.give.is_closed());
            let mut next = 0;
            while let Some(first) = waiting.get(next) {
                if !self.takes(&first.wanted) {
                    next += 1;
                } else if let Some(Waiting { wanted, give }) = waiting.remove(next) {
                    given.push((give, Place { taken: wanted, queue: Arc::clone(self) }));
                }
            }
        }
        // Whoever has given up meanwhile gives it back, for which the queue must not be locked.
        for (give, place) in given {
            let _ = give.send(place);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.queue.give_back(&self.taken);
    }
}

/// One count for each key; those that nobody holds are forgotten when there are many.
struct Shared<K>(Mutex<HashMap<K, Taken, RandomState>>);

impl<K> Default for Shared<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// From here on idle keys are looked for and dropped: tenants come and go.
const MANY: usize = 1_024;

impl<K: Eq + Hash + Clone> Shared<K> {
    fn of(&self, key: &K) -> Taken {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(key) {
            return Arc::clone(known);
        }
        if all.len() >= MANY {
            all.retain(|_, taken| Arc::strong_count(taken) > 1);
        }
        let fresh = Taken::default();
        all.insert(key.clone(), Arc::clone(&fresh));
        fresh
    }
}

#[cfg(test)]
mod tests;
