//! Files of the releases before, and large ones.

use std::io::Write as _;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;
use toolcrib_core::{
    Caller, Decision, Effect, Ending, Fingerprint, IdempotencyKey, KeyState, NewRun, Run,
    RunLedger as _, SourceId, TicketId, ToolName, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_store::{CallFilter, Store, StoreOptions};
use toolcrib_testkit::Oracle;

use crate::runs::{new_run, run_step};
use crate::scratch::Scratch;

const FIRST: &str = include_str!("../../src/schema/1.sql");

/// The changes from there to the last form that knew of no runs.
const BEFORE_RUNS: [&str; 6] = [
    include_str!("../../src/schema/2.sql"),
    include_str!("../../src/schema/3.sql"),
    include_str!("../../src/schema/4.sql"),
    include_str!("../../src/schema/5.sql"),
    include_str!("../../src/schema/6.sql"),
    include_str!("../../src/schema/7.sql"),
];

/// The one after these, which knew not whose work a run is a part of.
const RUNS: &str = include_str!("../../src/schema/8.sql");

/// A file as the first release left it when it was killed.
fn first(scratch: &Scratch) -> Connection {
    let raw = Connection::open(scratch.file()).unwrap();
    raw.pragma_update(None, "application_id", 0x6372_6962).unwrap();
    raw.pragma_update(None, "user_version", 1).unwrap();
    raw.execute_batch(FIRST).unwrap();
    raw
}

fn digits(digit: char) -> String {
    digit.to_string().repeat(64)
}

#[tokio::test]
async fn a_file_of_the_first_form_goes_on_with_all_that_it_holds() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let wipe = Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    let print = wipe.iter().next().unwrap().spec.fingerprint();
    let raw = first(&scratch);
    raw.execute(
        "INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, fingerprint, \
         arguments, planned, ended, ending) VALUES ('k-0', 'c', 'local', 'local', 'wipe', 'code', \
         'destroy', ?1, ?2, 4102444800000, 4102444800001, 'succeeded'), ('k-1', 'd', 'local', 'local', 'wipe', \
         'code', 'destroy', ?1, ?2, 4102444800002, NULL, NULL)",
        [digits('a'), digits('b')],
    )
    .unwrap();
    let caller = json!({ "tenant": "local", "subject": "local", "scopes": [] });
    let parked = json!({
        "caller": caller, "tool": "wipe", "source": "code", "fingerprint": print,
        "reason": "why", "lifetime": { "secs": 600, "nanos": 0 }, "call_id": "e", "wire": {},
    });
    raw.execute(
        "INSERT INTO tickets (ticket, tenant, subject, expires, parked, arguments) \
         VALUES ('t_1', 'local', 'local', 99999999999999, ?1, '{\"n\":1}')",
        [parked.to_string()],
    )
    .unwrap();
    let arguments = Fingerprint::of(&json!({}));
    raw.execute(
        "INSERT INTO keys (tenant, subject, tool, key, arguments, state, response, expires) VALUES \
         ('local', 'local', 'wipe', 'a', ?1, 'ended', '7', 99999999999999), \
         ('local', 'local', 'wipe', 'b', ?1, 'running', NULL, 99999999999999)",
        [arguments.to_string()],
    )
    .unwrap();
    drop(raw);
    let store = Store::open(&scratch.file(), StoreOptions::default()).unwrap();
    let calls = store.calls(&Caller::local(), CallFilter::default(), None, 9).await.unwrap().calls;
    let ends: Vec<_> = calls.iter().map(|call| (call.key.as_str(), call.ending)).collect();
    assert_eq!(ends, [("k-1", Some(Ending::Unknown)), ("k-0", Some(Ending::Succeeded))]);
    assert!(calls.iter().all(|call| call.attempts.is_none() && call.resolved.is_none()));
    assert!(calls.iter().all(|call| call.decided_by.is_none() && call.resolved_by.is_none()));
    let key = |key: &str| IdempotencyKey {
        caller: Caller::local(),
        tool: ToolName::new("wipe").unwrap(),
        source: Some(SourceId::new("code")),
        key: key.to_owned(),
    };
    assert_eq!(store.begin(&key("a"), arguments).await.unwrap(), KeyState::Ended(json!(7)));
    assert_eq!(store.begin(&key("b"), arguments).await.unwrap(), KeyState::Unknown);
    let crib = Crib::builder().ledger(std::sync::Arc::new(store.clone())).build_fixed(wipe);
    let (run, ticket) = (Run::default(), TicketId::claimed("t_1"));
    let done = crib.decide(&Caller::local(), &run, &ticket, Decision::Approve).await.unwrap();
    assert_eq!((done.id.as_str(), oracle.count("wipe")), ("e", 1));
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    drop((crib, store));
    let raw = Connection::open(scratch.file()).unwrap();
    let form: i64 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(form, 12);
}

#[tokio::test]
async fn a_file_of_the_form_before_runs_keeps_what_it_has_and_takes_runs() {
    let scratch = Scratch::new();
    let raw = first(&scratch);
    for step in BEFORE_RUNS {
        raw.execute_batch(step).unwrap();
    }
    raw.pragma_update(None, "user_version", 7).unwrap();
    raw.execute(
        "INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, fingerprint, \
         arguments, planned, ended, ending) VALUES ('k-0', 'c', 'local', 'local', 'wipe', 'code', \
         'destroy', ?1, ?2, 4102444800000, 4102444800001, 'succeeded')",
        [digits('a'), digits('b')],
    )
    .unwrap();
    drop(raw);
    let store = Store::open(&scratch.file(), StoreOptions::default()).unwrap();
    store.create(new_run("run", "thread"), run_step(0)).await.unwrap();
    store.advance("run", run_step(1)).await.unwrap();
    assert_eq!(store.load("run").await.unwrap().unwrap().steps, 2);
    let calls = store.calls(&Caller::local(), CallFilter::default(), None, 9).await.unwrap().calls;
    assert_eq!(calls.len(), 1);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    drop(store);
    let raw = Connection::open(scratch.file()).unwrap();
    let form: i64 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(form, 12);
}

#[tokio::test]
async fn a_run_of_the_form_before_parents_is_there_and_works_for_nobody() {
    let scratch = Scratch::new();
    let raw = first(&scratch);
    for step in BEFORE_RUNS.into_iter().chain([RUNS]) {
        raw.execute_batch(step).unwrap();
    }
    raw.pragma_update(None, "user_version", 8).unwrap();
    let caller = serde_json::to_string(&Caller::local()).unwrap();
    raw.execute(
        "INSERT INTO runs (id, tenant, subject, thread, agent, stage, created, changed, steps, items, \
         events, caller, tickets, request, state) VALUES ('old', 'local', 'local', 't', 'a', 'running', \
         4102444800000, 4102444800000, 1, 0, 0, ?1, '[]', '{}', '{}')",
        [caller],
    )
    .unwrap();
    drop(raw);
    let store = Store::open(&scratch.file(), StoreOptions::default()).unwrap();
    let old = store.load("old").await.unwrap().unwrap();
    assert_eq!((old.summary.parent, old.steps), (None, 1));
    store.advance("old", run_step(1)).await.unwrap();
    let child = NewRun { parent: Some("old".to_owned()), ..new_run("child", "other") };
    store.create(child, run_step(0)).await.unwrap();
    assert_eq!(store.load("child").await.unwrap().unwrap().summary.parent.as_deref(), Some("old"));
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[test]
fn a_change_of_the_form_that_was_cut_off_is_made_anew() {
    let scratch = Scratch::new();
    let raw = first(&scratch);
    // What a kill within the change leaves: nothing of it.
    raw.execute_batch("BEGIN; ALTER TABLE calls ADD COLUMN attempts TEXT; ROLLBACK").unwrap();
    drop(raw);
    drop(Store::open(&scratch.file(), StoreOptions::default()).unwrap());
    drop(Store::open(&scratch.file(), StoreOptions::default()).unwrap());
}

/// `TOOLCRIB_TEST_ROWS` says how many rows; a fifth of a million if it is not set.
#[test]
#[expect(clippy::disallowed_methods, reason = "how long a test takes is for its caller to say")]
fn a_large_ledger_is_ready_within_two_seconds_after_a_kill() {
    let rows = std::env::var("TOOLCRIB_TEST_ROWS").ok().and_then(|text| text.parse().ok());
    let rows: u32 = rows.unwrap_or(200_000);
    let scratch = Scratch::new();
    drop(Store::open(&scratch.file(), StoreOptions::default()).unwrap());
    let raw = Connection::open(scratch.file()).unwrap();
    raw.execute_batch(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) \
         INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, fingerprint, \
         arguments, planned, ended, ending) SELECT 'k-' || i, 'c', 't' || (i % 9), 's' || (i % 99), \
         'send', 'web', 'write', '{}', '{}', i, CASE WHEN i % 1000 THEN i END, \
         CASE WHEN i % 1000 = 0 THEN NULL WHEN i % 50 = 0 THEN 'unknown' ELSE 'succeeded' END FROM n",
        digits('a'),
        digits('b'),
    ))
    .unwrap();
    drop(raw);
    let began = Instant::now();
    let store = Store::open(&scratch.file(), StoreOptions::default()).unwrap();
    let took = began.elapsed();
    writeln!(std::io::stdout(), "{rows} calls: ready after {took:?}").unwrap();
    assert!(took < Duration::from_secs(2), "{took:?}");
    drop(store);
}
