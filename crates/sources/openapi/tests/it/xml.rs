//! Bodies as XML.
#![expect(clippy::indexing_slicing, reason = "a test stops at what is not there")]

use serde_json::{Value, json};

use crate::upstream::{Shop, Upstream, settings, with};

/// The body that a schema and arguments make, in `OpenAPI` and in Swagger 2.
async fn sent(schema: &Value, arguments: &Value) -> Result<String, String> {
    let body = json!({ "required": true, "content": { "application/xml": { "schema": schema } } });
    let openapi = json!({
        "openapi": "3.0.3",
        "paths": { "/a": { "post": { "operationId": "put", "requestBody": body } } },
        "components": { "schemas": schemas("/components/schemas/") },
    });
    let swagger = schema.to_string().replace("/components/schemas/", "/definitions/");
    let swagger: Value = serde_json::from_str(&swagger).unwrap();
    let parameter = json!({ "name": "body", "in": "body", "required": true, "schema": swagger });
    let swagger = json!({
        "swagger": "2.0", "consumes": ["application/xml"], "definitions": schemas("/definitions/"),
        "paths": { "/a": { "post": { "operationId": "put", "parameters": [parameter] } } },
    });
    let mut all = Vec::new();
    for document in [openapi, swagger] {
        let upstream =
            Upstream::start(|_| with(200, &[("content-type", "text/xml")], "<ok/>")).await;
        let shop = Shop::open(settings(&document.to_string(), &upstream.url)).await;
        let response = shop.call("put", arguments).await;
        all.push(if response.outcome.is_done() {
            // An answer of XML stays text.
            assert_eq!(response.text(), "<ok/>");
            let heard = upstream.last();
            assert_eq!(heard.header("content-type"), Some("application/xml"));
            Ok(heard.body)
        } else {
            Err(response.text())
        });
    }
    assert_eq!(all[0], all[1]);
    all.remove(0)
}

fn schemas(folder: &str) -> Value {
    json!({
        "Pet": {
            "type": "object", "xml": { "name": "pet" },
            "properties": {
                "id": { "type": "integer", "xml": { "attribute": true } },
                "name": { "type": "string" },
                "friends": { "type": "array", "items": { "$ref": format!("#{folder}Pet") } },
            },
        },
    })
}

/// What stands behind the first line.
async fn body(schema: &Value, arguments: &Value) -> String {
    let sent = sent(schema, arguments).await.unwrap();
    let (first, rest) = sent.split_once('\n').unwrap();
    assert_eq!(first, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    rest.to_owned()
}

#[tokio::test]
async fn arguments_become_elements_and_attributes_under_their_names() {
    let zone = json!({
        "type": "object", "required": ["name"], "xml": { "name": "Zone", "namespace": "urn:zones" },
        "properties": {
            "name": { "type": "string" },
            "ttl": { "type": "integer", "xml": { "attribute": true } },
            "lang": { "type": "string", "xml": { "attribute": true, "prefix": "x", "namespace": "urn:x", "name": "language" } },
            "note": { "type": "object", "xml": { "prefix": "n", "namespace": "urn:n" }, "properties": { "by": { "xml": { "prefix": "n", "namespace": "urn:n" } } } },
        },
    });
    let given = json!({ "ttl": 5, "note": { "by": true }, "name": "a & b < c > \"d\" 'e'\r\n", "lang": "a\"&<\n" });
    assert_eq!(
        body(&zone, &given).await,
        "<Zone xmlns=\"urn:zones\" ttl=\"5\" xmlns:x=\"urn:x\" x:language=\"a&quot;&amp;&lt;&#10;\">\
         <name>a &amp; b &lt; c &gt; \"d\" 'e'&#13;\n</name>\
         <n:note xmlns:n=\"urn:n\"><n:by>true</n:by></n:note></Zone>"
    );
    assert_eq!(
        body(&zone, &json!({ "name": "" })).await,
        "<Zone xmlns=\"urn:zones\"><name></name></Zone>"
    );
}

#[tokio::test]
async fn lists_are_written_as_the_examples_of_the_format_are() {
    let given = json!({ "animals": ["one", "two"] });
    for (xml, items, expected) in [
        (json!({}), json!({}), "<animals>one</animals><animals>two</animals>"),
        (
            json!({ "name": "aliens" }),
            json!({ "name": "animal" }),
            "<animal>one</animal><animal>two</animal>",
        ),
        (
            json!({ "wrapped": true }),
            json!({}),
            "<animals><animals>one</animals><animals>two</animals></animals>",
        ),
        (
            json!({ "wrapped": true }),
            json!({ "name": "animal" }),
            "<animals><animal>one</animal><animal>two</animal></animals>",
        ),
        (
            json!({ "wrapped": true, "name": "aliens" }),
            json!({ "name": "animal" }),
            "<aliens><animal>one</animal><animal>two</animal></aliens>",
        ),
        (
            json!({ "wrapped": true, "name": "aliens" }),
            json!({}),
            "<aliens><aliens>one</aliens><aliens>two</aliens></aliens>",
        ),
    ] {
        let items = json!({ "type": "string", "xml": items });
        let animals = json!({ "type": "array", "items": items, "xml": xml });
        let schema = json!({ "type": "object", "xml": { "name": "zoo" }, "properties": { "animals": animals } });
        assert_eq!(body(&schema, &given).await, format!("<zoo>{expected}</zoo>"), "{schema}");
        assert_eq!(
            body(&schema, &json!({ "animals": [] })).await.len() > "<zoo></zoo>".len(),
            xml["wrapped"] == true
        );
    }
    let root = json!({ "type": "array", "items": { "$ref": "#/components/schemas/Pet" }, "xml": { "name": "pets" } });
    assert_eq!(
        body(&root, &json!({ "body": [{ "id": 1 }, { "name": "b" }] })).await,
        "<pets><pet id=\"1\"></pet><pet><name>b</name></pet></pets>"
    );
}

#[tokio::test]
async fn what_leads_back_to_itself_is_written_as_deep_as_it_is_given() {
    let pet = json!({ "$ref": "#/components/schemas/Pet" });
    let given = json!({ "id": 1, "friends": [{ "id": 2, "friends": [{ "name": "c" }] }] });
    assert_eq!(
        body(&pet, &given).await,
        "<pet id=\"1\"><pet id=\"2\"><pet><name>c</name></pet></pet></pet>"
    );
}

#[tokio::test]
async fn a_body_without_a_shape_is_xml_as_the_caller_writes_it() {
    for schema in [json!({ "type": "string" }), json!({})] {
        let text = "<a b='c'>d</a>";
        assert_eq!(sent(&schema, &json!({ "body": text })).await.unwrap(), text);
    }
    // Its words would end the element that they are to name.
    let wrong = json!({ "type": "object", "xml": { "name": "a><b" }, "properties": { "x": {} } });
    assert_eq!(sent(&wrong, &json!({ "body": "<a/>" })).await.unwrap(), "<a/>");
}

#[tokio::test]
async fn nothing_that_is_given_ends_an_element() {
    let open = json!({
        "type": "object", "xml": { "name": "a" },
        "properties": { "x": { "type": "string" }, "m": { "type": "object" } },
    });
    let given =
        json!({ "x": "</x></a><b/><![CDATA[", "m": { "k": "]]>", "l": [1, { "z": null }] } });
    assert_eq!(
        body(&open, &given).await,
        "<a><x>&lt;/x&gt;&lt;/a&gt;&lt;b/&gt;&lt;![CDATA[</x>\
         <m><k>]]&gt;</k><l>1</l><l></l></m></a>"
    );
    for name in ["a b", "", "1a", "a>", "a:b", "xmlns=\"u\""] {
        let refused = sent(&open, &json!({ "m": { name: 1 } })).await.unwrap_err();
        assert!(refused.contains("cannot be the name of an element"), "{refused}");
    }
    let refused = sent(&open, &json!({ "x": "a\u{0}b" })).await.unwrap_err();
    assert!(refused.contains("`x` holds a control character"), "{refused}");
}
