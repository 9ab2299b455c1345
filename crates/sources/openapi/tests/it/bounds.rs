//! What is read of an API and of those beside it is as much as is set.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write;
use std::path::PathBuf;

use axum::body::Body;
use axum::response::Response;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use toolcrib_core::{Secret, Source};
use toolcrib_openapi::{ApiBounds, ApiSettings, Credential, DocumentLocation};

use crate::upstream::{Shop, Upstream, json as answer, settings, source};

fn document() -> Value {
    let flow = json!({"clientCredentials": {"tokenUrl": "/token", "scopes": {}}});
    let operation = |security: Value| json!({"responses": {}, "security": security});
    json!({
        "openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "servers": [{"url": "/"}],
        "components": {"securitySchemes": {"oauth": {"type": "oauth2", "flows": flow}}},
        "paths": {
            "/plain": {"get": operation(json!([]))},
            "/signed": {"get": operation(json!([{"oauth": []}]))},
        },
    })
}

fn client() -> Credential {
    Credential::ClientCredentials {
        token_url: None,
        client_id: "toolcrib".to_owned(),
        client_secret: Secret::new("the secret of the client"),
        scopes: vec![],
    }
}

/// Settings of an API whose token server is beside it.
fn signed(document: DocumentLocation, upstream: &Upstream, bounds: ApiBounds) -> ApiSettings {
    let credentials = [("oauth".to_owned(), client())].into_iter().collect();
    let settings = settings("", &upstream.url);
    ApiSettings { document, credentials, bounds, ..settings }
}

/// One less, the number itself, and one more.
fn around(number: usize) -> [usize; 3] {
    [number - 1, number, number + 1]
}

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("toolcrib-bounds-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, value: &Value) -> (PathBuf, usize) {
        let (path, text) = (self.0.join(name), value.to_string());
        std::fs::write(&path, &text).unwrap();
        (path, text.len())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a document is taken, and what is noted about those beside it.
async fn taken(document: DocumentLocation, bytes: usize) -> Result<Vec<String>, String> {
    let bounds = ApiBounds { document: bytes, ..ApiBounds::default() };
    let base_url = Some("https://api.example/".parse().unwrap());
    let source = source(ApiSettings { bounds, base_url, ..ApiSettings::new(document) });
    match source.load().await {
        Ok(_) => Ok(source.report().unwrap().notes.into_iter().map(|note| note.text).collect()),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            Err(cause.unwrap_or_else(|| error.to_string()))
        }
    }
}

#[tokio::test]
async fn a_document_is_as_large_as_is_set_with_those_beside_it() {
    let folder = Folder::new();
    let mut document = document();
    let (path, size) = folder.write("alone.json", &document);
    let text = document.to_string();
    let upstream = Upstream::start(move |_| answer(&self::document())).await;
    for bytes in around(size) {
        let file = taken(DocumentLocation::File(path.clone()), bytes).await;
        let from_text = taken(DocumentLocation::Text(text.clone()), bytes).await;
        let from_address = taken(DocumentLocation::Address(upstream.url.clone()), bytes).await;
        let of_all = [file, from_text, from_address].map(|taken| taken.is_ok());
        assert_eq!(of_all, [bytes >= size; 3], "{bytes}");
    }
    let told = taken(DocumentLocation::File(path), size - 1).await.unwrap_err();
    let cure = "split it, or raise `document` under `limits` of this source";
    assert_eq!(told, format!("it is larger than {} bytes: {cure}", size - 1));
    document["paths"]["/plain"]["get"]["parameters"] = json!([{"$ref": "beside.json#/limit"}]);
    let (path, size) = folder.write("api.json", &document);
    let limit = json!({"name": "limit", "in": "query", "schema": {"type": "integer"}});
    let (_, beside) = folder.write("beside.json", &json!({ "limit": limit }));
    for bytes in around(size + beside) {
        let notes = taken(DocumentLocation::File(path.clone()), bytes).await.unwrap();
        let is_left_out = notes.iter().any(|note| note.starts_with("not loaded: "));
        assert_eq!(is_left_out, bytes < size + beside, "{bytes}: {notes:?}");
    }
}

#[tokio::test]
async fn the_answer_of_a_token_server_is_as_large_as_is_set() {
    let given = json!({"access_token": "the-token", "expires_in": 600});
    let size = given.to_string().len();
    let upstream = Upstream::start(move |heard| match heard.target.as_str() {
        "/token" => answer(&given),
        _ => answer(&json!("called")),
    })
    .await;
    for bytes in around(size) {
        let bounds = ApiBounds { token: u64::try_from(bytes).unwrap(), ..ApiBounds::default() };
        let document = DocumentLocation::Text(document().to_string());
        let shop = Shop::open(signed(document, &upstream, bounds)).await;
        let told = shop.call("get_signed", &json!({})).await.text();
        if bytes >= size {
            assert_eq!(told, "\"called\"");
        } else {
            let why = format!("the answer is larger than {bytes} bytes");
            assert!(told.contains("nothing was sent") && told.contains(&why), "{told}");
        }
    }
}

/// Two megabytes of JSON, most of them spaces, packed into twenty thousand bytes.
fn packed(value: &Value) -> Response {
    let mut text = value.to_string();
    text.extend(std::iter::repeat_n(' ', 2_000_000 - text.len()));
    let pack = |comment: usize| {
        let builder = GzBuilder::new().comment(vec![b'c'; comment]);
        let mut encoder = builder.write(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let packed = pack(20_000 - pack(0).len());
    assert_eq!(packed.len(), 20_000);
    let response = Response::builder().header("content-encoding", "gzip");
    response.header("content-type", "application/json").body(Body::from(packed)).unwrap()
}

#[tokio::test]
async fn what_comes_packed_unpacks_as_far_as_is_set() {
    for is_packed in ["/document", "/token", "/plain"] {
        let upstream = Upstream::start(move |heard| {
            let said = match heard.target.as_str() {
                "/document" => document(),
                "/token" => json!({"access_token": "the-token"}),
                _ => json!("called"),
            };
            if heard.target == is_packed { packed(&said) } else { answer(&said) }
        })
        .await;
        for unpack in [99, 100, 101] {
            let bounds = ApiBounds { unpack, token: 4 << 20, ..ApiBounds::default() };
            let address = DocumentLocation::Address(upstream.url.join("/document").unwrap());
            let source = source(signed(address, &upstream, bounds));
            let why = "the answer unpacks to more than 99 times its size";
            let tools = match source.load().await {
                Ok(tools) => tools,
                Err(error) => {
                    let cause = std::error::Error::source(&error).unwrap().to_string();
                    assert!((is_packed, unpack) == ("/document", 99) && cause.contains(why));
                    continue;
                }
            };
            let shop = Shop::of(tools);
            let plain = shop.call("get_plain", &json!({})).await.text();
            let signed = shop.call("get_signed", &json!({})).await.text();
            let (is_plain_refused, is_signed_refused) = match (is_packed, unpack) {
                ("/plain", 99) => (true, false),
                ("/token", 99) => (false, true),
                ("/document", 99) => panic!("the document was taken"),
                _ => (false, false),
            };
            for (told, is_refused) in [(plain, is_plain_refused), (signed, is_signed_refused)] {
                assert!(
                    if is_refused { told.contains(why) } else { told == "\"called\"" },
                    "{told}"
                );
            }
        }
    }
}
