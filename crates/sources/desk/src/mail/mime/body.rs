//! The text of a message that a person would read, whatever its parts are (RFC 2046).

use std::borrow::Cow;

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::decode::{TransferEncoding, text};
use super::format_flowed::joined;
use super::html;

/// Parts in one another whose text is looked for: each is a step of the stack.
const DEEPEST: usize = 100;

/// What a part is to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MimePartKind {
    Plain,
    Html,
    Other,
}

/// What stands around a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MimeContainer {
    Nothing,
    Alternatives,
    Parts,
}

/// The text of a message, not yet cut; empty if there is none.
pub(super) fn body(message: &Message<'_>) -> String {
    let found = shown(message, 0, MimeContainer::Nothing, DEEPEST);
    if !is_blank(&found) {
        return found;
    }
    // Better what a page says in place of its pictures, or what came with it, than nothing.
    let parts = message.parts.iter();
    let texts = parts.map(|part| match (&part.body, kind(part)) {
        (PartType::Html(_), _) | (_, MimePartKind::Html) => {
            html::alternatives(&decoded(message, part))
        }
        (PartType::Message(inner), _) => enclosed(inner, DEEPEST),
        _ => String::new(),
    });
    let mut texts = texts.filter(|text| !is_blank(text));
    texts.next().unwrap_or_default()
}

/// The text of a part and what stands in it.
fn shown(message: &Message<'_>, id: usize, around: MimeContainer, depth: usize) -> String {
    let Some(part) = message.parts.get(id) else { return String::new() };
    let PartType::Multipart(children) = &part.body else {
        return if is_shown(part, id, around) { leaf(message, part) } else { String::new() };
    };
    let Some(depth) = depth.checked_sub(1) else { return String::new() };
    let sub = part.content_type().and_then(|kind| kind.c_subtype.as_deref());
    let sub = sub.unwrap_or_default().to_ascii_lowercase();
    let around =
        if sub == "alternative" { MimeContainer::Alternatives } else { MimeContainer::Parts };
    let ids = children.iter().filter_map(|id| usize::try_from(*id).ok()).filter(|it| *it > id);
    let texts = ids.map(|id| (id, shown(message, id, around, depth)));
    let texts = texts.filter(|(_, text)| !is_blank(text));
    match sub.as_str() {
        "alternative" => best(message, texts.collect()),
        // The root is the first; the others are its pictures.
        "related" => texts.map(|(_, text)| text).next().unwrap_or_default(),
        _ => texts.map(|(_, text)| text).collect::<Vec<_>>().join("\n\n"),
    }
}

/// Of alternatives the last one in plain text, and else the last.
fn best(message: &Message<'_>, texts: Vec<(usize, String)>) -> String {
    let is_plain = |id: usize| message.parts.get(id).is_some_and(|part| is_plain(message, part, 0));
    let at = texts.iter().rposition(|(id, _)| is_plain(*id));
    let at = at.or_else(|| texts.len().checked_sub(1));
    at.and_then(|at| texts.into_iter().nth(at)).map(|(_, text)| text).unwrap_or_default()
}

fn is_plain(message: &Message<'_>, part: &MessagePart<'_>, depth: usize) -> bool {
    match &part.body {
        PartType::Multipart(children) if depth < 8 => {
            let first = children.first().and_then(|id| usize::try_from(*id).ok());
            let first = first.and_then(|id| message.parts.get(id));
            first.is_some_and(|first| is_plain(message, first, depth + 1))
        }
        PartType::Text(_)
        | PartType::Html(_)
        | PartType::Binary(_)
        | PartType::InlineBinary(_)
        | PartType::Message(_)
        | PartType::Multipart(_) => kind(part) == MimePartKind::Plain,
    }
}

/// Whether a part is of the text and no file beside it.
fn is_shown(part: &MessagePart<'_>, id: usize, around: MimeContainer) -> bool {
    if kind(part) == MimePartKind::Other {
        return false;
    }
    let disposition = part.content_disposition();
    match around {
        MimeContainer::Nothing | MimeContainer::Alternatives => true,
        MimeContainer::Parts
            if disposition.is_some_and(mail_parser::ContentType::is_attachment) =>
        {
            false
        }
        // A text with a name is a file, but for the first part.
        MimeContainer::Parts => {
            id == 1 || disposition.is_some() || part.attachment_name().is_none()
        }
    }
}

/// Whether a part that could not be decoded as it should be is the text of its message all the
/// same, and no file.
pub(super) fn is_text(message: &Message<'_>, part: &MessagePart<'_>) -> bool {
    let at = message.parts.iter().position(|it| std::ptr::eq(it, part));
    let is_alone = message.parts.len() == 1;
    let around = if is_alone { MimeContainer::Nothing } else { MimeContainer::Parts };
    let is_first = at.is_some_and(|at| at <= 1);
    part.is_encoding_problem
        && at.is_some_and(|at| is_shown(part, at, around))
        && (is_first || part.attachment_name().is_none())
}

fn kind(part: &MessagePart<'_>) -> MimePartKind {
    let Some(media) = part.content_type() else {
        return match part.body {
            PartType::Text(_) => MimePartKind::Plain,
            PartType::Html(_) => MimePartKind::Html,
            PartType::Binary(_)
            | PartType::InlineBinary(_)
            | PartType::Message(_)
            | PartType::Multipart(_) => MimePartKind::Other,
        };
    };
    let sub = media.c_subtype.as_deref().unwrap_or("plain");
    match (media.c_type.to_ascii_lowercase().as_str(), sub.to_ascii_lowercase().as_str()) {
        ("text", "html") => MimePartKind::Html,
        ("text", "plain") => MimePartKind::Plain,
        // Several parts in which none was found are the text that stands there.
        ("multipart", _) if matches!(part.body, PartType::Text(_)) => MimePartKind::Plain,
        _ => MimePartKind::Other,
    }
}

fn leaf(message: &Message<'_>, part: &MessagePart<'_>) -> String {
    let text = decoded(message, part);
    if kind(part) == MimePartKind::Html {
        return html::to_text(&text);
    }
    let attribute = |name: &str| part.content_type().and_then(|kind| kind.attribute(name));
    let is = |name: &str, value: &str| {
        attribute(name).is_some_and(|it| it.trim().eq_ignore_ascii_case(value))
    };
    if is("format", "flowed") {
        return joined(&text, is("delsp", "yes"));
    }
    text.into_owned()
}

/// The text of a part, decoded around what is broken in it.
fn decoded<'a>(message: &'a Message<'_>, part: &'a MessagePart<'_>) -> Cow<'a, str> {
    let charset = part.content_type().and_then(|kind| kind.attribute("charset"));
    match travelled(message, part) {
        Some(raw) => {
            let travels = TransferEncoding::read(part.content_transfer_encoding());
            Cow::Owned(text(&travels.bytes(raw), charset))
        }
        None => match &part.body {
            PartType::Text(text) | PartType::Html(text) => Cow::Borrowed(text),
            PartType::Binary(_)
            | PartType::InlineBinary(_)
            | PartType::Message(_)
            | PartType::Multipart(_) => Cow::Borrowed(""),
        },
    }
}

/// The bytes of a file beside the text; texts are UTF-8.
pub(super) fn contents<'a>(message: &'a Message<'_>, part: &'a MessagePart<'_>) -> Cow<'a, [u8]> {
    let travels = TransferEncoding::read(part.content_transfer_encoding());
    match (&part.body, travelled(message, part)) {
        (PartType::Text(_) | PartType::Html(_), _) if kind(part) != MimePartKind::Other => {
            match decoded(message, part) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            }
        }
        (_, Some(raw)) if part.is_encoding_problem => travels.bytes(raw),
        _ => Cow::Borrowed(part.contents()),
    }
}

/// The bytes of a part as they travelled.
fn travelled<'a>(message: &'a Message<'_>, part: &MessagePart<'_>) -> Option<&'a [u8]> {
    let place = |at: u32| usize::try_from(at).ok();
    message.raw_message.get(place(part.offset_body)?..place(part.offset_end)?)
}

/// A message within another, with who wrote it.
fn enclosed(inner: &Message<'_>, depth: usize) -> String {
    let found = shown(inner, 0, MimeContainer::Nothing, depth.saturating_sub(1));
    if is_blank(&found) {
        return found;
    }
    let from = inner.from().and_then(|from| from.first()).and_then(|from| from.address());
    let from = from.map(|from| format!(" from {from}")).unwrap_or_default();
    let subject = inner.subject().map(|subject| format!(": {subject}")).unwrap_or_default();
    format!("[attached message{from}{subject}]\n{found}")
}

/// Whether nobody would see anything of a text.
fn is_blank(text: &str) -> bool {
    text.chars().all(|letter| {
        let is_unseen = matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
                | '\u{feff}' | '\u{ffa0}'
        );
        letter.is_whitespace() || letter.is_control() || is_unseen
    })
}
