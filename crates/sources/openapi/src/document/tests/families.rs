//! Bases with a discriminator, and what builds on them.

use serde_json::{Value, json};

use super::{api, body, document, one_of};
use crate::operation::{ApiOperation, BodyShape};

fn fields(operation: &ApiOperation) -> Vec<&str> {
    match &operation.body.as_ref().unwrap().shape {
        BodyShape::Fields(fields) => fields.iter().map(|field| field.name.as_str()).collect(),
        BodyShape::Whole { .. } => Vec::new(),
    }
}

fn refer(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn extending(base: &str, own: &Value) -> Value {
    json!({ "allOf": [refer(base), own] })
}

fn shapes(discriminator: &Value) -> Value {
    json!({
        "Shape": {
            "type": "object", "required": ["kind"], "discriminator": discriminator,
            "properties": { "kind": { "type": "string" }, "within": refer("Shape") },
        },
        "Circle": extending("Shape", &json!({ "required": ["radius"], "properties": { "radius": { "type": "number" } } })),
        "Polygon": extending("Shape", &json!({ "properties": { "sides": { "type": "integer" } } })),
        "Square": extending("Polygon", &json!({ "properties": { "width": { "type": "number" } } })),
        "Other": { "type": "object", "properties": { "radius": { "type": "string" } } },
    })
}

#[test]
fn subtypes_of_a_body_give_it_their_fields() {
    let discriminator = json!({
        "propertyName": "kind", "mapping": { "round": "Circle", "other": "#/components/schemas/Other" },
    });
    let paths = json!({ "/a": { "post": body(&refer("Shape")) } });
    let (operation, spec) = one_of(&document("3.0.3", &paths, &shapes(&discriminator)));
    assert_eq!(fields(&operation), ["kind", "within", "radius", "sides", "width"]);
    let input = spec.input.value();
    assert_eq!(input["required"], json!(["kind"]));
    let said = |name: &str| input["properties"][name]["description"].as_str().unwrap().to_owned();
    assert_eq!(
        said("kind"),
        "Tells which other fields there are: `round`, `other`, `Polygon`, `Square`."
    );
    assert_eq!(said("sides"), "Where `kind` is `Polygon`, `Square`.");
    // Each subtype has it in its own way.
    let radius = json!([{ "type": "number" }, { "type": "string" }]);
    assert_eq!(input["properties"]["radius"]["anyOf"], radius);
    assert_eq!(input["$defs"]["Shape_any"]["anyOf"][0]["properties"]["kind"]["const"], "round");
}

#[test]
fn subtypes_within_a_body_are_alternatives_and_end() {
    let wrapped = json!({ "type": "object", "properties": { "all": { "type": "array", "items": refer("Shape") } } });
    let paths =
        json!({ "/a": { "post": body(&wrapped) }, "/b": { "post": body(&refer("Square")) } });
    let document = document("3.0.3", &paths, &shapes(&json!({ "propertyName": "kind" })));
    let api = api(&document);
    assert_eq!(api.operations.len(), 2, "{:?}", api.report);
    let input = api.operations[0].1.input.value();
    assert_eq!(input["properties"]["all"]["items"], json!({ "$ref": "#/$defs/Shape_any" }));
    let branches = input["$defs"]["Shape_any"]["anyOf"].as_array().unwrap();
    let names: Vec<&str> = branches.iter().map(|branch| branch["$ref"].as_str().unwrap()).collect();
    assert_eq!(names, ["#/$defs/Circle", "#/$defs/Polygon", "#/$defs/Square", "#/$defs/Shape"]);
    // What builds on a base is the base, and none of its other heirs.
    assert_eq!(input["$defs"]["Circle"]["allOf"][0], json!({ "$ref": "#/$defs/Shape" }));
    assert_eq!(fields(&api.operations[1].0), ["kind", "within", "sides", "width"]);
}

#[test]
fn a_base_of_swagger_2_is_named_by_its_property_alone() {
    let text = shapes(&json!("kind")).to_string().replace("/components/schemas/", "/definitions/");
    let definitions: Value = serde_json::from_str(&text).unwrap();
    let schema = json!({ "$ref": "#/definitions/Shape" });
    let parameter = json!({ "name": "b", "in": "body", "required": true, "schema": schema });
    let document = json!({
        "swagger": "2.0", "paths": { "/a": { "post": { "parameters": [parameter] } } },
        "definitions": definitions,
    });
    let (operation, _) = one_of(&document);
    assert_eq!(fields(&operation), ["kind", "within", "radius", "sides", "width"]);
}

#[test]
fn bases_that_lead_in_a_circle_end() {
    let looping = |base: &str| {
        json!({
            "type": "object", "discriminator": { "propertyName": "k" },
            "properties": { "k": { "type": "string" } }, "allOf": [refer(base)],
        })
    };
    let chosen = json!({
        "type": "object", "discriminator": { "propertyName": "k" }, "properties": { "k": {} },
        "oneOf": [refer("Heir")],
    });
    let schemas = json!({
        "A": looping("B"), "B": looping("A"), "Self": looping("Self"), "Base": chosen,
        "Heir": extending("Base", &json!({ "properties": { "h": {} } })),
    });
    let paths: Value = ["A", "B", "Self", "Base", "Heir"]
        .iter()
        .map(|name| (format!("/{name}"), json!({ "post": body(&refer(name)) })))
        .collect::<serde_json::Map<String, Value>>()
        .into();
    let api = api(&document("3.0.3", &paths, &schemas));
    assert_eq!((api.operations.len(), api.report.refused.len()), (5, 0), "{:?}", api.report);
}
