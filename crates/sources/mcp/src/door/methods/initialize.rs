//! What the door says of itself: that it is a crib, or what the only source behind it says.

use rmcp::model::TASKS_EXTENSION_ID;
use serde_json::{Map, Value, json};
use toolcrib_core::ServerInfo;

use crate::door::call::answer::MethodResult;
use crate::door::state::{McpRequestContext, McpServerState};
use crate::protocol::methods;
use crate::protocol::revisions::{REVISIONS, agreed};

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

/// The name of this door, as far as it is its own.
pub(crate) fn own_name() -> Value {
    json!({ "name": "toolcrib", "version": env!("CARGO_PKG_VERSION") })
}

/// The capabilities, the name and the instructions, as they stand in a greeting.
fn fields(
    instructions: Option<&String>,
    sole: Option<&ServerInfo>,
) -> (Value, Value, Option<String>) {
    let Some(said) = sole else {
        return (capabilities(), own_name(), instructions.cloned());
    };
    let mut capabilities = said.capabilities.clone();
    capabilities.retain(|name, _| !NOT_OURS.contains(&name.as_str()));
    if let Some(Value::Object(extensions)) = capabilities.get_mut("extensions") {
        extensions.retain(|name, _| !NO_EXTENSION.contains(&name.as_str()));
    }
    let is_named = ["name", "version"].iter().all(|key| said.server.contains_key(*key));
    let server = if is_named { Value::Object(said.server.clone()) } else { own_name() };
    let instructions = said.instructions.as_ref().or(instructions).cloned();
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

/// The answer to a greeting in which a client names the revision that it would speak.
pub(crate) fn initialize(
    server_state: &McpServerState,
    request_context: &McpRequestContext,
    wanted: &str,
) -> MethodResult {
    let sole = request_context.sole();
    let (mut capabilities, server, instructions) =
        fields(server_state.settings.instructions.as_ref(), sole.as_deref());
    if sole.is_none()
        && let Some(fields) = capabilities.as_object_mut()
    {
        // Of ours there are none that an older client would know.
        fields.shift_remove("extensions");
    }
    let said = sole.map(|said| methods::besides(&said, methods::GREETING, false));
    let mut result = said.unwrap_or_default();
    result.insert("protocolVersion".to_owned(), json!(agreed(wanted)));
    result.insert("capabilities".to_owned(), capabilities);
    result.insert("serverInfo".to_owned(), server);
    result.extend(instructions.map(|text| ("instructions".to_owned(), Value::from(text))));
    MethodResult::of(&result)
}

/// The answer to `server/discover`.
pub(crate) fn discover(
    server_state: &McpServerState,
    request_context: &McpRequestContext,
) -> MethodResult {
    let sole = request_context.sole();
    let (mut capabilities, server, instructions) =
        fields(server_state.settings.instructions.as_ref(), sole.as_deref());
    offer_tasks(&mut capabilities);
    let said = sole.map(|said| methods::besides(&said, methods::GREETING, true));
    let mut result: Map<String, Value> = said.unwrap_or_default();
    result.insert("resultType".to_owned(), json!("complete"));
    result.insert("supportedVersions".to_owned(), json!(REVISIONS));
    result.insert("capabilities".to_owned(), capabilities);
    result.entry("ttlMs").or_insert_with(|| json!(0));
    result.entry("cacheScope").or_insert_with(|| json!("private"));
    if let Value::Object(meta) = result.entry("_meta").or_insert_with(|| json!({})) {
        meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), server);
    }
    result.extend(instructions.map(|text| ("instructions".to_owned(), Value::from(text))));
    MethodResult::of(&result)
}
