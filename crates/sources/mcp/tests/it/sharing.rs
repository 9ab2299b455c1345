//! Who shares a server with whom.

use serde_json::json;
use toolcrib_core::Caller;
use toolcrib_mcp::ConnectionScope;

use crate::support::{crib, run, run_as, settings, source};

#[tokio::test]
async fn callers_and_conversations_keep_their_state_apart_as_told() {
    // The counts that four calls see: Ann in two conversations, Ben, Ann again in the first.
    let expected = [
        (ConnectionScope::Shared, ["1", "2", "3", "4"]),
        (ConnectionScope::Caller, ["1", "2", "1", "3"]),
        (ConnectionScope::Session, ["1", "1", "1", "2"]),
    ];
    for (share, counts) in expected {
        let mut settings = settings(&["legacy"]);
        settings.share = share;
        let source = source(settings);
        let crib = crib(&source).await;
        let (ann, ben) = (Caller::new("t", "ann"), Caller::new("t", "ben"));
        let mut seen = Vec::new();
        for (caller, session) in [(&ann, "s1"), (&ann, "s2"), (&ben, "s1"), (&ann, "s1")] {
            let text = run_as(&crib, caller, session, "count").await.text();
            seen.push(text.split(' ').next().unwrap().to_owned());
        }
        assert_eq!(seen, counts, "{share:?}");
    }
}

#[tokio::test]
async fn connections_are_bounded_and_the_one_idle_longest_makes_room() {
    let mut settings = settings(&["legacy"]);
    settings.share = ConnectionScope::Caller;
    let source = source(settings);
    let crib = crib(&source).await;
    for n in 0..66 {
        let caller = Caller::new("t", format!("caller {n}"));
        assert!(run_as(&crib, &caller, "s", "count").await.text().starts_with("1 "));
    }
    assert!(source.status().connections <= 65, "{:?}", source.status());
    source.stop().await;
    assert_eq!(source.status().connections, 0);
}

#[tokio::test]
async fn answers_find_their_own_calls_however_many_run() {
    for era in ["legacy", "modern"] {
        let crib = crib(&source(settings(&[era]))).await;
        let calls =
            (0..50_u64).map(|n| run(&crib, "slow", json!({"pause": (n * 7) % 60, "nonce": n})));
        for (n, response) in futures_util::future::join_all(calls).await.iter().enumerate() {
            assert_eq!(response.text(), format!("answer to {n}"));
        }
    }
}
