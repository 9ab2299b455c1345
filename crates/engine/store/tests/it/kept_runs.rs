//! Runs in a store: what they take there, what outlives the process, and when they go.

use std::time::Duration;

use toolcrib_core::{NewRun, RunLedger as _, RunLedgerError, RunStage, RunStep, StoredRun};
use toolcrib_store::{Store, StoreOptions};

use crate::runs::{ann, last_step, new_run, run_step, texts};
use crate::scratch::Scratch;

fn open(scratch: &Scratch) -> Store {
    scratch.open(StoreOptions::default()).unwrap()
}

/// One number that the store tells.
fn number(scratch: &Scratch, sql: &str) -> u64 {
    scratch.number(sql).unsigned_abs()
}

/// How many rows there are of runs, contents, items and events.
fn rows(scratch: &Scratch) -> [u64; 4] {
    ["runs", "run_contents", "run_items", "run_events"]
        .map(|table| number(scratch, &format!("SELECT count(*) FROM {table}")))
}

/// An item that no other is equal to.
pub(crate) fn item(name: impl std::fmt::Display, bytes: usize) -> String {
    format!("{name}:{}", "x".repeat(bytes))
}

async fn ended(store: &Store, id: &str) {
    let step = RunStep { items: texts(["a", "b"]), events: texts(["0"]), ..last_step(0) };
    let step = RunStep { items: [step.items, vec![item(id, 9)]].concat(), ..step };
    store.create(new_run(id, id), step).await.unwrap();
}

#[tokio::test]
async fn all_is_there_after_the_store_was_dropped_and_opened_again() {
    let scratch = Scratch::new();
    let store = open(&scratch);
    let first = RunStep { items: texts(["1e400", "b"]), events: texts(["0"]), ..run_step(0) };
    store.create(new_run("open", "thread"), first).await.unwrap();
    let second = RunStep {
        stage: RunStage::Waiting,
        items_from: 2,
        items: texts(["1e400"]),
        state: "0.10".to_owned(),
        events: texts(["1"]),
        ..run_step(1)
    };
    store.advance("open", second).await.unwrap();
    ended(&store, "ended").await;
    let told = async |store: &Store| {
        let mut all: Vec<StoredRun> = Vec::new();
        for id in ["open", "ended"] {
            all.push(store.load(id).await.unwrap().unwrap());
        }
        (all, store.events("open", 0, 9).await, store.unfinished().await)
    };
    let before = told(&store).await;
    drop(store);
    let store = open(&scratch);
    assert_eq!(told(&store).await, before);
    assert_eq!(
        store.create(new_run("other", "thread"), run_step(0)).await,
        Err(RunLedgerError::Busy { run: "open".to_owned() })
    );
    store.advance("open", last_step(2)).await.unwrap();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn equal_items_of_a_hundred_runs_are_kept_once_and_go_with_the_last() {
    let scratch = Scratch::new();
    let store = open(&scratch);
    let items: Vec<_> = (0..40).map(|place| item(place, 10_000)).collect();
    for run in 0..100 {
        let previous = (run > 0).then(|| (run - 1).to_string());
        let run = NewRun { previous, ..new_run(&run.to_string(), "thread") };
        let step = RunStep { items: items.clone(), events: texts(["0"]), ..last_step(0) };
        store.create(run, step).await.unwrap();
    }
    assert_eq!(rows(&scratch), [100, 40, 4_000, 100]);
    let size = number(&scratch, "SELECT sum(octet_length(text)) FROM run_contents");
    assert_eq!(size, items.iter().map(|item| item.len() as u64).sum::<u64>());
    assert_eq!(store.load("99").await.unwrap().unwrap().items, items);
    for run in 0..99 {
        assert!(store.forget(&ann(), &run.to_string()).await.unwrap());
    }
    assert_eq!(rows(&scratch), [1, 40, 40, 1]);
    assert!(store.forget(&ann(), "99").await.unwrap());
    assert_eq!(rows(&scratch), [0; 4]);
}

#[tokio::test]
async fn a_long_thread_grows_by_what_each_step_adds() {
    let scratch = Scratch::new();
    let store = open(&scratch);
    let begin: Vec<_> = (0..80).map(|place| item(place, 5_000)).collect();
    let mut distinct: usize = begin.iter().map(String::len).sum();
    let first = RunStep { items: begin, ..run_step(0) };
    store.create(new_run("run", "thread"), first).await.unwrap();
    for number in 1..=100 {
        let added = item(format!("step {number}"), 5_000);
        distinct += added.len();
        let items_from = 79 + usize::try_from(number).unwrap();
        let step = RunStep {
            items_from,
            items: vec![added],
            state: item("state", 1_000),
            events: vec![item("event", 100)],
            ..run_step(number)
        };
        store.advance("run", step).await.unwrap();
    }
    let columns = [
        ("runs", "octet_length(request) + octet_length(state) + octet_length(caller)"),
        ("run_contents", "octet_length(tenant) + octet_length(hash) + octet_length(text)"),
        ("run_items", "24"),
        ("run_events", "16 + octet_length(event)"),
    ];
    let taken: u64 = columns
        .iter()
        .map(|(table, bytes)| number(&scratch, &format!("SELECT sum({bytes}) FROM {table}")))
        .sum();
    assert!(taken <= 2 * distinct as u64, "{taken} bytes for {distinct}");
    let pages = scratch.bytes();
    assert!(pages <= 2 * distinct as u64, "{pages} bytes of pages for {distinct}");
    assert_eq!(store.load("run").await.unwrap().unwrap().items.len(), 180);
}

#[tokio::test]
async fn old_runs_that_have_ended_go_with_all_that_only_they_have() {
    let scratch = Scratch::new();
    let store = open(&scratch);
    for id in ["old", "young"] {
        ended(&store, id).await;
    }
    let first = RunStep { items: vec![item("open", 9)], ..run_step(0) };
    store.create(new_run("open", "open"), first).await.unwrap();
    assert_eq!(rows(&scratch), [3, 5, 7, 2]);
    scratch.change("UPDATE runs SET created = 1; UPDATE runs SET changed = 1 WHERE id <> 'young'");
    store.prune().await.unwrap();
    assert_eq!(store.load("old").await.unwrap(), None);
    assert_eq!(store.load("young").await.unwrap().unwrap().items.len(), 3);
    assert_eq!(store.load("open").await.unwrap().unwrap().items, [item("open", 9)]);
    assert_eq!(rows(&scratch), [2, 4, 4, 1]);
}

#[tokio::test]
async fn of_too_many_runs_the_first_that_have_ended_go() {
    let scratch = Scratch::new();
    // The calls of nobody; of runs the same number.
    let options = StoreOptions { most_calls: 700, ..StoreOptions::default() };
    let store = scratch.open(options).unwrap();
    store.create(new_run("open", "open"), run_step(0)).await.unwrap();
    for run in 0..1_500 {
        ended(&store, &run.to_string()).await;
    }
    store.prune().await.unwrap();
    assert_eq!(rows(&scratch), [701, 702, 2_100, 700]);
    assert!(store.load("open").await.unwrap().is_some());
    assert_eq!(store.load("799").await.unwrap(), None);
    assert!(store.load("800").await.unwrap().is_some());
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_run_that_has_just_ended_stays_although_it_began_long_ago() {
    let scratch = Scratch::new();
    let options = StoreOptions { calls_for: Duration::from_mins(1), ..StoreOptions::default() };
    let store = scratch.open(options).unwrap();
    store.create(new_run("run", "thread"), run_step(0)).await.unwrap();
    scratch.change("UPDATE runs SET created = 1, changed = 1");
    store.prune().await.unwrap();
    store.advance("run", last_step(1)).await.unwrap();
    store.prune().await.unwrap();
    assert!(store.load("run").await.unwrap().is_some());
}

#[tokio::test]
async fn what_is_refused_is_no_fault_of_the_store() {
    let scratch = Scratch::new();
    let store = open(&scratch);
    ended(&store, "ended").await;
    store.create(new_run("open", "thread"), run_step(0)).await.unwrap();
    assert!(store.create(new_run("other", "thread"), run_step(0)).await.is_err());
    assert!(store.create(new_run("ended", "free"), run_step(0)).await.is_err());
    assert!(store.advance("open", run_step(7)).await.is_err());
    let gap = RunStep { items_from: 3, ..run_step(1) };
    assert!(store.advance("open", gap).await.is_err());
    assert!(store.works().is_ok());
}
