//! What documents say without a meaning, or against themselves: it costs itself.

use serde_json::{Value, json};

use super::{api, body, document, one, sanitised};

#[test]
fn null_is_nothing_said() {
    let nothing = json!({
        "openapi": "3.0.3", "info": null, "servers": null, "tags": null, "security": null,
        "components": null,
        "paths": {
            "/none": null,
            "/a": {
                "parameters": null, "get": null,
                "post": {
                    "operationId": null, "tags": null, "parameters": [null], "security": null,
                    "responses": { "200": null },
                    "requestBody": { "required": true, "content": { "application/json": {
                        "encoding": null,
                        "schema": {
                            "type": "object", "required": null, "additionalProperties": null,
                            "oneOf": null, "not": null, "enum": null, "discriminator": null,
                            "properties": {
                                "a": null,
                                "b": { "type": ["string", null], "items": null, "enum": null, "allOf": [null] },
                                "c": { "type": null, "properties": null, "required": null, "format": null },
                            },
                        },
                    } } },
                },
            },
        },
    });
    let api = api(&nothing);
    assert_eq!((api.operations.len(), &api.report.refused), (1, &vec![]), "{:?}", api.report);
    let input = api.operations[0].1.input.value();
    let b = json!({ "type": ["string", "null"] });
    assert_eq!(input["properties"], json!({ "a": {}, "b": b, "c": {} }));
    assert_eq!(api.report.notes, []);
    let empty = json!({ "openapi": "3.0.3", "paths": null });
    assert_eq!(super::api(&empty).operations.len(), 0);
}

#[test]
fn null_stays_where_it_is_a_value() {
    let kept = json!({ "type": ["string", "null"], "enum": ["a", null], "default": null });
    assert_eq!(sanitised("3.1.0", &kept), kept);
    let only = json!({ "const": null });
    assert_eq!(sanitised("3.1.0", &only), only);
}

#[test]
fn required_of_a_property_is_left_out_and_told() {
    let schema = json!({ "type": "object", "required": ["b"], "properties": {
        "a": { "type": "string", "required": true },
        "b": { "type": "object", "required": true, "properties": { "c": { "required": false } } },
        "required": { "type": "boolean" },
    } });
    let paths = json!({ "/a": { "post": body(&schema) } });
    let api = api(&document("3.0.3", &paths, &json!({})));
    let input = api.operations[0].1.input.value();
    assert_eq!(input["required"], json!(["b"]));
    assert_eq!(input["properties"]["a"], json!({ "type": "string" }));
    let told: Vec<&str> = api.report.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("left out at 2 (the first is `a`)"), "{told:?}");
}

#[test]
fn a_keyword_that_cannot_be_used_costs_itself_and_is_told() {
    let strange: [(&str, Value); 12] = [
        ("pattern", json!("(?<!a)b\\1")),
        ("minLength", json!(-1)),
        ("maxLength", json!("3")),
        ("multipleOf", json!(0)),
        ("items", json!("string")),
        ("properties", json!([1])),
        ("allOf", json!({})),
        ("format", json!(7)),
        ("type", json!("thing")),
        ("enum", json!("a")),
        ("additionalProperties", json!("no")),
        ("propertyNames", json!(3)),
    ];
    for (keyword, held) in strange {
        let schema = json!({ "description": "Kept.", keyword: held });
        let parameter = json!({ "name": "v", "in": "query", "schema": schema });
        let paths = json!({ "/a": { "get": { "operationId": "a", "parameters": [parameter] } } });
        let api = api(&document("3.1.0", &paths, &json!({})));
        let input = api.operations[0].1.input.value();
        assert_eq!(input["properties"]["v"], json!({ "description": "Kept." }), "{keyword}");
        assert_eq!(api.report.notes.len(), 1, "{keyword}: {:?}", api.report.notes);
    }
}

#[test]
fn values_decide_against_the_type_beside_them() {
    let table = [
        (
            json!({ "type": "string", "enum": [1, 2.5, true] }),
            json!({ "type": ["string", "integer", "number", "boolean"], "enum": [1, 2.5, true, "1", "2.5", "true"] }),
        ),
        (
            json!({ "type": "integer", "enum": ["1", "two", 3] }),
            json!({ "type": ["integer", "string"], "enum": ["1", "two", 3, 1] }),
        ),
        (
            json!({ "type": "boolean", "enum": ["true"] }),
            json!({ "type": ["boolean", "string"], "enum": ["true", true] }),
        ),
        (
            json!({ "type": "string", "const": 7 }),
            json!({ "type": ["string", "integer"], "enum": [7, "7"] }),
        ),
        (
            json!({ "type": "array", "items": { "type": "string" }, "enum": ["a", 1] }),
            json!({ "type": "array", "items": { "type": ["string", "integer"], "enum": ["a", 1, "1"] } }),
        ),
        (
            json!({ "type": "integer", "default": "10" }),
            json!({ "type": "integer", "default": 10 }),
        ),
        (json!({ "type": "string", "default": 10 }), json!({ "type": "string", "default": "10" })),
        (
            json!({ "type": "boolean", "default": "false" }),
            json!({ "type": "boolean", "default": false }),
        ),
        (
            json!({ "type": "integer", "default": "auto" }),
            json!({ "type": ["integer", "string"], "default": "auto" }),
        ),
        (json!({ "type": "array", "default": "" }), json!({ "type": "array" })),
        (
            json!({ "type": "number", "enum": [1, 2], "default": 1 }),
            json!({ "type": "number", "enum": [1, 2], "default": 1 }),
        ),
    ];
    for (written, expected) in table {
        assert_eq!(sanitised("3.0.3", &written), expected, "{written}");
    }
}

#[test]
fn a_word_behind_a_hash_is_a_parameter_that_need_not_be_given() {
    let target = json!({ "name": "X-Target", "in": "header", "required": true, "schema": { "enum": ["Store.Put"] } });
    let other = json!({ "name": "X-Mode", "in": "header", "required": true, "schema": { "enum": ["fast"] } });
    let paths = json!({
        "/#X-Target=Store.Put": { "post": { "parameters": [target, other] } },
        "/#X-Target=Store.Get": { "post": { "parameters": [other] } },
    });
    let api = api(&document("3.0.3", &paths, &json!({})));
    let names: Vec<&str> = api.operations.iter().map(|(_, spec)| spec.name.as_str()).collect();
    assert_eq!(names, ["post_X_Target_Store_Put", "post_X_Target_Store_Get"]);
    let input = api.operations[0].1.input.value();
    assert_eq!(input["required"], json!(["X-Mode"]));
    assert_eq!(
        input["properties"]["X-Target"],
        json!({ "enum": ["Store.Put"], "default": "Store.Put" })
    );
}

#[test]
fn ports_without_quotes_fill_in_an_address() {
    let mut operation = json!({});
    operation["servers"] = json!([{
        "url": "https://a.example:{port}/{v}",
        "variables": { "port": { "default": 8443 }, "v": { "enum": [2] } },
    }]);
    assert_eq!(one(&operation).0.server.as_deref(), Some("https://a.example:8443/2"));
}
