//! Between arguments, settings and a document that wishes us ill.

use serde_json::{Value, json};
use toolcrib_core::{Secret, Source};
use toolcrib_openapi::{ApiSettings, Credential, Document};
use url::Url;

use crate::upstream::{Shop, Upstream, json as answer, settings, source, with};

fn operation(parameters: &Value) -> String {
    json!({
        "openapi": "3.2.0", "info": {"title": "T", "version": "1"},
        "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "api key"},
            "sid": {"type": "apiKey", "in": "cookie", "name": "sid"},
        }},
        "security": [{"key": [], "sid": []}],
        "paths": {"/a?mode=safe": {"get": {"operationId": "one", "parameters": parameters}}},
    })
    .to_string()
}

fn secured(document: &str, base: &Url) -> ApiSettings {
    let key = |name: &str, key: &str| (name.to_owned(), Credential::Key(Secret::new(key)));
    ApiSettings {
        credentials: [key("key", "the-key"), key("sid", "the-session")].into_iter().collect(),
        headers: vec![
            ("Cookie".to_owned(), Secret::new("tenant=configured")),
            ("X-Team".to_owned(), Secret::new("configured-team")),
        ],
        generic_request: true,
        ..settings(document, base)
    }
}

#[tokio::test]
async fn no_argument_takes_the_place_of_what_the_settings_say() {
    let upstream = Upstream::start(|_| answer(&json!({}))).await;
    let spilled = json!({"type": "object"});
    let document = operation(&json!([
        {"name": "filter", "in": "query", "schema": spilled},
        {"name": "raw", "in": "cookie", "style": "cookie", "explode": true, "schema": spilled},
        {"name": "x-team", "in": "header", "schema": {"type": "string"}},
        {"name": "X-Forwarded-For", "in": "header", "required": true, "schema": {"type": "string"}},
        {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
    ]));
    let shop = Shop::open(secured(&document, &upstream.url)).await;
    let evil = json!({
        "filter": {"api key": "evil", "color": "red"},
        "raw": {"sid": "evil", "theme": "dark"},
        "x-team": "evil",
    });
    let done = shop.call("one", &evil).await;
    assert!(done.outcome.is_done(), "{done:?}");
    let heard = upstream.last();
    assert_eq!(heard.line(), "GET /a?mode=safe&color=red&api%20key=the-key");
    assert_eq!(heard.header("cookie"), Some("tenant=configured; theme=dark; sid=the-session"));
    assert_eq!(heard.header("x-team"), Some("configured-team"));
    for evil in [
        json!({"raw": {"sid=evil": "x"}}),
        json!({"raw": {"a": "b; sid=evil"}}),
        json!({"filter": {"mode": "unsafe"}}),
        json!({"x-team": "a\r\nHost: evil"}),
        json!({"X-Forwarded-For": "1.1.1.1"}),
        json!({"Authorization": "evil"}),
    ] {
        let refused = shop.call("one", &evil).await;
        assert!(!refused.outcome.is_done(), "{evil}: {refused:?}");
    }
    let any = json!({"method": "GET", "path": "/b", "query": {"api key": "evil"},
        "headers": {"x-team": "evil"}});
    shop.call("request", &any).await;
    let heard = upstream.last();
    assert_eq!(heard.line(), "GET /b?api%20key=the-key");
    assert_eq!(heard.header("x-team"), Some("configured-team"));
    assert_eq!(upstream.heard().len(), 2);
}

#[tokio::test]
async fn links_and_places_in_an_answer_hold_no_credential() {
    let upstream = Upstream::start(|heard| {
        let next = format!("<http://a.example{}&page=2>; rel=\"next\"", heard.target);
        with(200, &[("link", &next), ("location", &heard.target), ("etag", "the-session")], "[]")
    })
    .await;
    let shop = Shop::open(secured(&operation(&json!([])), &upstream.url)).await;
    let whole = format!("{:?}", shop.call("one", &json!({})).await);
    assert!(whole.contains("page=2") && whole.contains("[secret]"), "{whole}");
    assert!(!whole.contains("the-key") && !whole.contains("the-session"), "{whole}");
}

#[tokio::test]
async fn a_document_that_cannot_be_had_is_told_without_the_secrets_of_its_address() {
    let upstream = Upstream::start(|heard| match heard.target.split('?').next() {
        Some("/moved") => with(302, &[("location", "/elsewhere?token=SECRET")], ""),
        Some("/text") => with(200, &[], "openapi: ["),
        Some("/other") => with(200, &[], "{\"openapi\": \"9.0\"}"),
        _ => with(404, &[], "SECRET"),
    })
    .await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let at = |path: &str| upstream.url.join(path).unwrap();
    let places = ["/moved", "/text", "/other", "/none"].map(at);
    for mut place in places.into_iter().chain([Url::parse(&closed).unwrap()]) {
        place.set_query(Some("token=SECRET"));
        let failed = source(ApiSettings::new(Document::Address(place))).load().await.err().unwrap();
        let mut told = failed.to_string();
        let mut cause = std::error::Error::source(&failed);
        while let Some(error) = cause {
            told = format!("{told}: {error}");
            cause = error.source();
        }
        assert!(!told.contains("SECRET"), "{told}");
    }
    assert_eq!(upstream.heard().len(), 4);
}

#[tokio::test]
async fn references_reach_no_file_and_follow_no_redirect() {
    let canary = Upstream::start(|_| answer(&json!({"name": "x", "in": "query"}))).await;
    let target = canary.url.clone();
    let upstream = Upstream::start(move |heard| match heard.target.as_str() {
        "/api.json" => {
            let references = ["moved.json#/p", "file:///etc/passwd#/p", "data:text/plain,{}#/p"];
            let parameters = references.map(|reference| json!({"$ref": reference}));
            answer(&json!({
                "openapi": "3.1.0", "info": {"title": "T", "version": "1"},
                "paths": {
                    "/a": {"get": {"operationId": "one", "parameters": parameters}},
                    "/b": {"get": {"operationId": "two"}},
                },
            }))
        }
        _ => with(302, &[("location", target.as_str())], ""),
    })
    .await;
    let address = upstream.url.join("/api.json").unwrap();
    let source = source(ApiSettings::new(Document::Address(address)));
    source.load().await.unwrap();
    let report = source.report().unwrap();
    let refused: Vec<&str> = report.refused.iter().map(|it| it.key.as_str()).collect();
    assert_eq!((report.operations, refused), (2, vec!["one"]));
    assert_eq!(upstream.lines(), ["GET /api.json", "GET /moved.json"]);
    assert!(canary.heard().is_empty());
    let told: Vec<&str> = report.notes.iter().map(|note| note.text.as_str()).collect();
    assert!(told.iter().any(|text| text.contains("it has moved to")), "{told:?}");
    assert!(told.iter().filter(|text| text.contains("it is elsewhere")).count() == 2, "{told:?}");
}
