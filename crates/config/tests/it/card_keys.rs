//! Cards of remote agents that are believed by their signatures alone.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use toolcrib_a2a_client::protocol::signed_card::sign_card;
use toolcrib_a2a_client::{A2aSettings, A2aSource, CardKeys};
use toolcrib_auth::SigningKey;
use toolcrib_config::SourceFactory;
use toolcrib_core::{Source, SourceId};
use toolcrib_mcp::McpSourceSettings;
use toolcrib_openapi::ApiSettings;

use crate::workshop::{Workshop, config};

/// Made for these tests and used for nothing else.
const OWN: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgroqeMGC/uJh+u0OO4QvbC4IObenm36zroo+UM7rFaT6hRANCAARcfQFU9teDpCjVwUZJZ3L915d2MlpWo3N7HcW9j+RnuDSZmJT969ir2OW9P3nAR5ys53tdabDjSYRcZH3HPXYp";
const OTHER: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgp/Qe5QRt0A5CBA+QzA7mBcTdEU5AHXYt/nZ0/w1pQAWhRANCAARODfop4+em/3JOoLjq8UOugKFZBSv4/Wc+4/GpXOVCxYZkiXpOU8uYVgseugy/IUnYJKii75t+HU7Bli1wRyeJ";
const EDWARDS: &str = "MC4CAQAwBQYDK2VwBCIEIPGL3VYRhjh9IZdZ0evCkRu63UXdQJPvvxC8Tjsvsb4O";

fn key(body: &str) -> SigningKey {
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    SigningKey::of_pem(&format!("{begin}\n{body}\n{end}\n")).unwrap()
}

/// Keeps what it is to make sources of.
#[derive(Default)]
struct Listening(Mutex<Vec<A2aSettings>>);

impl SourceFactory for Listening {
    fn mcp(&self, _: &str, _: McpSourceSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }

    fn api(&self, _: &str, _: ApiSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }

    fn agent(&self, id: &str, settings: A2aSettings) -> Arc<dyn Source> {
        self.0.lock().unwrap().push(settings.clone());
        Arc::new(A2aSource::new(SourceId::new(id), settings))
    }
}

/// The keys of a file that has the public halves of these.
fn keys(of: &[&SigningKey]) -> CardKeys {
    let table = |key: &&SigningKey| {
        let public = key.public();
        let fields = public.as_object().unwrap().iter();
        let fields: Vec<_> = fields.map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{{ {} }}", fields.join(", "))
    };
    let tables: Vec<_> = of.iter().map(table).collect();
    let text = format!(
        "[[source]]\nid = \"a\"\na2a = {{ card = \"https://a.example\", keys = [{}] }}\n",
        tables.join(", ")
    );
    let heard = Listening::default();
    config(&text).build(&Workshop::default(), &heard);
    heard.0.into_inner().unwrap().remove(0).keys.unwrap()
}

fn card() -> Value {
    json!({
        "name": "Scribe", "description": "Writes – on paper.", "version": "1",
        "supportedInterfaces": [{
            "url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0",
        }],
        "url": "https://a.example/", "preferredTransport": "JSONRPC",
        "capabilities": {
            "streaming": false,
            "extensions": [{ "uri": "urn:x", "required": false, "params": { "n": 1.50, "e": "" } }],
        },
        "skills": [{ "id": "s", "name": "S", "description": "", "tags": ["t"], "examples": [] }],
    })
}

fn signed(by: &SigningKey) -> Value {
    let mut card = card();
    let named = (by.algorithm(), by.kid(), by.public());
    assert!(sign_card(&mut card, named, |text| by.sign(text)));
    card
}

/// The same card under a signature with another head.
fn headed(by: &SigningKey, head: &Value) -> Value {
    let mut card = signed(by);
    let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let protected = encode(head.to_string().as_bytes());
    // What is signed stands in no field: it is made once more with another head.
    let mut again = self::card();
    let mut payload = String::new();
    sign_card(&mut again, (by.algorithm(), by.kid(), by.public()), |text| {
        text.split_once('.').unwrap().1.clone_into(&mut payload);
        Some(Vec::new())
    });
    let signature = by.sign(&format!("{protected}.{payload}")).unwrap();
    card["signatures"][0] = json!({ "protected": protected, "signature": encode(&signature) });
    card
}

#[test]
fn a_card_counts_if_one_of_the_keys_has_signed_it_and_only_what_is_signed_counts() {
    let (own, other, edwards) = (key(OWN), key(OTHER), key(EDWARDS));
    let wanted = json!({
        "name": "Scribe", "description": "Writes – on paper.", "version": "1",
        "supportedInterfaces": [{
            "url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0",
        }],
        "capabilities": {
            "streaming": false, "extensions": [{ "uri": "urn:x", "params": { "n": 1.50 } }],
        },
        "skills": [{ "id": "s", "name": "S", "tags": ["t"] }],
    });
    for by in [&own, &edwards] {
        let believed = keys(&[&other, &own, &edwards]).signed(&signed(by));
        assert_eq!(believed.as_ref(), Ok(&wanted));
        // What a signature does not speak of may change, and counts for nothing.
        let mut more = signed(by);
        more["url"] = "https://evil.example/".into();
        more["skills"][0]["secret"] = true.into();
        assert_eq!(keys(&[by]).signed(&more).as_ref(), Ok(&wanted));
    }
    // Of several signatures one is enough.
    let mut twice = signed(&other);
    let first = signed(&own)["signatures"][0].clone();
    twice["signatures"].as_array_mut().unwrap().push(first);
    assert!(keys(&[&own]).signed(&twice).is_ok());
}

#[test]
fn a_card_that_was_changed_or_that_others_signed_is_refused() {
    let (own, other) = (key(OWN), key(OTHER));
    let refused = |card: &Value| keys(&[&own]).signed(card).unwrap_err();
    let none = "none of its signatures is of one of the keys";
    assert_eq!(refused(&card()), "it has no signature");
    assert_eq!(refused(&signed(&other)), none);
    for (place, value) in [
        ("/name", json!("Scribe.")),
        ("/supportedInterfaces/0/url", json!("https://evil.example/")),
        ("/capabilities/streaming", json!(true)),
        ("/capabilities/extensions/0/params/n", json!(1.51)),
        ("/skills", json!([])),
    ] {
        let mut changed = signed(&own);
        *changed.pointer_mut(place).unwrap() = value;
        assert_eq!(refused(&changed), none, "{place}");
    }
}

#[test]
fn signatures_of_other_kinds_and_for_other_ends_are_refused() {
    let own = key(OWN);
    let refused = |head: Value| keys(&[&own]).signed(&headed(&own, &head)).err();
    assert_eq!(refused(json!({ "alg": "ES256" })), None);
    assert_eq!(refused(json!({ "alg": "ES256", "typ": "jose", "kid": "any" })), None);
    let typ = "a signature of it is for something else: its `typ` is not `JOSE`";
    let none = "none of its signatures is of one of the keys";
    for (head, why) in [
        (json!({ "alg": "ES256", "typ": "JWT" }), typ),
        (json!({ "alg": "ES256", "typ": 1 }), typ),
        (json!({ "alg": "none" }), none),
        (json!({ "alg": "HS256" }), none),
        (json!({ "alg": "RS256" }), none),
        (json!({ "alg": "es256" }), none),
        (json!({ "typ": "JOSE" }), "a signature of it names no algorithm"),
        (
            json!({ "alg": "ES256", "crit": ["b64"], "b64": false }),
            "a signature of it has marks that are not known here",
        ),
    ] {
        assert_eq!(refused(head.clone()).as_deref(), Some(why), "{head}");
    }
    let mut empty = signed(&own);
    empty["signatures"][0]["signature"] = "".into();
    let form = "a signature of it is no JSON web signature";
    assert_eq!(keys(&[&own]).signed(&empty).unwrap_err(), form);
    empty["signatures"] = json!([1, null, {}, { "protected": "!", "signature": "!" }]);
    assert_eq!(keys(&[&own]).signed(&empty).unwrap_err(), form);
}
