//! Between arguments, settings and a document that wishes us ill.

use serde_json::{Value, json};
use toolcrib_core::{ErrorKind, Secret, Source};
use toolcrib_openapi::{ApiSettings, Credential, DocumentLocation, places};
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
        let failed =
            source(ApiSettings::new(DocumentLocation::Address(place))).load().await.err().unwrap();
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
    let source = source(ApiSettings::new(DocumentLocation::Address(address)));
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

/// A document in which the API is at one place, and gives tokens at another.
fn leading(server: &str, token_url: &str) -> serde_json::Value {
    let flow = json!({ "tokenUrl": token_url, "scopes": {} });
    let scheme = json!({ "type": "oauth2", "flows": { "clientCredentials": flow } });
    json!({
        "openapi": "3.1.0", "info": { "title": "T", "version": "1" },
        "servers": [{ "url": server }], "security": [{ "o": [] }],
        "components": { "securitySchemes": { "o": scheme } },
        "paths": { "/a": { "get": { "operationId": "one" } } },
    })
}

fn client(token_url: Option<&str>) -> Credential {
    Credential::ClientCredentials {
        token_url: token_url.map(|url| Url::parse(url).unwrap()),
        client_id: "me".to_owned(),
        client_secret: Secret::new("CLIENT-SECRET"),
        scopes: Vec::new(),
    }
}

#[tokio::test]
async fn a_document_at_an_address_leads_no_secret_elsewhere() {
    let upstream = Upstream::start(|heard| {
        let (server, token) = match heard.target.as_str() {
            "/api" => ("https://api.example/v1", "https://api.example/token"),
            "/token" => ("/v1", "https://tokens.example/token"),
            _ => ("/v1", "/token"),
        };
        answer(&leading(server, token))
    })
    .await;
    let load = async |path: &str, change: &dyn Fn(&mut ApiSettings)| {
        let address = upstream.url.join(path).unwrap();
        let mut settings = ApiSettings::new(DocumentLocation::Address(address));
        change(&mut settings);
        source(settings).load().await.map(drop).map_err(|error| error.to_string())
    };
    let keyed = |settings: &mut ApiSettings| {
        settings.credentials.insert("*".to_owned(), client(None));
    };
    let refused = |place: &str, key: &str| {
        Err(format!(
            "the document sends the secrets of this source to `{place}`, which is another place \
             than where the document is: name it as `{key}` if that is right"
        ))
    };
    let header = |settings: &mut ApiSettings| {
        settings.headers.push(("x-key".to_owned(), Secret::new("SECRET")));
    };
    assert_eq!(load("/own", &keyed).await, Ok(()));
    assert_eq!(load("/api", &|_| {}).await, Ok(()), "there is nothing to be sent elsewhere");
    for change in [&keyed as &dyn Fn(&mut ApiSettings), &header] {
        assert_eq!(load("/api", change).await, refused("https://api.example/v1", "base_url"));
    }
    let named = |settings: &mut ApiSettings| {
        keyed(settings);
        settings.base_url = Some(Url::parse("https://api.example/v1").unwrap());
    };
    assert_eq!(load("/api", &named).await, Ok(()));
    assert_eq!(load("/token", &keyed).await, refused("https://tokens.example/token", "token_url"));
    let told = |settings: &mut ApiSettings| {
        let own = client(Some("https://tokens.example/token"));
        settings.credentials.insert("*".to_owned(), own);
    };
    assert_eq!(load("/token", &told).await, Ok(()));
}

#[tokio::test]
async fn a_document_in_a_file_is_held_to_where_it_led_when_somebody_looked() {
    let folder = toolcrib_testkit::TestFolder::new();
    let path = folder.path().join("api.json");
    let write = |document: &serde_json::Value| {
        std::fs::write(&path, document.to_string()).unwrap();
    };
    let first = leading("https://api.example/v1", "/token");
    write(&first);
    let mut settings = ApiSettings::new(DocumentLocation::File(path.clone()));
    settings.credentials.insert("*".to_owned(), client(None));
    let urls = |places: &[Url]| places.iter().map(ToString::to_string).collect::<Vec<_>>();
    let held = places(&settings, true).unwrap();
    assert_eq!(urls(&held), ["https://api.example/v1"]);
    settings.held_to = Some(held);
    let source = source(settings.clone());
    source.load().await.unwrap();
    // Other words lead to the same place.
    let mut other = first.clone();
    other["info"]["title"] = json!("Another");
    write(&other);
    source.load().await.unwrap();
    for (elsewhere, place, key) in [
        (leading("https://evil.example/v1", "/token"), "https://evil.example/v1", "base_url"),
        (
            leading("https://api.example/v1", "https://evil.example/token"),
            "https://evil.example/token",
            "token_url",
        ),
    ] {
        write(&elsewhere);
        let failed = source.load().await.err().unwrap().to_string();
        let expected = format!(
            "the document sends the secrets of this source to `{place}`, which is another place \
             than when somebody was asked about it: name it as `{key}` if that is right"
        );
        assert_eq!(failed, expected);
    }
    // A scheme in a file beside it counts too, and what the settings name does not.
    let mut beside = leading("https://api.example/v1", "/token");
    let scheme = leading("/", "https://tokens.example/t")["components"].clone();
    std::fs::write(folder.path().join("auth.json"), scheme.to_string()).unwrap();
    beside["components"]["securitySchemes"]["o"] =
        json!({ "$ref": "auth.json#/securitySchemes/o" });
    write(&beside);
    assert_eq!(
        urls(&places(&settings, true).unwrap()),
        ["https://api.example/v1", "https://tokens.example/t"]
    );
    assert_eq!(urls(&places(&settings, false).unwrap()), ["https://api.example/v1"]);
    settings.base_url = Some(Url::parse("https://own.example").unwrap());
    assert_eq!(urls(&places(&settings, true).unwrap()), ["https://tokens.example/t"]);
    std::fs::remove_file(&path).unwrap();
    assert!(places(&settings, true).is_err());
}

#[tokio::test]
async fn fields_that_may_not_come_together_are_not_sent_together() {
    let upstream = Upstream::start(|_| answer(&json!("done"))).await;
    let fields = json!({ "id": {}, "email": {}, "phone": {} });
    let rule = json!({ "anyOf": [{ "required": ["email", "phone"] }] });
    let body = json!({ "type": "object", "properties": fields, "not": rule });
    let content = json!({ "application/json": { "schema": body } });
    let tell = json!({
        "operationId": "tell", "responses": {},
        "requestBody": { "required": true, "content": content },
    });
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "T", "version": "1" },
        "paths": { "/tell": { "post": tell } },
    });
    let shop = Shop::open(settings(&document.to_string(), &upstream.url)).await;
    let both = shop.call("tell", &json!({ "email": "a@b", "phone": "1" })).await;
    assert_eq!(both.error().unwrap().kind, ErrorKind::InvalidArguments, "{}", both.text());
    for one in [json!({ "id": 1, "email": "a@b" }), json!({ "phone": "1" }), json!({})] {
        assert_eq!(shop.call("tell", &one).await.text(), "\"done\"");
        assert_eq!(upstream.last().body, one.to_string());
    }
    assert_eq!(upstream.heard().len(), 3);
}
