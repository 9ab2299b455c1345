//! A standby that must have what was confirmed: while it is away, nothing is told as done.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use toolcrib_core::{Caller, Fingerprint, IdempotencyKey, KeyState, ToolName};
use toolcrib_store::StoreOptions;

use crate::cluster::Cluster;

/// Something that takes the place of a standby, as far as the server sees.
fn standby(cluster: &Cluster) -> Child {
    let mut standby = cluster.program("pg_receivewal");
    standby.arg("-h").arg(cluster.folder()).args(["-U", "crib", "--synchronous", "-D"]);
    standby.arg(cluster.folder()).env("PGAPPNAME", "standby");
    let child = standby.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    let syncs = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    while cluster.sql("postgres", syncs).unwrap().trim() != "1" {
        assert!(Instant::now() < until, "the standby does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_standby_lacks_is_not_told_as_done_before_it_has_it() {
    let cluster = Cluster::start("sync");
    let url = cluster.database("record");
    cluster.reload(
        "ALTER SYSTEM SET synchronous_standby_names = 'standby'",
        "synchronous_standby_names",
        "standby",
    );
    let mut first = standby(&cluster);
    let store = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    let key = |name: &str| IdempotencyKey {
        caller: Caller::local(),
        tool: ToolName::new("pay").unwrap(),
        source: None,
        key: name.to_owned(),
    };
    let arguments = Fingerprint::of(&json!({}));
    assert_eq!(store.begin(&key("k1"), arguments).await.unwrap(), KeyState::New);
    first.kill().unwrap();
    first.wait().unwrap();
    let (asked, name) = (store.clone(), key("k2"));
    let waits = tokio::spawn(async move { asked.begin(&name, arguments).await });
    // Longer than a statement or an answer may take.
    let until = Instant::now() + Duration::from_mins(1);
    while store.works().is_ok() {
        assert!(Instant::now() < until, "it is not told");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!waits.is_finished());
    let mut second = standby(&cluster);
    assert_eq!(waits.await.unwrap().unwrap(), KeyState::New);
    assert_eq!(store.begin(&key("k2"), arguments).await.unwrap(), KeyState::Running);
    drop(store);
    second.kill().unwrap();
    second.wait().unwrap();
}
