//! A message in parts, as far as Gmail tells of them.

use serde_json::{Value, json};

use super::super::reply::put;
use super::decode;

/// How deep parts lie in one another.
const DEEPEST: usize = 10;

pub(super) struct FakeMessagePart {
    headers: Vec<(String, String)>,
    body: String,
    parts: Vec<FakeMessagePart>,
}

/// A parameter of a header: `name="value"` or without quotes.
fn parameter(header: &str, name: &str) -> Option<String> {
    let found = header.split(';').skip(1).find_map(|it| {
        let (own, value) = it.split_once('=')?;
        own.trim().eq_ignore_ascii_case(name).then_some(value)
    });
    found.map(|value| value.trim().trim_matches('"').to_owned())
}

impl FakeMessagePart {
    pub(super) fn read(text: &str) -> Self {
        Self::within(&text.replace("\r\n", "\n"), 0)
    }

    fn within(text: &str, depth: usize) -> Self {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let unfolded = head.replace("\n ", " ").replace("\n\t", " ");
        let headers = unfolded.lines().filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        let mut this = Self { headers: headers.collect(), body: body.to_owned(), parts: vec![] };
        let kind = this.header("Content-Type").unwrap_or_default().to_owned();
        let boundary = parameter(&kind, "boundary").filter(|_| depth < DEEPEST);
        if let Some(boundary) = boundary.filter(|_| kind.starts_with("multipart/")) {
            let (body, between) = (format!("\n{body}"), format!("\n--{boundary}"));
            let pieces = body.split(&between).skip(1);
            let pieces = pieces.take_while(|piece| !piece.starts_with("--"));
            let pieces = pieces.map(|piece| piece.split_once('\n').map_or("", |(_, rest)| rest));
            this.parts = pieces.map(|piece| Self::within(piece, depth + 1)).collect();
        }
        this
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn text(&self) -> String {
        decode::body(&self.body, self.header("Content-Transfer-Encoding").unwrap_or_default())
    }

    /// What a reader sees of its people, its subject and its texts.
    pub(super) fn words(&self) -> String {
        let shown =
            ["From", "To", "Cc", "Subject"].into_iter().filter_map(|name| self.header(name));
        let mut words: String = shown.map(|header| decode::header(header) + "\n").collect();
        if self.parts.is_empty() && self.media().starts_with("text/") {
            words += &self.text();
        }
        words.extend(self.parts.iter().map(Self::words));
        words
    }

    fn filename(&self) -> String {
        let disposition = self.header("Content-Disposition").unwrap_or_default();
        parameter(disposition, "filename").unwrap_or_default()
    }

    pub(super) fn has_attachments(&self) -> bool {
        !self.filename().is_empty() || self.parts.iter().any(Self::has_attachments)
    }

    /// The first words, escaped as Gmail does it.
    pub(super) fn snippet(&self) -> String {
        if let Some(part) = self.parts.first() {
            return part.snippet();
        }
        let text = self.text();
        let words: Vec<&str> = text.split_whitespace().collect();
        let text: String = words.join(" ").chars().take(200).collect();
        text.replace('&', "&amp;").replace('<', "&lt;").replace('\'', "&#39;")
    }

    fn media(&self) -> &str {
        let kind = self.header("Content-Type").unwrap_or("text/plain");
        kind.split(';').next().unwrap_or_default().trim()
    }

    fn told_headers(&self, wanted: &[&str]) -> Value {
        let is_wanted =
            |name: &str| wanted.is_empty() || wanted.iter().any(|it| it.eq_ignore_ascii_case(name));
        let told = self.headers.iter().filter(|(name, _)| is_wanted(name));
        told.map(|(name, value)| json!({ "name": name, "value": value })).collect()
    }

    pub(super) fn told_metadata(&self, headers: &[&str]) -> Value {
        json!({ "mimeType": self.media(), "headers": self.told_headers(headers) })
    }

    pub(super) fn told(&self, id: &str, number: &mut usize) -> Value {
        let parts: Vec<Value> = self
            .parts
            .iter()
            .map(|part| {
                *number += 1;
                part.told(&number.to_string(), number)
            })
            .collect();
        let mut told = json!({
            "partId": id, "mimeType": self.media(), "filename": self.filename(),
            "headers": self.told_headers(&[]), "body": { "size": self.body.len() },
        });
        if !parts.is_empty() {
            put(&mut told, "parts", Value::Array(parts));
        }
        told
    }
}
