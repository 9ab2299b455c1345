//! Which row something is told of.

use toml_edit::{DocumentMut, Item};

use super::path::{OverlayField, OverlayPath};
use super::{Overlay, OverlayRow};
use crate::file::problem::ConfigProblem;
use crate::file::toml_path::TomlPath;

/// The rows by the places that they have in a file.
pub(in crate::config) struct OverlayRows<'o>(Vec<(String, &'o OverlayRow)>);

impl<'o> OverlayRows<'o> {
    /// `text`: the file with the rows. The last row of a place comes first, for it is the one that
    /// holds.
    pub(in crate::config) fn of(overlay: &'o Overlay, text: &str) -> Self {
        let ids = text.parse().map(|document| source_ids(&document)).unwrap_or_default();
        let rows = overlay.rows.iter().rev();
        let rows = rows.map(|row| (place(&row.path, &ids).to_string(), row));
        Self(rows.collect())
    }

    /// Tells it of the row at or above its place, or else of the whole overlay.
    pub(in crate::config) fn place(&self, problem: &mut ConfigProblem) {
        "overlay".clone_into(&mut problem.file);
        problem.column = 1;
        let row = self.0.iter().find_map(|(place, row)| {
            let rest = problem.path.strip_prefix(place.as_str())?;
            (rest.is_empty() || rest.starts_with(['.', '['])).then_some((rest, row))
        });
        let Some((rest, row)) = row else {
            problem.line = 1;
            return;
        };
        problem.line = usize::try_from(row.id).unwrap_or(usize::MAX);
        // Of a whole source the place within it tells more.
        let rest = if row.path.is_source() { rest } else { "" };
        problem.path = format!("{}{rest}", row.path);
        problem.cure = format!("{}, or take the row back", problem.cure);
    }
}

/// The ids of the sources, in the order of the file.
pub(super) fn source_ids(document: &DocumentMut) -> Vec<Option<String>> {
    let id = |item: Option<&Item>| item.and_then(Item::as_str).map(str::to_owned);
    match document.get("source") {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter().map(|table| id(table.get("id"))).collect()
        }
        Some(Item::Value(toml_edit::Value::Array(items))) => {
            let ids = items.iter().map(|item| item.as_inline_table()?.get("id")?.as_str());
            ids.map(|id| id.map(str::to_owned)).collect()
        }
        Some(Item::None | Item::Value(_) | Item::Table(_)) | None => Vec::new(),
    }
}

/// `ids`: those of the sources, in the order of the file.
pub(super) fn place(path: &OverlayPath, ids: &[Option<String>]) -> TomlPath {
    let top = TomlPath::default();
    match path.field() {
        Some(OverlayField::Source { id, field }) => {
            let index = ids.iter().position(|known| known.as_deref() == Some(id));
            top.key("source").index(index.unwrap_or(ids.len())).key(field)
        }
        Some(OverlayField::AddedSource { id }) => {
            let index = ids.iter().position(|known| known.as_deref() == Some(id));
            top.key("source").index(index.unwrap_or(ids.len()))
        }
        Some(OverlayField::Rules(_) | OverlayField::Named { .. }) | None => {
            path.keys().iter().fold(top, |place, key| place.key(key))
        }
    }
}
