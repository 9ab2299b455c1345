//! A clock that jumps: that of the database, by which leases end.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::disturbed_over;
use crate::keep::postgres::cluster::Cluster;
use crate::serve::support::eventually;

/// Further than a lease lasts, and not as far as a session.
const SHIFTS: [&str; 3] = ["+30s", "-30s", "+0s"];

/// Sets the clock of a server that was started by it.
fn set(cluster: &Cluster, shift: &str) {
    let fresh = cluster.folder().join("fresh");
    std::fs::write(&fresh, shift).unwrap();
    std::fs::rename(fresh, cluster.folder().join("clock")).unwrap();
}

/// Starts a server once more, with a clock that a file says.
fn start_by_clock(cluster: &Cluster, library: &str) {
    cluster.crash();
    set(cluster, "+0s");
    let postgres = cluster.program("postgres");
    // The library makes a file of the user that it starts as, which must not be root.
    let mut server = cluster.program("/usr/bin/env");
    server.arg(format!("LD_PRELOAD={library}")).arg("DONT_FAKE_MONOTONIC=1");
    let clock = cluster.folder().join("clock");
    server.arg(format!("FAKETIME_TIMESTAMP_FILE={}", clock.display())).arg("FAKETIME_NO_CACHE=1");
    server.args(postgres.get_args().last());
    server.arg("-D").arg(cluster.folder().join("data")).arg("-k").arg(cluster.folder());
    server.args(["-c", "listen_addresses=", "-c", "max_connections=300"]);
    server.stdout(Stdio::null()).stderr(Stdio::null());
    // It ends with the thread that started it, and so that thread stays.
    std::thread::spawn(move || server.spawn().unwrap().wait().unwrap());
    assert!(eventually(|| cluster.sql("postgres", "SELECT 1").is_some()));
}

#[test]
fn the_clock_of_the_database_jumps_and_every_call_has_one_end_that_is_true() {
    #[expect(clippy::disallowed_methods, reason = "the chores tell tests where things are")]
    let library = std::env::var("TOOLCRIB_FAKETIME");
    let Ok(library) = library else {
        let out = &mut std::io::stdout();
        writeln!(out, "[skipped] no faketime: `cargo xtask peers` installs it").unwrap();
        return;
    };
    let Some(cluster) = Cluster::start_if_any("fleet-clock") else { return };
    let url = cluster.database("record");
    start_by_clock(&cluster, &library);
    let seconds = || {
        let told = cluster.sql("postgres", "SELECT extract(epoch FROM clock_timestamp())");
        told.unwrap().trim().parse::<f64>().unwrap()
    };
    let turn = AtomicUsize::new(0);
    disturbed_over(&url, Duration::from_secs(4), |_, _| {
        let before = seconds();
        set(&cluster, SHIFTS[turn.fetch_add(1, Ordering::Relaxed) % SHIFTS.len()]);
        assert!((seconds() - before).abs() > 20.0, "the clock does not jump");
    });
}
