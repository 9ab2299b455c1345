//! Documents read to their operations, which no test from outside can see.

mod arguments;
mod bodies;
mod bombs;
mod families;
mod leniency;
mod mutations;
mod references;
mod schemas;
mod specs;
mod yaml;

use futures_util::FutureExt;
use serde_json::{Value, json};
use toolcrib_core::ToolSpec;
use toolcrib_json::schema::Schema;

use super::{ConvertedDocument, DocumentError, NoReferences, read};
use crate::operation::ApiOperation;
use crate::settings::{ApiSettings, DocumentLocation};

fn settings() -> ApiSettings {
    ApiSettings::new(DocumentLocation::Text(String::new()))
}

fn read_with(document: &Value, settings: &ApiSettings) -> Result<ConvertedDocument, DocumentError> {
    read(&document.to_string(), &NoReferences, settings)
        .now_or_never()
        .expect("nothing is waited for")
}

fn api(document: &Value) -> ConvertedDocument {
    let api = read_with(document, &settings()).expect("a document");
    for (_, spec) in &api.operations {
        for schema in [Some(&spec.input), spec.output.as_ref()].into_iter().flatten() {
            let schema = schema.value();
            Schema::compile(&schema).unwrap_or_else(|error| panic!("{error}: {schema:#}"));
        }
    }
    api
}

/// A document of that version with these paths and schemas.
fn document(version: &str, paths: &Value, schemas: &Value) -> Value {
    json!({
        "openapi": version,
        "info": { "title": "T", "version": "1" },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// The one operation of a document of OpenAPI 3.1 that has this at `POST /a`.
fn one(operation: &Value) -> (ApiOperation, ToolSpec) {
    one_of(&document("3.1.0", &json!({ "/a": { "post": operation } }), &json!({})))
}

fn one_of(document: &Value) -> (ApiOperation, ToolSpec) {
    let mut api = api(document);
    assert_eq!((api.operations.len(), &api.report.refused), (1, &vec![]));
    api.operations.remove(0)
}

fn body(schema: &Value) -> Value {
    json!({ "requestBody": {
        "required": true,
        "content": { "application/json": { "schema": schema } },
    } })
}

/// What a schema becomes as the argument `v` of a tool.
fn sanitised(version: &str, schema: &Value) -> Value {
    let parameter = json!({ "name": "v", "in": "query", "schema": schema });
    let paths = json!({ "/a": { "get": { "parameters": [parameter] } } });
    let (_, spec) = one_of(&document(version, &paths, &json!({})));
    spec.input.value()["properties"]["v"].clone()
}

fn reasons(document: &Value) -> Vec<(String, String)> {
    let refused = api(document).report.refused;
    refused.into_iter().map(|refused| (refused.key, refused.reason)).collect()
}
