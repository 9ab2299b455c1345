//! A future that is polled when something woke it, and not when its neighbours were woken.
//!
//! A connection and the answer on it are one task. Each part of a request's body that is taken
//! wakes the connection for the next one, so that everything below the answer, some thirty futures
//! deep, would be asked again although nothing has come for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::BoxFuture;
use futures_util::task::AtomicWaker;

/// Nothing has come since it was polled last.
const ASLEEP: u8 = 0;
/// Something has.
const CALLED: u8 = 1;
/// It is being polled, or is over: nobody has to be told.
const BUSY: u8 = 2;

/// How often it is polled in a row, because it was called while it was polled.
const IN_A_ROW: usize = 2;

pub(crate) struct WakeFilter<'a, T> {
    inner: BoxFuture<'a, T>,
    bell: Arc<FilterWaker>,
    waker: Waker,
}

/// What the future inside is given for a waker.
struct FilterWaker {
    state: AtomicU8,
    task: AtomicWaker,
}

impl<'a, T> WakeFilter<'a, T> {
    pub(crate) fn new(inner: BoxFuture<'a, T>) -> Self {
        let bell = Arc::new(FilterWaker { state: AtomicU8::new(CALLED), task: AtomicWaker::new() });
        let waker = Waker::from(Arc::clone(&bell));
        Self { inner, bell, waker }
    }
}

impl<T> Future for WakeFilter<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Self { inner, bell, waker } = &mut *self;
        // Before the look: who calls after it wakes this waker.
        bell.task.register(context.waker());
        if !bell.changes(CALLED, BUSY) {
            return Poll::Pending;
        }
        for _ in 0..IN_A_ROW {
            if let Poll::Ready(done) = inner.as_mut().poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(done);
            }
            if bell.changes(BUSY, ASLEEP) {
                return Poll::Pending;
            }
            // Swapped and not stored: what those did who called is seen when it is polled again.
            bell.state.swap(BUSY, Ordering::AcqRel);
        }
        // The task has others to look after too.
        bell.state.swap(CALLED, Ordering::AcqRel);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl FilterWaker {
    fn changes(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Wake for FilterWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(CALLED, Ordering::AcqRel) == ASLEEP {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use futures_util::future::join;
    use tokio::sync::oneshot;
    use tokio::task::yield_now;
    use tokio::time::timeout;

    use super::*;

    /// Polls at once, and tells whether it is done.
    fn poll<T>(woken: &mut WakeFilter<'_, T>) -> Poll<T> {
        Pin::new(woken).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn it_is_polled_once_and_then_only_when_it_was_woken() {
        let polls = AtomicUsize::new(0);
        let (tell, mut told) = oneshot::channel();
        let mut woken = WakeFilter::new(Box::pin(poll_fn(|context| {
            polls.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut told).poll(context)
        })));
        for _ in 0..3 {
            assert!(poll(&mut woken).is_pending());
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        assert_eq!(tell.send("done"), Ok(()));
        assert_eq!(poll(&mut woken), Poll::Ready(Ok("done")));
        drop(woken);
        assert_eq!(polls.into_inner(), 2);
    }

    #[tokio::test]
    async fn what_wakes_itself_goes_on() {
        let yields = async {
            for _ in 0..10 {
                yield_now().await;
            }
            "done"
        };
        assert_eq!(WakeFilter::new(Box::pin(yields)).await, "done");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_wake_of_another_thread_is_lost() {
        let all = async {
            for round in 0..10_000 {
                let ((one, first), (two, second)) = (oneshot::channel(), oneshot::channel());
                for tell in [one, two] {
                    tokio::spawn(async move { tell.send(round) });
                }
                let woken = WakeFilter::new(Box::pin(join(first, second)));
                // On the same task, which it keeps awake.
                let neighbour = async {
                    for _ in 0..round % 4 {
                        yield_now().await;
                    }
                };
                assert_eq!(join(woken, neighbour).await, ((Ok(round), Ok(round)), ()));
            }
        };
        timeout(Duration::from_mins(1), all).await.expect("no wake is lost");
    }
}
