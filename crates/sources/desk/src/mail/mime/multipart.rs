//! Files beside a text: what may be sent along, and each as a part in base64.

use std::fmt::Write;

use encodify::hex::PERCENT;
use mail_builder::headers::HeaderType;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::raw::Raw;
use mail_builder::mime::{BodyPart, MimePart};

use super::header::{looks_encoded, one_line};
use super::write_error::MimeWriteError;
use crate::backend::MailFile;

/// Files of one message.
pub(crate) const MOST_FILES: usize = 20;
/// Bytes of all of them: a third more as base64, they still fit into what most servers take.
pub(crate) const MOST_BYTES: usize = 20 << 20;
/// Bytes of a name.
const LONGEST_NAME: usize = 1000;
/// Bytes of one piece of a name, so that its line is one of 78 at the most.
const PIECE: usize = 18;
/// Bytes of a media type: RFC 6838, 4.2, has 127 for each of its halves.
const LONGEST_MEDIA: usize = 127;
/// What is said of bytes of which nothing else can be said.
pub(crate) const BYTES: &str = "application/octet-stream";

/// Whether there are few files, and small ones.
pub(super) fn check(files: &[MailFile]) -> Result<(), MimeWriteError> {
    let bytes = files.iter().map(|file| file.bytes.len()).fold(0, usize::saturating_add);
    if files.len() > MOST_FILES || bytes > MOST_BYTES {
        return Err(MimeWriteError::Files);
    }
    if files.iter().any(|file| file.name.len() > LONGEST_NAME) {
        return Err(MimeWriteError::TooLong("name of an attachment"));
    }
    Ok(())
}

/// A file as a part.
pub(super) fn part(file: &MailFile) -> MimePart<'_> {
    let charset = file.media.starts_with("text/") && std::str::from_utf8(&file.bytes).is_ok();
    let media = if is_media(&file.media) { &*file.media } else { BYTES };
    let charset = if charset { "; charset=utf-8" } else { "" };
    // Said as it stands, or a text would be written as one: a server may change its line breaks.
    let media = HeaderType::Raw(Raw::new(format!("{media}{charset}")));
    let headers =
        vec![("Content-Type".into(), media), ("Content-Disposition".into(), named(&file.name))];
    MimePart { headers, contents: BodyPart::Binary(file.bytes.as_slice().into()) }
}

/// Whether a text is a media type of bytes: `type/subtype` of the characters of names (RFC 6838,
/// 4.2). What is made of parts or is a message must not be in base64 (RFC 2046, 5.1 and 5.2.1).
pub(crate) fn is_media(media: &str) -> bool {
    let is_name = |name: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
        name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
            && name.bytes().all(fits)
    };
    let Some((kind, sub)) = media.split_once('/') else { return false };
    let is_whole = ["multipart", "message"].iter().any(|whole| kind.eq_ignore_ascii_case(whole));
    media.len() <= LONGEST_MEDIA && is_name(kind) && is_name(sub) && !is_whole
}

/// That a part is a file, and its name.
fn named(name: &str) -> HeaderType<'static> {
    let name = one_line(name);
    let name = if name.is_empty() { "unnamed".to_owned() } else { name };
    if !looks_encoded(&name) || !name.is_ascii() {
        return ContentType::new("attachment").attribute("filename", name).into();
    }
    // In pieces of which nothing is taken for an encoded word (RFC 2231).
    let mut value = "attachment".to_owned();
    for (at, piece) in name.as_bytes().chunks(PIECE).enumerate() {
        let charset = if at == 0 { "utf-8''" } else { "" };
        // Writing into a string does not fail.
        let _ = write!(value, "; filename*{at}*={charset}{}", PERCENT.encode(piece));
    }
    Raw::new(value).into()
}
