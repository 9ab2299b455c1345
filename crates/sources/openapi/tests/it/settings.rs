//! What the settings of an API change about its calls.

use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use toolcrib_core::{Caller, ErrorKind, Secret};
use toolcrib_openapi::{ApiSettings, Credential, DocumentLocation};

use crate::upstream::{Shop, Upstream, json as answer, settings, source, with};

/// One operation for each way in.
fn document() -> String {
    let operation = |id: &str, security: Value| {
        let server = if id == "own" {
            json!([{"url": "https://own.example/own/v9"}])
        } else {
            json!([{"url": "/api"}])
        };
        json!({"get": {"operationId": id, "security": security, "servers": server, "responses": {}}})
    };
    json!({
        "openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "servers": [{"url": "/api"}],
        "components": {"securitySchemes": {
            "token": {"type": "http", "scheme": "bearer"},
            "query": {"type": "apiKey", "in": "query", "name": "key"},
            "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
            "basic": {"type": "http", "scheme": "basic"},
            "mutual": {"type": "mutualTLS"},
        }},
        "paths": {
            "/token": operation("token", json!([{"token": []}])),
            "/query": operation("query", json!([{"query": [], "cookie": []}])),
            "/either": operation("either", json!([{"mutual": []}, {"basic": []}])),
            "/mutual": operation("mutual", json!([{"mutual": []}])),
            "/open": operation("open", json!([])),
            "/own": operation("own", json!([])),
        },
    })
    .to_string()
}

fn below(upstream: &Upstream) -> url::Url {
    let mut base = upstream.url.clone();
    base.set_path("/api");
    base
}

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

async fn open(upstream: &Upstream, credentials: &[(&str, Credential)]) -> Shop {
    let credentials = credentials.iter().map(|(name, it)| ((*name).to_owned(), it.clone()));
    let headers = vec![("X-Client".to_owned(), secret("client-header-value"))];
    let credentials = credentials.collect();
    Shop::open(ApiSettings { credentials, headers, ..settings(&document(), &below(upstream)) })
        .await
}

#[tokio::test]
async fn credentials_go_where_their_schemes_say() {
    let upstream = Upstream::start(|_| answer(&json!({}))).await;
    let shop = open(
        &upstream,
        &[
            ("token", Credential::Bearer(secret("token-value"))),
            ("query", Credential::Key(secret("query value"))),
            ("cookie", Credential::Key(secret("cookie-value"))),
            ("basic", Credential::Basic { user: secret("ann"), password: secret("pass-word") }),
        ],
    )
    .await;
    for tool in ["token", "query", "either", "open"] {
        let answer = shop.call(tool, &json!({})).await;
        assert!(answer.outcome.is_done(), "{answer:?}");
    }
    let heard: Vec<_> = upstream
        .heard()
        .iter()
        .map(|it| {
            let header = |name: &str| it.header(name).unwrap_or("-").to_owned();
            (it.line(), header("authorization"), header("cookie"))
        })
        .collect();
    let expected = [
        ("GET /api/token", "Bearer token-value", "-"),
        ("GET /api/query?key=query%20value", "-", "sid=cookie-value"),
        ("GET /api/either", "Basic YW5uOnBhc3Mtd29yZA==", "-"),
        ("GET /api/open", "-", "-"),
    ]
    .map(|(line, authorization, cookie)| {
        (line.to_owned(), authorization.to_owned(), cookie.to_owned())
    });
    assert_eq!(heard, expected);
    assert!(upstream.heard().iter().all(|it| it.header("x-client") == Some("client-header-value")));
}

#[tokio::test]
async fn what_has_no_credential_is_listed_and_a_call_says_what_is_missing() {
    let upstream = Upstream::start(|_| answer(&json!({}))).await;
    let shop = open(&upstream, &[]).await;
    let token = shop.call("token", &json!({})).await;
    assert_eq!(
        token.text(),
        "Error: nothing was sent: this call needs a credential for the scheme `token`, and the \
         configuration has none. Do not repeat it; tell the user to add it under `auth` of \
         this source"
    );
    let either = shop.call("either", &json!({})).await.text();
    assert!(
        either.contains("`mutual` (`mutualTLS`, which is not supported) or the scheme `basic`")
    );
    assert!(upstream.heard().is_empty());
    let source = source(settings(&document(), &below(&upstream)));
    toolcrib_core::Source::load(&source).await.unwrap();
    let missing = source.report().unwrap().credentials_missing;
    assert_eq!(missing, ["token", "query", "cookie", "mutual", "basic"]);
}

#[tokio::test]
async fn every_caller_calls_as_itself() {
    let upstream =
        Upstream::start(|heard| answer(&json!({"you sent": heard.header("authorization")}))).await;
    let each = ["ann", "bob"].map(|name| {
        (format!("t/{name}"), Credential::Bearer(secret(&format!("secret-of-{name}"))))
    });
    let shop = open(&upstream, &[("*", Credential::PerCaller(each.into_iter().collect()))]).await;
    for name in ["ann", "bob"] {
        let answer = shop.call_as(&Caller::new("t", name), "token", &json!({})).await;
        assert_eq!(answer.text(), r#"{"you sent":"Bearer [secret]"}"#);
        let sent = format!("Bearer secret-of-{name}");
        assert_eq!(upstream.last().header("authorization"), Some(sent.as_str()));
    }
    for other in [Caller::new("t", "eve"), Caller::new("other", "ann"), Caller::local()] {
        let answer = shop.call_as(&other, "token", &json!({})).await;
        assert!(answer.text().contains("this one has none"), "{}", answer.text());
    }
    assert_eq!(upstream.heard().len(), 2);
}

#[tokio::test]
async fn no_credential_comes_back_however_it_was_written() {
    let upstream = Upstream::start(|heard| {
        let echo = json!({"line": heard.line(), "headers": format!("{:?}", heard.headers)});
        with(400, &[("content-type", "application/json")], &echo.to_string())
    })
    .await;
    let shop = open(
        &upstream,
        &[
            ("query", Credential::Key(secret("query & value"))),
            ("cookie", Credential::Key(secret("cookie; value"))),
            ("basic", Credential::Basic { user: secret("ann"), password: secret("pass-word") }),
        ],
    )
    .await;
    for tool in ["query", "either"] {
        let answer = shop.call(tool, &json!({})).await;
        let whole = format!("{answer:?} {}", answer.text());
        for part in ["query%20", "cookie%3B", "client-header-value", "bjpwYXNzLXdvcm", "pass-word"]
        {
            assert!(!whole.contains(part), "`{part}` in {whole}");
        }
        assert!(whole.contains("[secret]"), "{whole}");
    }
}

#[tokio::test]
async fn a_key_as_the_user_is_masked_and_the_name_of_somebody_is_not() {
    let upstream = Upstream::start(|heard| {
        let echo = json!({"sent": format!("{:?}", heard.headers), "assignee": "ann@example.com"});
        with(200, &[("content-type", "application/json")], &echo.to_string())
    })
    .await;
    for (user, password, others, is_shown) in [
        ("ann@example.com", "pass-word", None, true),
        ("ann@example.com", "", None, false),
        ("ann@example.com", "pass-word", Some("ann@example.com"), false),
    ] {
        let basic = Credential::Basic { user: secret(user), password: secret(password) };
        let settings = ApiSettings {
            credentials: [("basic".to_owned(), basic)].into_iter().collect(),
            secrets: others.map(secret).into_iter().collect(),
            ..settings(&document(), &below(&upstream))
        };
        let answer = Shop::open(settings).await.call("either", &json!({})).await;
        assert_eq!(answer.text().contains("ann@example.com"), is_shown, "{}", answer.text());
        assert!(answer.text().contains("[secret]"), "{}", answer.text());
        let pair = base64::prelude::BASE64_STANDARD.encode(format!("{user}:{password}"));
        assert_eq!(upstream.last().header("authorization"), Some(format!("Basic {pair}").as_str()));
    }
}

#[tokio::test]
async fn an_operation_with_a_server_of_its_own_keeps_its_path_and_not_its_host() {
    let upstream = Upstream::start(|_| answer(&json!({}))).await;
    let shop = open(&upstream, &[]).await;
    shop.call("own", &json!({})).await;
    assert_eq!(upstream.lines(), ["GET /own/v9/own"]);
    let source = source(settings(&document(), &below(&upstream)));
    toolcrib_core::Source::load(&source).await.unwrap();
    let notes = source.report().unwrap().notes;
    let note = notes.iter().find(|note| note.about == "own.example").unwrap();
    assert!(note.text.contains("they are sent to `127.0.0.1` instead"), "{}", note.text);
    let complete = upstream.url.join("/proxy/").unwrap();
    let shop = Shop::open(settings(&document(), &complete)).await;
    shop.call("open", &json!({})).await;
    shop.call("own", &json!({})).await;
    assert_eq!(upstream.lines()[1..], ["GET /proxy/open", "GET /own/v9/own"]);
}

#[tokio::test]
async fn why_a_document_cannot_be_read_is_told_once() {
    let folder = toolcrib_testkit::TestFolder::new();
    let path = folder.write("api.json", r#"{"openapi": "9.0.0", "paths": {}}"#);
    let source = source(ApiSettings::new(DocumentLocation::File(path.clone())));
    let error = toolcrib_core::Source::load(&source).await.err().unwrap();
    let why = "the document is of version `9.0.0`: use OpenAPI 3.0 to 3.2, or Swagger 2.0";
    assert_eq!(error.to_string(), format!("`{}`: {why}", path.display()));
    assert!(std::error::Error::source(&error).is_none());
}

#[tokio::test]
async fn time_and_size_are_bounded_by_the_settings() {
    let upstream = Upstream::start(|heard| match heard.target.as_str() {
        "/api/open" => with(200, &[], &"x".repeat(200)),
        _ => with(429, &[("retry-after", "3600")], r#"{"message":"slow down"}"#),
    })
    .await;
    let bounded =
        ApiSettings { max_response_bytes: 100, ..settings(&document(), &below(&upstream)) };
    let shop = Shop::open(bounded.clone()).await;
    let large = shop.call("open", &json!({})).await;
    assert!(large.text().contains("(the bound is 100 bytes). Ask for less"), "{}", large.text());
    let limited = shop.call("own", &json!({})).await;
    let error = limited.error().unwrap();
    assert_eq!(
        (error.kind, error.retry_after),
        (ErrorKind::RateLimited, Some(Duration::from_hours(1)))
    );
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = url::Url::parse(&format!("http://{}/api", silent.local_addr().unwrap())).unwrap();
    let quick =
        ApiSettings { timeout: Duration::from_millis(300), base_url: Some(base), ..bounded };
    let late = Shop::open(quick).await.call("open", &json!({})).await;
    assert_eq!(late.error().unwrap().kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn wrong_settings_are_told_when_the_document_is_loaded() {
    let upstream = Upstream::start(|_| answer(&json!({}))).await;
    let good = settings(&document(), &below(&upstream));
    let broken = [
        ApiSettings { headers: vec![("a b".into(), secret("x"))], ..good.clone() },
        ApiSettings { headers: vec![("Host".into(), secret("x"))], ..good.clone() },
        ApiSettings { headers: vec![("a".into(), secret("SECRET\n"))], ..good.clone() },
        ApiSettings { idempotency_header: Some("a b".into()), ..good.clone() },
        ApiSettings { base_url: Some(url::Url::parse("ftp://x/").unwrap()), ..good.clone() },
        ApiSettings {
            base_url: Some(url::Url::parse("http://u:SECRET@x/").unwrap()),
            ..good.clone()
        },
    ];
    for settings in broken {
        let failed = toolcrib_core::Source::load(&source(settings)).await.err().unwrap();
        let whole =
            format!("{failed} {:?}", std::error::Error::source(&failed).map(ToString::to_string));
        assert!(!whole.contains("SECRET"), "{whole}");
    }
    let credentials = [("nobody".to_owned(), Credential::Key(secret("x")))].into_iter().collect();
    let base_url = Some(upstream.url.clone());
    let source = source(ApiSettings { credentials, base_url, ..good });
    toolcrib_core::Source::load(&source).await.unwrap();
    let notes = source.report().unwrap().notes;
    let says = |about: &str| notes.iter().find(|note| note.about == about).unwrap().text.as_str();
    assert!(says("nobody").starts_with("no security scheme of the document has this name"));
    assert!(says("base_url").starts_with("the document has its API below `/api`"));
}
