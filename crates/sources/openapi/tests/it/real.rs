//! Calls of operations of large real documents.

use serde_json::json;
use toolcrib_core::Secret;
use toolcrib_openapi::{ApiSettings, Credential};

use crate::upstream::{Shop, Upstream, document, json as answer, settings, with};

fn key(secret: &str) -> Credential {
    Credential::Bearer(Secret::new(secret))
}

#[tokio::test]
async fn issues_of_github_are_listed_and_an_asset_is_uploaded() {
    let Some(text) = document("github-api.github.com.json.gz") else { return };
    let upstream = Upstream::start(|heard| {
        let link = "<https://api.github.com/x?page=2>; rel=\"next\"";
        if heard.method == "GET" {
            with(200, &[("content-type", "application/json"), ("link", link)], "[]")
        } else {
            with(201, &[("content-type", "application/json")], "{}")
        }
    })
    .await;
    let credentials = [("*".to_owned(), key("github-token"))].into_iter().collect();
    let shop = Shop::open(ApiSettings { credentials, ..settings(&text, &upstream.url) }).await;
    let arguments = json!({
        "owner": "octo", "repo": "hello/world", "state": "open", "labels": "bug,ui", "per_page": 5,
        "since": "2026-01-01T00:00:00Z",
    });
    let listed = shop.call("issues_list_for_repo", &arguments).await;
    assert!(listed.text().ends_with("the next page is https://api.github.com/x?page=2"));
    let heard = upstream.last();
    assert_eq!(
        heard.line(),
        "GET /repos/octo/hello%2Fworld/issues?state=open&labels=bug%2Cui\
         &since=2026-01-01T00%3A00%3A00Z&per_page=5"
    );
    // The document asks for nothing, although the API does.
    assert_eq!(heard.header("authorization"), Some("Bearer github-token"));
    let asset =
        json!({"owner": "o", "repo": "r", "release_id": 1, "name": "a.txt", "body": "aGk="});
    let uploaded = shop.call("repos_upload_release_asset", &asset).await;
    assert!(uploaded.outcome.is_done(), "{uploaded:?}");
    let heard = upstream.last();
    assert_eq!(heard.line(), "POST /repos/o/r/releases/1/assets?name=a.txt");
    assert_eq!(heard.body, "hi");
}

#[tokio::test]
async fn stripe_gets_its_forms() {
    let Some(text) = document("stripe.json.gz") else { return };
    let upstream = Upstream::start(|_| answer(&json!({"id": "cus_1"}))).await;
    let credentials = [("*".to_owned(), Credential::Key(Secret::new("sk_test_123")))];
    let settings = ApiSettings {
        credentials: credentials.into_iter().collect(),
        idempotency_header: Some("Idempotency-Key".to_owned()),
        ..settings(&text, &upstream.url)
    };
    let shop = Shop::open(settings).await;
    let arguments = json!({
        "email": "a+b@example.org", "metadata": {"order id": "6735"}, "balance": -5,
        "expand": ["sources", "tax"], "address": {"line1": "1 Main St", "city": "ü"},
    });
    let made = shop.call("PostCustomers", &arguments).await;
    assert!(made.outcome.is_done(), "{made:?}");
    let heard = upstream.last();
    assert_eq!(heard.line(), "POST /v1/customers");
    assert_eq!(heard.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert!(heard.header("idempotency-key").is_some());
    let mut fields: Vec<&str> = heard.body.split('&').collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "address%5Bcity%5D=%C3%BC",
            "address%5Bline1%5D=1+Main+St",
            "balance=-5",
            "email=a%2Bb%40example.org",
            "expand%5B%5D=sources",
            "expand%5B%5D=tax",
            "metadata%5Border+id%5D=6735",
        ]
    );
    // As its own documents say: the key is the name, and there is no password.
    assert_eq!(heard.header("authorization"), Some("Basic c2tfdGVzdF8xMjM6"));
}
