//! What the door cannot show: that nobody spins, and that nothing is lost.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use futures_util::future::join_all;
use proptest::prelude::*;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::*;

fn bounds(per_batch: usize, per_source: usize, per_tenant: usize) -> ProcessPlaces {
    ProcessPlaces::new(&CribLimits { per_batch, per_source, per_tenant, ..CribLimits::default() })
}

fn caller(tenant: &str) -> Arc<Caller> {
    Caller::new(tenant, "x").into()
}

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn calls_that_lack_different_places_wait_and_do_not_hand_them_round() {
    let bounds = bounds(9, 1, 1);
    let (s, t) = (SourceId::new("s"), SourceId::new("t"));
    let (ann, bob) = (bounds.batch(&caller("ann")), bounds.batch(&caller("bob")));
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
    let (source, batch) = (SourceId::new("s"), bounds.batch(&caller("ann")));
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
    let batches: Vec<_> =
        tenants.iter().map(|name| Arc::new(bounds.batch(&caller(name)))).collect();
    let sources: Vec<_> = ["s", "t"].into_iter().map(SourceId::new).collect();
    let call = |number: usize| {
        let (bounds, batch) = (Arc::clone(&bounds), Arc::clone(&batches[number % 3]));
        let source = sources[number / 3 % 2].clone();
        async move {
            let place = batch.place(&bounds, &source).await.unwrap();
            let taken = place.taken.bounded.iter().map(|taken| taken.load(Ordering::Relaxed));
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
    let shares = bounds.shares.0.lock().unwrap();
    assert!(shares.values().all(|share| share.held.load(Ordering::Relaxed) == 0));
    let left: usize = batches.iter().map(|batch| batch.batch.load(Ordering::Relaxed)).sum();
    assert_eq!((left, bounds.queue.waiting().len()), (0, 0));
}

#[tokio::test]
async fn many_who_flood_one_source_take_turns() {
    let bounds = bounds(99, 1, 99);
    let source = SourceId::new("s");
    let callers = [("ann", "x"), ("bob", "x"), ("bob", "y"), ("cid", "x")];
    let batches =
        callers.map(|(tenant, subject)| bounds.batch(&Caller::new(tenant, subject).into()));
    let mut held = batches[0].place(&bounds, &source).await;
    let mut waiting: Vec<_> = (0..batches.len())
        .flat_map(|number| [number; 3])
        .map(|number| (number, Box::pin(batches[number].place(&bounds, &source))))
        .collect();
    assert!(waiting.iter_mut().all(|(_, place)| poll(place.as_mut()).is_pending()));
    let mut order = Vec::new();
    while held.take().is_some() {
        let ready = waiting.iter_mut().enumerate().find_map(|(at, (number, place))| {
            let Poll::Ready(place) = poll(place.as_mut()) else { return None };
            Some((at, *number, place))
        });
        let Some((at, number, place)) = ready else { break };
        drop(waiting.remove(at));
        order.push(number);
        held = place;
    }
    // One after the other of the three tenants, and of the callers of one of them.
    assert_eq!(order, [1, 3, 0, 2, 3, 0, 1, 3, 0, 2, 1, 2]);
}

/// Who floods a source, and who comes after that.
fn floods() -> impl Strategy<Value = (Arc<Caller>, Arc<Caller>)> {
    prop_oneof![
        Just((Caller::new("ann", "x"), Caller::new("bob", "x"))),
        Just((Caller::new("ann", "x"), Caller::new("ann", "y"))),
    ]
    .prop_map(|(first, second)| (first.into(), second.into()))
}

proptest! {
    #[test]
    fn who_comes_after_a_flood_waits_for_the_next_place(
        (flooding, late) in floods(),
        most in 1..6_usize,
        waiting in 1..20_usize,
        freed in 0..6_usize,
        others in 1..4_usize,
    ) {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let _within = runtime.enter();
        let bounds = bounds(99, most, 99);
        let source = SourceId::new("s");
        let flood = bounds.batch(&flooding);
        let ask = |batch: &Arc<BatchPlaces>| {
            let (batch, bounds, source) = (Arc::clone(batch), &bounds, source.clone());
            Box::pin(async move { batch.place(bounds, &source).await.unwrap() })
        };
        let (flood, after) = (Arc::new(flood), Arc::new(bounds.batch(&late)));
        let taken = |place: Poll<PlacePermit>| match place {
            Poll::Ready(place) => Some(place),
            Poll::Pending => None,
        };
        let mut held: Vec<_> = (0..most).filter_map(|_| taken(poll(ask(&flood).as_mut()))).collect();
        // While nobody else wants it, a source is all theirs.
        prop_assert_eq!(held.len(), most);
        let mut flooding: Vec<_> = (0..waiting).map(|_| ask(&flood)).collect();
        for place in &mut flooding {
            prop_assert!(poll(place.as_mut()).is_pending());
        }
        let mut late: Vec<_> = (0..others).map(|_| ask(&after)).collect();
        for place in &mut late {
            prop_assert!(poll(place.as_mut()).is_pending());
        }
        drop(held.swap_remove(freed % most));
        let first = taken(poll(late.remove(0).as_mut()));
        prop_assert!(first.is_some(), "the next place went to those who flood");
        prop_assert!(flooding.iter_mut().all(|place| poll(place.as_mut()).is_pending()));
        // Nobody who floods is passed over for ever either: to and fro, as long as both wait.
        held.extend(first);
        let mut ended = 0;
        while let Some(place) = held.pop() {
            drop(place);
            ended += 1;
            prop_assert!(bounds.sources.of(&source).load(Ordering::Relaxed) <= most);
            for list in [&mut late, &mut flooding] {
                list.retain_mut(|place| taken(poll(place.as_mut())).map(|place| held.push(place)).is_none());
            }
        }
        prop_assert_eq!(ended, most - 1 + waiting + others);
    }
}

/// Whose turn it is of those who wait, in the order of their coming, by a look at all of them.
fn turn(
    queue: &PlaceQueue,
    waiting: &[(PlaceClaim, oneshot::Receiver<PlacePermit>)],
) -> Option<usize> {
    let mut free = waiting.iter().enumerate().filter(|(_, (wanted, _))| queue.has(wanted));
    let first = free.next()?;
    let source = first.1.0.source();
    let rivals = free.filter(|(_, (rival, _))| Arc::ptr_eq(rival.source(), source));
    let ranks = rivals.chain([first]).map(|(at, (rival, _))| (rival.rank(), at));
    ranks.min().map(|(_, at)| at)
}

proptest! {
    #[test]
    fn the_turn_is_whose_a_look_at_all_who_wait_finds(
        asked in prop::collection::vec((0..5_usize, 0..2_usize), 1..60),
        steps in prop::collection::vec((0..60_usize, 0..4_u8), 0..60),
    ) {
        let bounds = bounds(2, 3, 4);
        let sources = ["s", "t"].map(SourceId::new);
        // Two batches of one caller among them.
        let callers = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "x"), ("cid", "x")];
        let batches = callers.map(|(tenant, name)| bounds.batch(&Caller::new(tenant, name).into()));
        let (mut held, mut waiting) = (Vec::new(), Vec::new());
        for (who, source) in asked {
            let wanted = batches[who].wanted(&bounds, &sources[source]);
            match bounds.queue.ask(wanted.clone()) {
                QueueAnswer::Given(place) => held.push(place),
                QueueAnswer::Waits(given) => waiting.push((wanted, given)),
                QueueAnswer::Full => prop_assert!(false, "so many may wait"),
            }
        }
        for (at, what) in steps {
            if what == 0 && !waiting.is_empty() {
                // Somebody gives up.
                waiting.remove(at % waiting.len());
                continue;
            }
            if held.is_empty() {
                break;
            }
            let place = held.swap_remove(at % held.len());
            place.taken.all().for_each(|taken| { taken.fetch_sub(1, Ordering::Relaxed); });
            let expected = turn(&bounds.queue, &waiting);
            place.taken.all().for_each(|taken| { taken.fetch_add(1, Ordering::Relaxed); });
            drop(place);
            if let Some(expected) = expected {
                let (_, mut given) = waiting.remove(expected);
                held.push(given.try_recv().expect("whose turn it was"));
            }
            // Where more is free for others then, they have it too.
            waiting.retain_mut(|(_, given)| given.try_recv().map(|place| held.push(place)).is_err());
            prop_assert_eq!(turn(&bounds.queue, &waiting), None);
        }
    }
}
