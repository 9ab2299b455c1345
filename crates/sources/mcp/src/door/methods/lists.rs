//! What all lists have in common: who has them, what they say besides, and their pages.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value, json};
use toolcrib_core::{JsonFields, ServerInfo};

use crate::door::client::features::ClientFeatures;
use crate::door::state::McpServerState;
use crate::protocol::methods;

/// Fails where a door that stands for one source has no such methods.
pub(crate) fn provided(
    sole: Option<&ServerInfo>,
    capability: &str,
    method: &'static str,
) -> Result<(), ErrorData> {
    match sole {
        Some(said) if !said.capabilities.contains_key(capability) => {
            Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
        }
        _ => Ok(()),
    }
}

/// What a list says besides its entries.
pub(crate) fn frame(
    server_state: &McpServerState,
    client: &ClientFeatures,
    sole: Option<&Arc<ServerInfo>>,
    method: &str,
) -> Map<String, Value> {
    let said = sole.map(|said| methods::besides(said, method, client.is_modern));
    let mut result = said.unwrap_or_default();
    if !client.is_modern {
        return result;
    }
    let fresh = u64::try_from(server_state.settings.fresh.as_millis()).unwrap_or(u64::MAX);
    result.insert("resultType".to_owned(), json!("complete"));
    result.entry("ttlMs").or_insert_with(|| json!(fresh));
    // What a caller sees is for this caller.
    result.entry("cacheScope").or_insert_with(|| json!("private"));
    result
}

/// A page of definitions, and where the next one begins; `key`: the field that names each.
pub(crate) fn page(
    all: &[Arc<JsonFields>],
    key: &str,
    cursor: Option<&str>,
    most: usize,
) -> Result<(Vec<Value>, Option<String>), ErrorData> {
    let name = |offer: &JsonFields| {
        let name = offer.get(key).and_then(Value::as_str).unwrap_or_default();
        BASE64_URL_SAFE_NO_PAD.encode(name)
    };
    let begin = match cursor {
        None => 0,
        Some(cursor) => {
            let last = all.iter().position(|offer| name(offer) == cursor);
            last.ok_or_else(nowhere)? + 1
        }
    };
    let rest = all.get(begin..).unwrap_or_default();
    let page: Vec<_> = rest.iter().take(most.max(1)).collect();
    let next = page.last().filter(|_| rest.len() > page.len()).map(|last| name(last));
    Ok((page.into_iter().map(|offer| Value::Object(JsonFields::clone(offer))).collect(), next))
}

pub(crate) fn nowhere() -> ErrorData {
    ErrorData::invalid_params("the cursor leads nowhere: list from the start", None)
}
