//! Bodies as arguments, and how they are sent.

use serde_json::{Value, json};

use super::{body, document, one, one_of};
use crate::operation::{
    ApiOperation, BodyField, BodyShape, FieldEncoding, ParameterLocation, ParameterStyle,
};

fn shape(operation: &ApiOperation) -> (String, Vec<String>) {
    let body = operation.body.as_ref().expect("a body");
    let arguments = match &body.shape {
        BodyShape::Fields(fields) => fields.iter().map(|field| field.argument.clone()).collect(),
        BodyShape::Whole { argument, schema } => vec![format!("{argument}: {schema}")],
    };
    (body.media.clone(), arguments)
}

fn of_media(media: &str, schema: &Value) -> (String, Vec<String>) {
    shape(&one(&json!({ "requestBody": { "content": { media: { "schema": schema } } } })).0)
}

#[test]
fn the_fields_of_a_plain_body_are_arguments() {
    let plain = json!({ "type": "object", "required": ["a", "c"], "allOf": [
        { "type": "object", "required": ["b"], "properties": { "b": {}, "id": { "readOnly": true } } },
        { "properties": { "a": { "type": "string" } } },
    ] });
    let (operation, spec) = one(&body(&plain));
    assert_eq!(
        shape(&operation),
        ("application/json".to_owned(), vec!["b".to_owned(), "a".to_owned(), "c".to_owned()])
    );
    // What is required and described nowhere may be anything.
    assert_eq!(spec.input.value()["required"], json!(["b", "a", "c"]));
    assert_eq!(spec.input.value()["properties"]["c"], json!({}));
    // A body that may be left out has no field that must be there.
    let mut optional = body(&plain);
    optional["requestBody"]["required"] = json!(false);
    assert_eq!(one(&optional).1.input.value().get("required"), None);
}

#[test]
fn fields_that_may_not_come_together_are_arguments_that_may_not() {
    let fields =
        json!({ "a-1": {}, "b 2": {}, "c": { "type": "string" }, "id": { "readOnly": true } });
    let pair = json!({ "required": ["a-1", "b 2"] });
    let any = json!({ "anyOf": [pair, { "required": ["c"], "not": { "required": ["a-1"] } }] });
    let parts = json!([{ "not": pair }, { "description": "One.", "not": { "required": ["c"] } }]);
    for (rules, expected) in [
        (json!({ "not": pair }), json!({ "required": ["a-1", "b_2"] })),
        (
            json!({ "not": any }),
            json!({ "anyOf": [
                { "required": ["a-1", "b_2"] },
                { "required": ["c"], "not": { "required": ["a-1"] } },
            ] }),
        ),
        (
            json!({ "allOf": parts }),
            json!({ "anyOf": [{ "required": ["a-1", "b_2"] }, { "required": ["c"] }] }),
        ),
        // The body is an object anyway.
        (
            json!({ "not": { "type": "object", "title": "Both", "required": ["c"] } }),
            json!({ "required": ["c"] }),
        ),
    ] {
        let mut schema = json!({ "type": "object", "properties": fields });
        schema.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
        for required in [true, false] {
            let mut operation = body(&schema);
            operation["requestBody"]["required"] = json!(required);
            let (operation, spec) = one(&operation);
            assert_eq!(shape(&operation).1, ["a-1", "b_2", "c"], "{rules}");
            assert_eq!(spec.input.value()["not"], expected, "{rules}");
        }
    }
}

#[test]
fn a_rule_of_more_than_which_fields_are_there_leaves_a_body_whole() {
    let whole = "body: {\"type\":\"object\"}";
    let fields = json!({ "a": {}, "b": {}, "id": { "readOnly": true } });
    let schema = |rule: Value| json!({ "type": "object", "properties": fields, "not": rule });
    let deep = (0..20).fold(json!({ "required": ["a"] }), |rule, _| json!({ "not": rule }));
    for rule in [
        json!({ "properties": { "a": { "const": 1 } } }),
        json!({ "required": ["a"], "minProperties": 2 }),
        json!({ "required": ["elsewhere"] }),
        json!({ "required": ["a", "id"] }),
        json!({ "$ref": "#/components/schemas/A" }),
        json!({ "type": "array" }),
        json!({ "anyOf": [] }),
        json!({ "anyOf": vec![json!({ "required": ["a"] }); 300] }),
        json!(true),
        deep,
    ] {
        assert_eq!(shape(&one(&body(&schema(rule.clone()))).0).1, [whole], "{rule}");
    }
    // It may be left out, and its fields may not all be.
    let mut either = body(&schema(json!({ "not": { "anyOf": [{ "required": ["a"] }] } })));
    assert_eq!(shape(&one(&either).0).1, ["a", "b"]);
    either["requestBody"]["required"] = json!(false);
    assert_eq!(shape(&one(&either).0).1, [whole]);
}

#[test]
fn other_bodies_are_one_argument() {
    let whole = "body: {\"type\":\"object\"}";
    let field = json!({ "a": { "type": "string" } });
    for other in [
        json!({ "type": "object", "properties": field, "anyOf": [{ "required": ["a"] }] }),
        json!({ "type": "object", "properties": field, "additionalProperties": { "type": "string" } }),
        json!({ "type": "object", "properties": field, "additionalProperties": true }),
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": { "a-b": {}, "日": {}, "日 ": {} , "a b": {}, "a_b": {} } }),
    ] {
        assert_eq!(shape(&one(&body(&other)).0).1, [whole], "{other}");
    }
    let mut clash = body(&json!({ "type": "object", "properties": { "id": {} } }));
    clash["parameters"] = json!([
        { "name": "id", "in": "query", "schema": {} },
        { "name": "body", "in": "query", "schema": {} },
    ]);
    assert_eq!(shape(&one(&clash).0).1, ["request_body: {\"type\":\"object\"}"]);
}

#[test]
fn the_media_type_is_chosen_by_what_can_be_sent_best() {
    let operation = |medias: &[&str]| {
        let content: serde_json::Map<String, Value> =
            medias.iter().map(|media| ((*media).to_owned(), json!({ "schema": {} }))).collect();
        one(&json!({ "requestBody": { "content": content } })).0.body.expect("a body").media
    };
    for (medias, expected) in [
        (vec!["application/xml", "text/plain", "application/json"], "application/json"),
        (
            vec!["application/json-patch+json", "application/merge-patch+json"],
            "application/merge-patch+json",
        ),
        (
            vec!["application/xml", "multipart/form-data", "application/x-www-form-urlencoded"],
            "application/x-www-form-urlencoded",
        ),
        (vec!["text/plain", "application/octet-stream"], "application/octet-stream"),
        (vec!["application/xml", "text/plain"], "text/plain"),
        (vec!["*/*"], "application/json"),
        (vec!["image/*"], "image/*"),
    ] {
        assert_eq!(operation(&medias), expected, "{medias:?}");
    }
}

#[test]
fn bytes_text_and_xml_are_texts() {
    let bytes = "body: {\"type\":\"string\",\"contentEncoding\":\"base64\"}";
    let text = "body: {\"type\":\"string\"}";
    let binary = json!({ "type": "string", "format": "binary" });
    assert_eq!(of_media("application/octet-stream", &binary).1, [bytes]);
    assert_eq!(of_media("image/png", &json!({})).1, [bytes]);
    assert_eq!(of_media("text/plain", &json!({ "type": "string" })).1, [text]);
    for schema in [json!({}), json!({ "type": "string" })] {
        assert_eq!(of_media("application/xml", &schema).1, [text]);
    }
    let shaped = json!({ "type": "object", "properties": { "a": {} } });
    assert_eq!(of_media("application/xml", &shaped).1, ["a"]);
}

#[test]
fn a_form_with_files_is_multipart_and_says_how_fields_are_written() {
    let schema = json!({ "type": "object", "required": ["file"], "properties": {
        "file": { "type": "string", "format": "binary", "description": "What." },
        "more": { "type": "array", "items": { "type": "string", "format": "binary" } },
        "tags": { "type": "array", "items": { "type": "string" } },
    } });
    let content = json!({
        "application/x-www-form-urlencoded": { "schema": schema },
        "multipart/form-data": { "schema": schema, "encoding": {
            "file": { "contentType": "image/png, image/jpeg" },
            "tags": { "style": "spaceDelimited", "explode": false },
        } },
    });
    let (operation, spec) =
        one(&json!({ "requestBody": { "required": true, "content": content } }));
    let field = |name: &str, bytes: bool, encoding: FieldEncoding| BodyField {
        argument: name.to_owned(),
        name: name.to_owned(),
        encoding,
        bytes,
    };
    let media = Some("image/png, image/jpeg".to_owned());
    let style = Some(ParameterStyle::SpaceDelimited);
    let body = operation.body.unwrap();
    assert_eq!(body.media, "multipart/form-data");
    assert_eq!(
        body.shape,
        BodyShape::Fields(vec![
            field("file", true, FieldEncoding { media, ..FieldEncoding::default() }),
            field("more", true, FieldEncoding::default()),
            field(
                "tags",
                false,
                FieldEncoding { style, explode: Some(false), ..FieldEncoding::default() }
            ),
        ])
    );
    let text = json!({ "type": "string" });
    let one = json!([
        { "type": "string", "contentEncoding": "base64" },
        {
            "type": "object",
            "properties": { "data": text, "name": text, "mime": text },
            "required": ["data"],
        },
    ]);
    let said = "Bytes in base64, or as `data` with a file name.";
    let file = json!({ "anyOf": one, "description": format!("What. {said}") });
    let more = json!({ "type": "array", "items": { "anyOf": one }, "description": said });
    assert_eq!(spec.input.value()["properties"]["file"], file);
    assert_eq!(spec.input.value()["properties"]["more"], more);
}

#[test]
fn files_that_are_referred_to_are_files() {
    let schemas = json!({
        "File": { "type": "string", "format": "binary", "maxLength": 10 },
        "Files": { "type": "array", "items": { "$ref": "#/components/schemas/File" } },
    });
    let schema = json!({ "type": "object", "properties": {
        "file": { "$ref": "#/components/schemas/File" },
        "files": { "$ref": "#/components/schemas/Files" },
    } });
    let form =
        json!({ "requestBody": { "content": { "multipart/form-data": { "schema": schema } } } });
    let (operation, spec) =
        one_of(&document("3.1.0", &json!({ "/a": { "post": form } }), &schemas));
    let BodyShape::Fields(fields) = operation.body.unwrap().shape else { panic!("no fields") };
    assert!(fields.iter().all(|field| field.bytes));
    let input = spec.input.value();
    let properties = &input["properties"];
    assert_eq!(properties["file"]["anyOf"], properties["files"]["items"]["anyOf"]);
    assert_eq!(spec.input.value().get("$defs"), None);
}

#[test]
fn a_get_sends_no_body_that_may_be_left_out_and_nobody_sends_nothing() {
    let optional = json!({ "requestBody": { "content": { "application/json": { "schema": { "type": "string" } } } } });
    let get = document("3.0.3", &json!({ "/a": { "get": optional } }), &json!({}));
    assert_eq!(one_of(&get).0.body, None);
    let empty = json!({ "type": "object", "properties": {} });
    let form = json!({ "requestBody": { "content": { "application/x-www-form-urlencoded": { "schema": empty } } } });
    assert_eq!(one(&form).0.body, None);
}

#[test]
fn swagger_2_is_read_with_its_own_words() {
    let document = json!({
        "swagger": "2.0",
        "info": { "title": "T", "version": "1" },
        "host": "api.example.com",
        "basePath": "/v2",
        "schemes": ["http", "https"],
        "consumes": ["application/json"],
        "produces": ["application/json"],
        "securityDefinitions": { "basic": { "type": "basic" } },
        "definitions": { "Pet": { "type": "object", "properties": { "name": { "type": "string" } } } },
        "paths": {
            "/pets": { "post": {
                "parameters": [
                    { "name": "pet", "in": "body", "required": true, "schema": { "$ref": "#/definitions/Pet" } },
                    { "name": "ids", "in": "query", "type": "array", "items": { "type": "integer" }, "collectionFormat": "multi" },
                    { "name": "tags", "in": "query", "type": "array", "items": { "type": "string" }, "collectionFormat": "tsv" },
                    { "name": "plain", "in": "query", "type": "array", "items": { "type": "string" } },
                ],
                "responses": { "200": { "description": "", "schema": { "$ref": "#/definitions/Pet" } } },
            } },
            "/photo": { "post": { "parameters": [
                { "name": "photo", "in": "formData", "type": "file", "required": true },
                { "name": "words", "in": "formData", "type": "array", "items": { "type": "string" }, "collectionFormat": "pipes" },
            ] } },
        },
    });
    let api = super::api(&document);
    let (pets, spec) = &api.operations[0];
    assert_eq!(shape(pets), ("application/json".to_owned(), vec!["name".to_owned()]));
    assert_eq!(pets.server.as_deref(), Some("https://api.example.com/v2"));
    assert_eq!(pets.produces, ["application/json"]);
    assert!(pets.parameters.iter().all(|it| it.place == ParameterLocation::Query));
    let styles: Vec<_> = pets.parameters.iter().map(|it| (it.style, it.explode)).collect();
    assert_eq!(
        styles,
        [
            (ParameterStyle::Form, true),
            (ParameterStyle::TabDelimited, false),
            (ParameterStyle::Form, false)
        ]
    );
    let ids = json!({ "type": "array", "items": { "type": "integer" } });
    assert_eq!(spec.input.value()["properties"]["ids"], ids);
    let output = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    assert_eq!(spec.output, Some(output.into()));

    let photo = api.operations[1].0.body.as_ref().unwrap();
    assert_eq!((photo.media.as_str(), photo.required), ("multipart/form-data", true));
    let BodyShape::Fields(fields) = &photo.shape else { panic!("{photo:?}") };
    let seen: Vec<_> = fields.iter().map(|it| (it.bytes, it.encoding.style)).collect();
    assert_eq!(seen, [(true, None), (false, Some(ParameterStyle::PipeDelimited))]);
}
