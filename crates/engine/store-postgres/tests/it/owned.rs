//! A database has one process that writes, and its past is put in order by the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolcrib_core::{
    Arguments, CallKey, CallLedger as _, Caller, Effect, Ending, Fingerprint, IdempotencyKey,
    KeyLedger as _, KeyState, LedgerError, PlannedCall, ToolName, ToolSpec,
};
use toolcrib_store::{CallFilter, CallState, Store, StoreOptions};
use toolcrib_testkit::spec;

use crate::scratch::Scratch;

/// Writes a call as one that waits, or as one that is about to be sent.
pub(crate) async fn write_call(store: &Store, effect: Effect, keys: &[IdempotencyKey]) -> CallKey {
    let (key, written) = try_to_write_call(store, effect, keys).await;
    written.unwrap();
    key
}

/// Writes a call that may be sent as soon as it is written.
pub(crate) async fn planned(store: &Store) -> (CallKey, Result<(), LedgerError>) {
    try_to_write_call(store, Effect::Write, &[]).await
}

async fn try_to_write_call(
    store: &Store,
    effect: Effect,
    keys: &[IdempotencyKey],
) -> (CallKey, Result<(), LedgerError>) {
    let call = NewCall::of(effect);
    // Nobody waits for that one.
    let _ = store.queued(call.call(&[])).await;
    (call.key, call.plan(store, keys).await)
}

/// A call of which nothing is on record yet.
pub(crate) struct NewCall {
    pub(crate) key: CallKey,
    caller: Arc<Caller>,
    tool: Arc<ToolSpec>,
    arguments: Arguments,
}

impl NewCall {
    pub(crate) fn of(effect: Effect) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self {
            key: CallKey::parse(&format!("{number:032}-0")).unwrap(),
            caller: Arc::new(Caller::local()),
            tool: Arc::new(spec("pay", effect)),
            arguments: Arguments::new(serde_json::Map::new()),
        }
    }

    fn call<'a>(&'a self, keys: &'a [IdempotencyKey]) -> PlannedCall<'a> {
        PlannedCall {
            key: self.key,
            call_id: "c\0 1",
            caller: &self.caller,
            tool: &self.tool,
            fingerprint: Fingerprint::of(&json!("pay")),
            arguments: &self.arguments,
            keys,
            decider: None,
        }
    }

    /// It may be sent as soon as this is written.
    pub(crate) async fn plan(
        &self,
        store: &Store,
        keys: &[IdempotencyKey],
    ) -> Result<(), LedgerError> {
        store.planned(self.call(keys)).await
    }
}

fn key(name: &str) -> IdempotencyKey {
    let tool = ToolName::new("pay").unwrap();
    IdempotencyKey { caller: Caller::local(), tool, source: None, key: name.to_owned() }
}

async fn states(store: &Store) -> Vec<(CallState, String)> {
    let calls = store.calls(&Caller::local(), CallFilter::default(), None, 500).await.unwrap();
    calls.calls.iter().map(|call| (call.state(), call.call_id.clone())).collect()
}

#[tokio::test]
async fn what_a_process_left_without_an_end_has_one_when_the_database_is_opened_again() {
    let scratch = Scratch::new();
    let before = scratch.open(StoreOptions::default()).unwrap();
    let arguments = Fingerprint::of(&json!({}));
    for name in ["bound", "loose"] {
        let begun = toolcrib_core::KeyLedger::begin(&before, &key(name), arguments).await;
        assert_eq!(begun.unwrap(), KeyState::New);
    }
    let ended = write_call(&before, Effect::Read, &[]).await;
    before.finished(ended, Ending::Succeeded).await.unwrap();
    write_call(&before, Effect::Write, &[key("bound")]).await;
    before.flush().await.unwrap();
    assert_eq!(before.interrupted(), 0);
    drop(before);
    let after = scratch.open(StoreOptions::default()).unwrap();
    assert_eq!(
        states(&after).await,
        [
            (CallState::Interrupted, "c\u{fffd} 1".to_owned()),
            (CallState::Succeeded, "c\u{fffd} 1".to_owned())
        ]
    );
    assert_eq!(after.interrupted(), 1);
    assert_eq!(after.recorded(&key("bound")).await.unwrap(), KeyState::Unknown);
    assert_eq!(after.recorded(&key("loose")).await.unwrap(), KeyState::New);
}

#[tokio::test]
async fn a_second_process_is_refused_while_the_first_writes() {
    let scratch = Scratch::new();
    let first = scratch.open(StoreOptions::default()).unwrap();
    let refused = scratch.open(StoreOptions::default()).err().unwrap().to_string();
    assert!(refused.contains(" is in use by another process: end that one"), "{refused}");
    drop(first);
    scratch.open(StoreOptions::default()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_hundreds_at_once_each_call_is_written_and_each_key_begun_once() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let arguments = Fingerprint::of(&json!({}));
    let asks = (0..300).map(|n| {
        let store = store.clone();
        async move {
            let key = key(&format!("k{}", n % 100));
            let begun = toolcrib_core::KeyLedger::begin(&store, &key, arguments).await.unwrap();
            let call = write_call(&store, Effect::Write, &[key]).await;
            store.finished(call, Ending::Succeeded).await.unwrap();
            begun == KeyState::New
        }
    });
    let begun = futures_util::future::join_all(asks).await;
    assert_eq!(begun.into_iter().filter(|new| *new).count(), 100);
    assert_eq!(states(&store).await.len(), 300);
    assert!(states(&store).await.iter().all(|(state, _)| *state == CallState::Succeeded));
    assert!(store.commits() < 600, "groups were committed as one: {}", store.commits());
}
