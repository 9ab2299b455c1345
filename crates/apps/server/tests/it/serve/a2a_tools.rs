//! A place without a model: messages that name a tool are calls of it.

use serde_json::{Value, json};

use super::a2a::{asks, over, says};
use super::agents::BASICS;
use super::agui::{DESK, tasks};
use super::support::Serving;
use crate::process::Folder;

fn serving(more: &str) -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", &format!("{more}\n{BASICS}{DESK}"));
    Serving::start_in(folder, &[])
}

fn calls(tool: &str, arguments: &Value) -> Value {
    let data = json!({ "tool": tool, "arguments": arguments });
    json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "data": data }] } })
}

#[test]
fn a_message_that_names_a_tool_is_that_call_and_any_other_is_told_what_there_is() {
    let serving = serving("allow = [\"*\"]");
    let sent = asks(&serving, "SendMessage", &calls("text_count", &json!({ "text": "a b" })));
    let message = &sent["result"]["message"];
    assert_eq!(message["role"], "ROLE_AGENT", "{sent}");
    assert_eq!(message["metadata"]["outcome"], "done", "{sent}");
    assert_eq!(message["parts"][1]["data"]["words"], 2, "{sent}");
    let menu = asks(&serving, "SendMessage", &json!({ "message": says("Hello.") }));
    let tools = menu["result"]["message"]["parts"][1]["data"]["tools"].to_string();
    assert!(tools.contains("text_count"), "{menu}");
    let wrong = asks(&serving, "SendMessage", &calls("text_count", &json!({ "no": 1 })));
    assert_eq!(wrong["result"]["message"]["metadata"]["outcome"], "failed", "{wrong}");
    let odd = asks(&serving, "SendMessage", &calls("text_count", &json!([])));
    assert_eq!(odd["error"]["code"], -32602, "{odd}");
    let streamed = over(
        &serving,
        "POST",
        "/a2a/default/message:stream",
        Some("1.0"),
        &calls("text_count", &json!({ "text": "a b" })).to_string(),
    );
    let told = super::a2a::events(&streamed);
    assert_eq!((told.len(), &told[0]["message"]["parts"]), (1, &message["parts"]));
}

#[test]
fn a_call_that_waits_is_a_task_until_somebody_answers() {
    let serving = serving("allow = [\"*\"]\nask = [\"create_task\"]\n");
    let make = || {
        let made = calls("create_task", &json!({ "title": "Water the plants" }));
        asks(&serving, "SendMessage", &made)["result"]["task"].clone()
    };
    let task = make();
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{task}");
    let found = asks(&serving, "GetTask", &json!({ "id": task["id"] }));
    assert_eq!(found["result"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{found}");
    let listed = asks(&serving, "ListTasks", &json!({}));
    assert_eq!(listed["result"]["tasks"][0]["id"], task["id"], "{listed}");
    let yes = json!({ "message": {
        "messageId": "m", "role": "ROLE_USER", "taskId": task["id"], "parts": [{ "text": "yes" }],
    } });
    let done = asks(&serving, "SendMessage", &yes);
    assert_eq!(done["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    assert_eq!(tasks(&serving), 1);
    let found = asks(&serving, "GetTask", &json!({ "id": task["id"] }));
    assert_eq!(found["result"]["status"]["state"], "TASK_STATE_COMPLETED", "{found}");
    assert_eq!(asks(&serving, "SendMessage", &yes)["error"]["code"], -32004);
    assert_eq!(tasks(&serving), 1);
    let second = make();
    let ended = asks(&serving, "CancelTask", &json!({ "id": second["id"] }));
    assert_eq!(ended["result"]["status"]["state"], "TASK_STATE_CANCELED", "{ended}");
    assert_eq!(
        asks(&serving, "CancelTask", &json!({ "id": second["id"] }))["error"]["code"],
        -32002
    );
    let other = serving.token_of("other");
    let id = task["id"].as_str().unwrap();
    let stranger = serving.ask_as(&other, "GET", &format!("/a2a/default/tasks/{id}"), "");
    assert_eq!(stranger.status, 404, "{stranger:?}");
}

#[test]
fn a_profile_has_a_card_and_tools_of_its_own() {
    let serving = serving("allow = [\"*\"]\n[profile.counting]\nallow = [\"text_count\"]\n");
    let room = "/a2a/profile:counting";
    let card =
        over(&serving, "GET", &format!("{room}/.well-known/agent-card.json"), None, "").json();
    let skills = card["skills"].to_string();
    assert!(skills.contains("text_count") && !skills.contains("create_task"), "{card}");
    let send = |call: &Value| {
        let path = format!("{room}/message:send");
        over(&serving, "POST", &path, Some("1.0"), &call.to_string()).json()
    };
    let counted = send(&calls("text_count", &json!({ "text": "a" })));
    assert_eq!(counted["message"]["metadata"]["outcome"], "done", "{counted}");
    let hidden = send(&calls("create_task", &json!({ "title": "x" })));
    assert_eq!(hidden["message"]["metadata"]["outcome"], "failed", "{hidden}");
    let none = over(&serving, "GET", "/a2a/profile:none/tasks", None, "");
    assert_eq!(none.problem(), "404 unknown-profile");
}
