//! Tokens of OAuth 2, as documents and settings say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolcrib_core::{Caller, Secret, Secrets};
use toolcrib_openapi::{ApiSettings, Credential};
use url::Url;

use crate::upstream::{Shop, Upstream, json as answer, settings, with};

fn document(token_url: &str) -> String {
    let flow = json!({"clientCredentials": {"tokenUrl": token_url, "scopes": {}}});
    let operation = json!({"operationId": "one", "responses": {}, "security": [{"oauth": []}]});
    json!({
        "openapi": "3.0.3", "info": {"title": "T", "version": "1"},
        "components": {"securitySchemes": {"oauth": {"type": "oauth2", "flows": flow}}},
        "paths": {"/one": {"get": operation}},
    })
    .to_string()
}

fn client(id: &str, token_url: Option<Url>) -> Credential {
    let client_secret = Secret::new(format!("client-secret-of-{id}"));
    Credential::ClientCredentials {
        token_url,
        client_id: id.to_owned(),
        client_secret,
        scopes: vec![],
    }
}

/// A token for whoever asks: its own credentials, which no token should be.
async fn token_server() -> Upstream {
    Upstream::start(|heard| {
        let who = heard.header("authorization").unwrap_or_default().replace("Basic ", "token-");
        answer(&json!({"access_token": who, "expires_in": 600}))
    })
    .await
}

async fn shop(document: &str, api: &Upstream, credential: Credential) -> Shop {
    let credentials = [("oauth".to_owned(), credential)].into_iter().collect();
    Shop::open(ApiSettings { credentials, ..settings(document, &api.url) }).await
}

#[tokio::test]
async fn callers_with_clients_of_their_own_have_tokens_of_their_own() {
    let tokens = token_server().await;
    let api = Upstream::start(|heard| answer(&json!(heard.header("authorization")))).await;
    let token_url = Some(tokens.url.join("/token").unwrap());
    let each = ["ann", "bob"].map(|name| (format!("t/{name}"), client(name, token_url.clone())));
    let each = Credential::PerCaller(each.into_iter().collect());
    let shop = shop(&document("https://tokens.example/"), &api, each).await;
    for name in ["ann", "bob", "ann"] {
        let answer = shop.call_as(&Caller::new("t", name), "one", &json!({})).await;
        assert_eq!(answer.text(), r#""Bearer [secret]""#);
    }
    let shown: Vec<_> =
        api.heard().iter().map(|it| it.header("authorization").unwrap().to_owned()).collect();
    assert!(shown[0] != shown[1] && shown[0] == shown[2], "{shown:?}");
    assert_eq!(tokens.heard().len(), 2);
}

#[tokio::test]
async fn a_token_server_that_only_the_document_names_is_the_api_or_public_with_tls() {
    let api = Upstream::start(|heard| match heard.target.as_str() {
        "/oauth/token" => answer(&json!({"access_token": "the-token"})),
        _ => answer(&json!({})),
    })
    .await;
    let same = shop(&document("/oauth/token"), &api, client("c", None)).await;
    assert!(same.call("one", &json!({})).await.outcome.is_done());
    assert_eq!(api.lines(), ["POST /oauth/token", "GET /one"]);
    let other = token_server().await;
    let plain = shop(&document(other.url.as_str()), &api, client("c", None)).await;
    let refused = plain.call("one", &json!({})).await.text();
    assert!(refused.contains("names a token server without TLS"), "{refused}");
    let private = other.url.as_str().replace("http:", "https:");
    let private = shop(&document(&private), &api, client("c", None)).await;
    let refused = private.call("one", &json!({})).await.text();
    assert!(refused.contains("is not a public address"), "{refused}");
    assert_eq!((other.heard().len(), api.heard().len()), (0, 2));
}

#[tokio::test]
async fn a_token_that_was_replaced_is_not_shown_either() {
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let api = Upstream::start(move |heard| {
        let [given, asked] = &*counts;
        if heard.target == "/token" {
            let number = given.fetch_add(1, Ordering::SeqCst);
            return answer(&json!({"access_token": format!("token-number-{number}")}));
        }
        // The first token is taken back after it was used once.
        let token = heard.header("authorization").unwrap_or_default();
        let is_refused = asked.fetch_add(1, Ordering::SeqCst) > 0 && token.ends_with("-0");
        let said = json!({"now": token, "before": "token-number-0"}).to_string();
        let status = if is_refused { 401 } else { 200 };
        with(status, &[("content-type", "application/json")], &said)
    })
    .await;
    let learned = Secrets::default();
    let own = ApiSettings {
        credentials: [("oauth".to_owned(), client("c", None))].into_iter().collect(),
        learned: Some(learned.clone()),
        ..settings(&document("/token"), &api.url)
    };
    let shop = Shop::open(own).await;
    for _ in 0..3 {
        let told = shop.call("one", &json!({})).await.text();
        assert_eq!(told, r#"{"now":"Bearer [secret]","before":"[secret]"}"#);
    }
    let known = learned.redactor();
    assert_eq!(
        known.text("token-number-0 token-number-1 token-number-2"),
        "[secret] [secret] token-number-2"
    );
}
