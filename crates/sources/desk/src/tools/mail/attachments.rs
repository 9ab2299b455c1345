//! Files that go along with an email: as they are given, and in words.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose};
use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use crate::backend::MailFile;
use crate::mail::mime::{BYTES, MOST_BYTES, MOST_FILES, is_media};
use crate::tools::fields::line;
use crate::tools::quoting::{self, plain};

/// Files that are told by their names.
const SHOWN: usize = 5;

/// Padding may be left out, as many leave it out.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// Media types by the ends of names.
const MEDIA: [(&str, &str); 20] = [
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("vcf", "text/vcard"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("svg", "image/svg+xml"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
];

// What is written to a model stands at the fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AttachmentArgument {
    /// Name of the file with its ending: `budget.pdf`.
    #[schemars(length(min = 1, max = 255))]
    name: String,
    /// Media type such as `application/pdf`; by the ending of the name if not set.
    #[schemars(length(min = 3, max = 127))]
    mime_type: Option<String>,
    /// What is in it, if that is text.
    #[schemars(length(max = 10_000_000))]
    text: Option<String>,
    /// What is in it as base64, if it is no text.
    #[schemars(length(max = 28_000_000))]
    base64: Option<String>,
}

impl AttachmentArgument {
    fn read(&self) -> Result<MailFile, ToolError> {
        let name = line("name", &self.name)?;
        let shown = plain(&name, 60);
        if name.contains(['/', '\\']) {
            let message = format!("`{shown}` is no name of a file: leave out its folder");
            return Err(ToolError::told(message));
        }
        let bytes = match (&self.text, &self.base64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(coded)) => {
                // Models and programs break its lines.
                let coded: Vec<u8> =
                    coded.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
                BASE64.decode(coded).map_err(|error| {
                    let message = format!("`base64` of `{shown}` is no base64: encode it again");
                    ToolError::told(message).because(error)
                })?
            }
            (None, None) | (Some(_), Some(_)) => {
                let message = format!("give either `text` or `base64` of `{shown}`");
                return Err(ToolError::told(message));
            }
        };
        let media = match &self.mime_type {
            Some(media) => media_type(media)?,
            None => by_name(&name, self.text.is_some()).to_owned(),
        };
        Ok(MailFile { name, media, bytes })
    }
}

fn media_type(media: &str) -> Result<String, ToolError> {
    let lower = media.trim().to_ascii_lowercase();
    // Texts are UTF-8 whoever says so.
    let charset = lower.split_once(';').map(|(_, rest)| rest.replace([' ', '"'], ""));
    let bare = lower.split(';').next().unwrap_or_default().trim_end();
    if is_media(bare) && charset.is_none_or(|charset| charset == "charset=utf-8") {
        return Ok(bare.to_owned());
    }
    let shown = plain(media, 60);
    Err(ToolError::told(format!(
        "`{shown}` is no media type of a file: write one like `application/pdf`, without \
         parameters, or leave it out"
    )))
}

fn by_name(name: &str, is_text: bool) -> &'static str {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    let known = MEDIA.iter().find(|(known, _)| end.as_deref() == Some(*known));
    known.map_or(if is_text { "text/plain" } else { BYTES }, |(_, media)| *media)
}

/// The files as they go along, if they are few and small enough.
pub(super) fn files(enclosed: &[AttachmentArgument]) -> Result<Vec<MailFile>, ToolError> {
    few(enclosed.iter().map(AttachmentArgument::read).collect::<Result<_, _>>()?)
}

/// The same files, if one message may hold them.
pub(super) fn few(files: Vec<MailFile>) -> Result<Vec<MailFile>, ToolError> {
    let bytes = files.iter().map(|file| file.bytes.len()).sum();
    if files.len() <= MOST_FILES && bytes <= MOST_BYTES {
        return Ok(files);
    }
    Err(ToolError::told(format!(
        "too much to attach ({} files, {}): an email takes {MOST_FILES} files of {} together",
        files.len(),
        size(bytes),
        size(MOST_BYTES),
    )))
}

/// `, with *budget.pdf* (12 KiB), *notes.txt* (300 bytes)`; nothing without files.
pub(super) fn in_words<'a>(files: impl Iterator<Item = (&'a str, usize)>) -> String {
    let files: Vec<_> = files.collect();
    let shown = files.iter().take(SHOWN);
    let mut all: Vec<_> =
        shown.map(|(name, bytes)| format!("{} ({})", quoting::title(name), size(*bytes))).collect();
    if let Some(more) = files.get(SHOWN..).filter(|more| !more.is_empty()) {
        let bytes = more.iter().map(|(_, bytes)| bytes).sum();
        all.push(format!("{} ({})", quoting::count(more.len(), "more file"), size(bytes)));
    }
    if all.is_empty() { String::new() } else { format!(", with {}", all.join(", ")) }
}

/// `300 bytes`, `12 KiB`, `3.4 MiB`.
fn size(bytes: usize) -> String {
    const KIB: usize = 1 << 10;
    const MIB: usize = 1 << 20;
    match bytes {
        0..KIB => quoting::count(bytes, "byte"),
        KIB..MIB => format!("{} KiB", bytes / KIB),
        _ => match (bytes / MIB, bytes % MIB * 10 / MIB) {
            (whole, 0) => format!("{whole} MiB"),
            (whole, tenths) => format!("{whole}.{tenths} MiB"),
        },
    }
}
