//! The parameter `fields`: `a,b/c,d(e,f)` keeps those parts of an answer and no others.

use serde_json::{Map, Value};

/// What to keep of a field: nothing of its own means all of it.
#[derive(Default)]
struct FieldSelection(Vec<(String, FieldSelection)>);

pub(super) fn select(value: &Value, fields: &str) -> Value {
    let mut rest = fields;
    parse(&mut rest).of(value)
}

/// A list up to its end or a closing bracket.
fn parse(rest: &mut &str) -> FieldSelection {
    let mut all = Vec::new();
    loop {
        let end = rest.find([',', '(', ')', '/']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let inner = match after.chars().next() {
            Some('(') => {
                *rest = after.get(1..).unwrap_or_default();
                let inner = parse(rest);
                *rest = rest.strip_prefix(')').unwrap_or(rest);
                inner
            }
            Some('/') => {
                *rest = after.get(1..).unwrap_or_default();
                let end = rest.find([',', ')']).unwrap_or(rest.len());
                let (mut one, after) = rest.split_at(end);
                let inner = parse(&mut one);
                *rest = after;
                inner
            }
            _ => {
                *rest = after;
                FieldSelection::default()
            }
        };
        all.push((name.to_owned(), inner));
        match rest.strip_prefix(',') {
            Some(more) => *rest = more,
            None => return FieldSelection(all),
        }
    }
}

impl FieldSelection {
    fn of(&self, value: &Value) -> Value {
        if self.0.is_empty() {
            return value.clone();
        }
        match value {
            Value::Array(items) => Value::Array(items.iter().map(|item| self.of(item)).collect()),
            Value::Object(fields) => {
                let mut kept = Map::new();
                for (name, inner) in &self.0 {
                    if let Some(value) = fields.get(name) {
                        kept.insert(name.clone(), inner.of(value));
                    }
                }
                Value::Object(kept)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }
}
