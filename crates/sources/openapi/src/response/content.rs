//! What an answer holds: data, text, pictures, sounds, files.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value};
use toolcrib_core::{Content, Part};
use url::Position;

use super::{ApiResponse, json};
use crate::request::{ContentKind, decoded, essence};

/// Headers that say how to go on; all others are between machines.
const KEPT: &[&str] = &[
    "content-location",
    "content-range",
    "etag",
    "last-modified",
    "link",
    "location",
    "x-next-page",
    "x-total-count",
    "x-total-pages",
];

/// The longest header that is kept, in bytes: a page's link has a few hundred.
const LONGEST_HEADER: usize = 4 * 1024;

/// The longest address of a next page, in bytes.
const LONGEST_ADDRESS: usize = 1_000;

/// The content of an answer, whatever its status.
pub(super) fn content(answer: &ApiResponse) -> Content {
    let mut content = body(answer);
    if content.parts.is_empty() {
        content.parts.push(Part::text(format!("done (HTTP {})", answer.status_line())));
    }
    let kept = KEPT.iter().filter_map(|name| {
        let value = answer.header(name).filter(|value| value.len() <= LONGEST_HEADER)?;
        Some(((*name).to_owned(), Value::from(value)))
    });
    let kept: Map<String, Value> = kept.collect();
    if !kept.is_empty() {
        content.extra.insert("headers".to_owned(), Value::Object(kept));
    }
    content.reminder = reminder(answer);
    content
}

fn reminder(answer: &ApiResponse) -> Option<String> {
    if answer.status == StatusCode::ACCEPTED {
        let text = "The API has accepted this and not finished it yet (202): ask for its state \
                    before you rely on it";
        return Some(text.to_owned());
    }
    let next = next_page(answer.header("link").filter(|link| link.len() <= LONGEST_HEADER)?)?;
    // The reminder is our word and not the API's: nothing but an address gets into it.
    let is_address = next.len() <= LONGEST_ADDRESS && !next.contains(char::is_whitespace);
    let next = answer.url.join(next).ok().filter(|_| is_address)?;
    // Where the API itself is, is between the operator and us.
    let is_here = next.origin() == answer.url.origin();
    let next = if is_here { &next[Position::BeforePath..] } else { next.as_str() };
    Some(format!("This is not all of it; the next page is {next}"))
}

/// The target of `<...>; rel="next"`.
fn next_page(link: &str) -> Option<&str> {
    link.split('<').find_map(|entry| {
        let (target, parameters) = entry.split_once('>')?;
        let is_next = |parameter: &str| {
            let (name, value) = parameter.split_once('=').unwrap_or_default();
            name.trim().eq_ignore_ascii_case("rel")
                && value.trim().trim_matches(['"', ',', ' ']) == "next"
        };
        parameters.split(';').any(is_next).then_some(target)
    })
}

fn body(answer: &ApiResponse) -> Content {
    let bytes = answer.body.as_ref();
    if bytes.is_empty() {
        return Content::default();
    }
    let media = answer.header(CONTENT_TYPE.as_str()).unwrap_or_default();
    let essence = essence(media);
    let kind = if essence.is_empty() { guessed(bytes) } else { ContentKind::of(&essence) };
    match kind {
        // What calls itself JSON and is none (too deep, cut, an error page) is shown as text.
        ContentKind::Json => {
            let text = text(bytes, media);
            match serde_json::from_str(&text) {
                // Data has numbers as far as 64 bits go; the text has every digit.
                Ok(value) => Content {
                    parts: vec![Part::text(json::plain(&text))],
                    structured: Some(value),
                    ..Content::default()
                },
                Err(_) => Content::text(text),
            }
        }
        ContentKind::Text | ContentKind::Form => Content::text(text(bytes, media)),
        ContentKind::Multipart | ContentKind::Bytes => {
            let part = part(answer, essence, BASE64_STANDARD.encode(bytes));
            Content { parts: vec![part], ..Content::default() }
        }
    }
}

/// Without a word about its type, what can be read is shown.
fn guessed(bytes: &[u8]) -> ContentKind {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with(['{', '[']) => ContentKind::Json,
        Ok(text) if !text.contains('\0') => ContentKind::Text,
        Ok(_) | Err(_) => ContentKind::Bytes,
    }
}

fn part(answer: &ApiResponse, mime: String, data: String) -> Part {
    let extra = Map::new();
    if mime.starts_with("image/") {
        Part::Image { data, mime, extra }
    } else if mime.starts_with("audio/") {
        Part::Audio { data, mime, extra }
    } else {
        let mime = if mime.is_empty() { "application/octet-stream".to_owned() } else { mime };
        Part::File { data, mime, name: file_name(answer), extra }
    }
}

/// As the answer names its file, else as the address ends; never a path.
fn file_name(answer: &ApiResponse) -> String {
    let named = answer.header("content-disposition").and_then(disposition_name);
    let last = answer.url.path_segments().and_then(|mut segments| segments.next_back());
    let named = named.or_else(|| last.map(|last| decoded(last).into_owned()));
    let named = named.unwrap_or_default();
    let name = named.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(120).collect();
    if name.trim_matches('.').is_empty() { "response".to_owned() } else { name }
}

/// `filename` or, before it, `filename*` of a `Content-Disposition`.
fn disposition_name(header: &str) -> Option<String> {
    let parameter = |wanted: &str| {
        header.split(';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"'))
        })
    };
    let extended = parameter("filename*").and_then(|value| value.split('\'').nth(2));
    extended
        .map(|value| decoded(value).into_owned())
        .or_else(|| parameter("filename").map(str::to_owned))
}

/// In the character set that the answer names: UTF-8, or the one of old pages.
fn text(bytes: &[u8], media: &str) -> String {
    let media = media.to_ascii_lowercase();
    let is_latin = ["iso-8859-1", "latin1", "windows-1252"].iter().any(|set| media.contains(set));
    if is_latin && std::str::from_utf8(bytes).is_err() {
        return bytes.iter().copied().map(char::from).collect();
    }
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}
