//! Results that were cut: kept whole, once, for a while.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    Call, Caller, Content, Effect, PlanRequest, RawArguments, ResultHandle, ResultLedger as _,
    Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_store::{Store, StoreOptions};
use toolcrib_testkit::{Behaviour, Oracle, spec};

use crate::scratch::Scratch;

fn alice() -> Caller {
    Caller::new("acme", "alice")
}

async fn keep(store: &Store, caller: &Caller, text: &str) -> Option<ResultHandle> {
    store.keep(caller, Arc::new(Content::text(text))).await
}

async fn text(store: &Store, caller: &Caller, handle: &ResultHandle) -> Option<String> {
    store.kept(caller, handle).await.map(|content| content.parts[0].in_words())
}

fn count(scratch: &Scratch, table: &str) -> i64 {
    scratch.number(&format!("SELECT count(*) FROM {table}"))
}

#[tokio::test]
async fn a_cut_result_is_read_whole_and_in_pieces_after_a_restart() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let mut large = spec("large", Effect::Read);
    large.limits.max_result_bytes = Some(10);
    let tools = [Oracle::default().tool(large, Behaviour::Large(1_000))];
    let tools = Toolset::of(tools).unwrap();
    let crib = Crib::builder().ledger(Arc::new(store.clone())).build_fixed(tools);
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let report = crib.run(&plan, vec![Call::new("1", "large", RawArguments::Absent)]).await;
    let handle = report.responses[0].whole.clone().unwrap();
    drop((crib, plan, store));
    let store = scratch.open(StoreOptions::default()).unwrap();
    assert_eq!(text(&store, &alice(), &handle).await, Some("x".repeat(1_000)));
    assert_eq!(text(&store, &Caller::new("acme", "bob"), &handle).await, None);
    let piece = store.piece(&alice(), &handle, 600, 300).await.unwrap().unwrap();
    assert_eq!((piece.text.len(), piece.of, piece.next), (300, 1_000, Some(900)));
    let piece = store.piece(&alice(), &handle, 900, 300).await.unwrap().unwrap();
    assert_eq!((piece.text.len(), piece.next), (100, None));
    assert_eq!(store.piece(&Caller::local(), &handle, 0, 1).await.unwrap(), None);
}

#[tokio::test]
async fn pieces_are_cut_between_characters_and_always_go_on() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let handle = keep(&store, &alice(), "aé€😀").await.unwrap();
    let mut pieces = Vec::new();
    let mut from = Some(0);
    while let Some(at) = from {
        let piece = store.piece(&alice(), &handle, at, 1).await.unwrap().unwrap();
        pieces.push(piece.text);
        from = piece.next;
    }
    assert_eq!(pieces, ["a", "é", "€", "😀"]);
    let beyond = store.piece(&alice(), &handle, usize::MAX, 9).await.unwrap().unwrap();
    assert_eq!((beyond.text.as_str(), beyond.next), ("", None));
}

#[tokio::test]
async fn equal_content_is_stored_once_and_each_handle_is_of_its_caller() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let bob = Caller::new("acme", "bob");
    let mine = keep(&store, &alice(), "the same").await.unwrap();
    let his = keep(&store, &bob, "the same").await.unwrap();
    assert_eq!((count(&scratch, "contents"), count(&scratch, "results")), (1, 2));
    assert_eq!(text(&store, &bob, &his).await.as_deref(), Some("the same"));
    assert_eq!(text(&store, &bob, &mine).await, None);
    keep(&store, &Caller::new("other", "eve"), "the same").await.unwrap();
    assert_eq!(count(&scratch, "contents"), 2, "tenants share nothing");
}

#[tokio::test]
async fn a_full_tenant_loses_its_own_oldest_and_what_is_too_large_is_not_kept() {
    let scratch = Scratch::new();
    let options = StoreOptions { result_bytes_per_tenant: 1_000, ..StoreOptions::default() };
    let store = scratch.open(options).unwrap();
    let other = keep(&store, &Caller::new("other", "eve"), "theirs").await.unwrap();
    let mut handles = Vec::new();
    for letter in ["a", "b", "c"] {
        handles.push(keep(&store, &alice(), &letter.repeat(400)).await.unwrap());
    }
    assert_eq!(text(&store, &alice(), &handles[0]).await, None);
    assert_eq!(text(&store, &alice(), &handles[2]).await, Some("c".repeat(400)));
    assert!(text(&store, &alice(), &handles[1]).await.is_some());
    assert!(text(&store, &Caller::new("other", "eve"), &other).await.is_some());
    assert_eq!(keep(&store, &alice(), &"d".repeat(1_000)).await, None);
}

#[tokio::test]
async fn a_result_goes_when_its_time_is_over() {
    let scratch = Scratch::new();
    let options = StoreOptions { results_for: Duration::ZERO, ..StoreOptions::default() };
    let store = scratch.open(options).unwrap();
    for n in 0..30 {
        let handle = keep(&store, &alice(), &n.to_string()).await.unwrap();
        assert_eq!(text(&store, &alice(), &handle).await, None);
    }
    store.prune().await.unwrap();
    assert_eq!((count(&scratch, "contents"), count(&scratch, "results")), (0, 0));
}
