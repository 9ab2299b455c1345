//! Answers that cannot be read: of a call that may have changed something nobody knows the end.

use std::convert::Infallible;
use std::io::Write as _;

use axum::body::{Body, Bytes};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use serde_json::json;
use toolcrib_core::ErrorKind;
use toolcrib_openapi::{ApiBounds, ApiSettings};

use crate::upstream::{Heard, Shop, Upstream, settings, with};

const DOCUMENT: &str = r#"{
    "openapi": "3.1.0",
    "paths": { "/{how}": {
        "parameters": [{ "name": "how", "in": "path", "required": true, "schema": {} }],
        "get": { "operationId": "read" },
        "post": { "operationId": "write" },
        "put": { "operationId": "replace" },
        "delete": { "operationId": "remove" }
    } }
}"#;

fn zipped(length: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; length]).unwrap();
    encoder.finish().unwrap()
}

fn packed(packing: &str, body: Vec<u8>) -> Response {
    let response = Response::builder().header("content-type", "application/json");
    response.header("content-encoding", packing).body(Body::from(body)).unwrap()
}

fn answer(heard: &Heard) -> Response {
    let json = &[("content-type", "application/json")];
    match heard.target.as_str() {
        "/large" => with(200, json, &format!("\"{}\"", "x".repeat(70_000))),
        "/endless" => {
            let chunk = || Ok::<_, Infallible>(Bytes::from_static(&[b' '; 4_096]));
            Response::new(Body::from_stream(stream::repeat_with(chunk)))
        }
        "/bomb" => packed("gzip", zipped(40_000_000)),
        "/torn" => packed("gzip", zipped(9_000).split_off(20)),
        "/cut" => {
            let mut whole = zipped(9_000);
            whole.truncate(20);
            packed("gzip", whole)
        }
        "/odd" => packed("compress", b"{}".to_vec()),
        "/short" => {
            let parts = [Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("over"))];
            Response::new(Body::from_stream(stream::iter(parts)))
        }
        "/html" => with(201, json, "<html>Made.</html>"),
        "/deep" => with(200, json, &"[".repeat(10_000)),
        _ => with(200, json, "{}"),
    }
}

async fn shop() -> (Upstream, Shop) {
    let upstream = Upstream::start(answer).await;
    let settings = ApiSettings {
        max_response_bytes: 64 * 1024,
        bounds: ApiBounds { unpack: 1_000, ..ApiBounds::default() },
        ..settings(DOCUMENT, &upstream.url)
    };
    (upstream, Shop::open(settings).await)
}

#[tokio::test]
async fn a_change_whose_answer_cannot_be_read_has_an_unknown_end_and_a_read_has_failed() {
    let (upstream, shop) = shop().await;
    for how in ["large", "endless", "bomb", "torn", "cut", "odd", "short"] {
        for tool in ["write", "replace", "remove"] {
            let before = upstream.heard().len();
            let response = shop.call(tool, &json!({ "how": how })).await;
            let text = response.text();
            let status = response.error().unwrap().content.as_ref().and_then(|content| {
                content.structured.as_ref()?.get("status")?.as_str().map(str::to_owned)
            });
            assert!(text.contains("It may or may not have taken effect"), "{how} {tool}: {text}");
            assert!(!text.contains("Ask for less"), "{how} {tool}: {text}");
            // What may be repeated without harm is told so, and nothing else is.
            let is_unknown = response.error().unwrap().kind == ErrorKind::UnknownOutcome;
            assert_eq!(is_unknown, status.is_some(), "{how} {tool}: {status:?}");
            assert!(is_unknown || tool != "write", "{how} {tool}: {text}");
            let sent = upstream.heard().len() - before;
            assert!(sent == 1 || tool != "write", "{how} {tool} was sent {sent} times");
        }
        let read = shop.call("read", &json!({ "how": how })).await;
        assert_ne!(read.error().unwrap().kind, ErrorKind::UnknownOutcome, "{how}");
        assert!(!read.text().contains("taken effect"), "{how}: {}", read.text());
    }
}

#[tokio::test]
async fn what_is_no_json_is_shown_as_it_came_and_its_status_says_how_the_call_ended() {
    let (_upstream, shop) = shop().await;
    for how in ["html", "deep"] {
        for tool in ["write", "read"] {
            let response = shop.call(tool, &json!({ "how": how })).await;
            assert!(response.outcome.is_done(), "{how} {tool}: {}", response.text());
        }
    }
}
