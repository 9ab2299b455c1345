//! Media types: which writing each of them asks for, and values written so.

use serde_json::Value;

use super::style::plain;

/// The kinds of bodies there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentKind {
    Json,
    Form,
    Multipart,
    /// Text and XML: sent as the model wrote it.
    Text,
    /// Anything else: bytes, which arguments carry in base64.
    Bytes,
}

/// The type and subtype of a media type in small letters, without its parameters.
pub(crate) fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

impl ContentKind {
    pub(crate) fn of(media: &str) -> Self {
        let essence = essence(media);
        match essence.as_str() {
            "application/x-www-form-urlencoded" => Self::Form,
            "application/xml"
            | "application/graphql"
            | "application/yaml"
            | "application/x-yaml"
            | "application/x-ndjson"
            | "application/jsonl"
            | "application/sql"
            | "application/javascript" => Self::Text,
            other if other.starts_with("multipart/") => Self::Multipart,
            other if other.ends_with("/json") || other.ends_with("+json") => Self::Json,
            other
                if other.starts_with("text/")
                    || other.starts_with("message/")
                    || other.ends_with("+xml") =>
            {
                Self::Text
            }
            other if other.ends_with("+yaml") => Self::Text,
            _ => Self::Bytes,
        }
    }
}

/// The value of a parameter or field that has a media type instead of a style.
pub(crate) fn written(value: &Value, media: &str) -> String {
    if ContentKind::of(media) == ContentKind::Json { value.to_string() } else { plain(value) }
}

/// Whether a media type is in a list such as `image/png, image/*`.
pub(super) fn is_one_of(media: &str, allowed: &str) -> bool {
    let media = essence(media);
    let is_plain = media.split_once('/').is_some_and(|(kind, rest)| {
        let is_token = |text: &str| {
            let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
            !text.is_empty() && text.bytes().all(legal)
        };
        is_token(kind) && is_token(rest)
    });
    is_plain
        && allowed.split(',').map(essence).any(|allowed| {
            allowed == "*/*"
                || allowed == media
                || allowed.strip_suffix('*').is_some_and(|kind| media.starts_with(kind))
        })
}
