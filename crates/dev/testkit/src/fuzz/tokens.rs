//! Tokens as strangers may write them.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use toolcrib_auth::{JsonWebToken, LONGEST_TOKEN};

/// A JSON web token as a stranger may write it: one that is read is written in one way alone, so
/// that no two texts are one token, and it is within its bounds.
pub fn tokens(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(token) = JsonWebToken::read(&text) else { return };
    assert!(text.len() <= LONGEST_TOKEN, "it is too long");
    let signature = BASE64_URL_SAFE_NO_PAD.encode(&token.signature);
    assert_eq!(format!("{}.{signature}", token.signed), text, "another text is the same token");
    assert_eq!(token.signed.matches('.').count(), 1, "what is signed has two parts");
    assert_eq!(JsonWebToken::read(&text).as_ref(), Ok(&token), "read twice, it says two things");
}
