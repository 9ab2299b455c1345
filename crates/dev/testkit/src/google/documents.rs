//! Google's documents, and what does not follow them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value};

use super::http::GoogleHttpRequest;
use super::reply::CheckedRequest;

/// Where the documents lie, beside the repository.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/openapi");
/// Each with what stands before its paths on this server.
const ALL: [(&str, &str); 3] = [
    ("google-calendar.json", "/calendar/v3"),
    ("google-tasks.json", ""),
    ("google-gmail.json", ""),
];
/// How deep a schema is followed; parts of messages hold parts.
const DEEPEST: usize = 12;

/// All operations of the three documents.
pub(super) struct GoogleDocuments(Vec<GoogleOperation>);

struct GoogleOperation {
    /// As the document calls it: `calendar.events.list`.
    id: String,
    method: String,
    segments: Vec<String>,
    parameters: HashMap<String, Value>,
    body: Option<Value>,
    answer: Option<Value>,
    /// Place of its document's schemas.
    schemas: std::sync::Arc<Value>,
}

pub(super) struct MatchedRequest {
    pub(super) operation: String,
    pub(super) request: CheckedRequest,
}

impl GoogleDocuments {
    pub(super) fn read() -> Option<Self> {
        let mut all = Vec::new();
        for (name, before) in ALL {
            let text = fs::read_to_string(Path::new(FOLDER).join(name)).ok()?;
            let document: Value = serde_json::from_str(&text).ok()?;
            let schemas = std::sync::Arc::new(document.pointer("/components/schemas")?.clone());
            for (path, item) in document.get("paths")?.as_object()? {
                let shared = parameters(&document, item);
                for method in ["get", "post", "put", "patch", "delete"] {
                    let Some(operation) = item.get(method) else { continue };
                    let mut all_parameters = shared.clone();
                    all_parameters.extend(parameters(&document, operation));
                    let path = format!("{before}{path}");
                    all.push(GoogleOperation {
                        id: operation.get("operationId")?.as_str()?.to_owned(),
                        method: method.to_uppercase(),
                        segments: path.split('/').map(str::to_owned).collect(),
                        parameters: all_parameters,
                        body: content(operation.get("requestBody")),
                        answer: content(operation.pointer("/responses/200")),
                        schemas: std::sync::Arc::clone(&schemas),
                    });
                }
            }
        }
        Some(Self(all))
    }

    /// The request, if the documents know all of it.
    pub(super) fn check(&self, asked: &GoogleHttpRequest) -> Result<MatchedRequest, String> {
        let segments: Vec<&str> = asked.path.split('/').collect();
        let fits = |operation: &&GoogleOperation| {
            operation.method == asked.method && operation.places(&segments).is_some()
        };
        // A template without names comes before one with them.
        let found = self.0.iter().filter(fits).min_by_key(|it| it.names());
        let found = found.ok_or("no operation has this method and path")?;
        let path = found.places(&segments).unwrap_or_default();
        found.check_query(&asked.pairs)?;
        let body = found.read_body(asked)?;
        let if_match = asked.header("if-match").map(str::to_owned);
        let request = CheckedRequest { path, pairs: asked.pairs.clone(), body, if_match };
        Ok(MatchedRequest { operation: found.id.clone(), request })
    }

    /// An answer of ours.
    pub(super) fn check_answer(&self, operation: &str, told: &Value) -> Result<(), String> {
        let operation = self.0.iter().find(|it| it.id == operation);
        let operation = operation.ok_or("no such operation")?;
        let schema = operation.answer.as_ref().ok_or("nothing is answered")?;
        GoogleSchemaChecker { schemas: &operation.schemas, nulls: false }.check(schema, told, "", 0)
    }
}

/// The parameters in the query, by name; others are shared by reference.
fn parameters(document: &Value, holder: &Value) -> HashMap<String, Value> {
    let list = holder.get("parameters").and_then(Value::as_array);
    let resolved = list.into_iter().flatten().filter_map(|it| match it.get("$ref") {
        Some(reference) => document.pointer(reference.as_str()?.strip_prefix('#')?),
        None => Some(it),
    });
    let in_query = resolved.filter(|it| it.get("in").and_then(Value::as_str) == Some("query"));
    let named = in_query
        .filter_map(|it| Some((it.get("name")?.as_str()?.to_owned(), it.get("schema")?.clone())));
    named.collect()
}

/// The schema of a body, which is the same for every kind of media that is named.
fn content(holder: Option<&Value>) -> Option<Value> {
    holder?.get("content")?.as_object()?.values().next()?.get("schema").cloned()
}

fn decoded(text: &str) -> Option<String> {
    // A plus is no space in a path.
    let pair = format!("x={}", text.replace('+', "%2B"));
    let (_, value) = url::form_urlencoded::parse(pair.as_bytes()).next()?;
    Some(value.into_owned())
}

impl GoogleOperation {
    fn names(&self) -> usize {
        self.segments.iter().filter(|segment| segment.starts_with('{')).count()
    }

    fn places(&self, segments: &[&str]) -> Option<HashMap<String, String>> {
        if segments.len() != self.segments.len() {
            return None;
        }
        let mut places = HashMap::new();
        for (own, given) in self.segments.iter().zip(segments) {
            let given = decoded(given)?;
            match own.strip_prefix('{').and_then(|own| own.strip_suffix('}')) {
                Some(name) if !given.is_empty() => drop(places.insert(name.to_owned(), given)),
                None if *own == given => {}
                _ => return None,
            }
        }
        Some(places)
    }

    fn check_query(&self, pairs: &[(String, String)]) -> Result<(), String> {
        let mut seen = Vec::new();
        for (name, value) in pairs {
            let schema = self.parameters.get(name);
            let schema = schema.ok_or_else(|| format!("no parameter is called `{name}`"))?;
            let items = schema.get("items");
            if items.is_none() && seen.contains(&name) {
                return Err(format!("`{name}` stands twice"));
            }
            seen.push(name);
            let kind = items.unwrap_or(schema);
            let typed = match kind.get("type").and_then(Value::as_str) {
                Some("integer") => value.parse::<i64>().map(Value::from).map_err(|_| "integer"),
                Some("boolean") => value.parse::<bool>().map(Value::from).map_err(|_| "boolean"),
                _ => Ok(Value::String(value.clone())),
            };
            let typed = typed.map_err(|kind| format!("`{name}` is no {kind}"))?;
            GoogleSchemaChecker { schemas: &self.schemas, nulls: false }
                .check(kind, &typed, name, 0)?;
        }
        Ok(())
    }

    fn read_body(&self, asked: &GoogleHttpRequest) -> Result<Map<String, Value>, String> {
        let Some(schema) = &self.body else {
            let is_empty = asked.body.is_empty();
            return if is_empty { Ok(Map::new()) } else { Err("it takes no body".to_owned()) };
        };
        if asked.header("content-type") != Some("application/json") {
            return Err("its body is not called JSON".to_owned());
        }
        let body: Value = serde_json::from_slice(&asked.body).map_err(|error| error.to_string())?;
        // A null takes away what stands there.
        let nulls = asked.method == "PATCH";
        GoogleSchemaChecker { schemas: &self.schemas, nulls }.check(schema, &body, "", 0)?;
        let Value::Object(body) = body else { return Err("its body is no object".to_owned()) };
        Ok(body)
    }
}

struct GoogleSchemaChecker<'a> {
    schemas: &'a Value,
    nulls: bool,
}

impl GoogleSchemaChecker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("`{at}` is too deep"));
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or_default();
            let schema = self.schemas.get(name).ok_or_else(|| format!("no schema `{name}`"))?;
            return self.check(schema, value, at, depth + 1);
        }
        if value.is_null() {
            return if self.nulls { Ok(()) } else { Err(format!("`{at}` is null")) };
        }
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_right = match kind {
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => true,
        };
        if !is_right {
            return Err(format!("`{at}` is no {kind}"));
        }
        let choices = schema.get("enum").and_then(Value::as_array);
        if choices.is_some_and(|choices| !choices.contains(value)) {
            return Err(format!("`{at}` is none of the values that it may have"));
        }
        let least = schema.get("minimum").and_then(Value::as_i64);
        if least.is_some_and(|least| value.as_i64().is_some_and(|value| value < least)) {
            return Err(format!("`{at}` is too small"));
        }
        if let Some(text) = value.as_str() {
            return check_text(schema, text, at);
        }
        if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
            for (place, value) in values.iter().enumerate() {
                self.check(items, value, &format!("{at}/{place}"), depth + 1)?;
            }
        }
        let Some(fields) = value.as_object() else { return Ok(()) };
        let known = schema.get("properties");
        let others = schema.get("additionalProperties");
        for (name, value) in fields {
            let at = format!("{at}/{name}");
            let schema = known.and_then(|known| known.get(name)).or(others);
            let schema = schema.ok_or_else(|| format!("no property is called `{at}`"))?;
            self.check(schema, value, &at, depth + 1)?;
        }
        Ok(())
    }
}

fn check_text(schema: &Value, text: &str, at: &str) -> Result<(), String> {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let is_right = match format {
        "date" => text.parse::<Date>().is_ok(),
        "date-time" => text.parse::<Timestamp>().is_ok(),
        "int64" => text.parse::<i64>().is_ok(),
        "uint64" => text.parse::<u64>().is_ok(),
        // Padding may be there or not.
        "byte" => {
            let padded = format!(
                "{}{}",
                text.trim_end_matches('='),
                "=".repeat((4 - text.trim_end_matches('=').len() % 4) % 4,)
            );
            BASE64_URL_SAFE.decode(padded).is_ok()
        }
        _ => true,
    };
    if is_right { Ok(()) } else { Err(format!("`{at}` is no {format}: {text}")) }
}
