//! What a replica writes of its sessions, and when.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use toolcrib_core::SessionLedger as _;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::Oracle;

use super::record::BROKEN;
use super::{OLD, begin, call, echoes, end, greet, old, pair, told};
use crate::support::until;

#[tokio::test]
async fn a_session_whose_row_was_lost_is_written_anew_while_it_is_used() {
    let oracle = Oracle::default();
    let life = Duration::from_secs(2);
    let settings = McpServerSettings { session_life: life, ..McpServerSettings::default() };
    let (record, one, two) = pair(&echoes(&oracle), settings).await;
    let session = begin(&one.url, "ann", OLD, json!({})).await;
    let name = record.name(0);
    record.sessions.leave(vec![name.clone()], Duration::from_hours(1)).await.unwrap();
    assert_eq!(old(&two.url, "ann", Some(&session), call(1, "alpha")).await.status, 404);
    let used = async {
        loop {
            let reply = old(&one.url, "ann", Some(&session), call(2, "alpha")).await;
            assert_eq!(reply.status, 200, "{}", reply.body);
            tokio::time::sleep(life / 8).await;
        }
    };
    tokio::select! {
        () = record.until_found(&name, true) => {}
        () = used => {}
    }
    assert_eq!(old(&two.url, "ann", Some(&session), call(3, "alpha")).await.status, 200);
}

#[tokio::test]
async fn what_cannot_be_written_keeps_nothing_else_from_it() {
    let oracle = Oracle::default();
    let (record, one, _two) = pair(&echoes(&oracle), McpServerSettings::default()).await;
    record.goes();
    for caller in [BROKEN, BROKEN, BROKEN, "ann", BROKEN, BROKEN, BROKEN] {
        begin(&one.url, caller, OLD, json!({})).await;
    }
    record.returns();
    until("that of another is written", || !record.names.lock().unwrap().is_empty()).await;
    record.until_found(&record.name(0), true).await;
}

#[tokio::test]
async fn a_session_that_is_ended_while_it_is_written_is_ended_for_all() {
    let oracle = Oracle::default();
    let (record, one, two) = pair(&echoes(&oracle), McpServerSettings::default()).await;
    record.goes();
    let session = begin(&one.url, "ann", OLD, json!({})).await;
    record.is_slow.store(true, Ordering::SeqCst);
    record.returns();
    until("it is written", || !record.names.lock().unwrap().is_empty()).await;
    assert_eq!(end(&one.url, &session).await.status, 204);
    record.is_slow.store(false, Ordering::SeqCst);
    let names = vec![record.name(0)];
    let ended = async {
        while record.sessions.ended(names.clone()).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), ended).await.unwrap();
    for url in [&one.url, &two.url] {
        assert_eq!(old(url, "ann", Some(&session), call(1, "alpha")).await.status, 404);
    }
}

#[tokio::test]
async fn a_session_for_which_there_is_no_room_leaves_no_row() {
    let oracle = Oracle::default();
    let settings = McpServerSettings { most_sessions: 1, ..McpServerSettings::default() };
    let (record, one, _two) = pair(&echoes(&oracle), settings).await;
    record.is_slow.store(true, Ordering::SeqCst);
    let greeted = async {
        tokio::join!(greet(&one.url, "ann", OLD, json!({})), greet(&one.url, "ann", OLD, json!({})))
    };
    let both_are_written = async {
        until("both are written", || record.names.lock().unwrap().len() == 2).await;
        record.is_slow.store(false, Ordering::SeqCst);
    };
    let ((first, second), ()) = tokio::join!(greeted, both_are_written);
    let statuses = BTreeSet::from([first.status, second.status]);
    assert_eq!(statuses, BTreeSet::from([200, 503]));
    let ended = vec![record.name(0), record.name(1)];
    assert_eq!(record.sessions.ended(ended).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_in_a_batch_that_another_replica_waits_for_is_to_be_sent_again() {
    let oracle = Oracle::default();
    let (_record, one, two) = pair(&echoes(&oracle), McpServerSettings::default()).await;
    let session = begin(&one.url, "ann", "2025-03-26", json!({})).await;
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    let answer = json!({ "jsonrpc": "2.0", "id": 7, "result": {} });
    for (batch, expected) in [
        (json!([note, note]), (202, false)),
        (json!([answer, note]), (503, true)),
        (json!([note, answer]), (503, true)),
    ] {
        let reply = old(&two.url, "ann", Some(&session), batch).await;
        assert_eq!(told(&reply), expected, "{}", reply.body);
    }
}
