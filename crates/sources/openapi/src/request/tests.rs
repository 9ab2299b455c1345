//! Whole drafts, of operations made by hand.

use http::Method;
use serde_json::{Value, json};

use super::*;
use crate::operation::{
    BodyField, BodyShape, FieldEncoding, OperationBody, OperationParameter, ParameterLocation,
    ParameterStyle, PathPiece, PathSegment,
};

fn parameter(name: &str, place: ParameterLocation, style: ParameterStyle) -> OperationParameter {
    OperationParameter {
        argument: name.to_owned(),
        name: name.to_owned(),
        place,
        style,
        explode: matches!(style, ParameterStyle::Form | ParameterStyle::DeepObject),
        allow_reserved: false,
        media: None,
        required: false,
        given: None,
    }
}

/// `GET /files/{name}.{format}/raw`.
fn operation(parameters: Vec<OperationParameter>) -> ApiOperation {
    let text = |text: &str| PathPiece::Text(text.to_owned());
    let filled = |name: &str| PathPiece::Parameter(name.to_owned());
    ApiOperation {
        key: "read_file".to_owned(),
        effect: None,
        takes_key: false,
        method: Method::GET,
        path: vec![
            PathSegment(vec![text("files")]),
            PathSegment(vec![filled("name"), text("."), filled("format")]),
            PathSegment(vec![text("raw")]),
        ],
        query: Vec::new(),
        parameters: [
            parameter("name", ParameterLocation::Path, ParameterStyle::Simple),
            parameter("format", ParameterLocation::Path, ParameterStyle::Simple),
        ]
        .into_iter()
        .chain(parameters)
        .collect(),
        body: None,
        server: None,
        security: Vec::new(),
        produces: Vec::new(),
    }
}

fn draft(operation: &ApiOperation, arguments: &Value) -> Result<RequestDraft, String> {
    let Value::Object(fields) = arguments else { panic!("arguments are an object") };
    RequestDraft::new(operation, fields).map_err(|error| error.message)
}

fn url(operation: &ApiOperation, arguments: &Value) -> Result<String, String> {
    let server = Url::parse("https://api.example/v1/").unwrap();
    let draft = draft(operation, arguments)?;
    draft.url(&server).map(String::from).map_err(|error| error.message)
}

#[test]
fn values_fill_their_own_segment_and_no_other() {
    let path = |name: &str, format: &str| {
        url(&operation(vec![]), &json!({"name": name, "format": format}))
    };
    for (name, encoded) in [
        ("a", "a"),
        ("a/b", "a%2Fb"),
        ("a../x", "a..%2Fx"),
        ("a%2f", "a%252f"),
        ("//evil", "%2F%2Fevil"),
        ("\\\\evil", "%5C%5Cevil"),
        ("a?b=c#d", "a%3Fb%3Dc%23d"),
        ("a;b\r\nX: y\0", "a%3Bb%0D%0AX%3A%20y%00"),
        ("ü", "%C3%BC"),
    ] {
        let expected = format!("https://api.example/v1/files/{encoded}.md/raw");
        assert_eq!(path(name, "md"), Ok(expected));
    }
    for name in ["", ".", "..", "%2e%2e", ".%2E", "%252e", "../x", "..%2f", "a/../../b", "..;"] {
        let refused = path(name, "md").unwrap_err();
        assert!(refused.starts_with("`name` is "), "{name}: {refused}");
    }
    let missing = url(&operation(vec![]), &json!({"name": "a"})).unwrap_err();
    assert!(missing.starts_with("`format` is part of the address"), "{missing}");
}

#[test]
fn pieces_that_make_dots_together_are_refused() {
    let mut operation = operation(vec![]);
    operation.path = vec![PathSegment(vec![
        PathPiece::Text(".".to_owned()),
        PathPiece::Parameter("name".to_owned()),
    ])];
    assert!(url(&operation, &json!({"name": "."})).is_err());
    assert_eq!(url(&operation, &json!({"name": "a"})), Ok("https://api.example/v1/.a".into()));
    operation.path = vec![PathSegment(vec![PathPiece::Text("..".to_owned())])];
    assert!(url(&operation, &json!({})).is_err());
    operation.path = vec![PathSegment(vec![]), PathSegment(vec![])];
    assert_eq!(url(&operation, &json!({})), Ok("https://api.example/v1//".into()));
}

#[test]
fn a_query_is_written_in_the_order_of_the_document() {
    let reserved = OperationParameter {
        allow_reserved: true,
        ..parameter("redirect", ParameterLocation::Query, ParameterStyle::Form)
    };
    let filter = OperationParameter {
        media: Some("application/json".to_owned()),
        ..parameter("filter", ParameterLocation::Query, ParameterStyle::Form)
    };
    let ids = OperationParameter {
        explode: false,
        ..parameter("ids[]", ParameterLocation::Query, ParameterStyle::Form)
    };
    let operation = operation(vec![reserved, filter, ids]);
    let arguments = json!({
        "name": "a", "format": "md", "ids[]": [1, 2], "filter": {"a": [1, "b c"]},
        "redirect": "https://x.example/?a=b&c=d#e+f%20", "unknown": "x",
    });
    assert_eq!(
        url(&operation, &arguments).unwrap(),
        "https://api.example/v1/files/a.md/raw?redirect=https://x.example/?a=b%26c=d%23e%2Bf%20\
         &filter=%7B%22a%22%3A%5B1%2C%22b%20c%22%5D%7D&ids%5B%5D=1,2"
    );
}

#[test]
fn a_spilled_object_cannot_take_the_place_of_another_parameter() {
    let operation = operation(vec![
        parameter("page", ParameterLocation::Query, ParameterStyle::Form),
        parameter("filter", ParameterLocation::Query, ParameterStyle::Form),
    ]);
    let with = |filter: Value| url(&operation, &json!({"name":"a","format":"md","filter":filter}));
    assert_eq!(
        with(json!({"color": "red", "a=b&": 1})).unwrap(),
        "https://api.example/v1/files/a.md/raw?color=red&a%3Db%26=1"
    );
    assert!(with(json!({"page": 2})).unwrap_err().contains("`page`"));
    assert!(with(json!({"page[]": 2})).unwrap_err().contains("`page[]`"));
}

#[test]
fn a_fixed_query_is_sent_whatever_the_arguments_are() {
    let fixed = |name: &str, value: Option<&str>| crate::operation::FixedPair {
        name: name.to_owned(),
        value: value.map(str::to_owned),
    };
    let mut operation = operation(vec![
        parameter("filter", ParameterLocation::Query, ParameterStyle::DeepObject),
        parameter("spill", ParameterLocation::Query, ParameterStyle::Form),
        parameter("whole", ParameterLocation::QueryString, ParameterStyle::Form),
    ]);
    operation.query = vec![
        fixed("beta", Some("true")),
        fixed("filter[kind]", Some("a+b%20c d")),
        fixed("alone", None),
    ];
    let with = |name: &str, value: Value| {
        let mut arguments = json!({"name": "a", "format": "b"});
        arguments[name] = value;
        url(&operation, &arguments)
    };
    let start = "https://api.example/v1/files/a.b/raw?beta=true&filter[kind]=a+b%20c%20d&alone";
    assert_eq!(with("beta", json!("false")), Ok(start.to_owned()));
    assert_eq!(with("filter", json!({"x": 1})), Ok(format!("{start}&filter%5Bx%5D=1")));
    for (name, value) in [
        ("filter", json!({"kind": "evil"})),
        ("filter", json!({"kind": {"x": "evil"}})),
        ("spill", json!({"beta": "false"})),
        ("spill", json!({"beta[]": "false"})),
        ("whole", json!({"filter": "x"})),
        ("whole", json!({"alone": 1})),
        ("whole", json!({"be ta": 1, "beta": 1})),
    ] {
        let refused = with(name, value.clone()).unwrap_err();
        assert!(refused.contains("which this operation sets itself"), "{value}: {refused}");
    }
}

#[test]
fn a_whole_query_is_one_value() {
    let whole = |media: &str, value: Value| {
        let mut operation = operation(vec![OperationParameter {
            media: Some(media.to_owned()),
            ..parameter("q", ParameterLocation::QueryString, ParameterStyle::Form)
        }]);
        operation.path.truncate(1);
        url(&operation, &json!({"q": value})).unwrap()
    };
    let form = "application/x-www-form-urlencoded";
    assert_eq!(
        whole(form, json!({"a b": "c d", "l": [1, 2]})),
        "https://api.example/v1/files?a+b=c+d&l=1&l=2"
    );
    assert_eq!(
        whole("application/json", json!({"a": 1})),
        "https://api.example/v1/files?%7B%22a%22%3A1%7D"
    );
    assert_eq!(
        whole("text/plain", json!("$.a[?(@.b)]")),
        "https://api.example/v1/files?%24.a%5B%3F%28%40.b%29%5D"
    );
}

#[test]
fn headers_that_are_ours_cannot_be_set() {
    let names = [
        "Host",
        "authorization",
        "Content-Length",
        "Transfer-Encoding",
        "Cookie",
        "Connection",
        "Content-Type",
        "Accept",
        "X-Forwarded-Host",
        "Proxy-Authorization",
        "X-HTTP-Method-Override",
        "bad name",
        "X-Trace",
        "X-List",
    ];
    let all = names.map(|name| parameter(name, ParameterLocation::Header, ParameterStyle::Simple));
    let operation = operation(all.into());
    let mut arguments = json!({"name": "a", "format": "md"});
    for name in names {
        arguments[name] = json!("evil");
    }
    arguments["X-List"] = json!(["a b", "ü"]);
    let draft = draft(&operation, &arguments).unwrap();
    let mut sent: Vec<_> = draft
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    sent.sort();
    let expected = ["accept: application/json, */*;q=0.8", "x-list: a b,ü", "x-trace: evil"];
    assert_eq!(sent, expected);
    arguments["X-Trace"] = json!("a\r\nHost: b");
    let refused = self::draft(&operation, &arguments).unwrap_err();
    assert!(refused.starts_with("`X-Trace` is sent as a header"), "{refused}");
}

#[test]
fn cookies_cannot_hold_another_cookie() {
    let operation = operation(vec![
        parameter("debug", ParameterLocation::Cookie, ParameterStyle::Form),
        OperationParameter {
            explode: true,
            ..parameter("raw", ParameterLocation::Cookie, ParameterStyle::Cookie)
        },
    ]);
    let with = |debug: Value, raw: Value| {
        let arguments = json!({"name": "a", "format": "b", "debug": debug, "raw": raw});
        draft(&operation, &arguments).map(|draft| {
            let pairs = draft.cookies.into_iter();
            pairs.map(|pair| format!("{}={}", pair.name, pair.value.unwrap())).collect::<Vec<_>>()
        })
    };
    assert_eq!(with(json!("a; b"), json!("c d%")).unwrap(), ["debug=a%3B%20b", "raw=c d%"]);
    assert!(with(json!(1), json!("a; session=1")).unwrap_err().starts_with("`raw` is sent as"));
    assert!(with(json!(1), json!({"debug": 2})).unwrap_err().contains("`debug`"));
    for name in ["debug=2", " debug", "sid=x,"] {
        let refused = with(json!(1), json!({name: "y"})).unwrap_err();
        assert!(refused.starts_with("`raw` is sent as a cookie"), "{name}: {refused}");
    }
}

fn with_body(media: &str, shape: BodyShape) -> ApiOperation {
    let body = OperationBody { media: media.to_owned(), required: false, shape, xml: None };
    ApiOperation { body: Some(body), path: Vec::new(), ..operation(Vec::new()) }
}

fn field(name: &str, encoding: FieldEncoding) -> BodyField {
    BodyField { argument: format!("body_{name}"), name: name.to_owned(), encoding, bytes: false }
}

fn sent(operation: &ApiOperation, arguments: &Value) -> Option<(String, String)> {
    let payload = draft(operation, arguments).unwrap().body?;
    let media = payload.media.to_str().unwrap().to_owned();
    Some((media, String::from_utf8_lossy(&payload.bytes).into_owned()))
}

#[test]
fn json_bodies_are_gathered_from_their_fields() {
    let fields = ["a", "b"].map(|name| field(name, FieldEncoding::default()));
    let mut operation = with_body("application/json", BodyShape::Fields(fields.into()));
    let arguments = json!({"body_b": null, "body_a": {"x": [1]}, "other": 1});
    let json = |text: &str| Some(("application/json".to_owned(), text.to_owned()));
    assert_eq!(sent(&operation, &arguments), json(r#"{"a":{"x":[1]},"b":null}"#));
    assert_eq!(sent(&operation, &json!({})), None);
    operation.body.as_mut().unwrap().required = true;
    assert_eq!(sent(&operation, &json!({})), json("{}"));
}

#[test]
fn forms_are_written_as_stripe_reads_them() {
    let deep = FieldEncoding {
        style: Some(ParameterStyle::DeepObject),
        explode: Some(true),
        ..FieldEncoding::default()
    };
    let flat = FieldEncoding { explode: Some(false), ..FieldEncoding::default() };
    let fields = vec![
        field("amount", FieldEncoding::default()),
        field("metadata", deep.clone()),
        field("items", deep),
        field("tags", FieldEncoding::default()),
        field("flat", flat),
        field("object", FieldEncoding::default()),
    ];
    let operation = with_body("application/x-www-form-urlencoded", BodyShape::Fields(fields));
    let arguments = json!({
        "body_amount": 5, "body_metadata": {"a b": "c+d"}, "body_items": [{"price": "p", "n": 2}],
        "body_tags": ["x", "ü"], "body_flat": ["x", "y"], "body_object": {"k": 1},
    });
    let (media, text) = sent(&operation, &arguments).unwrap();
    assert_eq!(media, "application/x-www-form-urlencoded");
    assert_eq!(
        text,
        "amount=5&metadata%5Ba+b%5D=c%2Bd&items%5B0%5D%5Bprice%5D=p&items%5B0%5D%5Bn%5D=2&\
         tags=x&tags=%C3%BC&flat=x,y&object=%7B%22k%22%3A1%7D"
    );
}

#[test]
fn a_multipart_body_carries_files_and_fields() {
    let png = FieldEncoding {
        media: Some("image/png, image/jpeg".to_owned()),
        ..FieldEncoding::default()
    };
    let file = |name: &str, encoding| BodyField { bytes: true, ..field(name, encoding) };
    let fields = vec![
        field("title", FieldEncoding::default()),
        field("meta", FieldEncoding::default()),
        file("photo", png),
        file("raw", FieldEncoding::default()),
    ];
    let operation = with_body("multipart/form-data", BodyShape::Fields(fields));
    let arguments = json!({
        "body_title": "a\r\nb", "body_meta": {"k": [1]},
        "body_photo": {"data": "/9j/", "name": "x\"\r\ny\\.jpg", "mime": "image/jpeg"},
        "body_raw": ["aGk", "data:text/plain;base64,eW8="],
    });
    let (media, text) = sent(&operation, &arguments).unwrap();
    let boundary = media.strip_prefix("multipart/form-data; boundary=").unwrap();
    let head = |name: &str, rest: &str| {
        format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"{rest}\r\n\r\n")
    };
    let expected = [
        head("title", ""),
        "a\r\nb\r\n".into(),
        head("meta", "\r\nContent-Type: application/json"),
        "{\"k\":[1]}\r\n".into(),
        head("photo", "; filename=\"x%22%0D%0Ay%5C.jpg\"\r\nContent-Type: image/jpeg"),
        "\u{fffd}\u{fffd}\u{fffd}\r\n".into(),
        head("raw", "; filename=\"raw\"\r\nContent-Type: application/octet-stream"),
        "hi\r\n".into(),
        head("raw", "; filename=\"raw\"\r\nContent-Type: text/plain"),
        "yo\r\n".into(),
        "--B--\r\n".into(),
    ];
    assert_eq!(text.replace(boundary, "B"), expected.concat());
    let wrong = draft(&operation, &json!({"body_raw": "no base64!"})).unwrap_err();
    assert!(wrong.starts_with("`body_raw` holds bytes"), "{wrong}");
}

#[test]
fn whole_bodies_are_sent_in_their_own_kind() {
    let whole = |media: &str, value: Value| {
        let shape = BodyShape::Whole { argument: "body".to_owned(), schema: json!({}) };
        sent(&with_body(media, shape), &json!({"body": value}))
            .map(|(media, text)| format!("{media} {text}"))
    };
    let says = |text: &str| Some(text.to_owned());
    assert_eq!(whole("application/json", json!([1, "ü"])), says(r#"application/json [1,"ü"]"#));
    assert_eq!(
        whole("application/vnd.a+json; v=1", json!("x")),
        says(r#"application/vnd.a+json; v=1 "x""#)
    );
    assert_eq!(whole("text/plain", json!("a\nb")), says("text/plain a\nb"));
    assert_eq!(whole("application/xml", json!("<a/>")), says("application/xml <a/>"));
    assert_eq!(
        whole("application/octet-stream", json!("aGkA")),
        says("application/octet-stream hi\0")
    );
    assert_eq!(whole("image/*", json!("data:image/png;base64,aGk=")), says("image/png hi"));
    for other in ["text/html", "image/*", "image/png\r\nX: y", "image", "*/*"] {
        let sent = whole("image/*", json!({"data": "aGk=", "mime": other}));
        assert_eq!(sent, says("application/octet-stream hi"), "{other}");
    }
    assert_eq!(whole("*/*", json!("aGk=")), says("application/octet-stream hi"));
    assert_eq!(
        whole("application/x-www-form-urlencoded", json!({"a": "b c"})),
        says("application/x-www-form-urlencoded a=b+c")
    );
    assert_eq!(whole("application/octet-stream", json!(null)), None);
}

#[test]
fn an_address_that_no_server_takes_is_refused() {
    let long = json!({"name": "x".repeat(100_000), "format": "md"});
    let refused = url(&operation(vec![]), &long).unwrap_err();
    assert!(refused.contains("shorten the arguments"), "{refused}");
}
