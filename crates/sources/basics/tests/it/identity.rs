//! Fresh identifiers and hashes.

use std::collections::BTreeSet;

use serde_json::json;
use uuid::Uuid;

use crate::{outcome, refused, table};

async fn uuids(arguments: serde_json::Value) -> Vec<Uuid> {
    let made = outcome("uuid_new", arguments).await;
    let texts: Vec<String> = serde_json::from_value(made["uuids"].clone()).unwrap();
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[tokio::test]
async fn uuids_differ_and_are_of_the_version_that_was_asked_for() {
    for (version, number) in [("v4", 4), ("v7", 7)] {
        let made = uuids(json!({"version": version, "count": 100})).await;
        assert!(made.iter().all(|uuid| uuid.get_version_num() == number), "{made:?}");
        assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), 100);
    }
    let one = uuids(json!({})).await;
    assert_eq!(one.iter().map(Uuid::get_version_num).collect::<Vec<_>>(), [4]);
    let wrong = [json!({"count": 0}), json!({"count": 101}), json!({"version": "v1"})];
    refused("uuid_new", wrong).await;
}

#[tokio::test]
async fn version_7_is_ordered_by_time() {
    let made = uuids(json!({"version": "v7", "count": 100})).await;
    assert!(made.is_sorted(), "{made:?}");
}

/// The values of `abc` are the examples of FIPS 180-2.
#[tokio::test]
async fn hashes_are_those_of_the_standard() {
    table(
        "hash_text",
        [
            (
                json!({"text": "abc"}),
                json!({
                    "algorithm": "sha256",
                    "hex": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                }),
            ),
            (
                json!({"text": "abc", "algorithm": "sha512"}),
                json!({
                    "algorithm": "sha512",
                    "hex": "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                            2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
                }),
            ),
        ],
    )
    .await;
    refused("hash_text", [json!({"text": "abc", "algorithm": "md5"})]).await;
}
