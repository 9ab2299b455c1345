//! `application/x-www-form-urlencoded`.

use serde_json::{Map, Value};

use super::content::written;
use super::encode::Encoding;
use super::style::{EncodedPair, StyleWriter};
use crate::operation::{BodyField, FieldEncoding, ParameterStyle};

/// The pairs of a form, in the order of the arguments; a field that the document does not name is
/// written as one without a word about its encoding.
pub(crate) fn pairs(values: &Map<String, Value>, fields: &[BodyField]) -> Vec<EncodedPair> {
    let plain = FieldEncoding::default();
    let encoding =
        |name: &str| fields.iter().find(|field| field.name == name).map(|field| &field.encoding);
    let written = values.iter().map(|(name, value)| field(name, value, encoding(name), &plain));
    written.flatten().collect()
}

fn field(
    name: &str,
    value: &Value,
    encoding: Option<&FieldEncoding>,
    plain: &FieldEncoding,
) -> Vec<EncodedPair> {
    let encoding = encoding.unwrap_or(plain);
    let is_styled = encoding.style.is_some() || encoding.explode.is_some();
    let one = |text: &str| {
        let (name, value) = (Encoding::Form.apply(name), Some(Encoding::Form.apply(text)));
        vec![EncodedPair { name, value }]
    };
    match (value, &encoding.media) {
        (Value::Null, _) => Vec::new(),
        // A style, once given, has its way over a media type.
        (value, Some(media)) if !is_styled => one(&written(value, media)),
        // Without a word about it an object is JSON, and a list is one field for each item.
        (Value::Object(_), None) if !is_styled => one(&value.to_string()),
        (value, _) => {
            let style = encoding.style.unwrap_or(ParameterStyle::Form);
            let explode = encoding.explode.unwrap_or(matches!(style, ParameterStyle::Form));
            StyleWriter { name, style, explode, encoding: Encoding::Form }.pairs(value)
        }
    }
}

/// Pairs as one text.
pub(crate) fn text(pairs: &[EncodedPair]) -> String {
    let pairs = pairs.iter().map(|EncodedPair { name, value }| match value {
        Some(value) => format!("{name}={value}"),
        None => name.clone(),
    });
    pairs.collect::<Vec<_>>().join("&")
}
