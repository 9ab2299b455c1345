//! Tasks that wait for a person, who answers with a message to the task.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::a2a::{asks, events, over, says};
use super::agents::serving;
use super::agui::{ASKS, DESK, makes_a_task, tasks};
use super::support::Serving;
use crate::keep::killed;

const STORE: &str = "[store]\nurl = \"sqlite://crib.db\"\n";

fn answers(task: &Value, parts: &Value) -> Value {
    json!({ "message": {
        "messageId": "m2", "role": "ROLE_USER", "taskId": task["id"], "parts": parts,
    } })
}

fn waits(serving: &Serving) -> Value {
    let sent = asks(serving, "SendMessage", &json!({ "message": says("Water the plants.") }));
    let task = sent["result"]["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{sent}");
    task
}

fn model(last: &str) -> ScriptedModel {
    ScriptedModel::of([makes_a_task(), ScriptedTurn::says(last)]).unwrap()
}

#[test]
fn a_call_that_waits_is_asked_about_and_approved_by_a_message_after_a_restart() {
    let model = model("The task is there.");
    let serving = serving(&model, &format!("{ASKS}{STORE}{DESK}"));
    let task = waits(&serving);
    let parts = &task["status"]["message"]["parts"];
    assert!(parts[0]["text"].as_str().unwrap().contains("`create_task`"), "{task}");
    assert_eq!(parts[1]["data"]["tool"], "create_task", "{task}");
    let serving = killed(serving);
    let vague = asks(&serving, "SendMessage", &answers(&task, &json!([{ "text": "perhaps" }])));
    let still = &vague["result"]["task"]["status"];
    assert_eq!(still["state"], "TASK_STATE_INPUT_REQUIRED", "{vague}");
    let note = still["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(note.ends_with("Nothing was decided."), "{vague}");
    assert_eq!(tasks(&serving), 0);
    let elsewhere = json!({ "message": {
        "messageId": "m", "role": "ROLE_USER", "taskId": task["id"], "contextId": "other",
        "parts": [{ "text": "yes" }],
    } });
    assert_eq!(asks(&serving, "SendMessage", &elsewhere)["error"]["code"], -32602);
    assert_eq!(tasks(&serving), 0);
    let done = asks(&serving, "SendMessage", &answers(&task, &json!([{ "text": "Yes." }])));
    let ended = &done["result"]["task"];
    assert_eq!(ended["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    assert_eq!(ended["id"], task["id"]);
    assert_eq!(ended["artifacts"][0]["parts"][0]["text"], "The task is there.", "{done}");
    assert_eq!(tasks(&serving), 1);
    // What was said by both is there after another restart too.
    let serving = killed(serving);
    let texts = |more: Value| -> Vec<(String, String)> {
        let mut asked = json!({ "id": task["id"] });
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let now = asks(&serving, "GetTask", &asked)["result"].clone();
        let history = now["history"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        history.map(|said| (text(&said["role"]), text(&said["parts"][0]["text"]))).collect()
    };
    let all = texts(json!({}));
    let roles: Vec<_> = all.iter().map(|(role, _)| role.as_str()).collect();
    let (user, agent) = ("ROLE_USER", "ROLE_AGENT");
    assert_eq!(roles, [user, agent, user, agent, user], "{all:?}");
    let own: Vec<_> = all.iter().filter(|(role, _)| role == user).map(|(_, text)| text).collect();
    assert_eq!(own, ["Water the plants.", "perhaps", "Yes."]);
    assert!(all[1].1.contains("`create_task`") && all[3] == all[1], "{all:?}");
    assert_eq!(texts(json!({ "historyLength": 1 })), all[4..]);
}

#[test]
fn a_no_with_its_reason_is_told_to_the_model() {
    let model = model("Then not.");
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let task = waits(&serving);
    let ticket = &task["status"]["message"]["parts"][1]["data"]["ticket"];
    let no = json!([{ "data": { "ticket": ticket, "approved": false, "reason": "It rains." } }]);
    let done = asks(&serving, "SendMessage", &answers(&task, &no));
    assert_eq!(done["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    let asked = model.asked().pop().unwrap().body["messages"].to_string();
    assert!(asked.contains("It rains.") && tasks(&serving) == 0, "{asked}");
}

#[test]
fn a_stream_ends_where_its_client_is_asked_and_its_answer_streams_the_rest() {
    let model = model("The task is there.");
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let stream = |body: &Value| {
        let path = "/a2a/default/message:stream";
        events(&over(&serving, "POST", path, Some("1.0"), &body.to_string()))
    };
    let told = stream(&json!({ "message": says("Water the plants.") }));
    let last = &told.last().unwrap()["statusUpdate"];
    assert_eq!(last["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{told:?}");
    let rest = stream(&answers(&told[0]["task"], &json!([{ "data": { "approved": true } }])));
    let states = rest.iter().filter_map(|event| {
        let status = ["task", "statusUpdate"].iter().find_map(|kind| event[*kind].get("status"));
        status?["state"].as_str()
    });
    let states: Vec<_> = states.collect();
    // It works, or has done so already.
    assert!(!states.contains(&"TASK_STATE_INPUT_REQUIRED"), "{rest:?}");
    assert_eq!(states.last(), Some(&"TASK_STATE_COMPLETED"), "{rest:?}");
    assert_eq!(tasks(&serving), 1);
}

#[test]
fn a_task_that_waits_is_cancelled_and_its_call_never_runs() {
    let model = model("Never said.");
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let task = waits(&serving);
    let ended = asks(&serving, "CancelTask", &json!({ "id": task["id"] }));
    assert_eq!(ended["result"]["status"]["state"], "TASK_STATE_CANCELED", "{ended}");
    assert_eq!(tasks(&serving), 0);
    let late = asks(&serving, "SendMessage", &answers(&task, &json!([{ "text": "yes" }])));
    assert_eq!(late["error"]["code"], -32004, "{late}");
    assert_eq!(tasks(&serving), 0);
}

#[test]
fn of_several_calls_that_wait_each_is_answered_by_its_ticket() {
    let call = |title: &str| ("create_task".to_owned(), json!({ "title": title }));
    let both = vec![call("Water the plants"), call("Feed the cat")];
    let turns = [ScriptedTurn::Calls(String::new(), both), ScriptedTurn::says("Both are done.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let task = waits(&serving);
    let asked = |task: &Value| -> Vec<Value> {
        let parts = task["status"]["message"]["parts"].as_array().unwrap();
        let data = parts.iter().filter_map(|part| part.get("data"));
        data.map(|data| data["ticket"].clone()).collect()
    };
    let tickets = asked(&task);
    assert_eq!(tickets.len(), 2, "{task}");
    let send = |parts: Value| {
        let sent = asks(&serving, "SendMessage", &answers(&task, &parts));
        sent["result"]["task"].clone()
    };
    // A bare word could mean either.
    let vague = send(json!([{ "text": "yes" }]));
    assert_eq!(asked(&vague), tickets, "{vague}");
    let first = send(json!([{ "data": { "ticket": tickets[1], "approved": false } }]));
    assert_eq!(first["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{first}");
    assert_eq!(asked(&first), [tickets[0].clone()], "{first}");
    assert_eq!(tasks(&serving), 0);
    let done = send(json!([{ "text": "yes" }]));
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    assert_eq!(tasks(&serving), 1);
}
