//! Who waits for a place: a line for each caller at each source, so that whose turn it is can be
//! told by those in front.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use tokio::sync::oneshot;

/// How many places are taken: of a batch, say. It changes with the queue locked.
pub(super) type PlaceCount = Arc<AtomicUsize>;

/// What a tenant or a caller has of a source. It changes with the queue locked.
#[derive(Default)]
pub(super) struct SourceShare {
    pub(super) held: AtomicUsize,
    /// When it was given the last place: a number that grows with each.
    pub(super) given: AtomicU64,
}

/// What a call takes.
#[derive(Clone)]
pub(super) struct PlaceClaim {
    /// Of a batch, of a source, of a tenant.
    pub(super) bounded: [PlaceCount; 3],
    /// Of the tenant and of the caller at this source. Nothing bounds them: while nobody else
    /// wants a source, it is all theirs.
    pub(super) shares: [Arc<SourceShare>; 2],
}

impl PlaceClaim {
    pub(super) fn all(&self) -> impl Iterator<Item = &AtomicUsize> {
        let bounded = self.bounded.iter().map(|taken| &**taken);
        bounded.chain(self.shares.iter().map(|share| &share.held))
    }

    pub(super) fn source(&self) -> &PlaceCount {
        let [_, source, _] = &self.bounded;
        source
    }

    /// Of less is whoever holds fewer places, and of those who hold as many, who waits longer for
    /// one: first of tenants, then of callers.
    pub(super) fn rank(&self) -> [(usize, u64); 2] {
        self.shares
            .each_ref()
            .map(|share| (share.held.load(Ordering::Relaxed), share.given.load(Ordering::Relaxed)))
    }
}

/// Gives the places. All places of a call are taken at once or none is: calls that hold one and
/// wait for another could hand them round among each other for ever.
///
/// Of those who wait for one source, a place of it goes to the tenant that holds the fewest there,
/// and within the tenant to such a caller: nobody waits for all that another one asked for before.
pub(super) struct PlaceQueue {
    pub(super) most: [usize; 3],
    /// So many wait at the most.
    pub(super) longest: usize,
    pub(super) waiting: Mutex<WaitingLines>,
    /// How many places were given to whoever waited or not.
    pub(super) given: AtomicU64,
}

/// What becomes of a call that wants places.
pub(super) enum QueueAnswer {
    Given(PlacePermit),
    /// They will come by this.
    Waits(oneshot::Receiver<PlacePermit>),
    /// Too many wait already.
    Full,
}

/// A place taken; given back when it is dropped.
pub(crate) struct PlacePermit {
    pub(super) taken: PlaceClaim,
    pub(super) queue: Arc<PlaceQueue>,
}

impl PlaceQueue {
    pub(super) fn waiting(&self) -> MutexGuard<'_, WaitingLines> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ask(self: &Arc<Self>, wanted: PlaceClaim) -> QueueAnswer {
        let mut waiting = self.waiting();
        if self.takes(&wanted) {
            return QueueAnswer::Given(PlacePermit { taken: wanted, queue: Arc::clone(self) });
        }
        if waiting.len() >= self.longest {
            // Who has given up waits no more.
            waiting.forget(true);
        }
        if waiting.len() >= self.longest {
            return QueueAnswer::Full;
        }
        let (give, given) = oneshot::channel();
        waiting.push(wanted, give);
        QueueAnswer::Waits(given)
    }

    /// Takes all if all are free. The queue is locked.
    fn takes(&self, wanted: &PlaceClaim) -> bool {
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

    pub(super) fn has(&self, wanted: &PlaceClaim) -> bool {
        let mut places = wanted.bounded.iter().zip(self.most);
        places.all(|(taken, most)| taken.load(Ordering::Relaxed) < most)
    }

    /// The first of a line for whom all is free. What the whole line wants, source and tenant, is
    /// looked at once, so that those are passed by whose own batch is full, and no others.
    fn first<'a>(&self, line: &'a VecDeque<WaitingCall>) -> Option<&'a WaitingCall> {
        let mut places = line.front()?.wanted.bounded.iter().zip(self.most).skip(1);
        if !places.all(|(taken, most)| taken.load(Ordering::Relaxed) < most) {
            return None;
        }
        line.iter().find(|one| !one.give.is_closed() && self.has(&one.wanted))
    }

    /// Whose turn it is: among those for whom all is free, of the source that was asked for first.
    fn next(&self, waiting: &WaitingLines) -> Option<(usize, u64)> {
        let free = || waiting.each().filter_map(|line| self.first(line));
        let source = free().min_by_key(|one| one.number)?.wanted.source();
        let rivals = free().filter(|one| Arc::ptr_eq(one.wanted.source(), source));
        // Of one caller's, whichever came first.
        rivals.min_by_key(|one| (one.wanted.rank(), one.number)).map(WaitingCall::whereabouts)
    }

    fn give_back(self: &Arc<Self>, taken: &PlaceClaim) {
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
                let Some(WaitingCall { wanted, give, .. }) = waiting.take(next) else { break };
                if self.takes(&wanted) {
                    given.push((give, PlacePermit { taken: wanted, queue: Arc::clone(self) }));
                }
            }
        }
        // Whoever has given up meanwhile gives it back, for which the queue must not be locked.
        for (give, place) in given {
            let _ = give.send(place);
        }
    }
}

impl Drop for PlacePermit {
    fn drop(&mut self) {
        self.queue.give_back(&self.taken);
    }
}

#[derive(Default)]
pub(super) struct WaitingLines {
    /// By the share that those of one line have in common. None of them is empty.
    each: HashMap<usize, VecDeque<WaitingCall>, RandomState>,
    count: usize,
    /// The number of whoever came last.
    last: u64,
}

pub(super) struct WaitingCall {
    wanted: PlaceClaim,
    give: oneshot::Sender<PlacePermit>,
    /// Whoever came earlier has a lower one.
    number: u64,
}

impl WaitingLines {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    fn push(&mut self, wanted: PlaceClaim, give: oneshot::Sender<PlacePermit>) {
        (self.count, self.last) = (self.count + 1, self.last + 1);
        let line = self.each.entry(key(&wanted)).or_default();
        line.push_back(WaitingCall { wanted, give, number: self.last });
    }

    /// Each in the order of their coming.
    fn each(&self) -> impl Iterator<Item = &VecDeque<WaitingCall>> {
        self.each.values()
    }

    /// Takes one out, by its line and its number.
    fn take(&mut self, (line, number): (usize, u64)) -> Option<WaitingCall> {
        let waiting = self.each.get_mut(&line)?;
        let place = waiting.binary_search_by_key(&number, |one| one.number).ok()?;
        let taken = waiting.remove(place)?;
        if waiting.is_empty() {
            self.each.remove(&line);
        }
        self.count -= 1;
        Some(taken)
    }

    /// Forgets those who have given up: all of them, or those in front of their lines.
    fn forget(&mut self, all: bool) {
        let mut count = 0;
        self.each.retain(|_, line| {
            if all {
                line.retain(|one| !one.give.is_closed());
            }
            while line.front().is_some_and(|one| one.give.is_closed()) {
                line.pop_front();
            }
            count += line.len();
            !line.is_empty()
        });
        self.count = count;
    }
}

impl WaitingCall {
    /// Where it stands.
    fn whereabouts(&self) -> (usize, u64) {
        (key(&self.wanted), self.number)
    }
}

/// Which line a call stands in. What it points at is held by all who stand there.
fn key(wanted: &PlaceClaim) -> usize {
    let [_, of_caller] = &wanted.shares;
    Arc::as_ptr(of_caller).addr()
}
