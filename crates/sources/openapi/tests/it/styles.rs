//! Parameters and bodies of every kind, from a document to the wire.

use serde_json::{Map, Value, json};

use crate::upstream::{Heard, Shop, Upstream, json as answer, settings};

/// `POST /{name}` for each name, with these members of an operation.
fn document(version: (&str, &str), operations: &[(&str, Value)]) -> String {
    let paths = operations.iter().map(|(path, members)| {
        let mut operation = json!({"responses": {}, "operationId": path.split('/').nth(1)});
        if let (Some(operation), Some(members)) = (operation.as_object_mut(), members.as_object()) {
            operation.extend(members.clone());
        }
        ((*path).to_owned(), json!({"post": operation}))
    });
    let paths: Map<String, Value> = paths.collect();
    json!({version.0: version.1, "info": {"title": "T", "version": "1"}, "paths": paths})
        .to_string()
}

async fn sent(document: &str, tool: &str, arguments: &Value) -> Heard {
    let upstream = Upstream::start(|_| answer(&json!({}))).await;
    let shop = Shop::open(settings(document, &upstream.url)).await;
    let response = shop.call(tool, arguments).await;
    assert!(response.outcome.is_done(), "{response:?}");
    upstream.last()
}

#[tokio::test]
async fn every_style_of_every_place_is_sent() {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let object = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let parameter = |name: &str, place: &str, style: &str, explode: bool, schema: &Value| {
        json!({"name": name, "in": place, "style": style, "explode": explode, "schema": schema,
            "required": place == "path"})
    };
    let parameters = json!([
        parameter("simple", "path", "simple", false, &list),
        parameter("label", "path", "label", true, &list),
        parameter("matrix", "path", "matrix", true, &object),
        parameter("form", "query", "form", true, &list),
        parameter("flat", "query", "form", false, &list),
        parameter("spaces", "query", "spaceDelimited", false, &list),
        parameter("pipes", "query", "pipeDelimited", false, &list),
        parameter("deep", "query", "deepObject", true, &object),
        {"name": "json", "in": "query", "content": {"application/json": {"schema": object}}},
        {"name": "raw", "in": "query", "allowReserved": true, "schema": {"type": "string"}},
        parameter("X-List", "header", "simple", false, &list),
        parameter("X-Object", "header", "simple", true, &object),
        parameter("form_cookie", "cookie", "form", false, &list),
        parameter("raw_cookie", "cookie", "cookie", true, &json!({"type": "string"})),
    ]);
    let path = "/all/{simple}/x{label}/{matrix}";
    let document = document(("openapi", "3.2.0"), &[(path, json!({"parameters": parameters}))]);
    let (list, object) = (json!(["a", "b c"]), json!({"R": 100, "G": 200}));
    let arguments = json!({
        "simple": list, "label": list, "matrix": object, "form": list, "flat": list,
        "spaces": list, "pipes": list, "deep": object, "json": object, "raw": "https://x/?a&b",
        "X-List": list, "X-Object": object, "form_cookie": list, "raw_cookie": "p q%",
    });
    let heard = sent(&document, "all", &arguments).await;
    assert_eq!(
        heard.line(),
        "POST /all/a,b%20c/x.a.b%20c/;R=100;G=200\
         ?form=a&form=b%20c&flat=a,b%20c&spaces=a%20b%20c&pipes=a%7Cb%20c\
         &deep%5BR%5D=100&deep%5BG%5D=200&json=%7B%22R%22%3A100%2C%22G%22%3A200%7D\
         &raw=https://x/?a%26b"
    );
    assert_eq!(heard.header("x-list"), Some("a,b c"));
    assert_eq!(heard.header("x-object"), Some("R=100,G=200"));
    assert_eq!(heard.header("cookie"), Some("form_cookie=a,b%20c; raw_cookie=p q%"));
}

#[tokio::test]
async fn a_whole_query_of_openapi_3_2_is_one_value() {
    let whole = |media: &str| {
        let content = json!({media: {"schema": {"type": "object"}}});
        json!({"parameters": [{"name": "q", "in": "querystring", "content": content}]})
    };
    let operations = [
        ("/form", whole("application/x-www-form-urlencoded")),
        ("/json", whole("application/json")),
    ];
    let document = document(("openapi", "3.2.0"), &operations);
    let arguments = json!({"q": {"a b": "c&d", "n": 1}});
    assert_eq!(sent(&document, "form", &arguments).await.target, "/form?a+b=c%26d&n=1");
    let json = "/json?%7B%22a%20b%22%3A%22c%26d%22%2C%22n%22%3A1%7D";
    assert_eq!(sent(&document, "json", &arguments).await.target, json);
}

#[tokio::test]
async fn the_collection_formats_of_swagger_are_sent() {
    let parameter = |name: &str| {
        json!({"name": name, "in": "query", "type": "array", "items": {"type": "string"},
            "collectionFormat": name})
    };
    let names = ["csv", "ssv", "tsv", "pipes", "multi"];
    let list = json!({"parameters": names.map(parameter)});
    let form = json!({"consumes": ["application/x-www-form-urlencoded"], "parameters": [
        {"name": "a", "in": "formData", "type": "string"},
        {"name": "b", "in": "formData", "type": "array", "items": {"type": "string"},
            "collectionFormat": "multi"},
    ]});
    let file = json!({"consumes": ["multipart/form-data"], "parameters": [
        {"name": "file", "in": "formData", "type": "file"},
        {"name": "note", "in": "formData", "type": "string"},
    ]});
    let operations = [("/list", list), ("/form", form), ("/file", file)];
    let document = document(("swagger", "2.0"), &operations);
    let arguments: Map<String, Value> =
        names.map(|name| (name.to_owned(), json!(["a", "b,c"]))).into_iter().collect();
    assert_eq!(
        sent(&document, "list", &Value::Object(arguments)).await.target,
        "/list?csv=a,b%2Cc&ssv=a%20b%2Cc&tsv=a%09b%2Cc&pipes=a%7Cb%2Cc&multi=a&multi=b%2Cc"
    );
    let form = sent(&document, "form", &json!({"a": "x+y z", "b": ["1", "2"]})).await;
    assert_eq!(form.body, "a=x%2By+z&b=1&b=2");
    let file = sent(&document, "file", &json!({"file": "aGk=", "note": "n"})).await;
    assert!(file.body.contains("name=\"file\"; filename=\"file\"\r\n"), "{}", file.body);
    assert!(file.body.contains("\r\n\r\nhi\r\n"), "{}", file.body);
}

#[tokio::test]
async fn bodies_of_every_kind_are_sent() {
    let body = |media: &str, schema: Value| json!({"requestBody": {"required": true, "content": {media: {"schema": schema}}}});
    let bytes = json!({"type": "string", "contentMediaType": "application/octet-stream"});
    let parts = json!({"type": "object", "properties": {
        "title": {"type": "string"}, "meta": {"type": "object"}, "photo": bytes,
    }});
    let operations = [
        ("/json", body("application/json", json!({"type": "array", "items": {"type": "integer"}}))),
        ("/text", body("text/plain", json!({"type": "string"}))),
        ("/xml", body("application/xml", json!({"type": "string"}))),
        ("/bytes", body("image/png", json!({}))),
        ("/parts", body("multipart/form-data", parts)),
    ];
    let document = document(("openapi", "3.1.0"), &operations);
    let single = [
        ("json", json!([1, 2]), "application/json", "[1,2]"),
        ("text", json!("a\nü"), "text/plain", "a\nü"),
        ("xml", json!("<a/>"), "application/xml", "<a/>"),
        ("bytes", json!("aGk="), "image/png", "hi"),
    ];
    for (tool, value, media, expected) in single {
        let heard = sent(&document, tool, &json!({"body": value})).await;
        assert_eq!((heard.header("content-type"), heard.body.as_str()), (Some(media), expected));
        let length = expected.len().to_string();
        assert_eq!(heard.header("content-length"), Some(length.as_str()));
    }
    let arguments = json!({"title": "T", "meta": {"a": 1}, "photo": "aGk="});
    let parts = sent(&document, "parts", &arguments).await;
    let media = parts.header("content-type").unwrap();
    let boundary = media.strip_prefix("multipart/form-data; boundary=").unwrap();
    let part =
        |rest: &str| format!("--{boundary}\r\nContent-Disposition: form-data; name={rest}\r\n");
    let expected = [
        part("\"title\"\r\n\r\nT"),
        part("\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}"),
        part("\"photo\"; filename=\"photo\"\r\nContent-Type: application/octet-stream\r\n\r\nhi"),
        format!("--{boundary}--\r\n"),
    ];
    assert_eq!(parts.body, expected.concat());
}
