//! What a caller sees of an operation, and what costs a whole document.

use std::fmt::Write;

use serde_json::{Value, json};
use toolcrib_core::Effect;

use super::super::{DocumentError, inspect};
use super::{api, document, read_with, settings};
use crate::settings::{ApiBounds, ApiSettings, Grouping, OperationFilter};

fn issues() -> Value {
    let parameter = json!({ "name": "id", "in": "path", "required": true, "schema": {} });
    document(
        "3.1.0",
        &json!({
            "/v1/issues": {
                "get": { "operationId": "issues/list-for-repo", "summary": "List issues.", "tags": ["issues", "repos"],
                    "description": "Lists what is open. And more.", "deprecated": true },
                "post": { "operationId": "issues/create", "description": "Makes an issue. It notifies." },
                "options": {}, "head": {}, "trace": {},
            },
            "/v1/issues/{id}": {
                "parameters": [parameter],
                "put": {}, "patch": {}, "delete": { "operationId": "closeIssue" }, "get": {},
            },
        }),
        &json!({}),
    )
}

#[test]
fn a_spec_says_what_the_document_says() {
    let api = api(&issues());
    let spec = &api.operations.iter().find(|(it, _)| it.key == "issues/list-for-repo").unwrap().1;
    assert_eq!(spec.name.as_str(), "issues_list_for_repo");
    assert_eq!(spec.title.as_deref(), Some("List issues"));
    assert_eq!(spec.summary, "List issues.");
    let description =
        "Deprecated: prefer another tool.\n\nList issues.\n\nLists what is open. And more.";
    assert_eq!(spec.description, description);
    assert_eq!(spec.category.as_deref(), Some("issues"));
    assert_eq!(spec.tags, ["issues", "repos"]);
    assert_eq!(spec.actions, ["list"]);
    assert!(spec.deprecated);
    assert_eq!(spec.origin.name.as_deref(), Some("issues/list-for-repo"));
}

#[test]
fn names_effects_and_actions_come_of_methods_and_ids() {
    let api = api(&issues());
    let seen: Vec<_> = api
        .operations
        .iter()
        .map(|(_, it)| (it.name.as_str(), it.effect, it.idempotent, it.actions[0].as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("issues_list_for_repo", Effect::Read, true, "list"),
            ("issues_create", Effect::Write, false, "create"),
            ("options_v1_issues", Effect::Read, true, "run"),
            ("head_v1_issues", Effect::Read, true, "get"),
            ("trace_v1_issues", Effect::Read, true, "run"),
            ("get_v1_issues_id", Effect::Read, true, "get"),
            ("put_v1_issues_id", Effect::Write, true, "update"),
            ("closeIssue", Effect::Destroy, true, "delete"),
            ("patch_v1_issues_id", Effect::Write, false, "update"),
        ]
    );
}

#[test]
fn settings_have_the_last_word_on_effects_and_groups() {
    let mut settings = settings();
    settings.effects.insert("issues/create".to_owned(), Effect::Destroy);
    settings.effects.insert("DELETE /v1/issues/{id}".to_owned(), Effect::Write);
    settings.effects.insert("nothing".to_owned(), Effect::Read);
    settings.grouping = Grouping::None;
    let api = read_with(&issues(), &settings).unwrap();
    let effect = |key: &str| api.operations.iter().find(|it| it.0.key == key).unwrap().1.effect;
    assert_eq!(effect("issues/create"), Effect::Destroy);
    assert_eq!(effect("closeIssue"), Effect::Write);
    assert!(api.operations.iter().all(|(_, spec)| spec.category.is_none()));
    assert_eq!(api.report.notes[0].about, "nothing");
    let untagged = super::api(&issues());
    let categories = untagged.operations.iter().map(|(_, spec)| spec.category.as_deref());
    assert!(
        categories.clone().all(|it| it == Some("issues")),
        "{:?}",
        categories.collect::<Vec<_>>()
    );
}

#[test]
fn a_mark_of_the_document_makes_an_effect_stricter_and_never_laxer() {
    let mark = |word: &Value| json!({ "x-toolcrib-effect": word });
    let paths = json!({
        "/approve": { "post": mark(&json!("destroy")), "put": mark(&json!("read")) },
        "/count": { "get": mark(&json!("write")), "delete": mark(&json!("write")) },
        "/typo": { "get": mark(&json!("Destroys")), "post": mark(&json!(7)) },
        "/plain": { "post": {} },
    });
    let document = document("3.1.0", &paths, &json!({}));
    let mut settings = settings();
    settings.effects.insert("POST /typo".to_owned(), Effect::Write);
    let api = read_with(&document, &settings).unwrap();
    let told = |key: &str| {
        let (operation, spec) = api.operations.iter().find(|it| it.0.key == key).unwrap();
        assert_eq!(operation.effect, Some(spec.effect), "{key}");
        spec.effect
    };
    assert_eq!(told("POST /approve"), Effect::Destroy);
    assert_eq!(told("PUT /approve"), Effect::Write);
    assert_eq!(told("GET /count"), Effect::Write);
    assert_eq!(told("DELETE /count"), Effect::Destroy);
    assert_eq!(told("GET /typo"), Effect::Destroy);
    assert_eq!(told("POST /plain"), Effect::Write);
    // Only the operator may say less.
    assert_eq!(told("POST /typo"), Effect::Write);
}

#[test]
fn one_id_for_two_operations_names_neither() {
    let same = json!({ "operationId": "same" });
    let document =
        document("3.0.0", &json!({ "/a": { "get": same }, "/b": { "get": same } }), &json!({}));
    let api = api(&document);
    let keys: Vec<_> = api.operations.iter().map(|(it, _)| it.key.as_str()).collect();
    assert_eq!(keys, ["GET /a", "GET /b"]);
    let names: Vec<_> = api.operations.iter().map(|(_, it)| it.name.as_str().to_owned()).collect();
    assert_ne!(names[0].to_lowercase(), names[1].to_lowercase());
}

#[test]
fn openapi_3_2_has_methods_of_its_own() {
    let document = json!({
        "openapi": "3.2.0",
        "paths": { "/a": {
            "query": { "parameters": [{ "name": "q", "in": "querystring", "content": { "application/x-www-form-urlencoded": {} } }] },
            "additionalOperations": { "COPY": {}, "BAD METHOD": {}, "CONNECT": {} },
        } },
    });
    let api = api(&document);
    let seen: Vec<_> =
        api.operations.iter().map(|(it, spec)| (it.key.as_str(), spec.effect)).collect();
    assert_eq!(seen, [("QUERY /a", Effect::Read), ("COPY /a", Effect::Destroy)]);
    assert_eq!(api.report.refused.len(), 2);
}

#[test]
fn what_is_no_document_says_why() {
    let error = |text: &str| inspect(text, &settings()).unwrap_err();
    assert_eq!(error("{}"), DocumentError::NoVersion);
    assert_eq!(error("- 1"), DocumentError::NoVersion);
    let version = "4.0".to_owned();
    assert_eq!(error("openapi: '4.0'"), DocumentError::UnknownVersion { version });
    assert!(matches!(error("{\"openapi\":"), DocumentError::Unreadable { format: "JSON", .. }));
    assert!(matches!(error("a: ["), DocumentError::Unreadable { format: "YAML", .. }));
    let deep = format!("{}{}", "{\"a\":".repeat(200), "1");
    assert!(matches!(error(&deep), DocumentError::Unreadable { format: "JSON", .. }));
    let deep = format!("a: {}{}", "[".repeat(200), "]".repeat(200));
    assert!(matches!(error(&deep), DocumentError::Unreadable { format: "YAML", .. }));
    let many: serde_json::Map<String, Value> =
        (0..100_001).map(|at| (format!("/{at}"), json!({ "get": {} }))).collect();
    let many = json!({ "openapi": "3.1.0", "paths": many }).to_string();
    assert_eq!(error(&many), DocumentError::TooManyOperations { limit: 100_000 });
    // What is not wanted does not count.
    let pick =
        OperationFilter::new(vec!["get_7".to_owned()], Vec::new(), |name: &str| name == "get_7");
    let (tools, report) = inspect(&many, &ApiSettings { pick, ..settings() }).unwrap();
    assert_eq!((tools.len(), report.operations), (1, 1));
    let limit = ApiBounds::default().document;
    assert_eq!(error(&" ".repeat(limit + 1)), DocumentError::TooLarge { limit });
}

#[test]
fn yaml_is_read_as_json_is_and_aliases_do_not_multiply() {
    let yaml = "
swagger: 2.0
paths:
  /a:
    get: &get
      responses:
        200: {description: Done., schema: {type: object, minimum: -9223372036854776000}}
    head: *get
";
    let (tools, report) = inspect(yaml, &settings()).unwrap();
    assert_eq!((tools.len(), report.format.as_str()), (2, "2.0"));
    assert!(tools[0].output.is_some());
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        writeln!(laughs, "a{level}: &a{level} [{alias}]").unwrap();
    }
    let error = inspect(&laughs, &settings()).unwrap_err();
    assert!(matches!(error, DocumentError::Unreadable { format: "YAML", .. }), "{error}");
}
