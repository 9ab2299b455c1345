//! Names of folders as they travel: the UTF-7 of RFC 3501, 5.1.3. Those that we make are ASCII.

use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &IMAP_MUTF7,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The name that a person reads; what is no UTF-7 stays as it is.
pub(super) fn decode(name: &str) -> String {
    let mut decoded = String::new();
    let mut rest = name;
    while let Some((before, coded)) = rest.split_once('&') {
        decoded.push_str(before);
        let Some((coded, after)) = coded.split_once('-') else { return name.to_owned() };
        if coded.is_empty() {
            decoded.push('&');
        } else {
            let Ok(bytes) = ENGINE.decode(coded) else { return name.to_owned() };
            let pair = |pair: &[u8]| match pair {
                [high, low] => u16::from_be_bytes([*high, *low]),
                _ => 0,
            };
            let units: Vec<u16> = bytes.chunks_exact(2).map(pair).collect();
            let Ok(text) = String::from_utf16(&units) else { return name.to_owned() };
            decoded.push_str(&text);
        }
        rest = after;
    }
    decoded.push_str(rest);
    decoded
}
