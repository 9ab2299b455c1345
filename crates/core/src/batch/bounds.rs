//! How many calls run at once: of one batch, to one source, for one tenant; and who is next where
//! more wait for a source than it takes.

mod lines;

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::fast::RandomState;
use tokio::sync::oneshot;

use self::lines::{Lines, Waiting};
use super::within::within;
use crate::caller::Caller;
use crate::limits::CribLimits;
use crate::name::SourceId;

/// The places of a process.
pub(super) struct Bounds {
    sources: Shared<SourceId, AtomicUsize>,
    tenants: Shared<String, AtomicUsize>,
    /// What a tenant holds at a source, and what one of its callers does.
    shares: Shared<(SourceId, String, Option<String>), Share>,
    queue: Arc<Queue>,
    patience: Duration,
}

impl Bounds {
    pub(super) fn new(limits: &CribLimits) -> Self {
        let most = [limits.per_batch, limits.per_source, limits.per_tenant].map(|most| most.max(1));
        let (longest, given) = (limits.most_queued, AtomicU64::new(0));
        let queue = Queue { most, longest, waiting: Mutex::default(), given };
        Self {
            sources: Shared::default(),
            tenants: Shared::default(),
            shares: Shared::default(),
            queue: Arc::new(queue),
            patience: limits.queue,
        }
    }

    pub(super) fn batch(&self, caller: &Arc<Caller>) -> BatchBounds {
        BatchBounds {
            batch: Taken::default(),
            tenant: self.tenants.of(&caller.tenant),
            caller: Arc::clone(caller),
            source: Mutex::new(None),
        }
    }
}

/// The places that the calls of one batch compete for.
pub(super) struct BatchBounds {
    batch: Taken,
    tenant: Taken,
    caller: Arc<Caller>,
    /// The source asked for last: most batches know only one.
    source: Mutex<Option<(SourceId, Wanted)>>,
}

impl BatchBounds {
    /// Waits for a place, as long as the queue allows. Nothing is held while something else is
    /// waited for: a full tenant takes no place of a source from the others, nor the reverse.
    pub(super) async fn place(&self, bounds: &Bounds, source: &SourceId) -> Option<Place> {
        match bounds.queue.ask(self.wanted(bounds, source)) {
            Asked::Given(place) => Some(place),
            Asked::Waits(given) => within(bounds.patience, given).await?.ok(),
            Asked::Full => None,
        }
    }

    fn wanted(&self, bounds: &Bounds, id: &SourceId) -> Wanted {
        let mut last = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, wanted)) = &*last
            && known == id
        {
            return wanted.clone();
        }
        let Caller { tenant, subject, .. } = &*self.caller;
        let mut key = (id.clone(), tenant.clone(), None);
        let of_tenant = bounds.shares.of(&key);
        key.2 = Some(subject.clone());
        let wanted = Wanted {
            bounded: [Arc::clone(&self.batch), bounds.sources.of(id), Arc::clone(&self.tenant)],
            shares: [of_tenant, bounds.shares.of(&key)],
        };
        *last = Some((id.clone(), wanted.clone()));
        wanted
    }
}

/// How many places are taken: of a batch, say. It changes with the queue locked.
type Taken = Arc<AtomicUsize>;

/// What a tenant or a caller has of a source. It changes with the queue locked.
#[derive(Default)]
struct Share {
    held: AtomicUsize,
    /// When it was given the last place: a number that grows with each.
    given: AtomicU64,
}

/// What a call takes.
#[derive(Clone)]
struct Wanted {
    /// Of a batch, of a source, of a tenant.
    bounded: [Taken; 3],
    /// Of the tenant and of the caller at this source. Nothing bounds them: while nobody else
    /// wants a source, it is all theirs.
    shares: [Arc<Share>; 2],
}

impl Wanted {
    fn all(&self) -> impl Iterator<Item = &AtomicUsize> {
        let bounded = self.bounded.iter().map(|taken| &**taken);
        bounded.chain(self.shares.iter().map(|share| &share.held))
    }

    fn source(&self) -> &Taken {
        let [_, source, _] = &self.bounded;
        source
    }

    /// Of less is whoever holds fewer places, and of those who hold as many, who waits longer for
    /// one: first of tenants, then of callers.
    fn rank(&self) -> [(usize, u64); 2] {
        self.shares
            .each_ref()
            .map(|share| (share.held.load(Ordering::Relaxed), share.given.load(Ordering::Relaxed)))
    }
}

/// Gives the places. All places of a call are taken at once or none is: calls that hold one and wait
/// for another could hand them round among each other for ever.
///
/// Of those who wait for one source, a place of it goes to the tenant that holds the fewest there,
/// and within the tenant to such a caller: nobody waits for all that another one asked for before.
struct Queue {
    most: [usize; 3],
    /// So many wait at the most.
    longest: usize,
    waiting: Mutex<Lines>,
    /// How many places were given to whoever waited or not.
    given: AtomicU64,
}

/// What becomes of a call that wants places.
enum Asked {
    Given(Place),
    /// They will come by this.
    Waits(oneshot::Receiver<Place>),
    /// Too many wait already.
    Full,
}

/// A place taken; given back when it is dropped.
pub(super) struct Place {
    taken: Wanted,
    queue: Arc<Queue>,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Lines> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(self: &Arc<Self>, wanted: Wanted) -> Asked {
        let mut waiting = self.waiting();
        if self.takes(&wanted) {
            return Asked::Given(Place { taken: wanted, queue: Arc::clone(self) });
        }
        if waiting.len() >= self.longest {
            // Who has given up waits no more.
            waiting.forget(true);
        }
        if waiting.len() >= self.longest {
            return Asked::Full;
        }
        let (give, given) = oneshot::channel();
        waiting.push(wanted, give);
        Asked::Waits(given)
    }

    /// Takes all if all are free. The queue is locked.
    fn takes(&self, wanted: &Wanted) -> bool {
        let are_free = self.has(wanted);
        if are_free {
            for taken in wanted.all() {
                taken.fetch_add(1, Ordering::Relaxed);
            }
            let number = self.given.fetch_add(1, Ordering::Relaxed) + 1;
            for share in &wanted.shares {
                share.given.store(number, Ordering::Relaxed);
            }
        }
        are_free
    }

    fn has(&self, wanted: &Wanted) -> bool {
        let mut places = wanted.bounded.iter().zip(self.most);
        places.all(|(taken, most)| taken.load(Ordering::Relaxed) < most)
    }

    /// The first of a line for whom all is free. What the whole line wants, source and tenant, is
    /// looked at once, so that those are passed by whose own batch is full, and no others.
    fn first<'a>(&self, line: &'a VecDeque<Waiting>) -> Option<&'a Waiting> {
        let mut places = line.front()?.wanted.bounded.iter().zip(self.most).skip(1);
        if !places.all(|(taken, most)| taken.load(Ordering::Relaxed) < most) {
            return None;
        }
        line.iter().find(|one| !one.give.is_closed() && self.has(&one.wanted))
    }

    /// Whose turn it is: among those for whom all is free, of the source that was asked for first.
    fn next(&self, waiting: &Lines) -> Option<(usize, u64)> {
        let free = || waiting.each().filter_map(|line| self.first(line));
        let source = free().min_by_key(|one| one.number)?.wanted.source();
        let rivals = free().filter(|one| Arc::ptr_eq(one.wanted.source(), source));
        // Of one caller's, whichever came first.
        rivals.min_by_key(|one| (one.wanted.rank(), one.number)).map(Waiting::whereabouts)
    }

    fn give_back(self: &Arc<Self>, taken: &Wanted) {
        let mut given = Vec::new();
        {
            let mut waiting = self.waiting();
            for taken in taken.all() {
                taken.fetch_sub(1, Ordering::Relaxed);
            }
            if waiting.len() == 0 {
                return;
            }
            waiting.forget(false);
            while let Some(next) = self.next(&waiting) {
                let Some(Waiting { wanted, give, .. }) = waiting.take(next) else { break };
                if self.takes(&wanted) {
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
struct Shared<K, V>(Mutex<HashMap<K, Arc<V>, RandomState>>);

impl<K, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// From here on idle keys are looked for and dropped: callers come and go. More than are held at
/// the same time, so that it is not looked in vain each time.
const MANY: usize = 4_096;

impl<K: Eq + Hash + Clone, V: Default> Shared<K, V> {
    fn of(&self, key: &K) -> Arc<V> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(key) {
            return Arc::clone(known);
        }
        if all.len() >= MANY {
            all.retain(|_, known| Arc::strong_count(known) > 1);
        }
        let fresh = Arc::<V>::default();
        all.insert(key.clone(), Arc::clone(&fresh));
        fresh
    }
}

#[cfg(test)]
mod tests;
