//! Values of JSON as TOML, and back.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};
use toml_edit::{Array, InlineTable, Item, Table, TableLike};
use toolcrib_json::invisible::exact;

use crate::import::quoted;

/// `None` for null, which TOML does not have.
pub(super) fn in_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => in_sight(text).unwrap_or_else(|| text.as_str().into()),
        Value::Array(items) => items.iter().filter_map(in_toml).collect::<Array>().into(),
        Value::Object(members) => {
            let members = members.iter().filter_map(|(key, value)| Some((key, in_toml(value)?)));
            members.collect::<InlineTable>().into()
        }
    })
}

pub(super) fn in_json(item: Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table.into_iter()),
        Item::ArrayOfTables(tables) => {
            let tables = tables.into_iter().map(|table| in_json(Item::Table(table)));
            Value::Array(tables.collect())
        }
    }
}

fn of_table(members: impl Iterator<Item = (impl Into<String>, Item)>) -> Value {
    let members = members.map(|(key, item)| (key.into(), in_json(item)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn of_value(value: toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::String(text.into_value()),
        toml_edit::Value::Integer(number) => Value::Number(number.into_value().into()),
        toml_edit::Value::Float(number) => {
            Number::from_f64(number.into_value()).map_or(Value::Null, Value::Number)
        }
        toml_edit::Value::Boolean(flag) => Value::Bool(flag.into_value()),
        toml_edit::Value::Datetime(time) => Value::String(time.into_value().to_string()),
        toml_edit::Value::Array(items) => Value::Array(items.into_iter().map(of_value).collect()),
        toml_edit::Value::InlineTable(table) => {
            of_table(table.into_iter().map(|(key, value)| (key, Item::Value(value))))
        }
    }
}

/// A text in which nothing is hidden from the eye; `None`: nothing would be.
fn in_sight(text: &str) -> Option<toml_edit::Value> {
    matches!(exact(text), Cow::Owned(_)).then(|| quoted(text).parse().ok()).flatten()
}

/// What the table of a source says beside its id.
pub(super) fn source_in_json(table: &dyn TableLike) -> Value {
    let members = table.iter().filter(|(key, _)| *key != "id");
    of_table(members.map(|(key, item)| (key, item.clone())))
}

/// A table with tables of its own for what is nested, as people write it.
pub(super) fn in_table(members: &Map<String, Value>) -> Table {
    let mut table = Table::new();
    for (key, value) in members {
        let item = match value.as_object() {
            Some(members) => Some(Item::Table(in_table(members))),
            None => in_toml(value).map(Item::Value),
        };
        if let Some(item) = item {
            table.insert(key, item);
        }
    }
    table
}
