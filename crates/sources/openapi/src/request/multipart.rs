//! `multipart/form-data`, with files.

use http::HeaderValue;
use serde_json::{Map, Value};
use toolcrib_core::ToolError;
use uuid::Uuid;

use super::content::{essence, is_one_of, written};
use super::encode::Encoding;
use super::file::{UploadFile, file};
use super::style::{StyleWriter, plain};
use crate::operation::{BodyField, FieldEncoding, ParameterStyle};

/// The parts of a body between their boundaries.
pub(crate) struct Multipart {
    boundary: String,
    body: Vec<u8>,
}

impl Multipart {
    pub(crate) fn new() -> Self {
        // 122 random bits: no content can hold it but by knowing it beforehand.
        Self { boundary: format!("toolcrib-{}", Uuid::new_v4().simple()), body: Vec::new() }
    }

    /// Adds the fields that the arguments give, in their order.
    pub(crate) fn fields(
        &mut self,
        values: &Map<String, Value>,
        fields: &[BodyField],
    ) -> Result<(), ToolError> {
        let unknown = FieldEncoding::default();
        for (name, value) in values {
            let field = fields.iter().find(|field| field.name == *name);
            let encoding = field.map_or(&unknown, |field| &field.encoding);
            let is_joined = encoding.explode == Some(false) && value.is_array();
            let items = match value {
                Value::Null => continue,
                // A list that is one text to the other side is one part.
                Value::Array(_) if is_joined && field.is_none_or(|field| !field.bytes) => {
                    let style = encoding.style.unwrap_or(ParameterStyle::Form);
                    let writing =
                        StyleWriter { name, style, explode: false, encoding: Encoding::Raw };
                    if let Some(joined) = writing.pairs(value).pop().and_then(|pair| pair.value) {
                        self.value(name, &Value::from(joined), encoding);
                    }
                    continue;
                }
                Value::Array(items) => items.as_slice(),
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    std::slice::from_ref(value)
                }
            };
            for item in items {
                match field.filter(|field| field.bytes) {
                    Some(field) => {
                        self.file(name, file(&field.argument, item)?, encoding);
                    }
                    None => self.value(name, item, encoding),
                }
            }
        }
        Ok(())
    }

    fn value(&mut self, name: &str, value: &Value, encoding: &FieldEncoding) {
        let is_json = value.is_object() || value.is_array();
        let media = encoding.media.as_deref().or(is_json.then_some("application/json"));
        let text = media.map_or_else(|| plain(value), |media| written(value, media));
        self.part(name, None, media, text.as_bytes());
    }

    fn file(&mut self, name: &str, file: UploadFile, encoding: &FieldEncoding) {
        let allowed = encoding.media.as_deref().unwrap_or("*/*");
        let media = file.media.filter(|media| is_one_of(media, allowed));
        let first = allowed.split(',').map(str::trim).find(|media| !media.contains('*'));
        let media = media.as_deref().or(first).unwrap_or("application/octet-stream");
        let file_name = file.name.as_deref().unwrap_or(name);
        self.part(name, Some(file_name), Some(media), &file.bytes);
    }

    fn part(&mut self, name: &str, file_name: Option<&str>, media: Option<&str>, content: &[u8]) {
        let media = media.filter(|media| HeaderValue::from_str(media).is_ok());
        let head = [
            format!(
                "--{}\r\nContent-Disposition: form-data; name=\"{}\"",
                self.boundary,
                quoted(name)
            ),
            file_name.map(|name| format!("; filename=\"{}\"", quoted(name))).unwrap_or_default(),
            media.map(|media| format!("\r\nContent-Type: {media}")).unwrap_or_default(),
            "\r\n\r\n".to_owned(),
        ];
        let head = head.concat();
        self.body.extend_from_slice(head.as_bytes());
        self.body.extend_from_slice(content);
        self.body.extend_from_slice(b"\r\n");
    }

    /// The media type with its boundary, and the body.
    pub(crate) fn finish(mut self, media: &str) -> (String, Vec<u8>) {
        self.body.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        (format!("{}; boundary={}", essence(media), self.boundary), self.body)
    }
}

/// As browsers write names: what would end the quotes or the line is percent-encoded.
fn quoted(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '"' => quoted.push_str("%22"),
            // Browsers leave it, and some servers let it take the closing quote with it.
            '\\' => quoted.push_str("%5C"),
            '\r' => quoted.push_str("%0D"),
            '\n' => quoted.push_str("%0A"),
            other if other.is_control() => quoted.push('_'),
            other => quoted.push(other),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_name_and_no_content_begins_another_part() {
        let names = ["a\r\n\r\nb", "a\"; filename=\"b", "a\\", "a\0\u{85}b", "a\r\n--toolcrib-x--"];
        let mut values = Map::new();
        for name in names {
            values.insert(name.to_owned(), json!({"data": "LS10b29sY3JpYi0NCg0K", "name": name}));
        }
        let field = |name: &str| BodyField {
            argument: name.to_owned(),
            name: name.to_owned(),
            encoding: FieldEncoding::default(),
            bytes: true,
        };
        let mut parts = Multipart::new();
        parts.fields(&values, &names.map(field)).unwrap();
        parts.fields(&values, &[]).unwrap();
        let (media, body) = parts.finish("multipart/form-data; boundary=x; a=\"\r\n\"");
        let boundary = media.strip_prefix("multipart/form-data; boundary=").unwrap();
        let body = String::from_utf8(body).unwrap();
        let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
        // What is before the first and behind the last is empty.
        assert_eq!((parts.len(), parts[0], parts[11]), (12, "", "--\r\n"));
        let names =
            ["a%0D%0A%0D%0Ab", "a%22; filename=%22b", "a%5C", "a__b", "a%0D%0A--toolcrib-x--"];
        for (part, name) in parts[1..6].iter().zip(names) {
            let expected = format!(
                "\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n--toolcrib-\r\n\r\n\r\n"
            );
            assert_eq!(*part, expected);
        }
        for (part, name) in parts[6..11].iter().zip(names) {
            let head = format!("\r\nContent-Disposition: form-data; name=\"{name}\"\r\n");
            assert!(part.starts_with(&head), "{part}");
        }
    }
}
