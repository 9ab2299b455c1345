//! What the door cannot show: that nobody spins, and that nothing is lost.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use futures_util::future::join_all;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::*;

fn bounds(per_batch: usize, per_source: usize, per_tenant: usize) -> Bounds {
    Bounds::new(&CribLimits { per_batch, per_source, per_tenant, ..CribLimits::default() })
}

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn calls_that_lack_different_places_wait_and_do_not_hand_them_round() {
    let bounds = bounds(9, 1, 1);
    let (s, t) = (SourceId::new("s"), SourceId::new("t"));
    let (ann, bob) = (bounds.batch("ann"), bounds.batch("bob"));
    let of_source = bob.place(&bounds, &s).await.unwrap();
    let of_tenant = ann.place(&bounds, &t).await.unwrap();
    // Each of these needs the source of the one and the tenant of the other.
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(ann.place(&bounds, &s))).collect();
    assert!(waiting.iter_mut().all(|place| poll(place.as_mut()).is_pending()));
    drop(of_source);
    assert!(waiting.iter_mut().all(|place| poll(place.as_mut()).is_pending()));
    drop(of_tenant);
    let mut order = Vec::new();
    for (number, place) in waiting.into_iter().enumerate() {
        drop(place.await.unwrap());
        order.push(number);
    }
    assert_eq!(order, [0, 1, 2]);
}

#[tokio::test]
async fn a_place_for_somebody_who_has_given_up_goes_to_the_next() {
    let bounds = bounds(1, 9, 9);
    let (source, batch) = (SourceId::new("s"), bounds.batch("ann"));
    let first = batch.place(&bounds, &source).await.unwrap();
    let mut second = Box::pin(batch.place(&bounds, &source));
    let mut third = pin!(batch.place(&bounds, &source));
    assert!(poll(second.as_mut()).is_pending() && poll(third.as_mut()).is_pending());
    // It has the place already, and did not look.
    drop(first);
    drop(second);
    let third = timeout(Duration::from_secs(1), third).await;
    assert!(third.is_ok_and(|place| place.is_some()));
    assert_eq!(batch.batch.load(Ordering::Relaxed), 0);
}

#[test]
fn no_bound_is_passed_and_every_place_comes_back() {
    let bounds = Arc::new(bounds(4, 3, 2));
    let tenants = ["ann", "bob", "cid"];
    let batches: Vec<_> = tenants.iter().map(|name| Arc::new(bounds.batch(name))).collect();
    let sources: Vec<_> = ["s", "t"].into_iter().map(SourceId::new).collect();
    let call = |number: usize| {
        let (bounds, batch) = (Arc::clone(&bounds), Arc::clone(&batches[number % 3]));
        let source = sources[number / 3 % 2].clone();
        async move {
            let place = batch.place(&bounds, &source).await.unwrap();
            let taken = place.taken.iter().map(|taken| taken.load(Ordering::Relaxed));
            assert!(taken.zip([4, 3, 2]).all(|(taken, most)| taken <= most));
            tokio::task::yield_now().await;
        }
    };
    std::thread::scope(|threads| {
        for first in [0, 300] {
            let calls = join_all((first..first + 300).map(call));
            threads.spawn(move || {
                let runtime = Builder::new_current_thread().enable_time().build().unwrap();
                runtime.block_on(calls)
            });
        }
    });
    let left: usize = batches.iter().map(|batch| batch.batch.load(Ordering::Relaxed)).sum();
    assert_eq!((left, bounds.queue.waiting().len()), (0, 0));
}
