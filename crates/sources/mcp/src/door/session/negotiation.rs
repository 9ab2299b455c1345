//! Who asks, and in which revision: by the greeting of a conversation, or by the request itself.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value, json};

use super::conversation::Conversation;
use crate::door::client::features::ClientFeatures;
use crate::protocol::levels::level;
use crate::protocol::revisions::{REVISIONS, UNNAMED, has_greeting};

const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The revision that a request names, if it names one.
pub(crate) fn named_revision(meta: Option<&Map<String, Value>>) -> Option<&str> {
    meta?.get(REVISION)?.as_str()
}

/// What a request must say of itself and does not, where no greeting said it.
pub(crate) fn missing(meta: Option<&Map<String, Value>>) -> Vec<&'static str> {
    let can = meta.and_then(|meta| meta.get(CAPABILITIES));
    let mut missing = Vec::new();
    missing.extend(named_revision(meta).is_none().then_some(REVISION));
    missing.extend((!can.is_some_and(Value::is_object)).then_some(CAPABILITIES));
    missing
}

pub(crate) fn lacks(missing: &[&str]) -> ErrorData {
    let told = format!(
        "request _meta is missing or has malformed required fields: {}",
        missing.join(", ")
    );
    ErrorData::invalid_params(told, None)
}

/// Who asks: what the request says of that itself, else what the greeting said; and the revision in
/// which.
pub(crate) fn who_asks<'a>(
    method: &str,
    meta: Option<&'a Map<String, Value>>,
    conversation: Option<&Conversation>,
) -> Result<(&'a str, ClientFeatures), ErrorData> {
    let greeted = conversation.and_then(Conversation::greeted);
    let Some(revision) = named_revision(meta) else {
        let before = ["ping", "initialize"].contains(&method);
        return match greeted {
            Some(greeted) if method != "server/discover" => Ok(greeted),
            // Nobody knows yet who asks, and for these it does not matter.
            _ if before && conversation.is_some() => {
                Ok((UNNAMED, ClientFeatures::of(UNNAMED, &Value::Null)))
            }
            _ => Err(lacks(&missing(meta))),
        };
    };
    if !REVISIONS.contains(&revision) {
        let data = json!({ "supported": REVISIONS, "requested": revision });
        let code = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
        return Err(ErrorData::new(code, "Unsupported protocol version", Some(data)));
    }
    let lacking = missing(meta);
    let is_whole = greeted.is_none() || !has_greeting(revision) || method == "server/discover";
    if is_whole && !lacking.is_empty() {
        return Err(lacks(&lacking));
    }
    if let Some(greeted) = greeted.filter(|_| !is_whole) {
        return Ok(greeted);
    }
    let said = |key: &str| meta.and_then(|meta| meta.get(key));
    let mut features = ClientFeatures::of(revision, said(CAPABILITIES).unwrap_or(&Value::Null));
    if features.is_modern {
        let named = said(LOG_LEVEL).and_then(Value::as_str);
        features.hears = named.and_then(level);
    }
    Ok((revision, features))
}
