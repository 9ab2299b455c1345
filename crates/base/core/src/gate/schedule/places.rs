//! How many calls run at once: of one batch, to one source, for one tenant; and who is next where
//! more wait for a source than it takes.

mod queue;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foldhash::fast::RandomState;

pub(crate) use self::queue::PlacePermit;
use self::queue::{PlaceClaim, PlaceCount, PlaceQueue, QueueAnswer, SourceShare};
use crate::call::caller::Caller;
use crate::call::name::SourceId;
use crate::gate::run::timeout::timeout_lazy;
use crate::policy::limits::CribLimits;

/// The places of a process.
pub(crate) struct ProcessPlaces {
    sources: CounterMap<SourceId, AtomicUsize>,
    tenants: CounterMap<String, AtomicUsize>,
    /// What a tenant holds at a source, and what one of its callers does.
    shares: CounterMap<(SourceId, String, Option<String>), SourceShare>,
    queue: Arc<PlaceQueue>,
    patience: Duration,
}

impl ProcessPlaces {
    pub(crate) fn new(limits: &CribLimits) -> Self {
        let most = [limits.per_batch, limits.per_source, limits.per_tenant].map(|most| most.max(1));
        let (longest, given) = (limits.most_queued, AtomicU64::new(0));
        let queue = PlaceQueue { most, longest, waiting: Mutex::default(), given };
        Self {
            sources: CounterMap::default(),
            tenants: CounterMap::default(),
            shares: CounterMap::default(),
            queue: Arc::new(queue),
            patience: limits.queue,
        }
    }

    pub(crate) fn batch(&self, caller: &Arc<Caller>) -> BatchPlaces {
        BatchPlaces {
            batch: PlaceCount::default(),
            tenant: self.tenants.of(&caller.tenant),
            caller: Arc::clone(caller),
            source: Mutex::new(None),
        }
    }
}

/// The places that the calls of one batch compete for.
pub(crate) struct BatchPlaces {
    batch: PlaceCount,
    tenant: PlaceCount,
    caller: Arc<Caller>,
    /// The source asked for last: most batches know only one.
    source: Mutex<Option<(SourceId, PlaceClaim)>>,
}

impl BatchPlaces {
    /// Waits for a place, as long as the queue allows. Nothing is held while something else is
    /// waited for: a full tenant takes no place of a source from the others, nor the reverse.
    pub(crate) async fn place(
        &self,
        bounds: &ProcessPlaces,
        source: &SourceId,
    ) -> Option<PlacePermit> {
        match bounds.queue.ask(self.wanted(bounds, source)) {
            QueueAnswer::Given(place) => Some(place),
            QueueAnswer::Waits(given) => timeout_lazy(bounds.patience, given).await?.ok(),
            QueueAnswer::Full => None,
        }
    }

    fn wanted(&self, bounds: &ProcessPlaces, id: &SourceId) -> PlaceClaim {
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
        let wanted = PlaceClaim {
            bounded: [Arc::clone(&self.batch), bounds.sources.of(id), Arc::clone(&self.tenant)],
            shares: [of_tenant, bounds.shares.of(&key)],
        };
        *last = Some((id.clone(), wanted.clone()));
        wanted
    }
}

/// One count for each key; those that nobody holds are forgotten when there are many.
struct CounterMap<K, V>(Mutex<HashMap<K, Arc<V>, RandomState>>);

impl<K, V> Default for CounterMap<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// From here on idle keys are looked for and dropped: callers come and go. More than are held at
/// the same time, so that it is not looked in vain each time.
const MANY: usize = 4_096;

impl<K: Eq + Hash + Clone, V: Default> CounterMap<K, V> {
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
