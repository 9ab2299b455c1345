//! What becomes of the database meanwhile: it crashes, and a standby takes its place.

use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use super::disturbed_over;
use crate::keep::postgres::cluster::Cluster;
use crate::process::Folder;
use crate::serve::support::eventually;

/// The name of its socket.
const SOCKET: &str = ".s.PGSQL.5432";

#[test]
fn the_database_crashes_and_every_call_has_one_end_that_is_true() {
    let Some(cluster) = Cluster::start_if_any("fleet-crashed") else { return };
    let url = cluster.database("record");
    let lost = disturbed_over(&url, Duration::from_secs(5), |_, _| {
        cluster.crash();
        cluster.run();
    });
    // The servers are there all the time, and say what they cannot do.
    assert_eq!(lost, 0);
}

/// A server that has all that another one confirmed, and may take its place.
fn standby_of(primary: &Cluster, name: &str) -> Cluster {
    let standby = Cluster::prepare(name);
    let data = standby.folder().join("data");
    std::fs::remove_dir_all(&data).unwrap();
    let mut copy = standby.program("pg_basebackup");
    copy.args(["--checkpoint=fast", "--write-recovery-conf", "--pgdata"]).arg(&data);
    let from = format!("host={} user=crib application_name=standby", primary.folder().display());
    copy.arg(format!("--dbname={from}")).stdout(Stdio::null());
    assert!(copy.status().unwrap().success());
    standby.run();
    let syncs = "SELECT count(*) FROM pg_stat_replication WHERE application_name = 'standby'";
    assert!(eventually(|| primary.sql("postgres", syncs).unwrap().trim() == "1"));
    primary.reload(
        "ALTER SYSTEM SET synchronous_standby_names = 'standby'",
        "synchronous_standby_names",
        "standby",
    );
    let confirms = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    assert!(eventually(|| primary.sql("postgres", confirms).unwrap().trim() == "1"));
    standby
}

/// Leads whoever asks at this place to a server.
fn lead(place: &Path, to: &Cluster) {
    let fresh = place.join("fresh");
    std::os::unix::fs::symlink(to.folder().join(SOCKET), &fresh).unwrap();
    std::fs::rename(fresh, place.join(SOCKET)).unwrap();
}

#[test]
fn a_standby_takes_over_and_every_call_has_one_end_that_is_true() {
    let Some(primary) = Cluster::start_if_any("fleet-first") else { return };
    primary.database("record");
    let standby = standby_of(&primary, "fleet-next");
    let place = Folder::new();
    lead(place.path(), &primary);
    let url = format!(
        "postgres://crib@{}/record",
        place.path().display().to_string().replace('/', "%2F")
    );
    // It happens once: there is no second standby.
    let waiting = Mutex::new(Some(&standby));
    let lost = disturbed_over(&url, Duration::from_secs(6), |_, _| {
        let Some(standby) = waiting.lock().unwrap().take() else { return };
        primary.crash();
        let mut promote = standby.program("pg_ctl");
        promote.arg("promote").arg("-D").arg(standby.folder().join("data"));
        assert!(promote.stdout(Stdio::null()).status().unwrap().success());
        lead(place.path(), standby);
    });
    assert_eq!(lost, 0);
}
