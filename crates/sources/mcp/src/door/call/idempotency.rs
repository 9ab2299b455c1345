//! The name that a client gives a call, so that sending it again does not run it again.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rmcp::model::ErrorData;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toolcrib_core::{LONGEST_KEY, canonical};

/// Under this key of `_meta`, where revisions of the protocol have no place for it.
pub(crate) const KEY: &str = "toolcrib/idempotencyKey";

/// Under this key of `_meta` a client says that it means a call once more that it cancelled.
pub(crate) const AGAIN: &str = "toolcrib/again";

/// Whether a client means a call once more; what is no word of it is refused.
pub(crate) fn again(said: Option<&Value>) -> Result<bool, ErrorData> {
    let told = || format!("`{AGAIN}` must be `true` or `false`");
    let refused = || ErrorData::invalid_params(told(), Some(json!({ "field": AGAIN })));
    said.map_or(Ok(false), |said| said.as_bool().ok_or_else(refused))
}

/// The place that was proposed for it, beside the arguments.
pub(crate) const PROPOSED: &str = "idempotencyKey";

/// The key of a call, which both places may name; a key that is none is refused before anything
/// runs under it.
pub(crate) fn key(
    proposed: Option<&Value>,
    ours: Option<&Value>,
) -> Result<Option<String>, ErrorData> {
    let refused = |told: String| ErrorData::invalid_params(told, Some(json!({ "field": KEY })));
    let Some(first) = ours.or(proposed) else { return Ok(None) };
    if proposed.is_some_and(|second| second != first) {
        return Err(refused(format!("`{PROPOSED}` and `{KEY}` are not the same key")));
    }
    let key = first.as_str().filter(|key| (1..=LONGEST_KEY).contains(&key.len()));
    let told = || format!("`{KEY}` must be a text of 1 to {LONGEST_KEY} bytes");
    key.map(|key| Some(key.to_owned())).ok_or_else(|| refused(told()))
}

/// Of the tool's name and the arguments, however their keys are ordered.
pub(crate) fn digest(tool: &str, arguments: Option<&Value>) -> Arc<str> {
    let digest = Sha256::new()
        .chain_update(tool.len().to_be_bytes())
        .chain_update(tool)
        .chain_update(canonical::text(arguments.unwrap_or(&Value::Null)))
        .finalize();
    BASE64_URL_SAFE_NO_PAD.encode(digest).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_meant_again_where_that_is_said_and_nothing_else_is_taken_for_it() {
        let read = |said: Option<Value>| again(said.as_ref()).map_err(|error| error.code.0);
        assert_eq!(read(None), Ok(false));
        assert_eq!(read(Some(json!(true))), Ok(true));
        assert_eq!(read(Some(json!(false))), Ok(false));
        for wrong in [json!("true"), json!(1), json!(null), json!({})] {
            assert_eq!(read(Some(wrong.clone())), Err(-32602), "{wrong}");
        }
    }

    #[test]
    fn a_key_is_read_from_both_places_and_must_be_one() {
        let read = |proposed: Option<Value>, ours: Option<Value>| {
            key(proposed.as_ref(), ours.as_ref()).map_err(|error| error.message.to_string())
        };
        let some = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(read(None, None), Ok(None));
        assert_eq!(read(Some(json!("a")), None), some("a"));
        assert_eq!(read(None, Some(json!("b"))), some("b"));
        assert_eq!(read(Some(json!("c")), Some(json!("c"))), some("c"));
        assert!(read(Some(json!("c")), Some(json!("d"))).is_err());
        for wrong in [json!(""), json!(null), json!(1), json!(["a"]), json!("x".repeat(256))] {
            assert!(read(None, Some(wrong.clone())).is_err(), "{wrong}");
            assert!(read(Some(wrong.clone()), None).is_err(), "{wrong}");
        }
        assert!(read(None, Some(json!("x".repeat(255)))).is_ok());
    }
}
