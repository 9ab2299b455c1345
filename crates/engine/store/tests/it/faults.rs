//! A file that cannot be written: what may change something is not sent.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::json;
use toolcrib_core::{
    AllowAll, Arguments, Call, CallKey, CallLedger as _, Caller, Content, Effect, Ending,
    ErrorKind, Fingerprint, PlanRequest, PlannedCall, RawArguments, Report, ResultLedger as _,
    Toolset, UncertainCall,
};
use toolcrib_engine::Crib;
use toolcrib_store::{CallFilter, Store, StoreError, StoreOptions};
use toolcrib_testkit::{Behaviour, Oracle, spec};

use crate::scratch::Scratch;

fn crib(store: &Store, oracle: &Oracle) -> Crib {
    let slow = Behaviour::Sleep(Duration::from_millis(300));
    let tools = [
        oracle.echo("read", Effect::Read),
        oracle.echo("write", Effect::Write),
        oracle.tool(spec("slow", Effect::Write), slow),
    ];
    let ledger = Arc::new(store.clone());
    Crib::builder().ledger(ledger).policy(AllowAll).build_fixed(Toolset::of(tools).unwrap())
}

async fn run(crib: &Crib, name: &str) -> Report {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let call = Call::new("1", name, RawArguments::Value(json!({ "n": 1 })));
    crib.run(&plan, vec![call]).await
}

fn kind(report: &Report) -> Option<ErrorKind> {
    report.responses[0].error().map(|error| error.kind)
}

#[tokio::test]
async fn a_full_file_refuses_what_may_change_something_until_there_is_room() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let options = StoreOptions {
        max_bytes: Some(1024 * 1024),
        results_for: Duration::ZERO,
        ..StoreOptions::default()
    };
    let store = Store::open(&scratch.file(), options).unwrap();
    let crib = crib(&store, &oracle);
    assert_eq!(kind(&run(&crib, "write").await), None);
    let kept = fill(&store).await;
    assert!(kept > 9, "{kept}");
    // The last page may have room for some rows yet.
    let mut ran = 1;
    while kind(&run(&crib, "write").await).is_none() {
        ran += 1;
    }
    assert_eq!(oracle.count("write"), ran, "a call that is refused is not sent");
    let refused = run(&crib, "write").await;
    assert_eq!(kind(&refused), Some(ErrorKind::Unavailable));
    let cause = refused.responses[0].error().unwrap().causes().unwrap();
    assert!(cause.contains("crib.db` is full: make room on its disk"), "{cause}");
    assert_eq!(kind(&run(&crib, "read").await), None, "reading goes on");
    store.prune().await.unwrap();
    assert_eq!(kind(&run(&crib, "write").await), None);
    assert_eq!(oracle.count("write"), ran + 1);
    let calls =
        store.calls(&Caller::local(), CallFilter::default(), None, 500).await.unwrap().calls;
    assert!(calls.iter().all(|call| call.ending == Some(Ending::Succeeded)));
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_file_refuses_and_an_end_that_could_not_be_written_is_written_later() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let store = Store::open(&scratch.file(), StoreOptions::default()).unwrap();
    let crib = crib(&store, &oracle);
    let slow = tokio::spawn({
        let crib = crib.clone();
        async move { run(&crib, "slow").await }
    });
    while oracle.count("slow") == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let other = Connection::open(scratch.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(kind(&run(&crib, "write").await), Some(ErrorKind::Unavailable));
    let report = slow.await.unwrap();
    assert!(report.responses[0].outcome.is_done(), "it ran, and its caller hears of it");
    assert_eq!(kind(&run(&crib, "read").await), None, "reading goes on");
    let refused = store.calls(&Caller::local(), CallFilter::default(), None, 1).await;
    assert!(matches!(refused.err(), Some(StoreError::Unusable { .. })));
    assert_eq!(oracle.count("write"), 0);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(kind(&run(&crib, "write").await), None);
    let calls = store.calls(&Caller::local(), CallFilter::default(), None, 9).await.unwrap().calls;
    let ends: Vec<_> = calls.iter().map(|call| (call.tool.as_str(), call.ending)).collect();
    assert!(ends.contains(&("slow", Some(Ending::Succeeded))), "{ends:?}");
    assert!(ends.iter().all(|(_, ending)| ending.is_some()), "{ends:?}");
}

#[tokio::test]
async fn an_unknown_end_that_could_not_be_written_yet_holds_the_same_call_back() {
    const WINDOW: Duration = Duration::from_mins(1);
    let scratch = Scratch::new();
    let store = Store::open(&scratch.file(), StoreOptions::default()).unwrap();
    let (caller, tool) = (Arc::new(Caller::local()), Arc::new(spec("write", Effect::Write)));
    let arguments = Arguments::new(serde_json::Map::new());
    let planned = |key| PlannedCall {
        key,
        call_id: "1",
        caller: &caller,
        tool: &tool,
        fingerprint: Fingerprint::of(&json!(1)),
        arguments: &arguments,
        keys: &[],
        decider: None,
    };
    let [first, second] =
        ["0", "1"].map(|n| planned(CallKey::parse(&format!("{:032}-{n}", 7)).unwrap()));
    store.planned(first).await.unwrap();
    let other = Connection::open(scratch.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(store.finished(first.key, Ending::Unknown).await.is_err());
    // It was tried once more by now, and will be in two seconds.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(store.unknown_like(second, WINDOW).await.is_err(), "nobody can say");
    other.execute_batch("ROLLBACK").unwrap();
    let like = store.unknown_like(second, WINDOW).await;
    assert_eq!(like, Ok(Some(UncertainCall::new(first.key.to_string(), &[]))));
}

/// Keeps results, smaller and smaller ones, until there is room for none; how many.
async fn fill(store: &Store) -> u32 {
    let mut kept = 0;
    for size in [100_000, 10_000, 1_000, 10] {
        let content = |n: u32| Content::text(format!("{n}{}", "x".repeat(size)));
        while store.keep(&Caller::local(), Arc::new(content(kept))).await.is_some() {
            kept += 1;
        }
    }
    kept
}

/// Whether the store finds by itself, within a minute, that it can write again.
async fn finds_that_it_works(store: &Store) -> bool {
    for _ in 0..1_200 {
        if store.works().is_ok() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

#[tokio::test]
async fn a_file_that_was_locked_or_full_is_found_to_work_again_although_nobody_writes() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let options = StoreOptions { max_bytes: Some(1024 * 1024), ..StoreOptions::default() };
    let store = Store::open(&scratch.file(), options).unwrap();
    let crib = crib(&store, &oracle);
    assert!(store.works().is_ok());
    let other = Connection::open(scratch.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(kind(&run(&crib, "write").await), Some(ErrorKind::Unavailable));
    assert!(matches!(store.works(), Err(StoreError::Unusable { .. })));
    other.execute_batch("ROLLBACK").unwrap();
    assert!(finds_that_it_works(&store).await);
    let kept = fill(&store).await;
    while kind(&run(&crib, "write").await).is_none() {}
    let works = store.works();
    assert!(matches!(works, Err(StoreError::Full { .. })), "{works:?} {kept}");
    // Longer than it takes to look again.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(matches!(store.works(), Err(StoreError::Full { .. })));
    other.execute_batch("DELETE FROM results; DELETE FROM contents").unwrap();
    assert!(finds_that_it_works(&store).await);
    assert_eq!(kind(&run(&crib, "write").await), None);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_that_is_full_when_it_is_opened_says_so_before_anybody_writes() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let options = StoreOptions { max_bytes: Some(1024 * 1024), ..StoreOptions::default() };
    let store = Store::open(&scratch.file(), options.clone()).unwrap();
    let kept = fill(&store).await;
    drop(store);
    let store = Store::open(&scratch.file(), options).unwrap();
    let works = store.works();
    assert!(matches!(works, Err(StoreError::Full { .. })), "{works:?} {kept}");
    assert_eq!(kind(&run(&crib(&store, &oracle), "read").await), None);
    let other = Connection::open(scratch.file()).unwrap();
    other.execute_batch("DELETE FROM results; DELETE FROM contents").unwrap();
    assert!(finds_that_it_works(&store).await);
    assert_eq!(kind(&run(&crib(&store, &oracle), "write").await), None);
}

#[tokio::test]
async fn a_result_that_has_no_room_stops_nothing_else() {
    let scratch = Scratch::new();
    let options = StoreOptions { max_bytes: Some(1024 * 1024), ..StoreOptions::default() };
    let store = Store::open(&scratch.file(), options).unwrap();
    let large = Arc::new(Content::text("x".repeat(2 * 1024 * 1024)));
    assert!(store.keep(&Caller::local(), large).await.is_none());
    assert!(finds_that_it_works(&store).await);
    assert_eq!(kind(&run(&crib(&store, &Oracle::default()), "write").await), None);
}

#[tokio::test]
async fn a_damaged_page_in_use_refuses_and_names_the_file() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let store = Store::open(&scratch.file(), StoreOptions::default()).unwrap();
    for _ in 0..200 {
        run(&crib(&store, &oracle), "write").await;
    }
    drop(store);
    let mut bytes = fs::read(scratch.file()).unwrap();
    bytes[4096..].fill(0xA5);
    fs::write(scratch.file(), bytes).unwrap();
    let error = match Store::open(&scratch.file(), StoreOptions::default()) {
        Err(error) => error.to_string(),
        Ok(store) => {
            let refused = run(&crib(&store, &oracle), "write").await;
            assert_eq!(kind(&refused), Some(ErrorKind::Unavailable));
            refused.responses[0].error().unwrap().causes().unwrap()
        }
    };
    assert!(error.contains("crib.db` is damaged: put a copy back"), "{error}");
    assert_eq!(oracle.count("write"), 200);
}
