//! The clock of one connection: a head that takes too long is noticed, and one that does not costs
//! no timer.
//!
//! A timer for each head is set and taken back with each request, and one that is set to ring
//! before all others of its thread wakes the thread that sets it. This one is set when the
//! connection begins to wait, and again only when it rings too early.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use tokio::time;

/// Belongs to one connection, which waits for one thing at a time.
#[derive(Default)]
pub(crate) struct HeaderTimer(Arc<Mutex<TimerSleep>>);

/// Rings at the first of the times that it was set to, or earlier.
type TimerSleep = Option<Pin<Box<time::Sleep>>>;

struct HeaderSleep {
    bell: Arc<Mutex<TimerSleep>>,
    until: time::Instant,
}

impl Timer for HeaderTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(HeaderSleep { bell: Arc::clone(&self.0), until: deadline.into() })
    }
}

impl Sleep for HeaderSleep {}

impl Future for HeaderSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let until = self.until;
        let mut bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        let bell = bell.get_or_insert_with(|| Box::pin(time::sleep_until(until)));
        if bell.deadline() > until {
            bell.as_mut().reset(until);
        }
        while bell.deadline() < until {
            ready!(bell.as_mut().poll(cx));
            bell.as_mut().reset(until);
        }
        bell.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for so many milliseconds, and says whether that took as long and not for ever.
    async fn ends_in_time(clock: &HeaderTimer, milliseconds: u64) -> bool {
        let (begun, lasts) = (Instant::now(), Duration::from_millis(milliseconds));
        let waited = time::timeout(Duration::from_secs(10), clock.sleep_until(begun + lasts)).await;
        waited.is_ok() && begun.elapsed() >= lasts
    }

    async fn is_given_up(clock: &HeaderTimer, seconds: u64) {
        let waiting = clock.sleep(Duration::from_secs(seconds));
        assert!(time::timeout(Duration::from_millis(10), waiting).await.is_err());
    }

    #[tokio::test]
    async fn every_wait_ends_when_it_should_whatever_was_waited_for_before() {
        let clock = HeaderTimer::default();
        assert!(ends_in_time(&clock, 20).await);
        assert!(ends_in_time(&clock, 30).await);
        // The bell stands at the end of a wait that was given up: far behind the next one, ...
        is_given_up(&clock, 60).await;
        assert!(ends_in_time(&clock, 25).await);
        // ... and before it.
        is_given_up(&clock, 1).await;
        assert!(ends_in_time(&clock, 1_500).await);
    }
}
