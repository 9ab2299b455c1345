//! What can be read of calls, and for how long.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use toolcrib_core::{
    AllowAll, Call, Caller, Effect, Ending, ErrorKind, Fingerprint, PlanRequest, RawArguments,
    Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_store::{CallCursor, CallFilter, CallState, Store, StoreOptions};
use toolcrib_testkit::{Behaviour, Oracle, spec};

use crate::scratch::Scratch;

fn alice() -> Caller {
    Caller::new("acme", "alice")
}

fn tools(oracle: &Oracle) -> Toolset {
    let failing = Behaviour::FailFirst(ErrorKind::Tool, usize::MAX);
    Toolset::of([
        oracle.echo("read", Effect::Read),
        oracle.echo("write", Effect::Write),
        oracle.tool(spec("fail", Effect::Destroy), failing),
        oracle.tool(spec("hang", Effect::Destroy), Behaviour::Hang),
    ])
    .unwrap()
}

fn crib(store: &Store) -> Crib {
    let ledger = Arc::new(store.clone());
    Crib::builder().ledger(ledger).policy(AllowAll).build_fixed(tools(&Oracle::default()))
}

async fn run(crib: &Crib, caller: &Caller, names: &[&str]) {
    let plan = crib.plan(caller, PlanRequest::default()).unwrap();
    let call = |(n, name): (usize, &&str)| {
        Call::new(format!("id{n}"), *name, RawArguments::Value(json!({ "n": n })))
    };
    crib.run(&plan, names.iter().enumerate().map(call).collect()).await;
}

#[tokio::test]
async fn a_call_is_told_to_its_caller_alone_with_its_ending_and_without_its_arguments() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let before = SystemTime::now() - Duration::from_millis(1);
    run(&crib(&store), &alice(), &["read", "write", "fail", "nothing"]).await;
    let mut page = store.calls(&alice(), CallFilter::default(), None, 10).await.unwrap();
    assert_eq!(page.next, None);
    page.calls.sort_by(|left, right| left.call_id.cmp(&right.call_id));
    let endings: Vec<_> = page
        .calls
        .iter()
        .map(|call| (call.tool.as_str(), call.effect, call.ending, call.interrupted))
        .collect();
    assert_eq!(
        endings,
        [
            ("read", Effect::Read, Some(Ending::Succeeded), false),
            ("write", Effect::Write, Some(Ending::Succeeded), false),
            ("fail", Effect::Destroy, Some(Ending::Failed(ErrorKind::Tool)), false),
        ]
    );
    let call = page.calls[1].clone();
    assert_eq!((call.call_id.as_str(), call.source.as_str()), ("id1", "code"));
    assert_eq!(call.arguments, Fingerprint::of(&json!({ "n": 1.0 })));
    assert_eq!(call.fingerprint, spec("write", Effect::Write).fingerprint());
    assert!(before <= call.planned && call.planned <= call.ended.unwrap());
    assert_eq!(store.call(&alice(), &call.key).await.unwrap(), Some(call.clone()));
    for other in [Caller::new("acme", "bob"), Caller::new("other", "alice")] {
        assert_eq!(store.call(&other, &call.key).await.unwrap(), None);
        assert_eq!(store.calls(&other, CallFilter::default(), None, 10).await.unwrap().calls, []);
    }
}

#[tokio::test]
async fn pages_go_from_the_newest_to_the_oldest_and_filters_hold_together() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let crib = crib(&store);
    for _ in 0..4 {
        run(&crib, &alice(), &["write", "fail", "read"]).await;
    }
    let mut seen = Vec::new();
    let mut after: Option<CallCursor> = None;
    loop {
        let page = store.calls(&alice(), CallFilter::default(), after, 5).await.unwrap();
        seen.extend(page.calls.into_iter().map(|call| call.key));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let all = store.calls(&alice(), CallFilter::default(), None, 100).await.unwrap().calls;
    assert_eq!(seen, all.iter().map(|call| call.key.clone()).collect::<Vec<_>>());
    assert_eq!(all.len(), 12);
    let count = async |filter: CallFilter| {
        store.calls(&alice(), filter, None, 100).await.unwrap().calls.len()
    };
    let tool = |name: &str| CallFilter { tool: Some(name.into()), ..CallFilter::default() };
    let states = BTreeSet::from([CallState::Succeeded]);
    assert_eq!(count(tool("fail")).await, 4);
    assert_eq!(count(CallFilter { states: states.clone(), ..CallFilter::default() }).await, 8);
    assert_eq!(count(CallFilter { states, ..tool("fail") }).await, 0);
    assert_eq!(
        count(CallFilter { source: Some("other".into()), ..CallFilter::default() }).await,
        0
    );
    assert_eq!(count(of([CallState::Running])).await, 0);
    let since = Some(SystemTime::now() + Duration::from_mins(1));
    assert_eq!(count(CallFilter { since, ..CallFilter::default() }).await, 0);
}

#[tokio::test]
async fn a_batch_is_found_by_its_calls_and_a_caller_by_the_name() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let (crib, bob) = (crib(&store), Caller::new("acme", "bob"));
    for caller in [&alice(), &bob, &alice()] {
        run(&crib, caller, &["write", "fail", "read"]).await;
    }
    let all = async |filter: CallFilter| {
        let page = store.calls_of_all(filter, None, 100).await.unwrap();
        assert_eq!(page.next, None);
        page.calls
    };
    let of_bob = all(CallFilter { caller: Some("bob".into()), ..CallFilter::default() }).await;
    assert!(of_bob.len() == 3 && of_bob.iter().all(|call| call.subject == "bob"), "{of_bob:?}");
    let (batch, _) = of_bob[0].key.rsplit_once('-').unwrap();
    let of = |batch: &str| CallFilter { batch: Some(batch.into()), ..CallFilter::default() };
    assert_eq!(all(of(batch)).await, of_bob);
    let failed = CallFilter { states: BTreeSet::from([CallState::Failed]), ..of(batch) };
    let failed: Vec<_> = all(failed).await.into_iter().map(|call| call.tool).collect();
    assert_eq!(failed, ["fail"]);
    for none in [&batch[1..], &batch[..31], "", "%", "-"] {
        assert_eq!(all(of(none)).await, [], "{none}");
    }
    assert_eq!(store.calls(&alice(), of(batch), None, 100).await.unwrap().calls, []);
    assert_eq!(store.calls(&bob, of(batch), None, 100).await.unwrap().calls, of_bob);
}

fn of<const N: usize>(states: [CallState; N]) -> CallFilter {
    CallFilter { states: states.into(), ..CallFilter::default() }
}

/// A file with as many calls of each of two callers as a page looks at and more, all of which
/// succeeded but the oldest: for each caller one for each state.
fn with_others_between(scratch: &Scratch) -> Store {
    drop(scratch.open(StoreOptions::default()).unwrap());
    let digits = |digit: &str| digit.repeat(64);
    scratch.change(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 29999), \
         whose(i, subject) AS \
         (SELECT i / 2, CASE i % 2 WHEN 1 THEN 'bob' ELSE 'alice' END FROM n) \
         INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, fingerprint, \
         arguments, planned, ended, ending, kind, interrupted) SELECT 'k-' || subject || i, \
         CAST(i AS TEXT), 'acme', subject, 'send', 'web', 'write', '{}', '{}', 4102444800000, 4102444800001, \
         CASE i WHEN 0 THEN 'failed' WHEN 1 THEN 'not_executed' WHEN 2 THEN 'unknown' \
         WHEN 3 THEN 'unknown' ELSE 'succeeded' END, CASE i WHEN 0 THEN 'tool' END, i = 3 FROM whose ORDER BY whose.i, subject",
        digits("a"),
        digits("b"),
    ));
    scratch.open(StoreOptions::default()).unwrap()
}

#[tokio::test]
async fn calls_of_a_state_are_on_the_first_page_however_many_others_lie_between() {
    let scratch = Scratch::new();
    let store = with_others_between(&scratch);
    let page = async |filter: CallFilter, after, limit| {
        let page = store.calls(&alice(), filter, after, limit).await.unwrap();
        let ids: Vec<_> = page.calls.iter().map(|call| call.call_id.clone()).collect();
        (ids, page.next)
    };
    let states = [
        CallState::Failed,
        CallState::NotExecuted,
        CallState::OutcomeUnknown,
        CallState::Interrupted,
    ];
    for (id, state) in states.into_iter().enumerate() {
        assert_eq!(page(of([state]), None, 9).await, (vec![id.to_string()], None), "{state:?}");
        let call = store.calls(&alice(), of([state]), None, 9).await.unwrap().calls.remove(0);
        assert_eq!(call.state(), state);
        // Of all callers, each with its own.
        let all = store.calls_of_all(of([state]), None, 9).await.unwrap().calls;
        let whose: Vec<_> = all.iter().map(|call| call.subject.as_str()).collect();
        assert_eq!(whose, ["bob", "alice"], "{state:?}");
    }
    // Several states are one list from the newest to the oldest, over its pages.
    let (first, next) = page(of(states), None, 3).await;
    assert_eq!((first, next.is_some()), (["3", "2", "1"].map(String::from).to_vec(), true));
    assert_eq!(page(of(states), next, 3).await, (vec!["0".to_owned()], None));
    let both = [CallState::Succeeded, CallState::Interrupted, CallState::Running];
    let (newest, next) = page(of(both), None, 2).await;
    assert_eq!(newest, ["14999", "14998"]);
    assert_eq!(page(of(both), next, 1).await.0, ["14997"]);
    let (mut after, mut found) = (None, Vec::new());
    loop {
        let (ids, next) = page(of(both), after, 500).await;
        found.extend(ids);
        after = next;
        if after.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (3..15_000).rev().map(|id| id.to_string()).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn old_calls_go_and_running_ones_stay() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let crib = crib(&store);
    let hanging = {
        let crib = crib.clone();
        tokio::spawn(async move { run(&crib, &alice(), &["hang"]).await })
    };
    for _ in 0..12 {
        run(&crib, &alice(), &["write"; 60].map(|name| name)).await;
    }
    let count = async |store: &Store| {
        let file = store.clone();
        file.prune().await.unwrap();
        scratch.number("SELECT count(*) FROM calls")
    };
    // Equal calls of one batch run once.
    let all = count(&store).await;
    let old = "UPDATE calls SET planned = planned - 31 * CAST(86400000 AS BIGINT) WHERE seq <= ";
    scratch.change(&format!("{old} {}", all - 2));
    assert_eq!(count(&store).await, 3, "of {all}: two of today and the one that runs");
    let running = of([CallState::Running]);
    assert_eq!(store.calls(&alice(), running, None, 9).await.unwrap().calls[0].tool, "hang");
    hanging.abort();
}

#[tokio::test]
async fn more_calls_than_are_kept_push_the_oldest_out() {
    let scratch = Scratch::new();
    let options = StoreOptions { most_calls: 5, ..StoreOptions::default() };
    let store = scratch.open(options).unwrap();
    for _ in 0..9 {
        run(&crib(&store), &alice(), &["write"]).await;
    }
    store.prune().await.unwrap();
    assert_eq!(store.calls(&alice(), CallFilter::default(), None, 9).await.unwrap().calls.len(), 5);
}

#[tokio::test]
async fn a_call_that_reads_is_one_row_whether_it_ends_before_that_is_written_or_after() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let store = scratch.open(StoreOptions::default()).unwrap();
    let slow = Behaviour::Sleep(Duration::from_millis(200));
    let failing = Behaviour::FailFirst(ErrorKind::Network, 1);
    let tools = Toolset::of([
        oracle.tool(spec("slow", Effect::Read), slow),
        oracle.tool(spec("again", Effect::Read), failing),
        oracle.echo("quick", Effect::Read),
    ]);
    let ledger = Arc::new(store.clone());
    let crib = Crib::builder().ledger(ledger).policy(AllowAll).build_fixed(tools.unwrap());
    let running = tokio::spawn({
        let crib = crib.clone();
        async move { run(&crib, &alice(), &["slow"]).await }
    });
    while oracle.count("slow") == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    run(&crib, &alice(), &["quick", "again"]).await;
    let rows = async || {
        let page = store.calls(&alice(), CallFilter::default(), None, 9).await.unwrap();
        let mut rows: Vec<_> = page
            .calls
            .into_iter()
            .map(|call| {
                assert_eq!(call.ending.is_some(), call.ended.is_some());
                (call.tool, call.ending, call.attempts.map(|attempts| attempts.len()))
            })
            .collect();
        rows.sort_by(|(left, ..), (right, ..)| left.cmp(right));
        rows
    };
    let row = |tool: &str, attempts| (tool.to_owned(), Some(Ending::Succeeded), Some(attempts));
    let others = [row("again", 2), row("quick", 1)];
    assert_eq!(rows().await, [&others[..], &[("slow".to_owned(), None, None)]].concat());
    running.await.unwrap();
    assert_eq!(rows().await, [&others[..], &[row("slow", 1)]].concat());
    assert_eq!(store.lost(), 0);
}
