//! Keys: a call that is sent again is known, and not made again.

use futures_util::future::join_all;
use serde_json::json;
use std::time::Duration;
use toolcrib_core::{
    CallKey, Caller, Checkpoint, Fingerprint, KeyLedger, KeyResult, SourceId, ToolName,
};
use toolcrib_store::{IdempotencyKey, KeyState, StoreOptions};

use crate::scratch::Scratch;

fn key(subject: &str, tool: &str, key: &str) -> IdempotencyKey {
    let caller = Caller::new("acme", subject);
    let (tool, source) = (ToolName::new(tool).unwrap(), Some(SourceId::new("bank")));
    IdempotencyKey { caller, tool, source, key: key.to_owned() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_who_begin_at_once_one_makes_the_call_and_all_others_get_its_response() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let arguments = Fingerprint::of(&json!({"n": 1}));
    let pay = key("alice", "pay", "k1");
    let begun = join_all((0..64).map(|_| store.begin(&pay, arguments))).await;
    let new = begun.iter().filter(|begun| *begun.as_ref().unwrap() == KeyState::New).count();
    let running =
        begun.iter().filter(|begun| *begun.as_ref().unwrap() == KeyState::Running).count();
    assert_eq!((new, running), (1, 63));
    store.settle(&pay, &json!({"paid": 1.0})).await.unwrap();
    store.settle(&pay, &json!("too late")).await.unwrap();
    let ended = KeyState::Ended(json!({"paid": 1.0}));
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), ended);
    let others = Fingerprint::of(&json!({"n": 2}));
    assert_eq!(store.begin(&pay, others).await.unwrap(), KeyState::Conflict);
    let elsewhere = IdempotencyKey { source: Some(SourceId::new("other bank")), ..pay.clone() };
    for other in [
        key("bob", "pay", "k1"),
        key("alice", "refund", "k1"),
        key("alice", "pay", "k2"),
        elsewhere,
    ] {
        assert_eq!(store.begin(&other, others).await.unwrap(), KeyState::New);
    }
    drop(store);
    let store = scratch.open(StoreOptions::default()).unwrap();
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), ended, "after a restart");
    let bob = store.begin(&key("bob", "pay", "k1"), others).await.unwrap();
    assert_eq!(bob, KeyState::Unknown, "begun before the restart, and never ended");
}

#[tokio::test]
async fn a_call_that_left_word_is_taken_up_once_after_a_restart_and_then_ends_under_its_key() {
    let scratch = Scratch::new();
    let open = || scratch.open(StoreOptions::default()).unwrap();
    let (arguments, silent) = (Fingerprint::of(&json!({})), key("alice", "pay", "k2"));
    let pay = key("alice", "pay", "k1");
    let both = [pay.clone(), silent.clone()];
    let call = CallKey::parse("0199d7a0e0c07d0aa2b3f1b6c1d2e3f4-0").unwrap();
    let word = |text: &str| Checkpoint { call, text: text.to_owned() };
    let store = open();
    for key in &both {
        assert_eq!(store.begin(key, arguments).await.unwrap(), KeyState::New);
    }
    KeyLedger::bind(&store, &both).await.unwrap();
    store.checkpoint(&both[..1], &word("first")).await.unwrap();
    store.checkpoint(&both[..1], &word("second, with a blank")).await.unwrap();
    assert_eq!(store.take_up(&pay).await.unwrap(), None, "it runs");
    drop(store);
    let store = open();
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), KeyState::Unknown);
    assert_eq!(store.take_up(&silent).await.unwrap(), None, "it left no word");
    let before = store.take_up(&pay).await.unwrap();
    assert_eq!(before, Some(word("second, with a blank")));
    assert_eq!(store.take_up(&pay).await.unwrap(), None, "somebody has it");
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), KeyState::Running);
    drop(store);
    // It is killed once more, and has an end then.
    let store = open();
    assert_eq!(store.take_up(&pay).await.unwrap(), before);
    KeyLedger::settle(&store, &pay, KeyResult::Answered(json!(1))).await.unwrap();
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), KeyState::Ended(json!(1)));
    assert_eq!(store.take_up(&pay).await.unwrap(), None);
}

#[tokio::test]
async fn a_key_that_was_given_back_is_free_and_an_odd_one_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let arguments = Fingerprint::of(&json!({}));
    let pay = key("alice", "pay", "k1");
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), KeyState::New);
    store.release(&pay).await.unwrap();
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), KeyState::New);
    store.settle(&pay, &json!(1)).await.unwrap();
    store.release(&pay).await.unwrap();
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), KeyState::Ended(json!(1)));
    for odd in [String::new(), "k".repeat(256)] {
        let refused = store.begin(&key("alice", "pay", &odd), arguments).await.err().unwrap();
        assert!(refused.to_string().starts_with("a key may have 255 bytes"), "{refused}");
    }
}

#[tokio::test]
async fn a_key_lasts_for_its_time_unless_its_call_still_runs() {
    let scratch = Scratch::new();
    let options = StoreOptions { keys_for: Duration::ZERO, ..StoreOptions::default() };
    let store = scratch.open(options).unwrap();
    let arguments = Fingerprint::of(&json!({}));
    let pay = key("alice", "pay", "k1");
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), KeyState::New);
    store.prune().await.unwrap();
    assert_eq!(store.begin(&pay, arguments).await.unwrap(), KeyState::Running);
    store.settle(&pay, &json!(1)).await.unwrap();
    assert_eq!(store.begin(&pay, Fingerprint::of(&json!(2))).await.unwrap(), KeyState::New);
}

#[tokio::test]
async fn an_answer_that_came_after_all_is_told_in_the_place_of_the_one_before() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let (late, other) = (key("alice", "redeem", "k1"), key("alice", "redeem", "k2"));
    for key in [&late, &other] {
        assert_eq!(store.begin(key, Fingerprint::of(&json!({}))).await.unwrap(), KeyState::New);
        let told = KeyResult::Told { now: json!("unknown"), later: json!("not kept") };
        KeyLedger::settle(&store, key, told).await.unwrap();
    }
    KeyLedger::settle(&store, &late, KeyResult::Late(json!("done"))).await.unwrap();
    assert_eq!(store.recorded(&late).await.unwrap(), KeyState::Ended(json!("done")));
    assert_eq!(store.recorded(&other).await.unwrap(), KeyState::Ended(json!("unknown")));
    drop(store);
    let store = scratch.open(StoreOptions::default()).unwrap();
    assert_eq!(store.recorded(&late).await.unwrap(), KeyState::Ended(json!("done")));
    assert_eq!(store.recorded(&other).await.unwrap(), KeyState::Ended(json!("not kept")));
}

#[tokio::test]
async fn the_answer_of_a_whole_request_is_kept_and_one_beyond_32_mib_is_lost() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let arguments = Fingerprint::of(&json!({}));
    let (request, beyond) = (key("alice", "run_calls", "k1"), key("alice", "run_calls", "k2"));
    for key in [&request, &beyond] {
        assert_eq!(store.begin(key, arguments).await.unwrap(), KeyState::New);
    }
    let results = vec!["x".repeat(256 * 1024); 64];
    let answer = json!(json!(results).to_string());
    store.settle(&request, &answer).await.unwrap();
    assert_eq!(store.begin(&request, arguments).await.unwrap(), KeyState::Ended(answer));
    let large = json!("x".repeat(32 * 1024 * 1024));
    let refused = store.settle(&beyond, &large).await.err().unwrap();
    assert_eq!(
        refused.to_string(),
        "a response may have 33554432 bytes at most: use a shorter one"
    );
    KeyLedger::settle(&store, &beyond, KeyResult::Answered(large)).await.unwrap();
    assert_eq!(store.begin(&beyond, arguments).await.unwrap(), KeyState::Unknown);
}
