//! A call whose line breaks is sent again where the API knows a repetition by its key.

use serde_json::json;

use super::doors::{DOORS, act};
use super::upstream::Upstream;
use crate::serve::support::Serving;

const FILE: &str = "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n";

/// `more` is said of the source.
fn serving(upstream: &Upstream, more: &str) -> Serving {
    let folder = upstream.furnish_web(FILE);
    let port = upstream.port;
    folder.write(
        "crib.toml",
        &format!(
            "{FILE}[[source]]\nid = \"web\"\n[source.openapi]\ndocument = \"service.json\"\n\
             base_url = \"http://127.0.0.1:{port}\"\nidempotency_header = \"Idempotency-Key\"\n\
             {more}\n"
        ),
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`web`: ");
    serving
}

#[test]
fn a_payment_whose_line_breaks_is_sent_again_under_its_key_and_made_once() {
    for resend in ["[\"*\"]", "[\"act\"]", "[\"POST /do/{how}/{nonce}\"]"] {
        let upstream = Upstream::start();
        let serving = serving(&upstream, &format!("resend = {resend}"));
        for (door, nonce) in DOORS.into_iter().zip(["rest", "mcp"]) {
            let paid = door.call(&serving, &act("web__act", "pay-1", nonce));
            let expected = json!({ "did": nonce }).to_string();
            assert_eq!((paid.error, paid.text.as_str()), (false, &*expected), "{resend}: {paid:?}");
        }
        for (door, nonce) in DOORS.into_iter().zip(["lost-rest", "lost-mcp"]) {
            let lost = door.call(&serving, &act("web__act", "pay-9", nonce));
            assert_eq!(lost.status, "outcome_unknown", "{resend}: {lost:?}");
            let again = door.call(&serving, &act("web__act", "pay-9", nonce));
            assert_eq!(again.status, "duplicate_of_unknown", "{resend}: {again:?}");
        }
        assert_eq!(upstream.oracle.all().into_values().collect::<Vec<_>>(), [1; 4], "{resend}");
        assert_eq!(upstream.oracle.keys(), [2, 2, 3, 3], "{resend}");
        let calls = serving.ask("GET", "/v1/calls?tool=web__act", "").json();
        let calls = calls["calls"].as_array().unwrap().clone();
        let seen = calls.iter().map(|call| {
            let tried = call["attempts"].as_array().map_or(0, Vec::len);
            (call["state"].clone(), tried)
        });
        let expected = [
            (json!("outcome_unknown"), 3),
            (json!("outcome_unknown"), 3),
            (json!("succeeded"), 2),
            (json!("succeeded"), 2),
        ];
        assert_eq!(seen.collect::<Vec<_>>(), expected, "{resend}");
    }
}

#[test]
fn a_key_alone_sends_nothing_again() {
    for more in ["", "resend = []", "resend = [\"see\", \"nothing\"]"] {
        let upstream = Upstream::start();
        let serving = serving(&upstream, more);
        for (door, nonce) in DOORS.into_iter().zip(["rest", "mcp"]) {
            let lost = door.call(&serving, &act("web__act", "pay-1", nonce));
            assert_eq!(lost.status, "outcome_unknown", "{more}: {lost:?}");
        }
        assert_eq!(upstream.oracle.keys(), [1, 1], "{more}");
    }
}
