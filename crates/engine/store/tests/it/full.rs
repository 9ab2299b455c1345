//! A file without room for one more row: what cannot be done as a whole is not done at all.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Map, json};
use toolcrib_core::{
    Arguments, CallWire, Caller, Content, Fingerprint, IdempotencyKey, KeyLedger as _, ParkedCall,
    ResultHandle, ResultLedger as _, SourceId, TicketError, TicketId, TicketLedger as _, ToolName,
};
use toolcrib_store::{KeyState, Store, StoreOptions};

use crate::scratch::Scratch;

fn small(scratch: &Scratch) -> Store {
    let options = StoreOptions { max_bytes: Some(512 * 1024), ..StoreOptions::default() };
    Store::open(&scratch.file(), options).unwrap()
}

/// A ticket like those that there are, which is none of them.
fn ticket() -> TicketId {
    TicketId::claimed(ResultHandle::unguessable().0)
}

fn parked() -> ParkedCall {
    ParkedCall {
        ticket: ticket(),
        caller: Caller::local(),
        tool: ToolName::new("wipe").unwrap(),
        source: SourceId::new("s"),
        fingerprint: Fingerprint::of(&json!(1)),
        arguments: Arguments::new(Map::new()),
        session: None,
        profile: None,
        key: None,
        mark: None,
        reason: "why".into(),
        lifetime: Duration::from_mins(10),
        call_id: "1".into(),
        wire: CallWire::default(),
        question: None,
    }
}

/// Begins keys until hardly one more finds a place.
async fn fill(store: &Store) {
    let most = Content::text("x".repeat(250_000));
    assert!(store.keep(&Caller::local(), Arc::new(most)).await.is_some());
    let mut refused = 0;
    while refused < 100 {
        let key = IdempotencyKey::of_ticket(&Caller::local(), &ticket());
        if store.begin(&key, Fingerprint::of(&json!(1))).await.is_err() {
            refused += 1;
        }
    }
}

fn make_room(scratch: &Scratch) {
    let other = Connection::open(scratch.file()).unwrap();
    other.execute_batch("DELETE FROM keys WHERE state = 'running'").unwrap();
}

#[tokio::test]
async fn a_ticket_that_a_full_file_cannot_give_out_can_be_claimed_once_there_is_room() {
    let scratch = Scratch::new();
    let store = small(&scratch);
    let waiting: Vec<_> = (0..20).map(|_| parked()).collect();
    for parked in &waiting {
        store.park(parked.clone()).await.unwrap();
    }
    fill(&store).await;
    let mut refused = Vec::new();
    for parked in waiting {
        match store.claim(&parked.ticket, &parked.caller).await {
            Ok(_) => {}
            Err(TicketError::Ledger(_)) => refused.push(parked),
            Err(other) => panic!("{other}"),
        }
    }
    assert!(!refused.is_empty());
    make_room(&scratch);
    for parked in refused {
        let key = IdempotencyKey::of_ticket(&parked.caller, &parked.ticket);
        assert_eq!(store.recorded(&key).await.unwrap(), KeyState::New);
        assert_eq!(store.claim(&parked.ticket, &parked.caller).await, Ok(parked));
        assert_eq!(store.recorded(&key).await.unwrap(), KeyState::Running);
    }
}

#[tokio::test]
async fn an_answer_that_has_no_room_is_lost_and_all_others_go_on() {
    let scratch = Scratch::new();
    let store = small(&scratch);
    let [large, other, next] =
        [(); 3].map(|()| IdempotencyKey::of_ticket(&Caller::local(), &ticket()));
    let arguments = Fingerprint::of(&json!(1));
    for key in [&large, &other] {
        assert_eq!(store.begin(key, arguments).await.unwrap(), KeyState::New);
    }
    let content = Content::text("x".repeat(200_000));
    assert!(store.keep(&Caller::local(), Arc::new(content)).await.is_some());
    // It is small enough to be owed, and too large for what is left of the file.
    assert!(store.settle(&large, &json!("x".repeat(250_000))).await.is_err());
    assert_eq!(store.recorded(&large).await.unwrap(), KeyState::Running);
    store.settle(&other, &json!(1)).await.unwrap();
    assert_eq!(store.begin(&next, arguments).await.unwrap(), KeyState::New);
    assert_eq!(store.begin(&other, arguments).await.unwrap(), KeyState::Ended(json!(1)));
    assert_eq!(store.begin(&large, arguments).await.unwrap(), KeyState::Unknown);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}
