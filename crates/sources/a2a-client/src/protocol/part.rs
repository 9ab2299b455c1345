//! A piece of what is said: words, a file, data.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::json::{field, set, text};
use super::wire::WireForm;

/// One piece of a message or of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePart {
    pub content: PartContent,
    pub name: Option<String>,
    /// The media type, where it is said.
    pub media: Option<String>,
    pub metadata: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PartContent {
    Text(String),
    /// The bytes of a file, in base64 as they came.
    Bytes(String),
    /// Where a file is.
    Address(String),
    /// Any JSON.
    Data(Value),
    /// A kind of part that nobody here knows, as it came.
    Unknown(Value),
}

impl MessagePart {
    pub fn new(content: PartContent) -> Self {
        Self { content, name: None, media: None, metadata: None }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()))
    }

    /// A part of either version; one that is none of them is kept as it came. `form`: how the agent
    /// writes, which a part does not tell in all of its kinds.
    pub fn read(value: &Value, form: WireForm) -> Self {
        let of_file = ["file", "fileUrl"].iter().find_map(|name| field(value, &[name]));
        let source = of_file.filter(|file| file.is_object()).unwrap_or(value);
        Self {
            content: content(value, source, form),
            name: text(source, &["filename", "name"]).or_else(|| text(value, &["filename"])),
            media: text(source, &["mediaType", "mimeType", "media_type"])
                .or_else(|| text(value, &["mediaType"])),
            metadata: field(value, &["metadata"]).cloned(),
        }
    }

    pub fn write(&self, form: WireForm) -> Value {
        if let PartContent::Unknown(value) = &self.content {
            return value.clone();
        }
        let mut fields = Map::new();
        match form {
            WireForm::Current => {
                let (name, value) = match &self.content {
                    PartContent::Text(text) => ("text", Value::from(text.as_str())),
                    PartContent::Bytes(bytes) => ("raw", Value::from(bytes.as_str())),
                    PartContent::Address(url) => ("url", Value::from(url.as_str())),
                    PartContent::Data(data) | PartContent::Unknown(data) => ("data", data.clone()),
                };
                fields.insert(name.to_owned(), value);
                set(&mut fields, "filename", self.name.as_deref());
                set(&mut fields, "mediaType", self.media.as_deref());
            }
            WireForm::Kinds => {
                let kind = match &self.content {
                    PartContent::Text(_) => "text",
                    PartContent::Bytes(_) | PartContent::Address(_) => "file",
                    PartContent::Data(_) | PartContent::Unknown(_) => "data",
                };
                fields.insert("kind".to_owned(), kind.into());
                self.write_old(&mut fields, ("bytes", "uri"));
            }
            WireForm::OldProto => self.write_old(&mut fields, ("fileWithBytes", "fileWithUri")),
        }
        set(&mut fields, "metadata", self.metadata.clone());
        Value::Object(fields)
    }

    /// `names`: of the bytes of a file, and of its address.
    fn write_old(&self, fields: &mut Map<String, Value>, (bytes, address): (&str, &str)) {
        let (name, value) = match &self.content {
            PartContent::Text(text) => ("text", Value::from(text.as_str())),
            PartContent::Bytes(data) => ("file", self.old_file(bytes, data)),
            PartContent::Address(url) => ("file", self.old_file(address, url)),
            PartContent::Data(data) | PartContent::Unknown(data) => {
                // 0.3 has objects alone there.
                let data =
                    if data.is_object() { data.clone() } else { json!({ "value": data.clone() }) };
                let is_proto = bytes == "fileWithBytes";
                ("data", if is_proto { json!({ "data": data }) } else { data })
            }
        };
        fields.insert(name.to_owned(), value);
    }

    fn old_file(&self, name: &str, value: &str) -> Value {
        let mut file = Map::from_iter([(name.to_owned(), Value::from(value))]);
        set(&mut file, "mimeType", self.media.as_deref());
        set(&mut file, "name", self.name.as_deref());
        Value::Object(file)
    }

    /// Bytes that it takes in memory, about.
    pub fn size(&self) -> usize {
        let said = match &self.content {
            PartContent::Text(text) | PartContent::Bytes(text) | PartContent::Address(text) => {
                text.len()
            }
            PartContent::Data(value) | PartContent::Unknown(value) => value.to_string().len(),
        };
        let metadata = self.metadata.as_ref().map_or(0, |metadata| metadata.to_string().len());
        said + metadata + self.name.as_ref().map_or(0, String::len)
    }
}

/// `source`: the file that the part holds, where it holds one, else the part.
fn content(part: &Value, source: &Value, form: WireForm) -> PartContent {
    let said = |names: &[&str]| field(source, names).and_then(Value::as_str).map(str::to_owned);
    if let Some(text) = field(part, &["text"]).and_then(Value::as_str) {
        return PartContent::Text(text.to_owned());
    }
    if let Some(bytes) = said(&["raw", "bytes"]) {
        return PartContent::Bytes(bytes);
    }
    if let Some(bytes) = said(&["fileWithBytes", "file_with_bytes"]) {
        return PartContent::Bytes(once(bytes));
    }
    if let Some(address) = said(&["url", "uri", "fileWithUri", "file_with_uri"]) {
        return PartContent::Address(address);
    }
    match part.as_object().and_then(|fields| fields.get("data")) {
        // The protocol buffers of 0.3 have a `data` in their `data`.
        Some(Value::Object(fields)) if form == WireForm::OldProto && fields.len() == 1 => {
            let inner = fields.get("data").cloned();
            PartContent::Data(inner.unwrap_or_else(|| Value::Object(fields.clone())))
        }
        Some(data) => PartContent::Data(data.clone()),
        None => PartContent::Unknown(part.clone()),
    }
}

/// What is packed in base64 twice, packed once: the SDK in Python sends files so in 0.3 over HTTP
/// (`proto_utils.py` of its 0.3 takes the text for the bytes).
fn once(bytes: String) -> String {
    let inner = BASE64_STANDARD.decode(&bytes).ok().and_then(|inner| String::from_utf8(inner).ok());
    let is_packed = |inner: &String| inner.len() >= 4 && BASE64_STANDARD.decode(inner).is_ok();
    inner.filter(is_packed).unwrap_or(bytes)
}
