//! When a program may start again.

#![expect(clippy::panic, reason = "a helper of tests")]

use std::time::Duration;

use tokio::time::Instant;
use toolcrib_child::{Permit, RestartBounds, Restarts};

const MINUTE: Duration = Duration::from_mins(1);

/// Starts, ends at once, and tells how long the pause is.
fn crash(restarts: &mut Restarts, now: Instant) -> Permit {
    assert_eq!(restarts.permit(now), Permit::Start);
    restarts.ended(now);
    restarts.permit(now)
}

#[test]
fn pauses_double_from_half_a_second_and_the_fifth_end_opens_the_breaker() {
    for seed in 0..1_000 {
        let mut restarts = usual(seed);
        let mut now = Instant::now();
        for highest in [500, 1_000, 2_000, 4_000].map(Duration::from_millis) {
            let Permit::Wait(pause) = crash(&mut restarts, now) else { panic!("seed {seed}") };
            assert!(highest / 2 <= pause && pause <= highest, "seed {seed}: {pause:?}");
            assert_eq!(
                restarts.permit(now + pause / 2),
                Permit::Wait(pause.saturating_sub(pause / 2))
            );
            now += pause;
        }
        assert_eq!(crash(&mut restarts, now), Permit::Open(MINUTE), "seed {seed}");
        assert!(restarts.is_open());
    }
}

#[test]
fn the_open_breaker_lets_one_try_through_and_opens_again_when_it_ends() {
    let (mut restarts, start) = opened();
    let now = start + MINUTE;
    assert_eq!(
        restarts.permit(now - Duration::from_millis(1)),
        Permit::Open(Duration::from_millis(1))
    );
    assert_eq!(restarts.permit(now), Permit::Start);
    assert_eq!(restarts.permit(now), Permit::Running);
    assert!(!restarts.is_open());
    let now = now + MINUTE - Duration::from_secs(1);
    restarts.ended(now);
    assert_eq!(restarts.permit(now), Permit::Open(MINUTE));
}

#[test]
fn a_try_that_lasts_closes_the_breaker_and_starts_the_pauses_anew() {
    let (mut restarts, start) = opened();
    assert_eq!(restarts.permit(start + MINUTE), Permit::Start);
    let now = start + MINUTE + MINUTE;
    restarts.ended(now);
    let Permit::Wait(pause) = restarts.permit(now) else { panic!("the breaker is closed") };
    assert!(pause <= Duration::from_millis(500), "{pause:?}");
}

#[test]
fn ends_far_apart_never_open_it_and_pauses_stay_below_a_minute() {
    let mut restarts = usual(7);
    let mut now = Instant::now();
    for _ in 0..50 {
        assert_eq!(restarts.permit(now), Permit::Start);
        now += Duration::from_secs(20);
        restarts.ended(now);
        let Permit::Wait(pause) = restarts.permit(now) else { panic!("opened") };
        assert!(pause <= MINUTE);
        now += pause;
    }
    assert!(!restarts.is_open());
}

#[test]
fn programs_that_died_together_come_back_apart() {
    let now = Instant::now();
    let mut pauses: Vec<Permit> = (0..100).map(|seed| crash(&mut usual(seed), now)).collect();
    pauses.dedup();
    assert!(pauses.len() > 80, "{} different pauses of 100", pauses.len());
}

#[test]
fn the_breaker_opens_at_the_ends_that_are_set_within_their_time() {
    let second = Duration::from_secs(1);
    let bounds = RestartBounds {
        first_pause: second,
        longest_pause: 2 * second,
        ends: 3,
        within: 10 * second,
    };
    let opens = |ends: u32, apart: Duration| {
        let (mut restarts, mut now) = (Restarts::new(bounds, 1), Instant::now());
        for _ in 0..ends {
            assert_eq!(restarts.permit(now), Permit::Start);
            restarts.ended(now);
            now += apart;
        }
        restarts.is_open()
    };
    // The last of three ends comes twice the pause after the first.
    let pause = 2 * second;
    assert_eq!([2, 3].map(|ends| opens(ends, pause)), [false, true]);
    assert_eq!([4, 5, 6].map(|seconds| opens(3, seconds * second)), [true, true, false]);
    let mut restarts = Restarts::new(bounds, 1);
    let now = Instant::now();
    let Permit::Wait(first) = crash(&mut restarts, now) else { panic!("it opened") };
    let Permit::Wait(next) = crash(&mut restarts, now + first) else { panic!("it opened") };
    assert!(second / 2 <= first && first <= second && second <= next && next <= 2 * second);
    assert_eq!(crash(&mut restarts, now + first + next), Permit::Open(2 * second));
}

fn usual(seed: u64) -> Restarts {
    Restarts::new(RestartBounds::default(), seed)
}

/// A breaker that opened at the time told.
fn opened() -> (Restarts, Instant) {
    let (mut restarts, mut now) = (usual(1), Instant::now());
    while !restarts.is_open() {
        match restarts.permit(now) {
            Permit::Start => restarts.ended(now),
            Permit::Wait(pause) => now += pause,
            other @ (Permit::Open(_) | Permit::Running) => panic!("{other:?}"),
        }
    }
    (restarts, now)
}
