//! Tokens of sign-ins: documents that all replicas have, and the right to renew one.

use std::time::Duration;

use toolcrib_core::TokenLedger as _;
use toolcrib_store::StoreOptions;
use toolcrib_store_postgres::{Database, PostgresTokens};

use crate::scratch::Scratch;

const LONG: Duration = Duration::from_hours(1);

fn tokens(scratch: &Scratch) -> PostgresTokens {
    Database::at(scratch.url()).unwrap().tokens().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_the_same_for_all_until_one_of_them_changes_it() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let (one, other) = (tokens(&scratch), tokens(&scratch));
    assert_eq!(other.document("name").await, Ok(None));
    one.put("name", Some(vec![0, 255, 1])).await.unwrap();
    assert_eq!(other.document("name").await, Ok(Some(vec![0, 255, 1])));
    other.put("name", Some(vec![2])).await.unwrap();
    assert_eq!(one.document("name").await, Ok(Some(vec![2])));
    assert_eq!(one.document("Name").await, Ok(None));
    other.put("name", None).await.unwrap();
    assert_eq!(one.document("name").await, Ok(None));
    drop(store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_those_who_would_renew_at_once_one_may_until_its_time_is_up() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let all: Vec<_> = (0..8).map(|_| tokens(&scratch)).collect();
    let names: Vec<_> = (0..8).map(|number| format!("holder {number}")).collect();
    let asking = all.iter().zip(&names).map(|(of, name)| of.lock("anna", name, LONG));
    let taken = futures_util::future::try_join_all(asking).await.unwrap();
    assert_eq!(taken.iter().filter(|is_taken| **is_taken).count(), 1, "{taken:?}");
    let holder = taken.iter().position(|is_taken| *is_taken).unwrap();
    let (one, other) = (&all[holder], &all[(holder + 1) % 8]);
    // Another one's right is nobody's to give back, and neither is that to another name.
    other.unlock("anna", "holder 9").await.unwrap();
    assert_eq!(other.lock("anna", "holder 9", LONG).await, Ok(false));
    assert_eq!(other.lock("ben", "holder 9", Duration::ZERO).await, Ok(true));
    one.unlock("anna", &names[holder]).await.unwrap();
    assert_eq!(other.lock("anna", "holder 9", LONG).await, Ok(true));
    // The time of the one for Ben was up at once.
    assert_eq!(one.lock("ben", &names[holder], LONG).await, Ok(true));
    other.unlock("ben", "holder 9").await.unwrap();
    assert_eq!(other.lock("ben", "holder 9", LONG).await, Ok(false));
    drop(store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_no_server_has_opened_has_no_tokens_and_says_so() {
    let scratch = Scratch::new();
    let told = tokens(&scratch).document("name").await.unwrap_err();
    let cause = std::error::Error::source(&told).unwrap().to_string();
    let cure = "lacks tables of this release: start a server of it once";
    assert!(cause.contains(cure), "{cause}");
}
