//! When a program that ended may start again: growing pauses, and a breaker.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// How often a program may be started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartBounds {
    /// The first pause; each end doubles it.
    pub first_pause: Duration,
    /// The longest pause, also that of the open breaker.
    pub longest_pause: Duration,
    /// The breaker opens when this many ends ..
    pub ends: usize,
    /// .. come within this time; a program that ran as long counts as healthy again.
    pub within: Duration,
}

impl Default for RestartBounds {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_mins(1),
            ends: 5,
            within: Duration::from_mins(1),
        }
    }
}

/// Decides when to start a program again; it asks no clock and starts nothing.
///
/// Ask with [`Restarts::permit`] before a start, and tell every end, also that of a failed start,
/// with [`Restarts::ended`].
/// Pauses grow from the first to the longest, each cut by up to half at random, so that programs
/// which died together do not come back together.
/// Too many ends within their time open the breaker for the longest pause; then one start is tried,
/// and unless it lasts for that time the breaker opens again.
#[derive(Debug, Clone)]
pub struct Restarts {
    bounds: RestartBounds,
    /// The times of the last ends, oldest first, at most `bounds.ends`.
    ends: VecDeque<Instant>,
    /// Ends in a row without a healthy run.
    failures: u32,
    next_start: Option<Instant>,
    last_start: Option<Instant>,
    breaker: Breaker,
    /// State of the generator of chance.
    chance: u64,
}

/// Whether a program may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// Now; until its end is told it counts as running.
    Start,
    /// After this pause.
    Wait(Duration),
    /// It ended too often: nothing is tried for this time.
    Open(Duration),
    /// Not beside the start that was permitted last: its end was not told yet.
    Running,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breaker {
    Closed,
    Open,
    /// One try is on its way.
    HalfOpen,
}

impl Restarts {
    /// Nothing has ended yet; programs with different seeds get different pauses.
    pub fn new(bounds: RestartBounds, seed: u64) -> Self {
        Self {
            bounds,
            ends: VecDeque::new(),
            failures: 0,
            next_start: None,
            last_start: None,
            breaker: Breaker::Closed,
            chance: seed,
        }
    }

    /// Whether a start is allowed now.
    pub fn permit(&mut self, now: Instant) -> Permit {
        self.settle(now);
        if self.last_start.is_some() {
            return Permit::Running;
        }
        let pause =
            self.next_start.map_or(Duration::ZERO, |next| next.saturating_duration_since(now));
        match self.breaker {
            Breaker::Open if !pause.is_zero() => return Permit::Open(pause),
            Breaker::Closed if !pause.is_zero() => return Permit::Wait(pause),
            Breaker::Open => self.breaker = Breaker::HalfOpen,
            Breaker::Closed | Breaker::HalfOpen => {}
        }
        self.last_start = Some(now);
        Permit::Start
    }

    /// Notes that the program ended, or that its start failed.
    pub fn ended(&mut self, now: Instant) {
        self.settle(now);
        self.last_start = None;
        self.ends.push_back(now);
        let RestartBounds { first_pause, longest_pause, ends, within } = self.bounds;
        while self.ends.len() > ends {
            self.ends.pop_front();
        }
        let oldest = self.ends.front().filter(|_| self.ends.len() == ends);
        let too_many =
            oldest.is_some_and(|oldest| now.saturating_duration_since(*oldest) <= within);
        if too_many || self.breaker != Breaker::Closed {
            self.breaker = Breaker::Open;
            self.next_start = Some(now + longest_pause);
        } else {
            let pause = first_pause.saturating_mul(1 << self.failures.min(10)).min(longest_pause);
            self.next_start = Some(now + self.cut(pause));
        }
        self.failures = self.failures.saturating_add(1);
    }

    /// Whether the breaker is open; not while a start is tried.
    pub fn is_open(&self) -> bool {
        self.breaker == Breaker::Open
    }

    /// Forgets the ends once a run has lasted.
    fn settle(&mut self, now: Instant) {
        let has_lasted = self
            .last_start
            .is_some_and(|start| now.saturating_duration_since(start) >= self.bounds.within);
        if has_lasted {
            self.failures = 0;
            self.breaker = Breaker::Closed;
            self.ends.clear();
        }
    }

    /// Between half of a pause and all of it.
    fn cut(&mut self, pause: Duration) -> Duration {
        // The step of SplitMix64 (Steele, Lea and Flood, 2014): plain, and good enough for pauses.
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let half = pause / 2;
        let share = u32::try_from(mixed % 1_000).unwrap_or_default();
        half + half * share / 1_000
    }
}
