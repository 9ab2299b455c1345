//! C11: whatever the arguments are, what is sent is what the document says.
#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use toolcrib_core::Effect;

use crate::upstream::{Heard, Shop, Upstream, document, json as answer, load, specs};

const HOSTILE: [&str; 21] = [
    "..",
    ".",
    "",
    "../x",
    "%2e%2e",
    "..%2f",
    "//evil",
    "\\\\evil",
    "a?b=c",
    "a#f",
    "a;b",
    "a\r\nX: y",
    "a\0b",
    "a&admin=true",
    "a=b",
    "https://evil.example/",
    "@evil.example",
    "\u{202e}a",
    "%00",
    "a b+c",
    "ü",
];

/// Every argument of a tool with the same hostile value, as the type it may have.
fn arguments(schema: &Value, hostile: &Value) -> Value {
    let names = schema["properties"].as_object().map(|it| it.keys().cloned().collect::<Vec<_>>());
    let filled = names.unwrap_or_default().into_iter().map(|name| (name, hostile.clone()));
    Value::Object(filled.chain([("undeclared".to_owned(), hostile.clone())]).collect::<Map<_, _>>())
}

/// The path template of a tool's operation, by its key in the document.
fn template<'d>(paths: &'d Map<String, Value>, key: &str) -> Option<(&'d str, String)> {
    paths.iter().find_map(|(path, item)| {
        item.as_object()?.iter().find_map(|(method, operation)| {
            let id = operation.get("operationId").and_then(Value::as_str)?;
            (id == key).then(|| (path.as_str(), method.to_uppercase()))
        })
    })
}

fn holds(heard: &Heard, host: &str, (template, method): (&str, &str), queries: &BTreeSet<&str>) {
    assert_eq!((heard.method.as_str(), heard.header("host")), (method, Some(host)));
    let (path, query) = heard.target.split_once('?').unwrap_or((&heard.target, ""));
    let (sent, fixed): (Vec<_>, Vec<_>) =
        (path.split('/').collect(), template.split('/').collect());
    assert_eq!(sent.len(), fixed.len(), "{} for {template}", heard.target);
    for (sent, fixed) in sent.iter().zip(fixed) {
        let decoded = percent_encoding::percent_decode_str(sent).decode_utf8_lossy();
        assert!(
            !matches!(&*decoded, "." | "..") && !sent.contains(['\\', '#', ';', '@']),
            "{path}"
        );
        if !fixed.contains('{') {
            assert_eq!(*sent, fixed);
        }
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let key = pair.split('=').next().unwrap();
        let key = percent_encoding::percent_decode_str(key).decode_utf8_lossy();
        let base = key.split('[').next().unwrap();
        // The members of the object among the values, which is written with its own names.
        let is_member = ["..", "x"].contains(&&*key);
        assert!(
            is_member || queries.contains(&*key) || queries.contains(base),
            "`{key}` in {query}"
        );
    }
    for name in ["authorization", "cookie", "x", "transfer-encoding", "x-forwarded-host"] {
        assert_eq!(heard.header(name), None, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_change_nothing_but_values() {
    let Some(text) = document("tmdb.json.gz") else { return };
    let parsed: Value = serde_json::from_str(&text).unwrap();
    let paths = parsed["paths"].as_object().unwrap();
    let upstream = Upstream::start(|_| answer(&json!({}))).await;
    let host = format!("127.0.0.1:{}", upstream.url.port().unwrap());
    let base = upstream.url.join("/base").unwrap();
    let mut settings = crate::upstream::settings(&text, &base);
    settings.credentials.clear();
    let mut tools = specs(&load(settings.clone()).await);
    tools.truncate(60);
    // Without its security, which has no credential here, and without schemas in the way.
    let unsecured = text.replace("\"security\"", "\"x-security\"");
    settings.document = toolcrib_openapi::DocumentLocation::Text(unsecured);
    let open = load(settings).await.respec(|spec| {
        spec.validation = toolcrib_core::Validation::Off;
        spec.effect = Effect::Read;
    });
    let shop =
        Shop(toolcrib_engine::Crib::builder().policy(toolcrib_core::AllowAll).build_fixed(open));
    let mut values: Vec<Value> = HOSTILE.iter().map(|text| json!(text)).collect();
    values.extend([
        json!(null),
        json!(["a&b=c", ".."]),
        json!({"..": "a&b", "x": [1]}),
        json!(1e300),
    ]);
    values.push(json!("x".repeat(100_000)));
    let mut sent = 0;
    for spec in &tools {
        let key = spec.origin.name.as_deref().unwrap();
        let Some((path, method)) = template(paths, key) else { continue };
        let properties = spec.input.value()["properties"].as_object().cloned().unwrap_or_default();
        let queries: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        let template = format!("/base{path}");
        for value in &values {
            let before = upstream.heard().len();
            shop.call(spec.name.as_str(), &arguments(&spec.input.value(), value)).await;
            for heard in upstream.heard().iter().skip(before) {
                sent += 1;
                holds(heard, &host, (&template, &method), &queries);
            }
        }
    }
    assert!(tools.len() > 30 && sent > 300, "{} tools, {sent} requests", tools.len());
}
