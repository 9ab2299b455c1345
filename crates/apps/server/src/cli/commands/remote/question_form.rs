//! The question of a running call: told in words, and filled in by words.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use toolcrib_json::invisible::{exact, exact_json};

/// What is asked and how it is answered, line by line.
pub(crate) fn told(ticket: &str, reason: &str, question: &Value) -> Vec<String> {
    let schema = question.get("requestedSchema").unwrap_or(&Value::Null);
    let fields = schema.get("properties").and_then(Value::as_object);
    let fields = fields.into_iter().flatten();
    let needed = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_needed = |name: &str| needed.iter().any(|needed| needed == name);
    let mut lines = vec![reason.to_owned()];
    let mut example = Vec::new();
    for (name, field) in fields {
        lines.push(format!("- {}", in_words(name, field, is_needed(name))));
        if is_needed(name) {
            example.push(format!(" {name}=VALUE"));
        }
    }
    lines.push(format!("answer it by `toolcrib tickets answer {ticket}{}`", example.concat()));
    lines
}

/// One field: what it is called, takes and means.
fn in_words(name: &str, field: &Value, is_needed: bool) -> String {
    let text = |key: &str| field.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = text("type").unwrap_or("string");
    let mut words = vec![format!("{}: {kind}", exact(name))];
    if !is_needed {
        words.push("may be left out".to_owned());
    }
    words.extend([text("title"), text("description")].into_iter().flatten().map(str::to_owned));
    let values = choices(field);
    if !values.is_empty() {
        words.push(format!("one of {}", values.join(", ")));
    }
    let usual = field.get("default").map(ToString::to_string);
    words.extend(usual.map(|usual| format!("usually {}", exact_json(&usual))));
    words.join("; ")
}

/// The values that a field takes, each with its title; written out, since they are what is sent.
fn choices(field: &Value) -> Vec<String> {
    let items = field.get("items").unwrap_or(&Value::Null);
    let list = |key: &str| field.get(key).or_else(|| items.get(key))?.as_array();
    let named = list("oneOf").or_else(|| list("anyOf")).map(|all| {
        let shown = all.iter().filter_map(|one| {
            let value = plain(one.get("const")?);
            let title = one.get("title").and_then(Value::as_str);
            Some(title.map_or_else(|| value.clone(), |title| format!("{value} ({title})")))
        });
        shown.collect()
    });
    named.or_else(|| list("enum").map(|all| all.iter().map(plain).collect())).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    let json = || exact_json(&value.to_string()).into_owned();
    value.as_str().map_or_else(json, |text| exact(text).into_owned())
}

/// The fields of an answer; what their words mean, the server knows.
pub(crate) fn filled(fields: &[String], content: Option<&str>) -> Result<Value> {
    if let Some(content) = content {
        return serde_json::from_str(content).context("`--content` is no JSON");
    }
    let mut filled = Map::new();
    for field in fields {
        let Some((name, value)) = field.split_once('=') else {
            bail!("`{field}` fills in no field: write `FIELD=VALUE`");
        };
        match filled.get_mut(name) {
            None => _ = filled.insert(name.to_owned(), value.into()),
            Some(Value::Array(several)) => several.push(value.into()),
            Some(one) => *one = vec![one.take(), value.into()].into(),
        }
    }
    Ok(Value::Object(filled))
}
