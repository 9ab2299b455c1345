//! A server that loses what it had: what it had not on its disk is written once more, and what it
//! had there is missed.

use std::time::{Duration, Instant};

use toolcrib_core::{CallLedger as _, Effect, Ending};
use toolcrib_store::{Store, StoreError, StoreOptions};
use toolcrib_store_postgres::Database;

use crate::cluster::Cluster;
use crate::owned::{planned, write_call};

fn opened(url: &str) -> Store {
    toolcrib_store_postgres::open(url, StoreOptions::default()).unwrap()
}

async fn works(store: &Store) {
    let until = Instant::now() + Duration::from_secs(30);
    while let Err(fault) = store.works() {
        assert!(Instant::now() < until, "{fault}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn ends_that_a_crash_of_the_server_takes_with_it_are_written_once_more() {
    let mut cluster = Cluster::prepare("lost");
    // Nothing comes to the disk by itself.
    cluster.set("wal_writer_delay=10s");
    cluster.run();
    let url = cluster.database("record");
    let store = opened(&url);
    let mut calls = Vec::new();
    for _ in 0..20 {
        calls.push(write_call(&store, Effect::Write, &[]).await);
    }
    for call in &calls {
        store.finished(*call, Ending::Succeeded).await.unwrap();
    }
    cluster.crash();
    cluster.run();
    let open = "SELECT count(*) FROM calls WHERE ending IS NULL";
    assert_ne!(cluster.sql("record", open).unwrap().trim(), "0", "the crash took nothing");
    store.works().unwrap();
    // It is noticed by whoever comes next.
    write_call(&store, Effect::Write, &[]).await;
    works(&store).await;
    store.flush().await.unwrap();
    let names: Vec<_> = calls.iter().map(ToString::to_string).collect();
    let ends = store.endings(names.clone()).await.unwrap();
    assert_eq!(names.iter().filter_map(|name| ends.get(name)).count(), calls.len());
    assert!(ends.values().all(|end| *end == Ending::Succeeded));
}

#[tokio::test]
async fn a_copy_that_was_put_back_is_noticed_and_nothing_is_written_to_it() {
    let cluster = Cluster::start("copy");
    let url = cluster.database("record");
    let store = opened(&url);
    write_call(&store, Effect::Write, &[]).await;
    cluster.crash();
    cluster.copy("data", "copy");
    cluster.run();
    write_call(&store, Effect::Write, &[]).await;
    cluster.crash();
    cluster.copy("copy", "data");
    cluster.run();
    let (_, refused) = planned(&store).await;
    let refused = std::error::Error::source(&refused.unwrap_err()).unwrap().to_string();
    assert!(refused.contains(" lacks a part of what was written to it"), "{refused}");
    let groups = "SELECT groups FROM store";
    let before = cluster.sql("record", groups).unwrap();
    planned(&store).await.1.unwrap_err();
    assert_eq!(cluster.sql("record", groups).unwrap(), before);
}

#[test]
fn the_next_process_notices_it_by_the_note_of_the_one_before() {
    let cluster = Cluster::start("note");
    let url = cluster.database("record");
    let note = cluster.folder().join("note.json");
    let open =
        || Database::at(&url).unwrap().noting(note.clone()).open(StoreOptions::default()).map(drop);
    let try_out =
        || Database::at(&url).unwrap().noting(note.clone()).try_out(&StoreOptions::default());
    try_out().unwrap();
    assert!(!note.exists(), "trying out changes nothing");
    open().unwrap();
    open().unwrap();
    try_out().unwrap();
    cluster.sql("record", "UPDATE store SET groups = 0").unwrap();
    let told = |error: StoreError| error.to_string();
    let cure = format!("or remove `{}` to go on without it", note.display());
    for refused in [try_out().map_err(told), open().map_err(told)] {
        let refused = refused.unwrap_err();
        assert!(refused.contains(" lacks a part of what was written to it"), "{refused}");
        assert!(refused.ends_with(&cure), "{refused}");
    }
    cluster.sql("record", "DROP SCHEMA toolcrib CASCADE").unwrap();
    open().unwrap_err();
    assert_eq!(cluster.sql("record", "SELECT to_regclass('toolcrib.store')").unwrap(), "\n");
    std::fs::remove_file(&note).unwrap();
    open().unwrap();
    try_out().unwrap();
}
