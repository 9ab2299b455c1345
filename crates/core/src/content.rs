//! What a tool gives back.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The result of a call: parts for the model, data for programs, sources for citations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The same result as data, for callers that read data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// What the parts rest on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// A word to the model that is not part of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder: Option<String>,
    /// What the origin said besides, kept whole.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A part of a large result's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    pub text: String,
    /// Letters before it.
    pub offset: usize,
    /// Letters of the whole text.
    pub total: usize,
    /// Where the next piece begins; `None` after the last.
    pub next: Option<usize>,
}

impl Content {
    /// At most `limit` letters from `offset`: of all parts, of which those that are no text stand
    /// in base64, or of the data at a JSON pointer. `None`: there is nothing at the pointer.
    pub fn excerpt(&self, offset: usize, limit: usize, path: Option<&str>) -> Option<Excerpt> {
        let text = match path {
            None => self.parts.iter().map(Part::raw).collect::<Vec<_>>().join("\n\n"),
            Some(path) => self.structured.as_ref()?.pointer(path)?.to_string(),
        };
        // Letters and not bytes, so that no piece begins within one.
        let piece: String = text.chars().skip(offset).take(limit).collect();
        let total = text.chars().count();
        let end = offset.saturating_add(piece.chars().count());
        Some(Excerpt { text: piece, offset, total, next: (end < total).then_some(end) })
    }
}

/// One piece of a result. `extra` keeps what the origin said besides (annotations, `_meta`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text {
        text: String,
        #[serde(skip_serializing_if = "Map::is_empty", default)]
        extra: Map<String, Value>,
    },
    /// `data` in base64.
    Image {
        data: String,
        mime: String,
        #[serde(skip_serializing_if = "Map::is_empty", default)]
        extra: Map<String, Value>,
    },
    Audio {
        data: String,
        mime: String,
        #[serde(skip_serializing_if = "Map::is_empty", default)]
        extra: Map<String, Value>,
    },
    /// A file with its bytes (base64) and a name.
    File {
        data: String,
        mime: String,
        name: String,
        #[serde(skip_serializing_if = "Map::is_empty", default)]
        extra: Map<String, Value>,
    },
    /// Something that can be read elsewhere.
    Link {
        uri: String,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mime: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<String>,
        #[serde(skip_serializing_if = "Map::is_empty", default)]
        extra: Map<String, Value>,
    },
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), extra: Map::new() }
    }

    /// Bytes that this part would add to a request.
    pub fn size(&self) -> usize {
        match self {
            Self::Text { text, .. } => text.len(),
            Self::Image { data, mime, .. } | Self::Audio { data, mime, .. } => {
                data.len() + mime.len()
            }
            Self::File { data, mime, name, .. } => data.len() + mime.len() + name.len(),
            Self::Link { uri, mime, name, .. } => {
                let known = [mime, name].into_iter().flatten();
                uri.len() + known.map(String::len).sum::<usize>()
            }
        }
    }

    /// The text, or the data in base64.
    fn raw(&self) -> String {
        match self {
            Self::Text { text, .. } => text.clone(),
            Self::Image { data, .. } | Self::Audio { data, .. } | Self::File { data, .. } => {
                data.clone()
            }
            Self::Link { .. } => self.in_words(),
        }
    }

    /// What a model that cannot be shown this part is told instead.
    pub fn in_words(&self) -> String {
        match self {
            Self::Text { text, .. } => text.clone(),
            Self::Image { data, mime, .. } => omitted("image", mime, data.len()),
            Self::Audio { data, mime, .. } => omitted("audio", mime, data.len()),
            Self::File { data, mime, name, .. } => {
                omitted(&format!("file `{name}`"), mime, data.len())
            }
            Self::Link { uri, name: Some(name), .. } => format!("{name}: {uri}"),
            Self::Link { uri, name: None, .. } => uri.clone(),
        }
    }
}

fn omitted(what: &str, mime: &str, base64: usize) -> String {
    format!("[{what} ({mime}, {} bytes) is not shown here]", base64 / 4 * 3)
}

/// A source of what a result says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reference {
    /// The same id is the same source, across the calls of a run.
    pub id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The passage itself, shown to the model under its number.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl Content {
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::text(text)], ..Self::default() }
    }

    /// Data, and its JSON text for models.
    pub fn json(value: Value) -> Self {
        Self {
            parts: vec![Part::text(value.to_string())],
            structured: Some(value),
            ..Self::default()
        }
    }
}

/// What a function may return as a tool's result. Wrap a type of your own in `Json`.
pub trait IntoContent {
    fn into_content(self) -> Content;
}

/// Any serialisable value as a result: data, and its JSON text.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoContent for Json<T> {
    fn into_content(self) -> Content {
        // What serde refuses (a map whose keys are no strings) has no JSON at all.
        Content::json(serde_json::to_value(self.0).unwrap_or(Value::Null))
    }
}

impl IntoContent for Content {
    fn into_content(self) -> Content {
        self
    }
}

impl IntoContent for String {
    fn into_content(self) -> Content {
        Content::text(self)
    }
}

impl IntoContent for &str {
    fn into_content(self) -> Content {
        Content::text(self)
    }
}

impl IntoContent for () {
    fn into_content(self) -> Content {
        Content::text("done")
    }
}

impl IntoContent for Value {
    fn into_content(self) -> Content {
        Content::json(self)
    }
}

macro_rules! as_json {
    ($($number:ty),*) => {$(
        impl IntoContent for $number {
            fn into_content(self) -> Content {
                Content::json(Value::from(self))
            }
        }
    )*};
}
as_json!(bool, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64);
