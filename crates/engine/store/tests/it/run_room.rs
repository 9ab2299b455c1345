//! Runs in a file for which there is no room.

use toolcrib_core::{RunLedger as _, RunLedgerError, RunStep};
use toolcrib_store::StoreOptions;

use crate::kept_runs::item;
use crate::runs::{ann, last_step, new_run, run_step};
use crate::scratch::Scratch;

#[tokio::test]
async fn a_step_for_which_there_is_no_room_is_not_there_and_is_written_once_there_is() {
    let scratch = Scratch::new();
    let options = StoreOptions { max_bytes: Some(1024 * 1024), ..StoreOptions::default() };
    let store = scratch.open(options).unwrap();
    let large = RunStep { items: vec![item("large", 500_000)], ..last_step(0) };
    store.create(new_run("large", "large"), large).await.unwrap();
    store.create(new_run("run", "thread"), run_step(0)).await.unwrap();
    let step = |number: u64| RunStep {
        items_from: usize::try_from(number).unwrap() - 1,
        items: vec![item(number, 20_000)],
        events: vec![item(number, 5_000)],
        state: number.to_string(),
        ..run_step(number)
    };
    let mut number = 1;
    let refused = loop {
        match store.advance("run", step(number)).await {
            Ok(()) => number += 1,
            refused => break refused,
        }
    };
    assert!(matches!(refused, Err(RunLedgerError::Ledger(_))), "{refused:?}");
    let stored = store.load("run").await.unwrap().unwrap();
    assert_eq!((stored.steps, stored.events), (number, number - 1));
    assert_eq!((stored.items.len() as u64, stored.state), (number - 1, (number - 1).to_string()));
    assert!(store.forget(&ann(), "large").await.unwrap());
    store.advance("run", step(number)).await.unwrap();
    assert_eq!(store.load("run").await.unwrap().unwrap().steps, number + 1);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}
