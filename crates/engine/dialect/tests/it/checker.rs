//! The rules of each API's schemas, written from the vendors' pages and not from our compilers.

use std::collections::HashSet;

use serde_json::{Map, Value};

const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
const OPENAI_STRICT: [&str; 24] = [
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "$ref",
    "$defs",
    "enum",
    "const",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "definitions",
];
const ANTHROPIC_STRICT: [&str; 16] = [
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "$ref",
    "$defs",
    "enum",
    "const",
    "default",
    "format",
    "pattern",
    "minItems",
];
const GEMINI: [&str; 20] = [
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "$id",
    "$ref",
    "$defs",
    "$anchor",
    "enum",
    "format",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
];

pub(crate) fn is_legal_name(dialect: &str, name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match dialect {
        "gemini" => {
            name.len() <= 128
                && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| plain(c) || c == '.' || c == ':')
        }
        _ => (1..=64).contains(&name.len()) && name.chars().all(plain),
    }
}

/// What is wrong with the `tools` of a request.
pub(crate) fn problems(dialect: &str, tools: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut strict = Vec::new();
    let list = tools.as_array().unwrap();
    let mut entries: Vec<&Value> = Vec::new();
    for entry in list {
        let inner = entry.get("functionDeclarations").or_else(|| entry.get("tools"));
        match inner.and_then(Value::as_array) {
            Some(inner) => entries.extend(inner),
            None => entries.push(entry),
        }
    }
    let mut names = HashSet::new();
    for entry in entries {
        let function = entry.get("function").unwrap_or(entry);
        let schema = ["parameters", "input_schema", "parametersJsonSchema"]
            .iter()
            .find_map(|key| function.get(key));
        let Some(name) = function.get("name").and_then(Value::as_str) else {
            continue;
        };
        let mut check = Check {
            dialect,
            strict: function.get("strict") == Some(&Value::Bool(true)),
            root: schema.cloned().unwrap_or_default(),
            found: Vec::new(),
            optional: 0,
            unions: 0,
        };
        if !is_legal_name(dialect, name) || !names.insert(name.to_owned()) {
            check.found.push("name".to_owned());
        }
        if let Some(schema) = schema {
            check.root(schema);
        }
        if check.strict {
            strict.push((check.optional, check.unions));
        }
        found.extend(check.found.into_iter().map(|problem| format!("{name}: {problem}")));
    }
    if dialect == "anthropic" {
        let sums = strict.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if strict.len() > 20 || sums.0 > 24 || sums.1 > 16 {
            found.push(format!("too much strict: {} {sums:?}", strict.len()));
        }
    }
    found
}

struct Check<'a> {
    dialect: &'a str,
    strict: bool,
    root: Value,
    found: Vec<String>,
    optional: usize,
    unions: usize,
}

impl Check<'_> {
    fn root(&mut self, schema: &Value) {
        let fields = schema.as_object().unwrap();
        self.rule(fields.get("type") == Some(&"object".into()), "root is no object");
        self.rule(
            fields.get("properties").is_some_and(Value::is_object),
            "root without properties",
        );
        for keyword in ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref", "if"] {
            self.rule(!fields.contains_key(keyword), &format!("{keyword} at the root"));
        }
        self.schema(schema, 1, "");
        if self.dialect == "anthropic" && self.strict {
            let recursive = self.is_recursive(schema, &mut Vec::new());
            self.rule(!recursive, "recursion");
        }
    }

    fn rule(&mut self, holds: bool, problem: &str) {
        if !holds {
            self.found.push(problem.to_owned());
        }
    }

    fn schema(&mut self, schema: &Value, depth: usize, at: &str) {
        let Some(fields) = schema.as_object() else {
            self.rule(!self.strict && self.dialect != "gemini", &format!("no object at {at}"));
            return;
        };
        self.rule(depth <= 64, "depth");
        if let Some(reference) = fields.get("$ref") {
            let to = reference.as_str().unwrap_or_default();
            let target = to.strip_prefix('#').and_then(|to| self.root.pointer(to));
            self.rule(target.is_some(), &format!("dangling $ref at {at}: {to}"));
        }
        if self.strict || self.dialect == "gemini" {
            self.subset(fields, depth, at);
        } else {
            let array = fields.get("type") == Some(&"array".into());
            let items = fields.contains_key("items") || fields.contains_key("prefixItems");
            self.rule(!array || items, &format!("array without items at {at}"));
        }
        if let Some(Value::Object(properties)) = fields.get("properties") {
            for key in properties.keys() {
                let legal = match self.dialect {
                    "anthropic" => {
                        key.len() <= 64
                            && key.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
                    }
                    "gemini" => {
                        key.len() <= 64
                            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                            && !key.starts_with(|c: char| c.is_ascii_digit())
                    }
                    _ => true,
                };
                self.rule(
                    legal && (!key.is_empty() || self.dialect.starts_with("openai")),
                    &format!("key {key:?} at {at}"),
                );
            }
        }
        self.inner(fields, depth, at);
    }

    fn inner(&mut self, fields: &Map<String, Value>, depth: usize, at: &str) {
        for (keyword, value) in fields {
            let at = format!("{at}/{keyword}");
            match (keyword.as_str(), value) {
                ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                    let depth = if keyword == "properties" { depth + 1 } else { 1 };
                    for (name, schema) in named {
                        self.schema(schema, depth, &format!("{at}/{name}"));
                    }
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                    self.rule(!list.is_empty(), &format!("empty {at}"));
                    for schema in list {
                        self.schema(schema, depth, &at);
                    }
                }
                ("items", schema) => self.schema(schema, depth + 1, &at),
                ("additionalProperties", schema @ Value::Object(_)) => {
                    self.schema(schema, depth + 1, &at);
                }
                _ => {}
            }
        }
    }

    fn subset(&mut self, fields: &Map<String, Value>, depth: usize, at: &str) {
        let allowed: &[&str] = match (self.dialect, self.strict) {
            ("gemini", _) => &GEMINI,
            ("anthropic", _) => &ANTHROPIC_STRICT,
            _ => &OPENAI_STRICT,
        };
        for keyword in fields.keys() {
            self.rule(allowed.contains(&keyword.as_str()), &format!("{keyword} at {at}"));
        }
        if fields.contains_key("$ref") {
            self.rule(fields.len() == 1, &format!("beside $ref at {at}"));
        }
        let properties = fields.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = fields
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let declared =
            required.iter().all(|name| properties.is_some_and(|all| all.contains_key(*name)));
        self.rule(declared, &format!("required is not declared at {at}"));
        if self.dialect == "gemini" {
            let listed = fields.get("enum").and_then(Value::as_array);
            let plain =
                listed.into_iter().flatten().all(|value| value.is_string() || value.is_number());
            self.rule(plain, &format!("enum at {at}"));
            return;
        }
        self.strict_values(fields, depth, at);
        let types = types(fields);
        if types.contains(&"object") {
            let closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
            self.rule(closed, &format!("open at {at}"));
            self.rule(properties.is_some(), &format!("no properties at {at}"));
            let count = properties.map_or(0, Map::len);
            self.optional += count.saturating_sub(required.len());
            let all = self.dialect == "anthropic" || count == required.len();
            self.rule(all, &format!("not all required at {at}"));
        }
    }

    fn strict_values(&mut self, fields: &Map<String, Value>, depth: usize, at: &str) {
        let types = types(fields);
        let said = !types.is_empty() || fields.contains_key("anyOf") || fields.contains_key("$ref");
        self.rule(said, &format!("no type at {at}"));
        self.unions += usize::from(types.len() > 1 || fields.contains_key("anyOf"));
        let items = !types.contains(&"array") || fields.get("items").is_some_and(Value::is_object);
        self.rule(items, &format!("items at {at}"));
        self.rule(self.dialect == "anthropic" || depth <= 10, "more than 10 levels");
        if let Some(format) = fields.get("format").and_then(Value::as_str) {
            let uri = self.dialect == "anthropic" && format == "uri";
            self.rule(uri || FORMATS.contains(&format), &format!("format {format} at {at}"));
        }
        let pattern = fields.get("pattern").and_then(Value::as_str).unwrap_or_default();
        let looks = ["(?=", "(?!", "(?<"].iter().any(|look| pattern.contains(look));
        self.rule(!looks, "look-around");
        if self.dialect == "anthropic" {
            let least = fields.get("minItems");
            self.rule(least.is_none_or(|least| least == 0 || least == 1), "minItems");
        }
    }

    fn is_recursive<'a>(&'a self, schema: &'a Value, path: &mut Vec<&'a str>) -> bool {
        match schema {
            Value::Object(fields) => {
                fields.iter().any(|(keyword, value)| match (keyword.as_str(), value.as_str()) {
                    ("$ref", Some(to)) => {
                        if path.contains(&to) {
                            return true;
                        }
                        path.push(to);
                        let target = self.root.pointer(to.trim_start_matches('#'));
                        let found = target.is_some_and(|target| self.is_recursive(target, path));
                        path.pop();
                        found
                    }
                    ("$defs", _) => false,
                    _ => self.is_recursive(value, path),
                })
            }
            Value::Array(items) => items.iter().any(|item| self.is_recursive(item, path)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
}

fn types(fields: &Map<String, Value>) -> Vec<&str> {
    match fields.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(many) => many.as_array().unwrap().iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    }
}
