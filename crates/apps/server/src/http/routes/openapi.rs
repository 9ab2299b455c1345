//! The OpenAPI document, made of the rows of the router.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::parameter::{ParameterType, QueryParameter};
use super::problem::ProblemKind;
use super::route::{Route, RouteAccess};
use super::table::{COMMON, OF_BODIES, OF_CALLERS, all};
use crate::http::rest::calls::KEY;

pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for route in all().filter(|route| route.documented) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Value::Object(methods) = path {
            methods.insert(route.method.to_ascii_lowercase(), operation(route));
        }
    }
    let kinds: Vec<_> = ProblemKind::ALL.iter().map(|kind| kind.uri()).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "toolcrib",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "The tools of a crib: list them, plan a request, run calls.",
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": {
                "Problem": {
                    "type": "object",
                    "description": "RFC 9457; `type` is one of these for ever.",
                    "properties": {
                        "type": { "type": "string", "enum": kinds },
                        "title": { "type": "string" },
                        "status": { "type": "integer" },
                        "detail": { "type": "string" },
                    },
                    "required": ["type", "title", "status", "detail"],
                },
            },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(route: &Route) -> Value {
    let names = route.path.split('/').filter_map(|segment| {
        segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}'))
    });
    let mut parameters: Vec<_> = names.map(in_path).collect();
    parameters.extend(route.query.iter().map(in_query));
    if route.id == "run_calls" {
        parameters.push(key());
    }
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "parameters": parameters,
    });
    let Value::Object(fields) = &mut operation else { return operation };
    if DESTROYING.contains(&route.id) {
        fields.insert("x-toolcrib-effect".into(), "destroy".into());
    }
    if let Some(body) = route.body {
        let content = json!({ "application/json": { "schema": body() } });
        fields.insert("requestBody".into(), json!({ "required": true, "content": content }));
    }
    fields.insert("responses".into(), responses(route));
    let security = match route.access {
        RouteAccess::Anybody => json!([]),
        RouteAccess::Caller | RouteAccess::Operator => json!([{ "token": [] }]),
    };
    fields.insert("security".into(), security);
    operation
}

/// They do what their method does not tell: they let calls run that a person is asked about, let
/// somebody in who may, or stop the calls of others. A crib that has this one as a source reads the
/// mark, so that its model does not decide for the person.
const DESTROYING: [&str; 8] = [
    "run_calls",
    "decide_ticket",
    "resolve_call",
    "decide_drift",
    "sign_in",
    "make_link",
    "change_overlay",
    "set_freeze",
];

fn in_path(name: &str) -> Value {
    json!({
        "name": name,
        "in": "path",
        "required": true,
        "schema": { "type": "string", "minLength": 1 },
    })
}

fn in_query(parameter: &QueryParameter) -> Value {
    let schema = match parameter.takes {
        ParameterType::Number(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        ParameterType::Text => json!({ "type": "string" }),
        ParameterType::Time => json!({ "type": "string", "format": "date-time" }),
        ParameterType::OneOf(words) => json!({ "type": "string", "enum": words }),
        ParameterType::SomeOf(words) => {
            let word = json!({ "type": "string", "enum": words });
            json!({ "type": "array", "items": word, "minItems": 1 })
        }
    };
    let mut described = json!({
        "name": parameter.name,
        "in": "query",
        "description": parameter.about,
        "schema": schema,
    });
    if let (ParameterType::SomeOf(_), Value::Object(fields)) = (parameter.takes, &mut described) {
        // The default of a query is the name again for each word.
        fields.insert("style".into(), "form".into());
        fields.insert("explode".into(), false.into());
    }
    described
}

fn key() -> Value {
    json!({
        "name": KEY.as_str(),
        "in": "header",
        "description": "A word of the client for this request: sent again, it gets the same reply, \
                        and nothing runs twice.",
        "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
    })
}

fn responses(route: &Route) -> Value {
    let schema = (route.answers)();
    let mut content = json!({ "application/json": { "schema": schema } });
    if let (true, Value::Object(kinds)) = (route.id == "run_calls", &mut content) {
        kinds.insert("text/event-stream".into(), json!({ "schema": { "type": "string" } }));
    }
    let mut responses = Map::new();
    responses.insert("200".into(), json!({ "description": "Done.", "content": content }));
    if route.id == "readyz" {
        let content = json!({ "application/json": { "schema": (route.answers)() } });
        responses.insert("503".into(), json!({ "description": "Not yet.", "content": content }));
    }
    let of_bodies = if route.body.is_some() { OF_BODIES } else { &[] };
    let of_callers = if route.access == RouteAccess::Anybody { &[] } else { OF_CALLERS };
    let mut by_status: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for kind in COMMON.iter().chain(of_callers).chain(of_bodies).chain(route.problems) {
        by_status.entry(kind.status().as_u16()).or_default().push(format!("`{}`", kind.uri()));
    }
    for (status, kinds) in by_status {
        let schema = json!({ "$ref": "#/components/schemas/Problem" });
        let content = json!({ "application/problem+json": { "schema": schema } });
        let response = json!({ "description": kinds.join(", "), "content": content });
        responses.insert(status.to_string(), response);
    }
    Value::Object(responses)
}

#[cfg(test)]
mod tests {
    use super::document;

    /// Write it anew with `toolcrib openapi > docs/openapi.json`.
    #[test]
    fn the_committed_document_is_current() {
        let text = serde_json::to_string_pretty(&document()).unwrap();
        let committed = include_str!("../../../../../../docs/openapi.json");
        assert_eq!(committed.trim_end(), text, "`toolcrib openapi > docs/openapi.json`");
    }
}
