//! Bytes as models hand them over.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;
use toolcrib_core::ToolError;

use super::refusal::refused;

/// With or without padding; models and their hosts write both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A file for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UploadFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) name: Option<String>,
    pub(crate) media: Option<String>,
}

/// Base64 in a string, a `data:` address, or an object with `data` and perhaps `name` and `mime`.
pub(crate) fn file(argument: &str, value: &Value) -> Result<UploadFile, ToolError> {
    match value {
        Value::String(text) => read(argument, text),
        Value::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str);
            let data = text("data").ok_or_else(|| {
                refused(argument, "is a file: give `data` with its bytes in base64")
            })?;
            let file = read(argument, data)?;
            let name = text("name").or_else(|| text("filename")).map(str::to_owned);
            let media = text("mime").map(str::to_owned).or(file.media);
            Ok(UploadFile { bytes: file.bytes, name, media })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err(refused(argument, "holds bytes: give them in base64, in a string"))
        }
    }
}

fn read(argument: &str, text: &str) -> Result<UploadFile, ToolError> {
    let described = text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (media, text) = described.map_or((None, text), |(media, data)| (Some(media), data));
    let digits: String = text
        .chars()
        .filter(|character| !character.is_ascii_whitespace())
        .map(|character| match character {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    let bytes = BASE64.decode(digits).map_err(|_| {
        refused(argument, "holds bytes and is no base64: encode the bytes and call again")
    })?;
    let media = media.filter(|media| !media.is_empty()).map(str::to_owned);
    Ok(UploadFile { bytes, name: None, media })
}
