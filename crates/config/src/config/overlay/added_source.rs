//! Sources that are added over a file.

use serde_json::{Map, Value};
use toml_edit::{ArrayOfTables, DocumentMut, Item};
use toolcrib_egress::is_public_by_looks;
use url::Url;

use super::path::OverlayPath;
use super::toml_value::source_in_json;
use crate::secrets::literal_secret::{
    HARMLESS, argument_is_secret, has_known_shape, is_literal_secret,
};

/// Tables of a source that say where its tools are.
const KINDS: [&str; 3] = ["mcp", "openapi", "a2a"];

/// A source as a row has it: its table in the file, without `id`.
#[derive(Debug, Clone, Copy)]
pub struct AddedSource<'v>(&'v Map<String, Value>);

/// What a `crib.toml` has that could be added over a file, and what could not.
#[derive(Debug, Default)]
pub struct AddedSources {
    /// Each as a row would have it.
    pub sources: Vec<(OverlayPath, Value)>,
    /// Keys that are no sources.
    pub others: Vec<String>,
}

/// The sources of a `crib.toml`.
pub fn added_sources(text: &str) -> AddedSources {
    // What is no TOML has no sources.
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    let others = document.iter().map(|(key, _)| key).filter(|key| *key != "source");
    let others = others.map(str::to_owned).collect();
    let tables = document.get("source").and_then(Item::as_array_of_tables);
    let sources = tables.into_iter().flat_map(ArrayOfTables::iter).filter_map(|table| {
        let id = table.get("id").and_then(Item::as_str)?;
        Some((OverlayPath::of_source(id), source_in_json(table)))
    });
    AddedSources { sources: sources.collect(), others }
}

impl<'v> AddedSource<'v> {
    /// `None`: it is no table.
    pub fn of(value: &'v Value) -> Option<Self> {
        value.as_object().map(Self)
    }

    /// Whether it says an id, which belongs into the path of its row.
    pub fn has_id(&self) -> bool {
        self.0.contains_key("id")
    }

    /// What it starts, word for word.
    pub fn command(&self) -> Option<Vec<&'v str>> {
        let words = self.0.get("mcp")?.get("command")?.as_array()?;
        Some(words.iter().filter_map(Value::as_str).collect())
    }

    /// What it asks, or reads.
    pub fn address(&self) -> Option<&'v str> {
        let keys = [("mcp", "url"), ("openapi", "document"), ("a2a", "card")];
        keys.iter().find_map(|(kind, key)| self.0.get(*kind)?.get(*key)?.as_str())
    }

    /// Whether it takes more of this machine than a way to the public network: a program, a file, a
    /// variable, an address of an inner network. What is not known does.
    pub fn uses_machine(&self) -> bool {
        let is_harmless = |(kind, table): (&String, &Value)| match kind.as_str() {
            "mcp" => table.get("url").is_some() && is_remote(table, &["command", "cwd", "env"]),
            "openapi" => table.get("document").is_some_and(is_web) && is_remote(table, &[]),
            "a2a" => is_remote(table, &[]),
            "enabled" | "prefix" | "include" | "exclude" | "validate" | "timeout" | "toolsets"
            | "basics" | "builtin" => !is_of_machine(table),
            _ => false,
        };
        !self.0.iter().all(is_harmless)
    }

    /// The places of what is secret by its looks and stands there word for word.
    pub fn literal_secrets(&self) -> Vec<String> {
        let mut places = Vec::new();
        let kinds = KINDS.iter().chain(&["desk", "builtin"]);
        for (kind, table) in kinds.filter_map(|kind| Some((*kind, self.0.get(*kind)?))) {
            look(kind, table, kind, &mut places);
        }
        places
    }
}

/// Whether a table has neither these keys nor what leads to this machine or its network.
fn is_remote(table: &Value, others: &[&str]) -> bool {
    let has = |key: &str| table.get(key).is_some_and(|value| !value.is_null());
    let keeps_tokens = table.pointer("/oauth/tokens").is_some();
    table.is_object()
        && !others.iter().any(|key| has(key))
        && !has("private")
        && !keeps_tokens
        && !is_of_machine(table)
}

fn is_web(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.starts_with("https://") || text.starts_with("http://"))
}

/// Whether a reference to a file or a variable stands anywhere within, which would be sent to
/// wherever the source is, or an address that is none of the public network by its looks.
fn is_of_machine(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let leads_inside = Url::parse(text).is_ok_and(|url| !is_public_by_looks(&url));
            text.contains("${") || leads_inside
        }
        Value::Array(items) => items.iter().any(is_of_machine),
        Value::Object(members) => members.values().any(is_of_machine),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn look(name: &str, value: &Value, place: &str, places: &mut Vec<String>) {
    match value {
        Value::String(text) if is_literal_secret(name, text) => places.push(place.to_owned()),
        Value::Array(items) => {
            let mut before = "";
            for (index, item) in items.iter().enumerate() {
                let place = format!("{place}[{index}]");
                match item.as_str() {
                    Some(word) if argument_is_secret(before, word) => places.push(place),
                    Some(word) => before = word,
                    None => look(name, item, &place, places),
                }
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let place = format!("{place}.{key}");
                // By its name it holds none, unless it has the shape of one.
                let is_harmless = HARMLESS.contains(&key.as_str());
                match (value.as_str(), value.as_array()) {
                    (Some(text), _) if is_harmless => {
                        places.extend(has_known_shape(text).then_some(place));
                    }
                    (_, Some(items)) if is_harmless => {
                        let mut texts = items.iter().filter_map(Value::as_str);
                        places.extend(texts.any(has_known_shape).then_some(place));
                    }
                    _ => look(key, value, &place, places),
                }
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
