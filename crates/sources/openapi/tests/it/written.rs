//! What is sent of documents that are written in other ways than most.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolcrib_core::Source as _;
use toolcrib_openapi::{ApiSettings, DocumentLocation};

use crate::upstream::{Heard, Shop, Upstream, json as answer, settings, source, specs};

async fn sent(document: &str, tool: &str, arguments: &Value) -> Heard {
    let upstream = Upstream::start(|_| answer(&json!({}))).await;
    let shop = Shop::open(settings(document, &upstream.url)).await;
    let response = shop.call(tool, arguments).await;
    assert!(response.outcome.is_done(), "{tool} {arguments}: {}", response.text());
    upstream.last()
}

#[tokio::test]
async fn lists_in_forms_of_swagger_are_separated_by_commas_unless_it_is_said_otherwise() {
    for (format, form, part) in [
        ("", "tags=a%2Cx,b", "a,x,b"),
        ("collectionFormat: csv, ", "tags=a%2Cx,b", "a,x,b"),
        ("collectionFormat: ssv, ", "tags=a%2Cx%20b", "a,x b"),
        ("collectionFormat: pipes, ", "tags=a%2Cx%7Cb", "a,x|b"),
        ("collectionFormat: tsv, ", "tags=a%2Cx%09b", "a,x\tb"),
        ("collectionFormat: multi, ", "tags=a%2Cx&tags=b", ""),
    ] {
        for media in ["application/x-www-form-urlencoded", "multipart/form-data"] {
            let document = format!(
                "swagger: '2.0'\nconsumes: [{media}]\npaths:\n  /a:\n    post:\n      operationId: put\n\
                 \x20     parameters:\n      - {{name: tags, in: formData, {format}type: array, items: {{type: string}}}}\n"
            );
            let heard = sent(&document, "put", &json!({ "tags": ["a,x", "b"] })).await;
            if media.starts_with("multipart") {
                let parts = heard.body.matches("name=\"tags\"").count();
                let expected = format!("\r\n\r\n{part}\r\n");
                assert_eq!(parts, if part.is_empty() { 2 } else { 1 }, "{format}: {}", heard.body);
                assert!(part.is_empty() || heard.body.contains(&expected), "{}", heard.body);
            } else {
                assert_eq!(heard.body, form, "{format}");
            }
        }
    }
}

#[tokio::test]
async fn a_fragment_of_a_path_is_not_sent_and_the_parameter_that_it_names_is() {
    let document = "
openapi: 3.0.3
paths:
  /#X-Target=Store.Put:
    post:
      operationId: put
      parameters: [{name: X-Target, in: header, required: true, schema: {type: string, enum: [Store.Put]}}]
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {key: {}}}}}}
  /{bucket}#acl:
    get:
      operationId: acl
      parameters:
      - {name: bucket, in: path, required: true, schema: {type: string}}
      - {name: acl, in: query, required: true, schema: {type: boolean, enum: [true]}}
";
    for arguments in [json!({ "key": "a" }), json!({ "key": "a", "X-Target": "Store.Put" })] {
        let heard = sent(document, "put", &arguments).await;
        assert_eq!(
            (heard.line().as_str(), heard.header("x-target"), heard.body.as_str()),
            ("POST /", Some("Store.Put"), "{\"key\":\"a\"}")
        );
    }
    assert_eq!(sent(document, "acl", &json!({ "bucket": "b" })).await.line(), "GET /b?acl=true");
}

#[tokio::test]
async fn words_and_values_of_another_type_are_sent_as_they_are_listed() {
    let document = "
openapi: 3.0.3
paths:
  /lamp:
    get:
      operationId: lamp
      parameters:
      - {name: state, in: query, required: true, schema: {type: string, enum: [on, off]}}
      - {name: stars, in: query, schema: {type: string, enum: [1, 2]}}
      - {name: api, in: query, schema: {type: string, enum: [1.0, 2.10]}}
      - {name: rights, in: query, schema: {type: string, enum: [0755]}}
    post:
      operationId: mend
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [y, method], properties: {y: {type: string, enum: [1, 2]}}}}}
";
    for stars in [json!(2), json!("2")] {
        let arguments = json!({ "state": "on", "stars": stars, "api": "2.10", "rights": "0755" });
        let heard = sent(document, "lamp", &arguments).await;
        assert_eq!(heard.line(), "GET /lamp?state=on&stars=2&api=2.10&rights=0755");
        let heard = sent(document, "mend", &json!({ "y": stars, "method": ["any"] })).await;
        assert_eq!(heard.body, json!({ "y": stars, "method": ["any"] }).to_string());
    }
}

#[tokio::test]
async fn a_document_lies_in_as_many_files_as_it_likes() {
    let folder = std::env::temp_dir().join(format!("toolcrib-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut main = "openapi: 3.0.3\npaths:\n".to_owned();
    for at in 0..700 {
        writeln!(main, "  /p{at}: {{$ref: 'p{at}.yaml'}}").unwrap();
        let item =
            format!("get: {{operationId: get{at}, responses: {{'200': {{description: ok}}}}}}");
        std::fs::write(folder.join(format!("p{at}.yaml")), item).unwrap();
    }
    let path = folder.join("api.yaml");
    std::fs::write(&path, main).unwrap();
    let base_url = Some("http://127.0.0.1:9".parse().unwrap());
    let source = source(ApiSettings { base_url, ..ApiSettings::new(DocumentLocation::File(path)) });
    let tools = source.load().await.unwrap();
    let report = source.report().unwrap();
    assert_eq!((tools.len(), report.refused, report.notes), (700, vec![], vec![]));
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn fields_of_subtypes_are_sent_wherever_their_base_stands() {
    let document = "
openapi: 3.0.3
paths:
  /shape: {post: {operationId: make, requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Shape'}}}}}}
  /all:
    post:
      operationId: makeAll
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {all: {type: array, items: {$ref: '#/components/schemas/Shape'}}}}}}}
components:
  schemas:
    Shape: {type: object, required: [kind], properties: {kind: {type: string}}, discriminator: {propertyName: kind}}
    Circle: {allOf: [{$ref: '#/components/schemas/Shape'}, {type: object, properties: {radius: {type: number}}}]}
";
    let circle = json!({ "kind": "Circle", "radius": 2 });
    assert_eq!(sent(document, "make", &circle).await.body, circle.to_string());
    let all = json!({ "all": [circle, { "kind": "Shape" }] });
    assert_eq!(sent(document, "makeAll", &all).await.body, all.to_string());
}

#[tokio::test]
async fn subtypes_may_lie_in_files_of_their_own() {
    let folder = std::env::temp_dir().join(format!("toolcrib-subtypes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let main = "
openapi: 3.0.3
paths:
  /shape: {post: {operationId: make, requestBody: {required: true, content: {application/json: {schema: {$ref: 'shape.yaml'}}}}}}
components: {schemas: {Shape: {$ref: shape.yaml}, Circle: {$ref: circle.yaml}}}
";
    let shape =
        "{type: object, properties: {kind: {type: string}}, discriminator: {propertyName: kind}}";
    let circle =
        "allOf: [{$ref: 'api.yaml#/components/schemas/Shape'}, {properties: {radius: {}}}]";
    for (name, text) in [("api.yaml", main), ("shape.yaml", shape), ("circle.yaml", circle)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let base_url = Some("http://127.0.0.1:9".parse().unwrap());
    let document = DocumentLocation::File(folder.join("api.yaml"));
    let tools =
        source(ApiSettings { base_url, ..ApiSettings::new(document) }).load().await.unwrap();
    let input = specs(&tools)[0].input.value();
    assert_eq!(
        input["properties"],
        json!({
            "kind": {
                "type": "string", "description": "Tells which other fields there are: `Circle`.",
            },
            "radius": { "description": "Where `kind` is `Circle`." },
        })
    );
    std::fs::remove_dir_all(folder).unwrap();
}
