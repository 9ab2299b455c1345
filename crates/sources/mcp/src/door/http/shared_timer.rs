//! One timer for all who wait.
//!
//! Most calls end long before anybody has waited long enough. A timer of its own that each of them
//! sets and takes back is nearer than whatever the runtime sleeps for, so that each call would wake
//! a thread to tell it so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// How often it is looked who has waited long enough.
const BEAT: Duration = Duration::from_millis(25);

#[derive(Default)]
pub(super) struct SharedTimer {
    state: Mutex<SharedTimerState>,
    beat: Notify,
}

#[derive(Default)]
struct SharedTimerState {
    waiting: usize,
    /// Somebody looks, as long as anybody waits.
    is_running: bool,
}

/// One who waits.
struct TimerWait<'a>(&'a SharedTimer);

impl Drop for TimerWait<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

impl SharedTimer {
    fn state(&self) -> MutexGuard<'_, SharedTimerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves after this time, or a beat later.
    pub(super) async fn passed(self: &Arc<Self>, time: Duration) {
        let begun = Instant::now();
        let _waits = self.wait();
        loop {
            let beat = self.beat.notified();
            if begun.elapsed() >= time {
                return;
            }
            beat.await;
        }
    }

    fn wait(self: &Arc<Self>) -> TimerWait<'_> {
        let mut state = self.state();
        state.waiting += 1;
        if !std::mem::replace(&mut state.is_running, true) {
            tokio::spawn(Arc::clone(self).run());
        }
        TimerWait(self)
    }

    async fn run(self: Arc<Self>) {
        let mut look = TimerLook { timer: self, is_over: false };
        loop {
            sleep(BEAT).await;
            let mut state = look.timer.state();
            if state.waiting == 0 {
                state.is_running = false;
                drop(state);
                look.is_over = true;
                return;
            }
            drop(state);
            look.timer.beat.notify_waiters();
        }
    }
}

/// Whoever looks. Where its runtime ends before it, the next one who waits begins another.
struct TimerLook {
    timer: Arc<SharedTimer>,
    is_over: bool,
}

impl Drop for TimerLook {
    fn drop(&mut self) {
        if !self.is_over {
            self.timer.state().is_running = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_millis(100);

    #[tokio::test(start_paused = true)]
    async fn all_wait_as_long_as_they_want_to_and_hardly_longer() {
        let timer = Arc::<SharedTimer>::default();
        // The second time it was still for want of anybody who waits.
        for _ in 0..2 {
            let mut waits = Vec::new();
            for late in 0..10 {
                let timer = Arc::clone(&timer);
                waits.push(tokio::spawn(async move {
                    sleep(Duration::from_millis(7 * late)).await;
                    let begun = Instant::now();
                    timer.passed(LONG).await;
                    begun.elapsed()
                }));
            }
            for wait in waits {
                let waited = wait.await.unwrap();
                assert!((LONG..=LONG + BEAT + BEAT).contains(&waited), "{waited:?}");
            }
            sleep(BEAT + BEAT).await;
            let state = timer.state();
            assert_eq!((state.waiting, state.is_running), (0, false));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_looks_for_those_who_have_gone() {
        let timer = Arc::<SharedTimer>::default();
        let ended = tokio::time::timeout(BEAT, timer.passed(LONG)).await;
        assert!(ended.is_err());
        assert_eq!(timer.state().waiting, 0);
        sleep(BEAT + BEAT).await;
        assert!(!timer.state().is_running);
    }

    #[test]
    fn whoever_waits_after_the_runtime_of_the_last_one_is_waited_for() {
        let timer = Arc::<SharedTimer>::default();
        for _ in 0..2 {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            // It ends while somebody looks.
            runtime.block_on(timer.passed(BEAT));
            assert!(timer.state().is_running);
        }
    }
}
