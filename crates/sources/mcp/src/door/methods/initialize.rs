//! What the door says of itself: that it is a crib, or what the only source behind it says.

use rmcp::model::{
    DiscoverResult, ErrorData, InitializeResult, ServerCapabilities, ServerConfig,
    TASKS_EXTENSION_ID,
};
use serde_json::{Value, json};
use toolcrib_core::ServerInfo;

use crate::door::client::channel::ClientChannel;
use crate::door::sdk::REVISIONS;
use crate::door::sdk::handler::RmcpHandler;
use crate::door::sdk::results;
use crate::door::state::McpRequestContext;
use crate::protocol::methods;

/// What is not passed on: the tasks of others. Those of this door are its own, in the newest
/// revision alone.
const NOT_OURS: [&str; 1] = ["tasks"];
const NO_EXTENSION: [&str; 2] = [TASKS_EXTENSION_ID, "io.modelcontextprotocol/skills"];

/// All that a door can do, in the newest revision.
pub(crate) fn capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "completions": {},
        "logging": {},
        "extensions": { TASKS_EXTENSION_ID: {} },
    })
}

/// A door as the SDK knows it.
pub(crate) fn config(instructions: Option<&String>) -> ServerConfig {
    let capabilities: ServerCapabilities =
        serde_json::from_value(capabilities()).unwrap_or_default();
    let mut config = ServerConfig::new(capabilities);
    config.server_info = rmcp::model::Implementation::new("toolcrib", env!("CARGO_PKG_VERSION"));
    config.instructions = instructions.cloned();
    config
}

/// The capabilities, the name and the instructions, as they stand in a greeting.
fn fields(config: &ServerConfig, sole: Option<&ServerInfo>) -> (Value, Value, Option<String>) {
    let own = || json!(config.server_info);
    let Some(said) = sole else {
        return (capabilities(), own(), config.instructions.clone());
    };
    let mut capabilities = said.capabilities.clone();
    capabilities.retain(|name, _| !NOT_OURS.contains(&name.as_str()));
    if let Some(Value::Object(extensions)) = capabilities.get_mut("extensions") {
        extensions.retain(|name, _| !NO_EXTENSION.contains(&name.as_str()));
    }
    let is_named = ["name", "version"].iter().all(|key| said.server.contains_key(*key));
    let server = if is_named { Value::Object(said.server.clone()) } else { own() };
    let instructions = said.instructions.clone().or_else(|| config.instructions.clone());
    (Value::Object(capabilities), server, instructions)
}

/// Any call of a tool may become a task of this door, whoever the tool belongs to.
fn offer_tasks(capabilities: &mut Value) {
    let Some(fields) = capabilities.as_object_mut().filter(|all| all.contains_key("tools")) else {
        return;
    };
    let extensions = fields.entry("extensions").or_insert_with(|| json!({}));
    if let Value::Object(extensions) = extensions {
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), json!({}));
    }
}

/// The answer to `initialize`, of which `config` has the revision.
pub(crate) fn initialize(
    handler: &RmcpHandler,
    line: &ClientChannel,
    request_context: &McpRequestContext,
    mut config: ServerConfig,
) -> Result<InitializeResult, ErrorData> {
    let sole = request_context.sole();
    // Of ours there are none that an older client would know.
    config.capabilities.extensions = None;
    let Some(sole) = sole.as_deref() else { return Ok(config) };
    let (capabilities, server, instructions) = fields(&config, Some(sole));
    let mut result = methods::besides(sole, methods::GREETING, false);
    result.insert("protocolVersion".to_owned(), json!(config.protocol_version));
    result.insert("capabilities".to_owned(), capabilities);
    result.insert("serverInfo".to_owned(), server);
    result.extend(instructions.map(|text| ("instructions".to_owned(), Value::from(text))));
    let revision = json!(config.protocol_version);
    results::typed(&handler.server_state, line, Value::Object(result), || {
        json!({
            "protocolVersion": revision, "capabilities": {},
            "serverInfo": { "name": "toolcrib", "version": "" },
        })
    })
}

/// The answer to `server/discover`.
pub(crate) fn discover(
    handler: &RmcpHandler,
    line: &ClientChannel,
    request_context: &McpRequestContext,
    config: &ServerConfig,
) -> Result<DiscoverResult, ErrorData> {
    let sole = request_context.sole();
    let (mut capabilities, server, instructions) = fields(config, sole.as_deref());
    offer_tasks(&mut capabilities);
    let said = sole.map(|said| methods::besides(&said, methods::GREETING, true));
    let mut result = said.unwrap_or_default();
    result.insert("resultType".to_owned(), json!("complete"));
    result.insert("supportedVersions".to_owned(), json!(REVISIONS));
    result.insert("capabilities".to_owned(), capabilities);
    result.entry("ttlMs").or_insert_with(|| json!(0));
    result.entry("cacheScope").or_insert_with(|| json!("private"));
    if let Value::Object(meta) = result.entry("_meta").or_insert_with(|| json!({})) {
        meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), server);
    }
    result.extend(instructions.map(|text| ("instructions".to_owned(), Value::from(text))));
    results::typed(&handler.server_state, line, Value::Object(result), || {
        json!({
            "resultType": "complete", "supportedVersions": [], "capabilities": {}, "ttlMs": 0,
            "cacheScope": "private",
        })
    })
}
