//! What a server said of itself in the handshake.

use std::sync::Arc;

use rmcp::model::ServerPeerInfo;
use serde_json::{Map, Value};
use toolcrib_core::ServerInfo;

use crate::protocol::methods;
use crate::protocol::text::{clean, cut};

/// Longest guidance that a server's instructions become, in characters.
const LONGEST_INSTRUCTIONS: usize = 8_000;
/// Largest hints of one result, in bytes of JSON.
const LARGEST_HINTS: usize = 64 * 1024;

#[derive(Debug, Clone, Default)]
pub(crate) struct McpServerInfo {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    /// The revision that both speak: `2025-11-25`.
    pub(crate) revision: String,
    /// Of 2026-07-28 or later: without sessions, each request says all.
    pub(crate) is_modern: bool,
    pub(crate) said: Arc<ServerInfo>,
    /// Cut to a length that a prompt can bear.
    pub(crate) instructions: String,
}

impl McpServerInfo {
    /// `greeting`: the whole of it, of which the SDK drops what it does not know.
    pub(crate) fn of(info: &ServerPeerInfo, greeting: Map<String, Value>) -> Self {
        let server = info.server_info.as_ref();
        Self {
            name: server.map(|server| clean(&server.name)),
            version: server.map(|server| clean(&server.version)),
            revision: clean(info.protocol_version.as_str()),
            is_modern: !info.protocol_version.has_initialize(),
            said: Arc::new(said(greeting)),
            instructions: cut(
                info.instructions.as_deref().unwrap_or_default().trim(),
                LONGEST_INSTRUCTIONS,
            ),
        }
    }
}

fn said(mut greeting: Map<String, Value>) -> ServerInfo {
    let mut object = |key: &str| match greeting.remove(key) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (capabilities, old, mut meta) =
        (object("capabilities"), object("serverInfo"), object("_meta"));
    // Where 2026-07-28 says it.
    let server = match meta.remove("io.modelcontextprotocol/serverInfo") {
        Some(Value::Object(new)) => new,
        _ => old,
    };
    let instructions = greeting.remove("instructions");
    let instructions = instructions.and_then(|text| text.as_str().map(str::to_owned));
    // Of the connection, and not of the server.
    for key in ["protocolVersion", "supportedVersions"] {
        greeting.shift_remove(key);
    }
    if !meta.is_empty() {
        greeting.insert("_meta".to_owned(), Value::Object(meta));
    }
    let hints = Map::from_iter([(methods::GREETING.to_owned(), hints(greeting))]);
    ServerInfo { server, capabilities, instructions, hints }
}

impl McpServerInfo {
    /// Whether a capability has this flag.
    pub(crate) fn can(&self, capability: &str, flag: &str) -> bool {
        let capability = self.said.capabilities.get(capability);
        capability.and_then(|flags| flags.get(flag)) == Some(&Value::Bool(true))
    }
}

/// What a result says besides what it was asked for: how long it may be kept (`ttlMs`,
/// `cacheScope`), `_meta`, and whatever comes yet. Of what is too large the first alone.
pub(crate) fn hints(mut besides: Map<String, Value>) -> Value {
    besides.shift_remove("resultType");
    if serde_json::to_vec(&besides).map_or(usize::MAX, |bytes| bytes.len()) > LARGEST_HINTS {
        besides.retain(|key, _| ["ttlMs", "cacheScope"].contains(&key.as_str()));
    }
    Value::Object(besides)
}
