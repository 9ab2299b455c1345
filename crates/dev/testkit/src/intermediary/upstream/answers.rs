//! What the server behind the gateway says to each method.

use serde_json::{Value, json};

use super::request::{FixtureRequest, MODERN, error};
use super::state::{FixtureState, SUBSCRIPTION_KEY};
use super::{library, tools};

const OLDER: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Takes what is no request; whether it was that.
pub(super) fn take_without_answer(state: &FixtureState, place: &str, message: &Value) -> bool {
    if !message["method"].is_string() {
        state.answered(message);
        return true;
    }
    if message["method"] == "notifications/cancelled" {
        state.cancel((place, &message["params"]["requestId"]));
    }
    message.get("id").is_none()
}

/// Answers a request.
pub(super) async fn answer(request: FixtureRequest) {
    let mark = request.params()["arguments"]["mark"].as_str().unwrap_or_default().to_owned();
    request.state.begins((&request.place, request.id()), &mark);
    let method = request.message["method"].as_str().unwrap_or_default();
    let params = request.params();
    let end = match method {
        "initialize" => initialized(params),
        "server/discover" if request.is_modern => listed(discovered()),
        "ping" if !request.is_modern => json!({ "result": {} }),
        "tools/list" => listed(tools::list(params, request.state.has_more())),
        "tools/call" => return tools::call(&request).await,
        "logging/setLevel" if !request.is_modern => {
            let level = params["level"].as_str().unwrap_or_default();
            request.state.set_level(&request.place, level);
            json!({ "result": {} })
        }
        "resources/subscribe" | "resources/unsubscribe" if !request.is_modern => {
            json!({ "result": {} })
        }
        "subscriptions/listen" if request.is_modern => {
            let (id, filter) = (request.id().clone(), params["notifications"].clone());
            let told = json!({
                "notifications": filter, "_meta": { SUBSCRIPTION_KEY: id.clone() },
            });
            request.notify("notifications/subscriptions/acknowledged", &told);
            request.state.listens(&request.place, Some((id, filter)), &request.output);
            return;
        }
        "resources/read" => library::read(params),
        "resources/list" => listed(library::resources(request.state.has_more())),
        "resources/templates/list" => listed(library::templates()),
        "prompts/list" => listed(library::prompts(request.state.has_more())),
        "prompts/get" => library::prompt(params),
        "completion/complete" => library::complete(params),
        _ => error(-32601, "there is no such method", None),
    };
    request.end(end);
}

/// What 2026-07-28 demands of lists, and what older clients may read past.
fn listed(mut end: Value) -> Value {
    if end["result"].is_object() {
        end["result"]["ttlMs"] = json!(0);
        end["result"]["cacheScope"] = json!("private");
    }
    end
}

/// All that there is here; there is nothing experimental and no extension.
fn capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "completions": {},
        "logging": {},
    })
}

fn initialized(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let revision = OLDER.iter().find(|known| **known == asked).unwrap_or(&"2025-11-25");
    json!({ "result": {
        "protocolVersion": revision,
        "capabilities": capabilities(),
        "serverInfo": { "name": "fixture", "version": "1.0.0" },
        "instructions": "Ask for nothing that is not listed.",
    } })
}

fn discovered() -> Value {
    let supported: Vec<&str> = OLDER.into_iter().chain([MODERN]).collect();
    json!({ "result": {
        "supportedVersions": supported,
        "capabilities": capabilities(),
        "instructions": "Ask for nothing that is not listed.",
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "fixture", "version": "1.0.0" } },
    } })
}
