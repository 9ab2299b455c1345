//! Parameters and paths as arguments.

use serde_json::{Value, json};

use super::super::{SecurityScheme, security::KeyPlace};
use super::{api, document, one_of, reasons};
use crate::operation::{
    FixedPair, OperationParameter, ParameterLocation, ParameterStyle, PathPiece, PathSegment,
};

fn at(path: &str, item: &Value) -> Value {
    document("3.0.3", &json!({ path: item }), &json!({}))
}

fn names(parameters: &[OperationParameter]) -> Vec<(&str, &str, ParameterLocation)> {
    parameters.iter().map(|it| (it.argument.as_str(), it.name.as_str(), it.place)).collect()
}

#[test]
fn a_query_in_a_path_is_fixed_and_takes_the_place_of_its_parameters() {
    let names = ["beta", "beta[]", "beta2", "be ta"];
    let parameters = names.map(|name| {
        json!({ "name": name, "in": "query", "required": true, "schema": { "type": "string" } })
    });
    let item = json!({ "get": { "parameters": parameters } });
    let (operation, spec) = one_of(&at("/a?beta=true&be+ta", &item));
    let fixed = |name: &str, value: Option<&str>| FixedPair {
        name: name.to_owned(),
        value: value.map(str::to_owned),
    };
    assert_eq!(operation.query, [fixed("beta", Some("true")), fixed("be+ta", None)]);
    assert_eq!(operation.path, [PathSegment(vec![PathPiece::Text("a".to_owned())])]);
    assert_eq!(operation.key, "GET /a?beta=true&be+ta");
    assert_eq!(spec.name.as_str(), "get_a_beta_true_be_ta");
    assert_eq!(spec.input.value()["required"], json!(["beta2"]));
    let api = api(&at("/a?beta=true", &item));
    assert_eq!(api.report.notes[0].text, "left out: the path says the value of `beta`");
}

#[test]
fn parameters_of_the_path_and_of_the_operation_are_merged() {
    let item = json!({
        "parameters": [
            { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } },
            { "name": "X-Trace", "in": "header", "schema": { "type": "string" } },
        ],
        "get": { "parameters": [
            { "name": "id", "in": "query", "description": "Of what.", "schema": { "type": "integer" } },
            { "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } },
            { "name": "x-trace", "in": "header", "required": true, "schema": { "type": "boolean" } },
            { "name": "filter[name]", "in": "query", "style": "deepObject", "explode": true, "schema": {} },
            { "name": "ids", "in": "query", "explode": false, "schema": { "type": "array" } },
            { "name": "q", "in": "query", "content": { "application/json": { "schema": { "type": "object" } } } },
        ] },
    });
    let (operation, spec) = one_of(&at("/a/{id}", &item));
    assert_eq!(
        names(&operation.parameters),
        [
            ("id", "id", ParameterLocation::Path),
            ("x-trace", "x-trace", ParameterLocation::Header),
            ("id_query", "id", ParameterLocation::Query),
            ("filter_name", "filter[name]", ParameterLocation::Query),
            ("ids", "ids", ParameterLocation::Query),
            ("q", "q", ParameterLocation::Query),
        ]
    );
    let styles: Vec<_> = operation.parameters.iter().map(|it| (it.style, it.explode)).collect();
    assert_eq!(
        styles,
        [
            (ParameterStyle::Simple, false),
            (ParameterStyle::Simple, false),
            (ParameterStyle::Form, true),
            (ParameterStyle::DeepObject, true),
            (ParameterStyle::Form, false),
            (ParameterStyle::Form, true),
        ]
    );
    assert_eq!(operation.parameters[5].media.as_deref(), Some("application/json"));
    assert_eq!(spec.input.value()["required"], json!(["id", "x-trace"]));
    let described = json!({ "type": "integer", "description": "Of what." });
    assert_eq!(spec.input.value()["properties"]["id_query"], described);
    assert_eq!(spec.input.value()["properties"]["id"], json!({ "type": "integer" }));
}

#[test]
fn the_order_of_parameters_changes_no_name() {
    let parameter = |name: &str, place: &str| json!({ "name": name, "in": place, "schema": {} });
    let mut list = vec![
        parameter("a b", "query"),
        parameter("a_b", "query"),
        parameter("a_b", "header"),
        parameter("a[b]", "query"),
        parameter("日本", "query"),
    ];
    let named = |list: &[Value]| {
        let (operation, spec) = one_of(&at("/a", &json!({ "get": { "parameters": list } })));
        let mut names: Vec<_> = operation
            .parameters
            .iter()
            .map(|it| (it.name.clone(), it.place == ParameterLocation::Query, it.argument.clone()))
            .collect();
        names.sort();
        let arguments: std::collections::BTreeSet<_> = names.iter().map(|it| &it.2).collect();
        assert_eq!(arguments.len(), 5, "{names:?}");
        assert_eq!(spec.input.value()["properties"].as_object().unwrap().len(), 5);
        names
    };
    let forwards = named(&list);
    list.reverse();
    assert_eq!(named(&list), forwards);
    let kept = |name: &str| forwards.iter().find(|it| it.0 == name && it.1).unwrap().2.clone();
    assert_eq!(kept("a_b"), "a_b");
}

#[test]
fn no_argument_is_a_header_of_the_connection_or_a_credential() {
    let header = |name: &str, required: bool| json!({ "name": name, "in": "header", "required": required, "schema": {} });
    let ignored = json!([
        header("Accept", true),
        header("content-type", true),
        header("Authorization", true),
        header("Host", false),
        header("X-Key", true),
        header("Bad Name", false),
        header("Fine", false)
    ]);
    let mut document = at("/a", &json!({ "get": { "parameters": ignored } }));
    document["components"]["securitySchemes"] =
        json!({ "key": { "type": "apiKey", "in": "header", "name": "x-key" } });
    let api = api(&document);
    assert_eq!(
        names(&api.operations[0].0.parameters),
        [("Fine", "Fine", ParameterLocation::Header)]
    );
    assert_eq!(api.report.notes.len(), 3, "{:?}", api.report.notes);
    let scheme = SecurityScheme::Key { place: KeyPlace::Header, name: "x-key".to_owned() };
    assert_eq!(api.schemes.get("key"), Some(&scheme));

    let required = at("/a", &json!({ "get": { "parameters": [header("Content-Length", true)] } }));
    let reason = "its required parameter `content-length` is a header that no argument may set";
    assert_eq!(reasons(&required), [("GET /a".to_owned(), reason.to_owned())]);
}

#[test]
fn a_path_whose_parameters_are_not_declared_is_refused() {
    let undeclared = at("/a/{id}", &json!({ "get": {} }));
    let reason = "its path has `{id}`, which is no declared parameter";
    assert_eq!(reasons(&undeclared), [("GET /a/{id}".to_owned(), reason.to_owned())]);
    let upwards = at("/a/../b", &json!({ "get": { "operationId": "up" } }));
    assert_eq!(reasons(&upwards), [("up".to_owned(), "its path leads upwards".to_owned())]);
    let lost =
        at("/a", &json!({ "get": { "parameters": [{ "$ref": "#/components/parameters/no" }] } }));
    let reason = "of a parameter its reference `#/components/parameters/no` leads nowhere";
    assert_eq!(reasons(&lost), [("GET /a".to_owned(), reason.to_owned())]);
}

#[test]
fn templates_servers_and_security_are_taken_over() {
    let mut document = at(
        "/files/{name}.{format}",
        &json!({
            "servers": [{ "url": "https://{region}.example.com/v1", "variables": { "region": { "default": "eu" } } }],
            "get": {
                "security": [{ "key": [] }, { "oauth": ["read"], "key": [] }, {}],
                "parameters": [
                    { "name": "name", "in": "path", "required": true, "schema": {} },
                    { "name": "format", "in": "path", "required": true, "schema": {} },
                ],
            },
        }),
    );
    document["paths"]["/b"] = json!({ "get": {} });
    document["servers"] = json!([{ "url": "https://{none}.example.com" }, { "url": "/base" }]);
    document["security"] = json!([{ "key": [] }]);
    let api = api(&document);
    let (first, second) = (&api.operations[0].0, &api.operations[1].0);
    let parameter = |name: &str| PathPiece::Parameter(name.to_owned());
    let text = |text: &str| PathPiece::Text(text.to_owned());
    assert_eq!(
        first.path,
        [
            PathSegment(vec![text("files")]),
            PathSegment(vec![parameter("name"), text("."), parameter("format")])
        ]
    );
    assert_eq!(first.server.as_deref(), Some("https://eu.example.com/v1"));
    assert_eq!(second.server.as_deref(), Some("/base"));
    let both = vec!["oauth".to_owned(), "key".to_owned()];
    assert_eq!(first.security, [vec!["key".to_owned()], both, vec![]]);
    assert_eq!(second.security, [vec!["key".to_owned()]]);
}
