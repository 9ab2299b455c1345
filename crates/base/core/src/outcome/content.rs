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

/// Where in a result an excerpt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentPath<'a> {
    Parts,
    /// Its number, from zero.
    Part(usize),
    /// A JSON pointer into the data.
    Data(&'a str),
}

impl<'a> ContentPath<'a> {
    /// As somebody asks for it; who asks for both has the part.
    pub fn of(part: Option<usize>, path: Option<&'a str>) -> Self {
        match (part, path) {
            (Some(part), _) => Self::Part(part),
            (None, Some(path)) => Self::Data(path),
            (None, None) => Self::Parts,
        }
    }
}

impl Content {
    /// What it is made of, part by part; `None`: of one text, perhaps with data beside it.
    pub fn inventory(&self) -> Option<String> {
        let is_text = |part: &Part| matches!(part, Part::Text { .. });
        if self.parts.len() < 2 && self.parts.iter().all(is_text) {
            return None;
        }
        let parts = self.parts.iter().enumerate().take(MOST_TOLD);
        let mut lines: Vec<_> =
            parts.map(|(number, part)| format!("part {number}: {}", part.told())).collect();
        if self.parts.len() > MOST_TOLD {
            lines.push(format!("and {} more parts", self.parts.len() - MOST_TOLD));
        }
        lines.extend(self.structured.is_some().then(|| "data: read it with `path`".to_owned()));
        Some(lines.join("; "))
    }

    /// At most `limit` letters from `offset`: of all parts, of which those that are no text stand
    /// in base64, or of one of them, or of the data. `None`: there is no such part or no such data.
    pub fn excerpt(&self, offset: usize, limit: usize, place: &ContentPath<'_>) -> Option<Excerpt> {
        let text = match place {
            ContentPath::Parts => self.parts.iter().map(Part::raw).collect::<Vec<_>>().join("\n\n"),
            ContentPath::Part(number) => self.parts.get(*number)?.raw(),
            ContentPath::Data(path) => self.structured.as_ref()?.pointer(path)?.to_string(),
        };
        // Letters and not bytes, so that no piece begins within one.
        let piece: String = text.chars().skip(offset).take(limit).collect();
        let total = text.chars().count();
        let end = offset.saturating_add(piece.chars().count());
        Some(Excerpt { text: piece, offset, total, next: (end < total).then_some(end) })
    }
}

/// One piece of a result. `extra` keeps what the origin said besides (annotations, notes for programs).
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

    /// What it is and how long it is when it is read in pieces.
    fn told(&self) -> String {
        let letters = self.raw().chars().count();
        match self {
            Self::Text { .. } => format!("text, {letters} letters"),
            Self::Image { mime, .. } | Self::Audio { mime, .. } | Self::File { mime, .. } => {
                format!("{mime} in base64, {letters} letters")
            }
            Self::Link { .. } => format!("a link, {letters} letters"),
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

/// Parts that an inventory names.
const MOST_TOLD: usize = 32;

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
