//! What a file says at a place, and where that stands.

use std::borrow::Cow;

use toml_edit::DocumentMut;

use super::WrittenField;
use super::fold::value_at;
use super::path::OverlayPath;
use super::rows::{place, source_ids};
use crate::config::foreign::own_words;
use crate::file::document::TomlDocument;

pub(super) fn at(places: &[&[&str]], text: &str, file: &str) -> Vec<Option<WrittenField>> {
    let own = own_words(text, file);
    let Ok(document) = own.parse::<DocumentMut>() else { return vec![None; places.len()] };
    // Lines of a text that we wrote are in no file.
    let is_of_file = matches!(own, Cow::Borrowed(_));
    let lines = TomlDocument::parse(&own, file).ok().filter(|_| is_of_file);
    let ids = source_ids(&document);
    let written = |keys: &&[&str]| {
        let path = OverlayPath::of(keys);
        let value = value_at(&path, document.as_table()).filter(|value| !value.is_null())?;
        let line = lines.as_ref().map(|lines| lines.line(lines.start(&place(&path, &ids))));
        Some(WrittenField { value, line })
    };
    places.iter().map(written).collect()
}
