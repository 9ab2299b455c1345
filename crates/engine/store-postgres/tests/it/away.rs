//! A database that goes away: what may change something is not sent, and nothing is lost.

use toolcrib_core::{CallLedger as _, Effect, Ending};
use toolcrib_store::{Store, StoreOptions};

use crate::cluster::Cluster;
use crate::owned::write_call;

async fn endings(store: &Store, keys: &[toolcrib_core::CallKey]) -> Vec<Option<Ending>> {
    let names: Vec<_> = keys.iter().map(ToString::to_string).collect();
    let found = store.endings(names.clone()).await.unwrap();
    names.iter().map(|name| found.get(name).copied()).collect()
}

/// Waits until the store says that it can be written.
async fn works(store: &Store) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while let Err(fault) = store.works() {
        assert!(std::time::Instant::now() < until, "{fault}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_server_that_crashes_is_told_and_an_end_that_it_missed_is_written_later() {
    let cluster = Cluster::start("away");
    let url = cluster.database("record");
    let store = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    let before = write_call(&store, Effect::Write, &[]).await;
    // A session that was ended while nobody asked for anything is opened anew.
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'record'";
    cluster.sql("postgres", end).unwrap();
    let within = write_call(&store, Effect::Write, &[]).await;
    cluster.crash();
    let fault = store.finished(before, Ending::Succeeded).await.unwrap_err();
    let cause = std::error::Error::source(&fault).unwrap().to_string();
    assert!(cause.contains("/record` "), "{cause}");
    assert!(store.works().is_err());
    cluster.run();
    works(&store).await;
    store.flush().await.unwrap();
    store.finished(within, Ending::NotExecuted).await.unwrap();
    assert_eq!(
        endings(&store, &[before, within]).await,
        [Some(Ending::Succeeded), Some(Ending::NotExecuted)]
    );
    drop(store);
    cluster.crash();
}

#[test]
fn a_database_that_is_not_there_or_of_a_newer_release_is_told_with_the_cure() {
    let cluster = Cluster::start("told");
    let url = cluster.database("record");
    let told = |url: &str| match toolcrib_store_postgres::open(url, StoreOptions::default()) {
        Ok(_) => "opened".to_owned(),
        Err(error) => error.to_string(),
    };
    let missing = told(&url.replace("crib@", "crib:hunter2@").replace("/record", "/nothing"));
    assert!(
        missing.ends_with("/nothing` is not there: make its database, or name another one"),
        "{missing}"
    );
    assert!(!missing.contains("hunter2"), "{missing}");
    assert_eq!(told(&url), "opened");
    cluster.sql("record", "UPDATE store SET form = 99").unwrap();
    let newer = told(&url);
    assert!(newer.contains("/record` was written by a newer release: use that release"), "{newer}");
    cluster.crash();
    let gone = told(&url);
    assert!(gone.contains("/record` cannot be reached: start its database"), "{gone}");
}

#[tokio::test]
async fn a_process_that_comes_back_after_another_one_was_there_writes_nothing_any_more() {
    let cluster = Cluster::start("back");
    let url = cluster.database("record");
    let first = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    let before = write_call(&first, Effect::Write, &[]).await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'record'";
    cluster.sql("postgres", end).unwrap();
    let second = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    assert_eq!(second.interrupted(), 1);
    drop(second);
    let fault = first.finished(before, Ending::Succeeded).await.unwrap_err();
    let cause = std::error::Error::source(&fault).unwrap().to_string();
    assert!(cause.ends_with(" was taken over by another process: start this one anew"), "{cause}");
    drop(first);
    let third = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    assert_eq!(endings(&third, &[before]).await, [Some(Ending::Unknown)]);
}
