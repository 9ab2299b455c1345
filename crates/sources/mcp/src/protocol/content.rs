//! A block of content as the protocol has it, to a part and back.

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolcrib_core::Part;

use super::json::borrowed_json::{BorrowedFields, BorrowedJson};
use super::json::strict_object::empty_as_objects;

/// One block of content; what we have no shape for is text to a model and stays whole beside it.
pub(crate) fn part(block: Value) -> Part {
    let Value::Object(mut fields) = block else {
        return Part::text(block.to_string());
    };
    empty_as_objects(&mut fields, &["annotations", "_meta"]);
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let made = match kind.as_str() {
        "text" => text(&mut fields),
        "image" | "audio" => media(&mut fields, &kind),
        "resource" => resource(&mut fields),
        "resource_link" => link(&mut fields),
        _ => None,
    };
    made.unwrap_or_else(|| Part::Text {
        text: Value::Object(fields.clone()).to_string(),
        extra: fields,
    })
}

fn text(fields: &mut Map<String, Value>) -> Option<Part> {
    let text = take_text(fields, "text")?;
    fields.shift_remove("type");
    Some(Part::Text { text, extra: std::mem::take(fields) })
}

fn media(fields: &mut Map<String, Value>, kind: &str) -> Option<Part> {
    if !fields.get("mimeType").is_some_and(Value::is_string) {
        return None;
    }
    let data = take_text(fields, "data")?;
    let mime = take_text(fields, "mimeType")?;
    fields.shift_remove("type");
    let extra = std::mem::take(fields);
    Some(match kind {
        "image" => Part::Image { data, mime, extra },
        _ => Part::Audio { data, mime, extra },
    })
}

/// An embedded resource: its text or its bytes are the part, all else about it stays in `extra`.
fn resource(fields: &mut Map<String, Value>) -> Option<Part> {
    let inner = fields.get_mut("resource")?.as_object_mut()?;
    if let Some(text) = take_text(inner, "text") {
        return Some(Part::Text { text, extra: std::mem::take(fields) });
    }
    let data = take_text(inner, "blob")?;
    let known = |key: &str| inner.get(key).and_then(Value::as_str);
    let mime = known("mimeType").unwrap_or("application/octet-stream").to_owned();
    let uri = known("uri").unwrap_or_default();
    let name = uri.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty());
    let name = name.unwrap_or("resource").to_owned();
    Some(Part::File { data, mime, name, extra: std::mem::take(fields) })
}

fn link(fields: &mut Map<String, Value>) -> Option<Part> {
    let uri = take_text(fields, "uri")?;
    let mime = take_text(fields, "mimeType");
    let name = take_text(fields, "name");
    fields.shift_remove("type");
    Some(Part::Link { uri, mime, name, extra: std::mem::take(fields) })
}

fn take_text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    if !fields.get(key)?.is_string() {
        return None;
    }
    match fields.shift_remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Which kinds of blocks the other side can read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockKinds {
    pub(crate) audio: bool,
    pub(crate) links: bool,
}

/// The block that a part was, or the one that says the same; a kind that the other side cannot
/// read becomes words, which it can.
pub(crate) fn block(part: &Part, kinds: BlockKinds) -> BorrowedJson<'_> {
    let typed = |kind| BorrowedFields::default().text("type", kind);
    match part {
        Part::Text { text, extra } => text_block(text, extra),
        Part::Image { data, mime, extra } => {
            typed("image").text("data", data).text("mimeType", mime).besides(extra).end()
        }
        Part::Audio { data, mime, extra } if kinds.audio => {
            typed("audio").text("data", data).text("mimeType", mime).besides(extra).end()
        }
        Part::Link { uri, mime, name, extra } if kinds.links => {
            let name = name.as_ref().unwrap_or(uri);
            let mut link = typed("resource_link").text("uri", uri).text("name", name);
            if let Some(mime) = mime {
                link = link.text("mimeType", mime);
            }
            link.besides(extra).end()
        }
        Part::Audio { .. } | Part::Link { .. } => words(part.in_words()),
        Part::File { data, mime, name, extra } => {
            if let Some(inner) = embedded(extra) {
                return resource_block(extra, inner, "blob", data);
            }
            let uri = format!("toolcrib://result/{}", in_address(name));
            let resource = BorrowedFields::default()
                .text("uri", uri)
                .text("mimeType", mime)
                .text("blob", data);
            typed("resource").and("resource", resource.end()).besides(extra).end()
        }
    }
}

/// A block of nothing but a text.
pub(crate) fn words<'a>(text: impl Into<Cow<'a, str>>) -> BorrowedJson<'a> {
    BorrowedFields::default().text("type", "text").text("text", text).end()
}

/// A text, the text of an embedded resource, or the words of a block that nobody here knows: such
/// a one goes out as words, since a reader that knows it no better would refuse the whole result.
fn text_block<'a>(text: &'a str, extra: &'a Map<String, Value>) -> BorrowedJson<'a> {
    match (extra.get("type").and_then(Value::as_str), embedded(extra)) {
        (Some("resource"), Some(inner)) => resource_block(extra, inner, "text", text),
        (Some(_), _) => words(text),
        (None, _) => {
            BorrowedFields::default().text("type", "text").text("text", text).besides(extra).end()
        }
    }
}

fn embedded(extra: &Map<String, Value>) -> Option<&Map<String, Value>> {
    extra.get("resource")?.as_object()
}

fn resource_block<'a>(
    extra: &'a Map<String, Value>,
    inner: &'a Map<String, Value>,
    key: &'a str,
    value: &'a str,
) -> BorrowedJson<'a> {
    let resource = BorrowedFields::default().text(key, value).besides(inner);
    let block = BorrowedFields::default().text("type", "resource").and("resource", resource.end());
    block.besides(extra).end()
}

/// A name as it may stand in an address.
fn in_address(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().map(|c| if plain(c) { c } else { '_' }).take(200).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALL: BlockKinds = BlockKinds { audio: true, links: true };

    fn block(part: &Part, kinds: BlockKinds) -> Value {
        serde_json::to_value(super::block(part, kinds)).unwrap()
    }

    #[test]
    fn every_known_block_comes_back_with_what_nobody_knows_about_it() {
        let more = json!({ "annotations": { "priority": 0.9 }, "_meta": { "a": 1 }, "x-new": [2] });
        for mut known in [
            json!({ "type": "text", "text": "hi" }),
            json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" }),
            json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }),
            json!({ "type": "resource_link", "uri": "a:b", "name": "n", "size": 3 }),
            json!({ "type": "resource", "resource": { "uri": "a:b", "text": "t", "x-in": 1 } }),
            json!({ "type": "resource", "resource": { "uri": "a:b", "blob": "AAAA" } }),
        ] {
            known.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(block(&part(known.clone()), ALL), known);
        }
    }

    #[test]
    fn what_the_other_side_cannot_read_is_said_in_words() {
        let old = BlockKinds { audio: false, links: false };
        let said = |known: Value| block(&part(known), old);
        let link = json!({ "type": "resource_link", "uri": "a:b", "name": "n" });
        assert_eq!(said(link), json!({ "type": "text", "text": "n: a:b" }));
        let unknown = json!({ "type": "hologram", "light": 1 });
        let words = json!({ "type": "text", "text": unknown.to_string() });
        assert_eq!(block(&part(unknown), ALL), words);
    }
}
