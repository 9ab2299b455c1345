//! Keys of an issuer over the time that they are kept.

use std::time::{Duration, Instant, SystemTime};

use futures_util::future::join_all;
use serde_json::{Value, json};
use toolcrib_egress::Network;
use toolcrib_testkit::TestIssuer;
use url::Url;

use super::Issuer;
use super::settings::IssuerSettings;
use crate::access::error::AccessError;
use crate::token::JsonWebToken;

fn settings(peer: &TestIssuer) -> IssuerSettings {
    IssuerSettings {
        name: peer.name(),
        url: Url::parse(&peer.name()).unwrap(),
        jwks: None,
        network: Network::default(),
        tenant: "acme".to_owned(),
        tenant_claim: None,
        subject_claim: "sub".to_owned(),
        scope_claim: "scope".to_owned(),
        scopes: vec!["tools:read".to_owned()],
        untyped: false,
        document: IssuerSettings::DOCUMENT,
    }
}

fn token(peer: &TestIssuer, alg: &str, kid: &str) -> String {
    let end = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() + 600;
    let claims = json!({ "iss": peer.name(), "aud": "x", "sub": "ann", "exp": end });
    peer.token(&json!({ "alg": alg, "typ": "JWT", "kid": kid }), &claims)
}

async fn verified(issuer: &Issuer, text: &str) -> Result<String, AccessError> {
    let verified = issuer.verify(&JsonWebToken::read(text).unwrap()).await;
    verified.map(|verified| format!("{:?}", verified.caller))
}

/// As if the last request for keys, and the keys themselves, were that much older.
fn age(issuer: &Issuer, by: Duration) {
    let mut state = issuer.state();
    let older = |since: Instant| since.checked_sub(by).unwrap();
    state.asked = state.asked.map(older);
    state.keys = state.keys.take().map(|(keys, since)| (keys, older(since)));
}

const WRONG: Result<String, AccessError> = Err(AccessError::Rejected("its signature is not right"));

#[tokio::test]
async fn a_new_key_is_found_once_its_time_has_come() {
    let peer = TestIssuer::start().unwrap();
    let issuer = Issuer::new(settings(&peer));
    let old = json!({ "keys": [] });
    peer.publish(old);
    assert_eq!(verified(&issuer, &token(&peer, "ES256", "p256")).await, WRONG);
    peer.publish_all();
    assert_eq!(verified(&issuer, &token(&peer, "ES256", "p256")).await, WRONG);
    age(&issuer, Duration::from_secs(31));
    let known = verified(&issuer, &token(&peer, "ES256", "p256")).await.unwrap();
    assert!(known.contains("ann") && known.contains("acme"), "{known}");
    assert_eq!(peer.asked("/keys"), 2);
}

#[tokio::test]
async fn keys_outlive_their_issuer_for_a_day_and_no_longer() {
    let peer = TestIssuer::start().unwrap();
    let issuer = Issuer::new(settings(&peer));
    issuer.warm().await;
    peer.be_down(true);
    age(&issuer, Duration::from_hours(23));
    issuer.warm().await;
    assert!(issuer.trouble().is_some());
    assert!(verified(&issuer, &token(&peer, "RS256", "rsa")).await.is_ok());
    age(&issuer, Duration::from_hours(1));
    let text = token(&peer, "RS256", "rsa");
    assert_eq!(verified(&issuer, &text).await, Err(AccessError::Unavailable));
    peer.be_down(false);
    assert_eq!(verified(&issuer, &text).await, Err(AccessError::Unavailable));
    age(&issuer, Duration::from_secs(31));
    assert!(verified(&issuer, &text).await.is_ok());
    assert_eq!(issuer.trouble(), None);
}

#[tokio::test]
async fn of_a_key_that_nobody_can_ask_for_nobody_says_that_it_is_wrong() {
    let peer = TestIssuer::start().unwrap();
    let issuer = Issuer::new(settings(&peer));
    peer.publish(json!({ "keys": [] }));
    issuer.warm().await;
    let text = token(&peer, "ES256", "p256");
    assert_eq!(verified(&issuer, &text).await, WRONG);
    peer.be_down(true);
    age(&issuer, Duration::from_secs(31));
    assert_eq!(verified(&issuer, &text).await, Err(AccessError::Unavailable));
    peer.be_down(false);
    peer.publish_all();
    age(&issuer, Duration::from_secs(31));
    assert!(verified(&issuer, &text).await.is_ok());
}

#[tokio::test]
async fn whoever_waits_for_keys_waits_for_one_request() {
    let peer = TestIssuer::start().unwrap();
    let issuer = Issuer::new(settings(&peer));
    let text = token(&peer, "EdDSA", "ed25519");
    let all = join_all((0..64).map(|_| verified(&issuer, &text))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(peer.asked("/keys"), 1);
}

#[tokio::test]
async fn the_metadata_of_another_and_what_is_no_set_of_keys_are_refused() {
    let peer = TestIssuer::start().unwrap();
    let trouble = async |settings: IssuerSettings| {
        let issuer = Issuer::new(settings);
        issuer.warm().await;
        assert_eq!(
            verified(&issuer, &token(&peer, "RS256", "rsa")).await,
            Err(AccessError::Unavailable)
        );
        issuer.trouble().unwrap()
    };
    let own = settings(&peer);
    let other = IssuerSettings { name: "https://id.example".to_owned(), ..own.clone() };
    assert!(trouble(other).await.contains("the metadata of another issuer"));
    let slash = IssuerSettings { name: format!("{}/", peer.name()), ..own.clone() };
    assert!(trouble(slash).await.contains("the metadata of another issuer"));
    for wrong in [json!({}), json!([]), Value::Null, json!({ "keys": {} })] {
        peer.publish(wrong);
        assert!(trouble(own.clone()).await.contains("no set of keys"));
    }
    peer.publish(json!({ "keys": [], "more": "x".repeat(300_000) }));
    assert!(trouble(own).await.contains("is larger than 262144 bytes"));
}

#[tokio::test]
async fn the_keys_of_an_issuer_are_as_long_as_they_may_be() {
    let peer = TestIssuer::start().unwrap();
    let settings = IssuerSettings { document: 1_000, ..settings(&peer) };
    let sized = |bytes: usize| {
        let text = |more: &str| json!({ "keys": [], "more": more });
        text(&"x".repeat(bytes - text("").to_string().len()))
    };
    for bytes in [999, 1_000, 1_001] {
        peer.publish(sized(bytes));
        let issuer = Issuer::new(settings.clone());
        issuer.warm().await;
        let is_too_long =
            issuer.trouble().is_some_and(|told| told.contains("is larger than 1000 bytes"));
        assert_eq!(is_too_long, bytes > 1_000, "{bytes}: {:?}", issuer.trouble());
    }
}
