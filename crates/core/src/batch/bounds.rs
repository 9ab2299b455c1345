//! How many calls run at once: of one batch, to one source, for one tenant.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foldhash::fast::RandomState;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::within::within;
use crate::limits::CribLimits;
use crate::name::SourceId;

/// The places of a process.
pub(super) struct Bounds {
    sources: Shared<SourceId>,
    tenants: Shared<String>,
    per_batch: usize,
    queue: Duration,
}

impl Bounds {
    pub(super) fn new(limits: &CribLimits) -> Self {
        Self {
            sources: Shared::new(limits.per_source),
            tenants: Shared::new(limits.per_tenant),
            per_batch: limits.per_batch.max(1),
            queue: limits.queue,
        }
    }

    pub(super) fn batch(&self, tenant: &str) -> BatchBounds {
        BatchBounds {
            batch: Arc::new(Semaphore::new(self.per_batch)),
            tenant: self.tenants.of(&tenant.to_owned()),
            source: Mutex::new(None),
        }
    }
}

/// The places that the calls of one batch compete for.
pub(super) struct BatchBounds {
    batch: Arc<Semaphore>,
    tenant: Arc<Semaphore>,
    /// The source asked for last: most batches know only one.
    source: Mutex<Option<(SourceId, Arc<Semaphore>)>>,
}

/// A place taken; given back when it is dropped.
pub(super) struct Place {
    _permits: [Option<OwnedSemaphorePermit>; 3],
}

impl BatchBounds {
    /// Waits for a place, as long as the queue allows. Nothing is held while something else is
    /// waited for: a full tenant takes no place of a source from the others, nor the reverse.
    pub(super) async fn place(&self, bounds: &Bounds, source: &SourceId) -> Option<Place> {
        let semaphores =
            [Arc::clone(&self.batch), self.source(bounds, source), Arc::clone(&self.tenant)];
        within(bounds.queue, all_of(&semaphores)).await.flatten()
    }

    fn source(&self, bounds: &Bounds, id: &SourceId) -> Arc<Semaphore> {
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

/// A permit of each; waits for one that is missing and then tries the others again.
async fn all_of(semaphores: &[Arc<Semaphore>; 3]) -> Option<Place> {
    let mut permits: [Option<OwnedSemaphorePermit>; 3] = [None, None, None];
    loop {
        for (places, permit) in semaphores.iter().zip(&mut permits) {
            if permit.is_none() {
                *permit = Arc::clone(places).try_acquire_owned().ok();
            }
        }
        let Some(missing) = permits.iter().position(Option::is_none) else {
            return Some(Place { _permits: permits });
        };
        permits = [None, None, None];
        let waited = Arc::clone(semaphores.get(missing)?).acquire_owned().await.ok();
        *permits.get_mut(missing)? = waited;
    }
}

/// One semaphore for each key; those that nobody holds are forgotten when there are many.
struct Shared<K> {
    places: usize,
    semaphores: Mutex<HashMap<K, Arc<Semaphore>, RandomState>>,
}

/// From here on idle keys are looked for and dropped: tenants come and go.
const MANY: usize = 1_024;

impl<K: Eq + Hash + Clone> Shared<K> {
    fn new(places: usize) -> Self {
        Self { places: places.max(1), semaphores: Mutex::default() }
    }

    fn of(&self, key: &K) -> Arc<Semaphore> {
        let mut semaphores = self.semaphores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = semaphores.get(key) {
            return Arc::clone(known);
        }
        if semaphores.len() >= MANY {
            semaphores.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        }
        let fresh = Arc::new(Semaphore::new(self.places));
        semaphores.insert(key.clone(), Arc::clone(&fresh));
        fresh
    }
}
