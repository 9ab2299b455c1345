//! Where documents come from, and what a source says about them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolcrib_core::{Effect, Source};
use toolcrib_openapi::{ApiSettings, BaseUrlSource, DocumentLocation};

use crate::upstream::{Shop, Upstream, json as answer, settings, source, specs, with};

fn document(server: &str, names: &[&str]) -> Value {
    let paths = names
        .iter()
        .map(|name| (format!("/{name}"), json!({"get": {"operationId": name, "responses": {}}})));
    let paths: serde_json::Map<String, Value> = paths.collect();
    json!({
        "openapi": "3.1.0", "info": {"title": "T", "version": "2"},
        "servers": [{"url": server}], "paths": paths,
    })
}

fn names(tools: &toolcrib_core::Toolset) -> Vec<String> {
    specs(tools).into_iter().map(|spec| spec.name.to_string()).collect()
}

#[tokio::test]
async fn a_document_is_had_from_an_address_and_its_server_is_beside_it() {
    let upstream = Upstream::start(|heard| match heard.target.as_str() {
        "/docs/openapi.json?secret=1" => answer(&document("/api/v3", &["one"])),
        _ => answer(&json!("called")),
    })
    .await;
    let address = upstream.url.join("/docs/openapi.json?secret=1").unwrap();
    let source = source(ApiSettings::new(DocumentLocation::Address(address.clone())));
    assert_eq!(source.report(), None);
    let tools = source.load().await.unwrap();
    let report = source.report().unwrap();
    assert_eq!((report.title.as_str(), report.version.as_str(), report.operations), ("T", "2", 1));
    assert_eq!(report.base_url, upstream.url.join("/api/v3").unwrap().as_str());
    assert_eq!(report.base_url_by, BaseUrlSource::Document);
    assert_eq!(specs(&tools)[0].origin.source.as_str(), "api");
    let shop = Shop::open(ApiSettings::new(DocumentLocation::Address(address))).await;
    assert_eq!(shop.call("one", &json!({})).await.text(), "\"called\"");
    assert_eq!(upstream.last().line(), "GET /api/v3/one");
}

#[tokio::test]
async fn a_document_is_read_again_when_it_changes_and_only_then() {
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let upstream = Upstream::start(move |_| {
        let all = ["one", "two", "three"];
        match now.load(Ordering::SeqCst) {
            9 => with(500, &[], ""),
            version => answer(&document("/", &all[..=version])),
        }
    })
    .await;
    let source = source(ApiSettings::new(DocumentLocation::Address(upstream.url.clone())));
    let first = source.load().await.unwrap();
    let again = source.load().await.unwrap();
    let tool = |tools: &toolcrib_core::Toolset| Arc::clone(&tools.get("one").unwrap().tool);
    assert!(Arc::ptr_eq(&tool(&first), &tool(&again)));
    version.store(1, Ordering::SeqCst);
    let second = source.load().await.unwrap();
    assert_eq!(
        (names(&first), names(&second)),
        (vec!["one".into()], vec!["one".into(), "two".into()])
    );
    version.store(9, Ordering::SeqCst);
    let failed = source.load().await.err().unwrap();
    let cause = std::error::Error::source(&failed).unwrap().to_string();
    assert_eq!(failed.to_string(), format!("cannot load the document `{}`", upstream.url));
    assert_eq!(cause, "the server answers 500 Internal Server Error");
    assert_eq!(source.report().unwrap().operations, 2);
}

#[tokio::test]
async fn a_moved_document_names_its_new_place_without_its_secrets() {
    let upstream = Upstream::start(|_| with(301, &[("location", "/new?token=x")], "")).await;
    let address = upstream.url.join("/old?token=x").unwrap();
    let failed =
        source(ApiSettings::new(DocumentLocation::Address(address))).load().await.err().unwrap();
    let cause = std::error::Error::source(&failed).unwrap().to_string();
    assert!(cause.starts_with("it has moved to `http://127.0.0.1:") && cause.contains("/new`"));
    assert!(!format!("{failed} {cause}").contains("token"), "{failed} {cause}");
}

#[tokio::test]
async fn a_document_is_read_from_a_file_with_those_beside_it() {
    let folder = std::env::temp_dir().join(format!("toolcrib-openapi-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("api.json");
    let mut document = document("https://api.example", &["one"]);
    document["paths"]["/one"]["get"]["parameters"] = json!([{"$ref": "beside.json#/limit"}]);
    std::fs::write(&path, document.to_string()).unwrap();
    let beside = |kind: &str| {
        let limit = json!({"name": "limit", "in": "query", "schema": {"type": kind}});
        std::fs::write(folder.join("beside.json"), json!({"limit": limit}).to_string()).unwrap();
    };
    beside("integer");
    let source = source(ApiSettings::new(DocumentLocation::File(path.clone())));
    let kind = |tools: &toolcrib_core::Toolset| {
        specs(tools)[0].input.value().pointer("/properties/limit/type").cloned()
    };
    assert_eq!(kind(&source.load().await.unwrap()), Some(json!("integer")));
    // The document is the same, but it is not all there is.
    beside("string");
    assert_eq!(kind(&source.load().await.unwrap()), Some(json!("string")));
    std::fs::remove_dir_all(&folder).unwrap();
    let failed = source.load().await.err().unwrap();
    assert_eq!(failed.to_string(), format!("cannot load the document `{}`", path.display()));
}

#[tokio::test]
async fn other_hosts_are_asked_for_documents_only_if_that_is_allowed() {
    let other = Upstream::start(|_| {
        answer(&json!({"limit": {"name": "limit", "in": "query", "schema": {"type": "integer"}}}))
    })
    .await;
    let mut document = document("https://api.example", &["one"]);
    let reference = format!("{}shared.json#/limit", other.url);
    document["paths"]["/one"]["get"]["parameters"] = json!([{"$ref": reference}]);
    let plain = ApiSettings::new(DocumentLocation::Text(document.to_string()));
    source(plain.clone()).load().await.unwrap();
    assert_eq!(other.heard().len(), 0);
    // Allowed, but the other host is private, and only the document names it.
    source(ApiSettings { remote_references: true, ..plain.clone() }).load().await.unwrap();
    assert_eq!(other.heard().len(), 0);
    let target = format!("127.0.0.1:{}", other.url.port().unwrap()).parse().unwrap();
    let network = toolcrib_egress::Network { private: vec![target] };
    let opened = ApiSettings { remote_references: true, network, ..plain };
    let tools = source(opened).load().await.unwrap();
    assert_eq!(other.lines(), ["GET /shared.json"]);
    assert!(specs(&tools)[0].input.value().pointer("/properties/limit").is_some());
}

#[tokio::test]
async fn a_server_that_only_the_document_names_must_be_public() {
    let public = document("https://api.example/v1", &["one"]).to_string();
    let public = source(ApiSettings::new(DocumentLocation::Text(public)));
    public.load().await.unwrap();
    let report = public.report().unwrap();
    assert_eq!(report.base_url, "https://api.example/v1");
    assert_eq!(report.base_url_by, BaseUrlSource::Document);
    for (server, says) in [
        ("http://127.0.0.1:1/", "may not be called"),
        ("http://169.254.169.254/latest", "may not be called"),
        ("http://localhost/", "may not be called"),
        ("https://user:pass@api.example/", "may not be called"),
        ("/v1", "does not say where the API is"),
    ] {
        let settings =
            ApiSettings::new(DocumentLocation::Text(document(server, &["one"]).to_string()));
        let failed = source(settings).load().await.err().unwrap().to_string();
        assert!(failed.contains(says) && failed.contains("set `base_url`"), "{server}: {failed}");
        assert!(!failed.contains("pass"), "{failed}");
    }
}

#[tokio::test]
async fn any_request_can_be_made_where_that_is_switched_on() {
    let upstream = Upstream::start(|heard| answer(&json!(heard.line()))).await;
    let mut document = document("/base", &["request"]);
    document["components"]["securitySchemes"] = json!({"k": {"type": "http", "scheme": "bearer"}});
    document["paths"]["/request"]["get"]["security"] = json!([{"k": []}]);
    let off = settings(&document.to_string(), &upstream.url.join("/base").unwrap());
    assert_eq!(names(&source(off.clone()).load().await.unwrap()), ["request"]);
    let key = toolcrib_openapi::Credential::Bearer(toolcrib_core::Secret::new("the-secret"));
    let credentials = [("k".to_owned(), key)].into_iter().collect();
    let shop = Shop::open(ApiSettings { generic_request: true, credentials, ..off }).await;
    let call = json!({"method": "POST", "path": "/x/1", "query": {"a": "b"}, "body": [1]});
    assert_eq!(shop.call("any_request", &call).await.text(), r#""POST /base/x/1?a=b""#);
    let heard = upstream.last();
    assert_eq!(
        (heard.body.as_str(), heard.header("authorization")),
        ("[1]", Some("Bearer the-secret"))
    );
    let catalog = shop.0.catalog();
    assert_eq!(catalog.get("any_request").unwrap().spec.effect, Effect::Destroy);
    let refused = shop.call("any_request", &json!({"method": "GET", "path": "/../x"})).await;
    assert!(
        refused.text().contains("cannot have `.` or `..` between slashes"),
        "{}",
        refused.text()
    );
    assert_eq!(upstream.heard().len(), 1);
}
