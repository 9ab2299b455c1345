//! What is told of the servers that share a record.

use serde_json::{Value, json};

use super::{about, count, flag, list, object, text, text_or_null};
use crate::config::record::fleet::FindingKind;

pub(crate) fn cluster() -> Value {
    let alone = "Whether this server is one of several; if not, nothing is in the lists.";
    object(&[
        ("shared", about(flag(), alone)),
        ("replicas", list(&replica())),
        ("transactions", list(&transaction())),
        ("findings", list(&finding())),
    ])
}

fn replica() -> Value {
    let open = object(&[
        ("calls", count()),
        ("queued", count()),
        ("keys", count()),
        ("tickets", count()),
        ("runs", count()),
    ]);
    let state = json!({ "enum": ["live", "late", "dead", "over", "unclear"] });
    let lease = "What is left of its lease; below zero since it is over.";
    let digest = || about(text_or_null(), "Its digest; null if the replica does not say it.");
    object(&[
        ("id", json!({ "type": "integer" })),
        ("is_this", about(flag(), "Whether it is the one that answers.")),
        ("state", about(state, "`late`: its lease is over, and nobody took it for dead yet.")),
        ("version", text()),
        ("address", text_or_null()),
        ("began", text_or_null()),
        ("lease_milliseconds", about(json!({ "type": "integer" }), lease)),
        ("open", about(open, "Rows of the record without an end that are of it.")),
        ("configuration", digest()),
        ("policy", digest()),
        ("pins", digest()),
        ("reads", about(count_or_null(), "The newest form of the tables that it reads.")),
        ("writes", about(count_or_null(), "The newest that it writes.")),
        ("running", about(count_or_null(), "Calls that run or wait.")),
        ("waiting", about(count_or_null(), "Of these, calls that wait for a place.")),
        ("sessions", count_or_null()),
        ("stopping", flag()),
    ])
}

fn transaction() -> Value {
    object(&[
        ("process", about(json!({ "type": ["integer", "null"] }), "Null: it is prepared.")),
        ("user", text()),
        ("application", text()),
        ("state", text()),
        ("seconds", about(json!({ "type": "integer" }), "How long it has been open.")),
        ("behind", about(json!({ "type": "integer" }), "Transactions that began since.")),
    ])
}

fn finding() -> Value {
    object(&[
        ("kind", json!({ "enum": FindingKind::WORDS })),
        ("told", about(text(), "In words, with what to do about it.")),
        ("replicas", list(&json!({ "type": "integer" }))),
    ])
}

fn count_or_null() -> Value {
    json!({ "type": ["integer", "null"], "minimum": 0 })
}
