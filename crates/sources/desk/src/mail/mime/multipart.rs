//! Writing files beside a text: `multipart/mixed` (RFC 2046), each file in base64.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::line::{body, field, one_line};
use super::write_error::MimeWriteError;
use crate::backend::MailFile;

/// Files of one message.
pub(crate) const MOST_FILES: usize = 20;
/// Bytes of all of them: a third more as base64, they still fit into what most servers take.
pub(crate) const MOST_BYTES: usize = 20 << 20;
/// Bytes of a name.
const LONGEST_NAME: usize = 1000;
/// Characters of one piece of a name, so that its line is one of 78 at the most.
const PIECE: usize = 54;
/// Bytes in one line of base64 of 76 characters.
const LINE: usize = 57;
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

/// The type, the empty line, the text, and the files. `seed` is what no other message has.
pub(super) fn mixed(mail: &mut String, text: &str, files: &[MailFile], seed: &str) {
    let digest = Sha256::digest(seed.as_bytes());
    let mut digits = String::new();
    for byte in digest.iter().take(16) {
        // Writing into a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    // No base64 has these characters, nor has quoted-printable `=_`: only a plain text could hold
    // it, and is not written as such then.
    let boundary = format!("=_{digits}");
    let value = format!("multipart/mixed;\r\n boundary=\"{boundary}\"");
    field(mail, "Content-Type", &value);
    mail.push_str("\r\n");
    opening(mail, &boundary);
    field(mail, "Content-Type", "text/plain; charset=utf-8");
    body(mail, text, Some(&boundary));
    for file in files {
        opening(mail, &boundary);
        let charset = file.media.starts_with("text/") && std::str::from_utf8(&file.bytes).is_ok();
        let media = if is_media(&file.media) { &*file.media } else { BYTES };
        let charset = if charset { "; charset=utf-8" } else { "" };
        field(mail, "Content-Type", &format!("{media}{charset}"));
        field(mail, "Content-Disposition", &format!("attachment{}", named(&file.name)));
        field(mail, "Content-Transfer-Encoding", "base64");
        mail.push_str("\r\n");
        for line in file.bytes.chunks(LINE) {
            STANDARD.encode_string(line, mail);
            mail.push_str("\r\n");
        }
    }
    mail.push_str("--");
    mail.push_str(&boundary);
    mail.push_str("--\r\n");
}

fn opening(mail: &mut String, boundary: &str) {
    mail.push_str("--");
    mail.push_str(boundary);
    mail.push_str("\r\n");
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

/// The parameter with a name: quoted where it is plain and short, else as RFC 2231 has it, in
/// pieces of which none cuts a character in two.
fn named(name: &str) -> String {
    let name = one_line(name);
    let name = if name.is_empty() { "unnamed" } else { &name };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_.,()+@".contains(&byte);
    if name.len() <= PIECE && name.bytes().all(is_plain) {
        return format!(";\r\n filename=\"{name}\"");
    }
    let mut pieces = vec!["utf-8''".to_owned()];
    for character in name.chars() {
        let mut bytes = [0; 4];
        let written: String = character.encode_utf8(&mut bytes).bytes().map(percent).collect();
        match pieces.last_mut() {
            Some(piece) if piece.len() + written.len() <= PIECE => piece.push_str(&written),
            _ => pieces.push(written),
        }
    }
    if let [whole] = pieces.as_slice() {
        return format!(";\r\n filename*={whole}");
    }
    let mut numbered = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let _ = write!(numbered, ";\r\n filename*{at}*={piece}");
    }
    numbered
}

fn percent(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}
