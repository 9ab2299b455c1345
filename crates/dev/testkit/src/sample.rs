//! Values that a schema accepts, for calling real tools of which only the schema is known.

use serde_json::{Map, Value, json};
use toolcrib_json::schema::Schema;

/// How much of what a schema leaves open a sample fills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFilling {
    /// What is required and nothing else.
    Least,
    /// Optional fields too, a few levels deep.
    More,
}

/// Deeper than this only required fields are filled in, and recursion gives up.
const DEPTH: usize = 4;
const GIVE_UP: usize = 12;

/// A value that the schema accepts, as far as one can be made without solving it: patterns and
/// the finer formats are guessed at. The same schema always gives the same value.
pub fn sample(schema: &Value, filling: SampleFilling) -> Value {
    Sampler { root: schema, filling }.value(schema, 0)
}

struct Sampler<'a> {
    root: &'a Value,
    filling: SampleFilling,
}

impl Sampler<'_> {
    fn value(&self, schema: &Value, depth: usize) -> Value {
        if depth > GIVE_UP {
            return Value::Null;
        }
        let get = |key: &str| schema.get(key);
        if let Some(target) = get("$ref").and_then(Value::as_str) {
            let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return found.map_or(Value::Null, |found| self.value(found, depth + 1));
        }
        if let Some(known) = get("const").or_else(|| get("enum")?.as_array()?.first()) {
            return known.clone();
        }
        for known in ["example", "default"] {
            if let Some(known) = get(known).filter(|known| !known.is_null()) {
                return known.clone();
            }
        }
        if let Some(known) = get("examples").and_then(|all| all.as_array()?.first()) {
            return known.clone();
        }
        for choice in ["oneOf", "anyOf"] {
            let all = get(choice).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            // In a path or a query `1` is a text too, but `text` is no number.
            let is_text = |one: &&Value| one.get("type").is_some_and(|kind| kind == "string");
            if let Some(one) = all.iter().find(is_text).or_else(|| all.first()) {
                return self.value(&folded(schema, one, choice), depth + 1);
            }
        }
        self.own(schema, depth)
    }

    /// What the schema says beside its alternatives.
    fn own(&self, schema: &Value, depth: usize) -> Value {
        let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        let whole =
            parts.fold(Value::Null, |whole, part| merged(whole, self.value(part, depth + 1)));
        merged(whole, self.typed(schema, depth))
    }

    fn typed(&self, schema: &Value, depth: usize) -> Value {
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().find(|kind| *kind != "null"),
            kind => kind,
        };
        match kind.and_then(Value::as_str) {
            Some("string") => Value::from(string(schema)),
            Some("integer") => format!("{:.0}", bounded(schema, 1.0))
                .parse::<i64>()
                .map_or(Value::Null, Value::from),
            Some("number") => json!(bounded(schema, 1.5)),
            Some("boolean") => Value::Bool(true),
            Some("array") => self.array(schema, depth),
            Some("object") => self.object(schema, depth),
            _ if schema.get("properties").is_some() => self.object(schema, depth),
            _ if schema.get("items").is_some() => self.array(schema, depth),
            _ => Value::Null,
        }
    }

    fn array(&self, schema: &Value, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(10);
        let count = least.max(u64::from(self.filling == SampleFilling::More && depth < DEPTH));
        let item = schema.get("items").map_or(Value::Null, |items| self.value(items, depth + 1));
        (0..count).map(|_| item.clone()).filter(|item| !item.is_null()).collect()
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let empty = Map::new();
        let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required = schema.get("required").and_then(Value::as_array);
        let required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let more = self.filling == SampleFilling::More && depth < DEPTH;
        let wanted = fields.iter().filter(|(name, _)| more || required(name));
        wanted
            .map(|(name, field)| (name.clone(), self.value(field, depth + 1)))
            .filter(|(name, value)| !value.is_null() || required(name))
            .collect()
    }
}

/// A schema with one of its alternatives put into it.
fn folded(schema: &Value, one: &Value, choice: &str) -> Value {
    let (Some(schema), Some(one)) = (schema.as_object(), one.as_object()) else {
        return one.clone();
    };
    let mut folded = schema.clone();
    folded.remove(choice);
    for (keyword, held) in one {
        match (folded.get_mut(keyword), held) {
            (Some(Value::Object(own)), Value::Object(held)) => own.extend(held.clone()),
            (Some(Value::Array(own)), Value::Array(held)) => own.extend(held.iter().cloned()),
            _ => {
                folded.insert(keyword.clone(), held.clone());
            }
        }
    }
    Value::Object(folded)
}

/// Both values where both are objects, else the one that says something.
fn merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            Value::Object(first)
        }
        (Value::Null, second) => second,
        (first, _) => first,
    }
}

fn bounded(schema: &Value, wish: f64) -> f64 {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let above = bound("exclusiveMinimum").map(|least| least + 1.0).or_else(|| bound("minimum"));
    let below = bound("exclusiveMaximum").map(|most| most - 1.0).or_else(|| bound("maximum"));
    let value = wish.max(above.unwrap_or(wish)).min(below.unwrap_or(f64::MAX));
    bound("multipleOf").map_or(value, |step| (value / step).ceil() * step)
}

/// The first of some texts that a pattern takes.
fn fitting(pattern: Option<&Value>) -> &'static str {
    const TEXTS: [&str; 7] = ["text", "1", "1.0.0", "A1", "0123456789abcdef", "a-b", "#a1b2c3"];
    let Some(pattern) = pattern else { return TEXTS[0] };
    let schema = Schema::compile(&json!({ "pattern": pattern }));
    let takes = |text: &&str| schema.as_ref().is_ok_and(|schema| schema.is_valid(&json!(text)));
    TEXTS.into_iter().find(takes).unwrap_or(TEXTS[0])
}

fn string(schema: &Value) -> String {
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-02T03:04:05Z",
        Some("date") => "2026-01-02",
        Some("time") => "03:04:05Z",
        Some("uri" | "url" | "uri-reference") => "https://example.com/a",
        Some("email") => "a@example.com",
        Some("uuid") => "6f1c8f2e-58a4-4c8e-9d2f-0b6a1c2d3e4f",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("hostname") => "example.com",
        Some("byte" | "binary") => "aGVsbG8=",
        _ => fitting(schema.get("pattern")),
    };
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    let least = usize::try_from(length("minLength").unwrap_or(0).min(10_000)).unwrap_or(0);
    let most = length("maxLength").and_then(|most| usize::try_from(most).ok());
    let padded = text.chars().chain(std::iter::repeat('x'));
    let wanted = text.chars().count().max(least).min(most.unwrap_or(usize::MAX));
    padded.take(wanted).collect()
}
