//! Several servers over one database, which are killed and stopped one after the other: each call
//! has one end, which is true, and runs once at the most, whichever of them it came to.
//!
//! `TOOLCRIB_TEST_FLEET` says for how many seconds, 20 if it is not set, and
//! `TOOLCRIB_TEST_FLEET_EVERY` how many lie between two of them. `cargo xtask fleet` sets both.

mod balancer;
mod clients;
mod replicas;

use std::io::Write as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use toolcrib_testkit::SeededRandom;

use self::clients::Crowd;
use self::replicas::Fleet;
use crate::keep::postgres::cluster::Cluster;
use crate::keep::upstream::Upstream;
use crate::serve::support::eventually;

/// Clients that press on shared keys.
const PRESSING: u64 = 6;
const LASTS: Duration = Duration::from_secs(20);

/// A number of seconds that whoever runs the tests has named.
fn seconds(name: &str) -> Option<Duration> {
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever looks for a fault lets it run for longer"
    )]
    let told = std::env::var(name).ok()?;
    told.parse().ok().map(Duration::from_secs)
}

/// Has clients of every kind at work while `disturb` does what it does with a replica, and looks at
/// what came of it. Gives how many requests were not answered.
fn disturbed(name: &str, pause: Duration, disturb: impl Fn(&Fleet, usize) + Sync) -> u32 {
    let Some(cluster) = Cluster::start_if_any(name) else { return 0 };
    let pause = seconds("TOOLCRIB_TEST_FLEET_EVERY").unwrap_or(pause);
    let upstream = Upstream::start();
    let fleet = Fleet::start(3, &cluster.database("record"), &upstream);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let crowd = Crowd::new(&fleet.balancer.address, &fleet.key);
    let faults = std::thread::scope(|scope| {
        for client in 0..PRESSING {
            let crowd = &crowd;
            scope.spawn(move || crowd.press(seed + client));
        }
        scope.spawn(|| crowd.approve(seed));
        let session = scope.spawn(|| crowd.hold_session());
        let (until, mut random) = (
            Instant::now() + seconds("TOOLCRIB_TEST_FLEET").unwrap_or(LASTS),
            SeededRandom::new(seed),
        );
        while Instant::now() < until {
            std::thread::sleep(pause.min(until.saturating_duration_since(Instant::now())));
            let place = usize::try_from(random.below(fleet.len() as u64)).unwrap();
            disturb(&fleet, place);
        }
        crowd.is_over.store(true, Ordering::Relaxed);
        session.join().unwrap()
    });
    assert_eq!(faults, Vec::<String>::new(), "seed {seed}\n{}", fleet.told());
    // Calls of replicas that were killed get their ends within their lease.
    let is_open = |calls: &[serde_json::Value]| calls.iter().any(|call| call["state"] == "running");
    assert!(eventually(|| !is_open(&crowd.record())), "seed {seed}\n{}", fleet.told());
    let calls = crowd.record();
    let heard = crowd.into_heard();
    let mut ends = std::collections::HashMap::new();
    for call in &calls {
        let id = call["id"].as_str().unwrap().to_owned();
        ends.entry(id).or_insert_with(Vec::new).push(call["state"].as_str().unwrap().to_owned());
    }
    for (nonce, count) in upstream.oracle.all() {
        assert_eq!(count, 1, "seed {seed}: `{nonce}` ran {count} times: {:?}", ends.get(&nonce));
    }
    for nonce in &heard.all {
        let (ran, own) = (upstream.oracle.count(nonce) == 1, ends.get(nonce));
        let states = own.map_or(&[][..], Vec::as_slice);
        let succeeded = states.iter().any(|state| state == "succeeded");
        let is_unknown =
            states.iter().any(|state| state.contains("unknown") || state == "interrupted");
        assert!(!succeeded || ran, "seed {seed}: `{nonce}` did not run: {states:?}");
        assert!(!ran || succeeded || is_unknown, "seed {seed}: `{nonce}` ran: {states:?}");
        assert!(!heard.done.contains(nonce) || succeeded, "seed {seed}: `{nonce}` {states:?}");
    }
    assert!(heard.done.len() > 20, "seed {seed}: only {} were done", heard.done.len());
    let (calls, done) = (calls.len(), heard.done.len());
    let told = format!("{calls} calls, {done} done, others {:?}", heard.others);
    let _ = writeln!(std::io::stdout(), "{told}");
    heard.lost
}

#[test]
fn replicas_are_killed_and_every_call_has_one_end_that_is_true() {
    disturbed("fleet-killed", Duration::from_secs(2), Fleet::kill);
}

#[test]
fn replicas_are_exchanged_one_after_the_other_and_nobody_is_refused() {
    let lost = disturbed("fleet-rolled", Duration::from_secs(1), Fleet::roll);
    assert_eq!(lost, 0);
}
