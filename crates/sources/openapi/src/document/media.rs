//! Media types: which one of several is sent, and how it holds a value.

/// How a body of a media type holds the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MediaKind {
    Json,
    Form,
    Multipart,
    Bytes,
    Text,
    Xml,
}

/// The media type without its parameters, in small letters.
fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(super) fn kind(media: &str) -> MediaKind {
    let essence = essence(media);
    match essence.as_str() {
        "application/x-www-form-urlencoded" => MediaKind::Form,
        "application/json" | "text/json" | "*/*" | "application/*" => MediaKind::Json,
        _ if essence.ends_with("+json") => MediaKind::Json,
        _ if essence.starts_with("multipart/") => MediaKind::Multipart,
        _ if essence.ends_with("/xml") || essence.ends_with("+xml") => MediaKind::Xml,
        "application/yaml"
        | "application/x-yaml"
        | "application/sdp"
        | "application/graphql"
        | "application/javascript"
        | "application/sql" => MediaKind::Text,
        _ if essence.starts_with("text/") || essence.starts_with("message/") => MediaKind::Text,
        _ if essence.ends_with("+yaml") => MediaKind::Text,
        _ => MediaKind::Bytes,
    }
}

pub(super) fn is_json(media: &str) -> bool {
    kind(media) == MediaKind::Json
}

/// The place of a media type among those to choose from: the lowest is sent.
///
/// JSON, form, multipart, bytes, text, XML; of the kinds of JSON the plain one, then a merge
/// patch, which is an object as the fields are, and a list of patches last.
pub(super) fn rank(media: &str) -> (MediaKind, usize) {
    let place = match essence(media).as_str() {
        "application/json"
        | "application/octet-stream"
        | "multipart/form-data"
        | "text/plain"
        | "application/xml" => 0,
        "application/merge-patch+json" => 1,
        "application/json-patch+json" => 8,
        "*/*" | "application/*" => 9,
        _ => 2,
    };
    (kind(media), place)
}

/// What is written as `Content-Type`. A range of bytes such as `image/*` stays: the bytes say what
/// they are, or nothing does.
pub(super) fn sendable(media: &str) -> String {
    match essence(media).as_str() {
        "*/*" | "application/*" => "application/json".to_owned(),
        "text/*" => "text/plain".to_owned(),
        "multipart/*" => "multipart/form-data".to_owned(),
        _ => media.trim().to_owned(),
    }
}

/// Whether a text is a media type at all; it is sent as a header.
pub(super) fn is_media(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic() || c == ' ';
    text.len() <= 200
        && text.split(';').next().is_some_and(|it| it.split('/').count() == 2)
        && text.chars().all(is_plain)
}
