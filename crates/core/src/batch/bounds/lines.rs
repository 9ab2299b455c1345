//! Who waits: a line for each caller at each source, so that whose turn it is can be told by those
//! in front.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use foldhash::fast::RandomState;
use tokio::sync::oneshot;

use super::{Place, Wanted};

#[derive(Default)]
pub(super) struct Lines {
    /// By the share that those of one line have in common. None of them is empty.
    each: HashMap<usize, VecDeque<Waiting>, RandomState>,
    count: usize,
    /// The number of whoever came last.
    last: u64,
}

pub(super) struct Waiting {
    pub(super) wanted: Wanted,
    pub(super) give: oneshot::Sender<Place>,
    /// Whoever came earlier has a lower one.
    pub(super) number: u64,
}

impl Lines {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn push(&mut self, wanted: Wanted, give: oneshot::Sender<Place>) {
        (self.count, self.last) = (self.count + 1, self.last + 1);
        let line = self.each.entry(key(&wanted)).or_default();
        line.push_back(Waiting { wanted, give, number: self.last });
    }

    /// Each in the order of their coming.
    pub(super) fn each(&self) -> impl Iterator<Item = &VecDeque<Waiting>> {
        self.each.values()
    }

    /// Takes one out, by its line and its number.
    pub(super) fn take(&mut self, (line, number): (usize, u64)) -> Option<Waiting> {
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
    pub(super) fn forget(&mut self, all: bool) {
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

impl Waiting {
    /// Where it stands.
    pub(super) fn whereabouts(&self) -> (usize, u64) {
        (key(&self.wanted), self.number)
    }
}

/// Which line a call stands in. What it points at is held by all who stand there.
fn key(wanted: &Wanted) -> usize {
    let [_, of_caller] = &wanted.shares;
    Arc::as_ptr(of_caller).addr()
}
