//! What schemas become.

use serde_json::{Value, json};

use super::{api, body, document, one_of, sanitised};

#[test]
fn schemas_of_openapi_3_0_are_json_schema_afterwards() {
    let cases = [
        (json!({ "type": "string", "nullable": true }), json!({ "type": ["string", "null"] })),
        (
            json!({ "type": "string", "nullable": true, "enum": ["a"] }),
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
        ),
        (
            json!({ "allOf": [{ "type": "string" }], "nullable": true, "description": "d" }),
            json!({ "description": "d", "anyOf": [{ "allOf": [{ "type": "string" }] }, { "type": "null" }] }),
        ),
        (
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 3, "exclusiveMaximum": false }),
            json!({ "type": "integer", "exclusiveMinimum": 1, "maximum": 3 }),
        ),
        (
            json!({ "type": "object", "xml": {}, "example": {}, "x-go-name": "V", "externalDocs": {}, "title": "V" }),
            json!({ "type": "object" }),
        ),
        (json!({ "type": "int", "required": true }), json!({ "type": "integer" })),
        (json!({ "type": "any", "minLength": -1, "enum": [] }), json!({})),
        (json!({ "$recursiveAnchor": true, "type": "string" }), json!({ "type": "string" })),
        (
            json!({ "type": "array", "items": [{ "type": "string" }] }),
            json!({ "type": "array", "prefixItems": [{ "type": "string" }] }),
        ),
        (
            json!({ "oneOf": [{ "type": "string" }], "nullable": true }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
        ),
        (json!({ "oneOf": [{ "type": "string" }] }), json!({ "anyOf": [{ "type": "string" }] })),
        (json!({ "not": { "x-lost": 1, "type": "any" } }), json!({})),
    ];
    for (written, expected) in cases {
        assert_eq!(sanitised("3.0.3", &written), expected, "{written}");
    }
}

#[test]
fn a_pattern_that_the_linear_engine_refuses_is_dropped_alone() {
    let written = json!({ "type": "string", "pattern": "^(?!x).*$", "minLength": 2 });
    assert_eq!(sanitised("3.1.0", &written), json!({ "type": "string", "minLength": 2 }));
    let plain = json!({ "type": "string", "pattern": "^[a-z]+$" });
    assert_eq!(sanitised("3.1.0", &plain), plain);
}

/// A tree that holds itself, a cycle that consumes nothing, and a definition that nobody reaches.
fn recursive() -> Value {
    let schemas = json!({
        "Tree": { "type": "object", "properties": {
            "children": { "type": "array", "items": { "$ref": "#/components/schemas/Tree" } },
            "leaf": { "$ref": "#/components/schemas/Leaf" },
        } },
        "Leaf": { "type": "string" },
        "Round": { "allOf": [{ "$ref": "#/components/schemas/About" }] },
        "About": { "$ref": "#/components/schemas/Round" },
        "Unused": { "type": "object" },
    });
    let body = body(&json!({ "type": "object", "properties": {
        "tree": { "$ref": "#/components/schemas/Tree" },
        "round": { "$ref": "#/components/schemas/Round" },
        "gone": { "$ref": "#/components/schemas/Gone" },
    } }));
    document("3.1.0", &json!({ "/a": { "post": body } }), &schemas)
}

#[test]
fn a_tool_takes_along_the_definitions_that_it_reaches_and_cycles_stay_references() {
    let api = api(&recursive());
    assert_eq!(
        api.operations[0].1.input,
        json!({
            "type": "object",
            "properties": {
                "tree": { "$ref": "#/$defs/Tree" },
                "round": { "$ref": "#/$defs/Round" },
                "gone": {},
            },
            "additionalProperties": false,
            "$defs": {
                "Tree": { "type": "object", "properties": {
                    "children": { "type": "array", "items": { "$ref": "#/$defs/Tree" } },
                    "leaf": { "$ref": "#/$defs/Leaf" },
                } },
                "Round": { "allOf": [{ "$ref": "#/$defs/About" }] },
                "Leaf": { "type": "string" },
                "About": {},
            },
        })
    );
    let notes: Vec<_> = api.report.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(
        notes,
        ["left open: a reference in it leads nowhere", "left open: it leads back to itself"]
    );
}

#[test]
fn what_a_sibling_says_to_be_read_only_is_not_required() {
    let schemas = json!({
        "Base": { "type": "object", "properties": {
            "id": { "type": "integer", "readOnly": true }, "kind": { "type": "string" },
        } },
        "Named": { "allOf": [
            { "$ref": "#/components/schemas/Base" },
            {
                "type": "object",
                "required": ["id", "name"],
                "properties": { "name": { "type": "object", "required": ["id"] } },
                "anyOf": [{ "required": ["id"] }, { "required": ["kind"] }],
                "dependentRequired": { "name": ["id"] },
                "not": { "required": ["id", "kind"] },
            },
        ] },
        "Beside": { "$ref": "#/components/schemas/Base", "required": ["id", "kind"] },
    });
    let fields = json!({ "type": "object", "properties": {
        "named": { "$ref": "#/components/schemas/Named" },
        "beside": { "$ref": "#/components/schemas/Beside" },
    } });
    let paths = json!({ "/a": { "post": body(&fields) } });
    let (_, spec) = one_of(&document("3.1.0", &paths, &schemas));
    let inline = json!({
        "type": "object",
        "required": ["name"],
        // What is within a member is another matter.
        "properties": { "name": { "type": "object", "required": ["id"] } },
        "anyOf": [{}, { "required": ["kind"] }],
    });
    let base = json!({ "$ref": "#/$defs/Base" });
    assert_eq!(spec.input.value()["$defs"]["Named"], json!({ "allOf": [base, inline] }));
    let beside = json!({ "$ref": "#/$defs/Base", "required": ["kind"] });
    assert_eq!(spec.input.value()["$defs"]["Beside"], beside);
}

#[test]
fn what_is_read_only_is_not_sent_and_what_is_write_only_does_not_come_back() {
    let schemas = json!({
        "Id": { "type": "integer", "readOnly": true },
        "User": { "type": "object", "required": ["id", "name", "secret"], "properties": {
            "id": { "$ref": "#/components/schemas/Id" },
            "name": { "type": "string" },
            "secret": { "type": "string", "writeOnly": true },
        } },
        "Holder": { "type": "object", "properties": { "user": { "$ref": "#/components/schemas/User" } } },
    });
    let mut operation = body(&json!({ "$ref": "#/components/schemas/Holder" }));
    let user = json!({ "schema": { "$ref": "#/components/schemas/User" } });
    operation["responses"] =
        json!({ "200": { "description": "", "content": { "application/json": user } } });
    let (_, spec) = one_of(&document("3.0.3", &json!({ "/a": { "post": operation } }), &schemas));
    let input = spec.input.value();
    let user = &input["$defs"]["User"];
    assert_eq!(user["required"], json!(["name", "secret"]));
    assert_eq!(user["properties"].as_object().unwrap().len(), 2);
    let output = spec.output.unwrap().value();
    assert_eq!(output["required"], json!(["id", "name"]));
    assert_eq!(output["properties"]["id"], json!({ "$ref": "#/$defs/Id" }));
    assert_eq!(output["properties"].get("secret"), None);
}

#[test]
fn a_discriminator_gives_each_branch_its_value() {
    let kind = json!({ "type": "object", "properties": { "kind": { "type": "string" } } });
    let known = json!({ "type": "object", "properties": { "kind": { "const": "fish" } } });
    let schemas = json!({ "Cat": kind, "Dog": kind, "Fish": known });
    let body = body(&json!({
        "oneOf": [
            { "$ref": "#/components/schemas/Cat" },
            { "$ref": "#/components/schemas/Dog" },
            { "$ref": "#/components/schemas/Fish" },
        ],
        "discriminator": {
            "propertyName": "kind",
            "mapping": { "cat": "#/components/schemas/Cat", "kitten": "Cat" },
        },
    }));
    let (_, spec) = one_of(&document("3.1.0", &json!({ "/a": { "post": body } }), &schemas));
    let of = |name: &str, value: Value| json!({ "$ref": format!("#/$defs/{name}"), "properties": { "kind": value }, "required": ["kind"] });
    assert_eq!(
        spec.input.value()["properties"]["body"]["anyOf"],
        json!([
            of("Cat", json!({ "enum": ["cat", "kitten"] })),
            of("Dog", json!({ "const": "Dog" })),
            { "$ref": "#/$defs/Fish" },
        ])
    );
}

#[test]
fn a_dynamic_reference_means_the_schema_around_it() {
    let schemas = json!({ "Filter": {
        "$recursiveAnchor": true,
        "type": "object",
        "properties": { "and": { "type": "array", "items": { "$recursiveRef": "#" } } },
    } });
    let body = body(&json!({ "type": "object", "properties": {
        "filter": { "$ref": "#/components/schemas/Filter" },
    } }));
    let (_, spec) = one_of(&document("3.1.0", &json!({ "/a": { "post": body } }), &schemas));
    let input = spec.input.value();
    let items = &input["$defs"]["Filter"]["properties"]["and"]["items"];
    assert_eq!(items, &json!({ "$ref": "#/$defs/Filter" }));
}

/// Twenty-eight definitions of which each is twice the next, and one that is very wide.
#[test]
fn bombs_are_cut_and_the_tool_stays() {
    let mut schemas = serde_json::Map::new();
    for level in 0..28 {
        let next = json!({ "$ref": format!("#/components/schemas/L{}", level + 1) });
        schemas.insert(format!("L{level}"), json!({ "allOf": [next, next] }));
    }
    let wide: serde_json::Map<String, Value> =
        (0..10_000).map(|at| (format!("p{at}"), json!({ "type": "string" }))).collect();
    schemas.insert("Wide".to_owned(), json!({ "type": "object", "properties": wide }));
    let mut deep = json!({ "type": "string" });
    for _ in 0..40 {
        deep = json!({ "type": "object", "properties": { "d": deep } });
    }
    let long: String = "x".repeat(300_000);
    let patterns: serde_json::Map<String, Value> =
        (0..100).map(|at| (format!("p{at}"), json!({ "pattern": format!("^a{at}$") }))).collect();
    let body = body(&json!({ "type": "object", "properties": {
        "doubled": { "$ref": "#/components/schemas/L0" },
        "wide": { "$ref": "#/components/schemas/Wide" },
        "deep": deep,
        "long": { "enum": [long] },
        "patterns": { "type": "object", "properties": patterns },
    } }));
    let (_, spec) =
        one_of(&document("3.1.0", &json!({ "/a": { "post": body } }), &Value::Object(schemas)));
    assert_eq!(spec.input.value()["properties"].as_object().unwrap().len(), 5);
    assert_eq!(spec.input.value()["properties"]["long"], json!({}));
    assert!(spec.input.value().to_string().len() < 80_000);
}

#[test]
fn definitions_of_one_name_in_two_places_stay_two() {
    let schemas = json!({
        "A": { "type": "object", "properties": { "x/y": { "type": "string" } } },
        "B C": { "type": "integer" },
    });
    let body = body(&json!({ "type": "object", "properties": {
        "one": { "$ref": "#/components/schemas/A/properties/x~1y" },
        "two": { "$ref": "#/components/schemas/B%20C" },
        "three": { "$ref": "#/components/schemas/A" },
    } }));
    let (_, spec) = one_of(&document("3.1.0", &json!({ "/a": { "post": body } }), &schemas));
    let meant = |name: &str| {
        let input = spec.input.value();
        let reference = input["properties"][name]["$ref"].as_str().unwrap();
        input.pointer(reference.trim_start_matches('#')).unwrap().clone()
    };
    assert_eq!(meant("one"), json!({ "type": "string" }));
    assert_eq!(meant("two"), json!({ "type": "integer" }));
    assert_eq!(meant("three")["type"], json!("object"));
}
