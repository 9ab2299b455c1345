//! A thread that writes outlives its own faults.

#[expect(dead_code, reason = "the other tests need more of it")]
#[path = "../../tests/it/cluster.rs"]
mod cluster;

use std::sync::{Mutex, PoisonError};

use serde_json::json;
use toolcrib_core::{Caller, Fingerprint, IdempotencyKey, KeyState, ToolName, failpoint};
use toolcrib_store::StoreOptions;

use self::cluster::Cluster;

/// Where the thread panics next.
static PANICS: Mutex<Option<&str>> = Mutex::new(None);

fn panic_at(moment: &'static str) {
    let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    if *panics == Some(moment) {
        *panics = None;
        drop(panics);
        panic!("a fault of a test");
    }
}

#[tokio::test]
async fn a_thread_that_panics_tells_what_is_there_and_goes_on() {
    failpoint::watch(panic_at);
    let cluster = Cluster::start("panic");
    let url = cluster.database("record");
    let store = crate::open(&url, StoreOptions::default()).unwrap();
    let arguments = Fingerprint::of(&json!({}));
    // Old rows are looked for before that, which is a group as well.
    store.flush().await.unwrap();
    for (moment, is_there) in [("before commit", false), ("committed", true)] {
        let tool = ToolName::new("pay").unwrap();
        let key = moment.replace(' ', "_");
        let key = IdempotencyKey { caller: Caller::local(), tool, source: None, key };
        *PANICS.lock().unwrap() = Some(moment);
        let begun = store.begin(&key, arguments).await;
        assert_eq!(*PANICS.lock().unwrap(), None, "it came to no {moment}");
        let begun = begun.map_err(|error| error.to_string());
        match &begun {
            Ok(state) => assert!(is_there && *state == KeyState::New, "{moment}: {begun:?}"),
            Err(error) => {
                assert!(!is_there && error.contains(" this process has a fault"), "{error}");
            }
        }
        let next = if is_there { KeyState::Running } else { KeyState::New };
        assert_eq!(store.begin(&key, arguments).await.unwrap(), next, "{moment}");
        store.works().unwrap();
    }
}
