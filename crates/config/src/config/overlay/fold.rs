//! The rows of an overlay in the text of a file, whose comments and order stay.

use serde_json::{Map, Value};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike};

use super::path::{OverlayField, OverlayPath};
use super::toml_value::{in_json, in_table, in_toml, source_in_json};
use super::{Overlay, OverlayRow, OverlayStanding};

pub(super) struct FoldedText {
    pub(super) text: String,
    /// In the order of the rows.
    pub(super) standings: Vec<OverlayStanding>,
}

/// `None`: the text is no TOML.
pub(super) fn over(overlay: &Overlay, text: &str, now: u64) -> Option<FoldedText> {
    let mut document: DocumentMut = text.parse().ok()?;
    let is_over = |row: &OverlayRow| row.until.is_some_and(|until| until <= now);
    let lasting = overlay.rows.iter().filter(|row| !is_over(row));
    // Other rows may be about them.
    let added = put_sources(lasting, document.as_table_mut());
    let said: Vec<_> =
        overlay.rows.iter().map(|row| found(&row.path, document.as_table())).collect();
    let mut standings = Vec::with_capacity(overlay.rows.len());
    for (row, said) in overlay.rows.iter().zip(said) {
        let standing = match said {
            _ if is_over(row) => OverlayStanding::Over,
            _ if added.contains(&row.id) => OverlayStanding::InForce,
            _ if row.path.is_source() => OverlayStanding::Landed,
            FileValue::NoOwner => OverlayStanding::Orphan,
            FileValue::Said(said) => standing(row, &said),
        };
        if matches!(standing, OverlayStanding::InForce | OverlayStanding::FileDiffers) {
            put(row, document.as_table_mut());
        }
        standings.push(standing);
    }
    Some(FoldedText { text: document.to_string(), standings })
}

/// What a text says at a place; `null`: nothing, or nothing that can be read.
pub(super) fn said(path: &OverlayPath, text: &str) -> Value {
    let Ok(document) = text.parse::<DocumentMut>() else { return Value::Null };
    value_at(path, document.as_table()).unwrap_or_default()
}

/// What a document says at a place; `None`: there is no such source or profile.
pub(super) fn value_at(path: &OverlayPath, top: &Table) -> Option<Value> {
    match found(path, top) {
        FileValue::Said(value) => Some(value),
        FileValue::NoOwner => None,
    }
}

/// The same at the place of each row; the sources that rows add count as those of the file for the
/// rows that are about them.
pub(super) fn said_of_each(overlay: &Overlay, text: &str) -> Vec<Value> {
    let Ok(document) = text.parse::<DocumentMut>() else {
        return overlay.rows.iter().map(|_| Value::Null).collect();
    };
    let mut whole = document.clone();
    put_sources(overlay.rows.iter(), whole.as_table_mut());
    let said = |row: &OverlayRow| {
        let text = if row.path.is_source() { &document } else { &whole };
        match found(&row.path, text.as_table()) {
            FileValue::Said(value) => value,
            FileValue::NoOwner => Value::Null,
        }
    };
    overlay.rows.iter().map(said).collect()
}

fn standing(row: &OverlayRow, said: &Value) -> OverlayStanding {
    let entries = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let is_said = match row.path.field() {
        Some(OverlayField::Rules(_)) => {
            let (said, wanted) = (entries(said), entries(&row.value));
            !wanted.is_empty() && wanted.iter().all(|entry| said.contains(entry))
        }
        _ => *said == row.value,
    };
    match is_said {
        true => OverlayStanding::Landed,
        false if *said == row.was => OverlayStanding::InForce,
        false => OverlayStanding::FileDiffers,
    }
}

enum FileValue {
    Said(Value),
    /// There is no such source or profile.
    NoOwner,
}

fn found(path: &OverlayPath, top: &Table) -> FileValue {
    let mut at: &dyn TableLike = top;
    let keys = match path.field() {
        None => return FileValue::NoOwner,
        Some(OverlayField::Rules(_)) => path.keys(),
        Some(OverlayField::AddedSource { id }) => {
            return FileValue::Said(source(top, id).map_or(Value::Null, source_in_json));
        }
        Some(OverlayField::Source { id, .. }) => {
            let Some(source) = source(top, id) else { return FileValue::NoOwner };
            at = source;
            path.keys().get(2..).unwrap_or_default()
        }
        Some(OverlayField::Named { table, name, keys }) => {
            let named = top.get(table).and_then(|table| table.as_table_like()?.get(name));
            match named.and_then(Item::as_table_like) {
                Some(named) => at = named,
                None if table == "profile" => return FileValue::NoOwner,
                None => return FileValue::Said(Value::Null),
            }
            keys
        }
    };
    let Some((last, way)) = keys.split_last() else { return FileValue::NoOwner };
    for key in way {
        match at.get(key).and_then(Item::as_table_like) {
            Some(next) => at = next,
            None => return FileValue::Said(Value::Null),
        }
    }
    FileValue::Said(at.get(last).map_or(Value::Null, |item| in_json(item.clone())))
}

fn source<'t>(top: &'t Table, id: &str) -> Option<&'t dyn TableLike> {
    let is_it = |table: &dyn TableLike| table.get("id").and_then(Item::as_str) == Some(id);
    match top.get("source")? {
        Item::ArrayOfTables(tables) => {
            let table = tables.iter().find(|table| is_it(*table))?;
            Some(table)
        }
        Item::Value(toml_edit::Value::Array(items)) => {
            let mut tables = items.iter().filter_map(toml_edit::Value::as_inline_table);
            let table = tables.find(|table| is_it(*table))?;
            Some(table)
        }
        Item::None | Item::Value(_) | Item::Table(_) => None,
    }
}

fn source_mut<'t>(top: &'t mut Table, id: &str) -> Option<&'t mut dyn TableLike> {
    let is_it = |table: &dyn TableLike| table.get("id").and_then(Item::as_str) == Some(id);
    match top.get_mut("source")? {
        Item::ArrayOfTables(tables) => {
            let table = tables.iter_mut().find(|table| is_it(&**table))?;
            Some(table)
        }
        Item::Value(toml_edit::Value::Array(items)) => {
            let mut tables = items.iter_mut().filter_map(toml_edit::Value::as_inline_table_mut);
            let table = tables.find(|table| is_it(&**table))?;
            Some(table)
        }
        Item::None | Item::Value(_) | Item::Table(_) => None,
    }
}

/// Writes the sources that the file does not have behind its own. Gives the rows that did so.
fn put_sources<'r>(rows: impl Iterator<Item = &'r OverlayRow>, top: &mut Table) -> Vec<u64> {
    let mut added = Vec::new();
    for row in rows {
        let Some(OverlayField::AddedSource { id }) = row.path.field() else { continue };
        if source(top, id).is_some() {
            continue;
        }
        let mut members = Map::from_iter([("id".to_owned(), Value::from(id))]);
        let own = row.value.as_object().into_iter().flatten();
        members.extend(own.filter(|(key, _)| *key != "id").map(|(k, v)| (k.clone(), v.clone())));
        let list = top.entry("source").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        match list {
            Item::ArrayOfTables(tables) => tables.push(in_table(&members)),
            Item::Value(toml_edit::Value::Array(items)) => {
                items.extend(in_toml(&Value::Object(members)));
            }
            // What is no list is refused with the file.
            Item::None | Item::Value(_) | Item::Table(_) => continue,
        }
        added.push(row.id);
    }
    added
}

/// Writes a row where it belongs; nothing where there is no such place.
fn put(row: &OverlayRow, top: &mut Table) {
    match row.path.field() {
        // A source is there already.
        None | Some(OverlayField::AddedSource { .. }) => {}
        Some(OverlayField::Rules(key)) => add(key, &row.value, top),
        Some(OverlayField::Source { id, field }) => {
            if let Some(source) = source_mut(top, id) {
                set(source, field, &row.value);
            }
        }
        Some(OverlayField::Named { table, name, keys }) => {
            let way = [table, name].into_iter().chain(keys.iter().map(String::as_str));
            let way: Vec<_> = way.collect();
            let Some((last, way)) = way.split_last() else { return };
            let mut at: &mut dyn TableLike = top;
            for (depth, key) in way.iter().enumerate() {
                if at.get(key).is_none() {
                    at.insert(key, nested(depth == 0));
                }
                match at.get_mut(key).and_then(Item::as_table_like_mut) {
                    Some(next) => at = next,
                    None => return,
                }
            }
            set(at, last, &row.value);
        }
    }
}

/// A table that stands in a text only by what is in it, if it is the outer one.
fn nested(is_outer: bool) -> Item {
    let mut table = Table::new();
    table.set_implicit(is_outer);
    Item::Table(table)
}

fn set(table: &mut dyn TableLike, key: &str, value: &Value) {
    match in_toml(value) {
        // What stands around the value, a comment behind it say, stays.
        Some(mut new) => match table.get_mut(key).and_then(Item::as_value_mut) {
            Some(old) => {
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            None => {
                table.insert(key, Item::Value(new));
            }
        },
        None => {
            table.remove(key);
        }
    }
}

fn add(key: &str, entries: &Value, top: &mut Table) {
    // What is no list is refused with the file.
    let Some(toml_edit::Value::Array(entries)) = in_toml(entries) else {
        return set(top, key, &Value::from("no list"));
    };
    let list = top.entry(key).or_insert_with(|| Item::Value(Array::new().into()));
    let Some(list) = list.as_array_mut() else { return };
    for entry in entries {
        list.push(entry);
    }
}
