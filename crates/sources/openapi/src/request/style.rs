//! How a value is written in each style: the table of "style values" of the specification, which
//! is RFC 6570 but for `deepObject` and the delimiters.
//!
//! Where the specification is silent: a member that is `null` is left out, as is an empty list; a
//! list or an object within another is written as JSON, but in `deepObject`, which nests
//! (`a[b][c]=1`, `a[]=1` for plain items, `a[0][b]=1` for others, as Stripe, Rails and PHP read).

use serde_json::{Map, Value};

use super::encode::Encoding;
use crate::operation::{OperationParameter, ParameterStyle};

/// A name and a value, both written for their place. `None`: a name that stands alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EncodedPair {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
}

/// How the values of one parameter are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StyleWriter<'a> {
    pub(crate) name: &'a str,
    pub(crate) style: ParameterStyle,
    pub(crate) explode: bool,
    pub(crate) encoding: Encoding,
}

/// A value flattened to texts.
enum FlatValue {
    /// Nothing to write: `null`, or empty.
    Nothing,
    One(String),
    Many(Vec<String>),
    Fields(Vec<(String, String)>),
}

/// A value that is no list and no object, as text; those as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

impl<'a> StyleWriter<'a> {
    pub(crate) fn of(parameter: &'a OperationParameter, encoding: Encoding) -> Self {
        let OperationParameter { name, style, explode, .. } = parameter;
        Self { name, style: *style, explode: *explode, encoding }
    }

    /// The text for one segment of a path or one header; `None`: there is nothing to write.
    pub(crate) fn text(&self, value: &Value) -> Option<String> {
        let shape = self.shape(value);
        Some(match (self.style, shape) {
            (_, FlatValue::Nothing) => return None,
            (ParameterStyle::Label, shape) => {
                let between = if self.explode { "." } else { "," };
                format!(".{}", self.joined(shape, between))
            }
            (ParameterStyle::Matrix, shape) => self.matrix(shape),
            (_, shape) => self.joined(shape, ","),
        })
    }

    /// The pairs of a query, a form or a cookie.
    pub(crate) fn pairs(&self, value: &Value) -> Vec<EncodedPair> {
        if self.style == ParameterStyle::DeepObject {
            let mut pairs = Vec::new();
            self.deep(self.encoding.apply(self.name), value, &mut pairs);
            return pairs;
        }
        let name = self.encoding.apply(self.name);
        let is_raw = self.encoding == Encoding::Raw;
        let delimiter = match self.style {
            ParameterStyle::SpaceDelimited if is_raw => " ",
            ParameterStyle::PipeDelimited if is_raw => "|",
            ParameterStyle::TabDelimited if is_raw => "\t",
            ParameterStyle::SpaceDelimited => "%20",
            ParameterStyle::PipeDelimited => "%7C",
            ParameterStyle::TabDelimited => "%09",
            ParameterStyle::Simple
            | ParameterStyle::Label
            | ParameterStyle::Matrix
            | ParameterStyle::Form
            | ParameterStyle::DeepObject
            | ParameterStyle::Cookie => ",",
        };
        let pair = |name: String, value: String| EncodedPair { name, value: Some(value) };
        match self.shape(value) {
            FlatValue::Nothing => Vec::new(),
            FlatValue::Many(items) if self.explode => {
                items.into_iter().map(|item| pair(name.clone(), item)).collect()
            }
            FlatValue::Fields(fields) if self.explode => {
                fields.into_iter().map(|(name, value)| pair(name, value)).collect()
            }
            shape @ (FlatValue::One(_) | FlatValue::Many(_) | FlatValue::Fields(_)) => {
                vec![pair(name, self.joined(shape, delimiter))]
            }
        }
    }

    fn matrix(&self, shape: FlatValue) -> String {
        let name = self.encoding.apply(self.name);
        let one = |(name, value): (&str, &str)| match value {
            "" => format!(";{name}"),
            value => format!(";{name}={value}"),
        };
        match shape {
            FlatValue::Many(items) if self.explode => {
                items.iter().map(|item| one((&name, item))).collect()
            }
            FlatValue::Fields(fields) if self.explode => {
                fields.iter().map(|(name, value)| one((name, value))).collect()
            }
            shape @ (FlatValue::Nothing
            | FlatValue::One(_)
            | FlatValue::Many(_)
            | FlatValue::Fields(_)) => one((&name, &self.joined(shape, ","))),
        }
    }

    fn joined(&self, shape: FlatValue, between: &str) -> String {
        match shape {
            FlatValue::Nothing => String::new(),
            FlatValue::One(text) => text,
            FlatValue::Many(items) => items.join(between),
            FlatValue::Fields(fields) => {
                let within = if self.explode { "=" } else { between };
                let fields = fields.into_iter().map(|(name, value)| name + within + &value);
                fields.collect::<Vec<_>>().join(between)
            }
        }
    }

    fn shape(&self, value: &Value) -> FlatValue {
        let text = |value: &Value| self.encoding.apply(&plain(value));
        match value {
            Value::Null => FlatValue::Nothing,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => FlatValue::One(text(value)),
            Value::Array(items) => {
                let items: Vec<_> = items.iter().filter(|item| !item.is_null()).map(text).collect();
                if items.is_empty() { FlatValue::Nothing } else { FlatValue::Many(items) }
            }
            Value::Object(fields) => {
                let fields: Vec<_> = present(fields)
                    .map(|(name, value)| (self.encoding.apply(name), text(value)))
                    .collect();
                if fields.is_empty() { FlatValue::Nothing } else { FlatValue::Fields(fields) }
            }
        }
    }

    /// Depth is bounded by what was parsed.
    fn deep(&self, name: String, value: &Value, pairs: &mut Vec<EncodedPair>) {
        // A bracket is no character of a query.
        let (open, close) =
            if self.encoding == Encoding::Raw { ("[", "]") } else { ("%5B", "%5D") };
        let within = |key: &str| format!("{name}{open}{key}{close}");
        match value {
            Value::Null => {}
            Value::Object(fields) => {
                for (key, value) in present(fields) {
                    self.deep(within(&self.encoding.apply(key)), value, pairs);
                }
            }
            Value::Array(items) => {
                let is_plain = |item: &Value| !item.is_array() && !item.is_object();
                let all_plain = items.iter().all(is_plain);
                for (position, item) in items.iter().enumerate() {
                    let key = if all_plain { String::new() } else { position.to_string() };
                    self.deep(within(&key), item, pairs);
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let value = self.encoding.apply(&plain(value));
                pairs.push(EncodedPair { name, value: Some(value) });
            }
        }
    }
}

fn present(fields: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    fields.iter().filter(|(_, value)| !value.is_null())
}

#[cfg(test)]
mod tests;
