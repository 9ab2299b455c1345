//! Agents behind the API of `OpenAI`, over a scripted model.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::keys::make;
use super::support::{Answer, Serving, eventually};
use crate::process::Folder;

pub(super) const BASICS: &str = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";

pub(super) fn serving(model: &ScriptedModel, more: &str) -> Serving {
    let folder = Folder::new();
    let text = format!("{more}\n[model]\nurl = \"{}\"\nname = \"m\"\n{BASICS}", model.url());
    folder.write("crib.toml", &text);
    Serving::start_in(folder, &[])
}

pub(super) const ALL: &str = "allow = [\"*\"]";

fn counts(text: &str) -> ScriptedTurn {
    ScriptedTurn::Calls(
        "I count.".to_owned(),
        vec![("text_count".to_owned(), json!({ "text": text }))],
    )
}

/// The data of a stream of events, without the last word.
pub(super) fn events(answer: &Answer) -> Vec<Value> {
    let data: Vec<_> = answer.body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data.last(), Some(&"[DONE]"), "{answer:?}");
    data[..data.len() - 1].iter().map(|event| serde_json::from_str(event).unwrap()).collect()
}

#[test]
fn a_chat_is_answered_with_the_tools_of_the_agent() {
    let model = ScriptedModel::of([counts("a b"), ScriptedTurn::says("Two words.")]).unwrap();
    let serving = serving(&model, ALL);
    let listed = serving.ask("GET", "/v1/models", "").json();
    assert_eq!(listed["data"][0]["id"], "assistant");
    let body = json!({
        "model": "assistant",
        "messages": [
            { "role": "system", "content": "Be kind." },
            { "role": "user", "content": [{ "type": "text", "text": "Count `a b`." }] },
        ],
    });
    let done = serving.ask("POST", "/v1/chat/completions", &body.to_string()).json();
    assert_eq!(done["choices"][0]["message"]["content"], "I count.\n\nTwo words.");
    assert_eq!(done["choices"][0]["finish_reason"], "stop");
    assert_eq!(done["usage"]["total_tokens"], 220);
    let asked = model.asked().pop().unwrap().body["messages"].clone();
    let roles: Vec<_> = asked.as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    assert!(asked[3]["content"].as_str().unwrap().contains("\"words\":2"), "{asked}");
}

#[test]
fn a_streamed_chat_says_the_same_in_pieces() {
    let model = ScriptedModel::of([counts("a b"), ScriptedTurn::says("Two words.")]).unwrap();
    let serving = serving(&model, ALL);
    let body = json!({
        "model": "assistant", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "Count `a b`." }],
    });
    let chunks = events(&serving.ask("POST", "/v1/chat/completions", &body.to_string()));
    let text: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, "I count.\n\nTwo words.");
    let reasons: Vec<_> =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str()).collect();
    assert_eq!(reasons, ["stop"]);
    assert_eq!(chunks.last().unwrap()["usage"]["prompt_tokens"], 200);
}

#[test]
fn an_answer_that_a_limit_ended_does_not_look_like_a_whole_one() {
    let count = || ScriptedTurn::call("text_count", json!({ "text": "a b" }));
    let model = ScriptedModel::of([count(), count()]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n[agent.assistant]\nbudget = {{ turns = 1 }}"));
    let asked = json!([{ "role": "user", "content": "Count `a b`." }]);
    let body = json!({ "model": "assistant", "messages": asked });
    let done = serving.ask("POST", "/v1/chat/completions", &body.to_string()).json();
    let choice = &done["choices"][0];
    assert_eq!(
        (&choice["message"]["content"], &choice["finish_reason"]),
        (&json!(""), &json!("length"))
    );
}

#[test]
fn what_a_broken_stream_said_stands_in_no_whole_answer() {
    let whole = ScriptedTurn::says("Hello to you.");
    let broken = ScriptedTurn::BreaksOff(Box::new(whole.clone()), 420);
    let model = ScriptedModel::of([broken, whole]).unwrap();
    let serving = serving(&model, ALL);
    let asked = json!([{ "role": "user", "content": "Hello." }]);
    let body = json!({ "model": "assistant", "messages": asked });
    let done = serving.ask("POST", "/v1/chat/completions", &body.to_string()).json();
    assert_eq!(done["choices"][0]["message"]["content"], "Hello to you.");
    assert_eq!(model.asked().len(), 2);
}

#[test]
fn a_failure_after_a_call_asks_no_client_to_try_again() {
    let down = || ScriptedTurn::Refuses(500, Vec::new(), String::new());
    let model = ScriptedModel::of([counts("a"), down(), down(), down()]).unwrap();
    let serving = serving(&model, ALL);
    let asked = json!([{ "role": "user", "content": "Count." }]);
    let body = json!({ "model": "assistant", "messages": asked });
    let failed = serving.ask("POST", "/v1/chat/completions", &body.to_string());
    assert_eq!(failed.status, 502, "{failed:?}");
    assert!(failed.head.contains("x-should-retry: false"), "{failed:?}");
}

#[test]
fn a_response_shows_what_ran_here_and_goes_on_by_its_id() {
    let turns = [counts("a b"), ScriptedTurn::says("Two words."), ScriptedTurn::says("Yes.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, ALL);
    let body = json!({ "model": "assistant", "input": "Count `a b`." });
    let first = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    assert_eq!(first["status"], "completed", "{first}");
    let kinds: Vec<_> =
        first["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["message", "mcp_call", "message"]);
    let call = &first["output"][1];
    assert_eq!((&call["server_label"], &call["name"]), (&json!("basics"), &json!("text_count")));
    assert!(call["output"].as_str().unwrap().contains("\"words\":2"), "{call}");
    assert_eq!(first["usage"]["total_tokens"], 220);
    let id = first["id"].as_str().unwrap();
    assert_eq!(serving.ask("GET", &format!("/v1/responses/{id}"), "").json(), first);
    let brought = serving.ask("GET", &format!("/v1/responses/{id}/input_items"), "").json();
    assert_eq!(brought["data"][0]["content"][0]["text"], "Count `a b`.");
    let more = json!({
        "model": "assistant", "previous_response_id": id,
        "input": [{ "role": "user", "content": "Sure?" }],
    });
    let second = serving.ask("POST", "/v1/responses", &more.to_string()).json();
    assert_eq!(second["output"][0]["content"][0]["text"], "Yes.");
    let asked = model.asked().pop().unwrap().body["messages"].to_string();
    assert!(asked.contains("Count `a b`") && asked.contains("Sure?"), "{asked}");
    // An item of an answer may be named in place of sending it again.
    let named = json!({
        "model": "assistant",
        "input": [{ "type": "item_reference", "id": call["id"] }, { "role": "user", "content": "?" }],
    });
    assert_eq!(
        serving.ask("POST", "/v1/responses", &named.to_string()).json()["status"],
        "completed"
    );
    let forgotten = serving.ask("DELETE", &format!("/v1/responses/{id}"), "");
    assert_eq!(forgotten.json()["deleted"], true);
    let gone = serving.ask("POST", "/v1/responses", &more.to_string());
    assert_eq!(
        (gone.status, &gone.json()["error"]["code"]),
        (404, &json!("previous_response_not_found"))
    );
}

#[test]
fn a_streamed_response_has_each_event_in_its_place_and_can_be_read_again() {
    let model = ScriptedModel::of([counts("a b"), ScriptedTurn::says("Two.")]).unwrap();
    let serving = serving(&model, ALL);
    let body = json!({ "model": "assistant", "input": "Count.", "stream": true });
    let told = events(&serving.ask("POST", "/v1/responses", &body.to_string()));
    let numbers: Vec<_> = told.iter().map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..told.len() as u64).map(Some).collect::<Vec<_>>());
    let kinds: Vec<_> = told.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.mcp_call.in_progress",
            "response.mcp_call_arguments.delta",
            "response.mcp_call_arguments.done",
            "response.mcp_call.completed",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let id = told[0]["response"]["id"].as_str().unwrap();
    let rest = serving.ask("GET", &format!("/v1/responses/{id}?stream=true&starting_after=19"), "");
    assert_eq!(events(&rest), told[20..]);
}

#[test]
fn the_callers_own_tools_come_back_to_the_caller() {
    let calls = ["text_count", "theirs"].map(|name| (name.to_owned(), json!({ "text": "a" })));
    let both = ScriptedTurn::Calls(String::new(), calls.to_vec());
    let model = ScriptedModel::of([both, ScriptedTurn::says("Done.")]).unwrap();
    let serving = serving(&model, ALL);
    let tool = json!({ "type": "function", "name": "theirs", "parameters": { "type": "object" } });
    let body = json!({ "model": "assistant", "input": "Both.", "tools": [tool] });
    let first = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    let kinds: Vec<_> =
        first["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["mcp_call", "function_call"], "{first}");
    let call = first["output"][1]["call_id"].clone();
    let answer = json!({ "type": "function_call_output", "call_id": call, "output": "theirs" });
    let more = json!({
        "model": "assistant", "previous_response_id": first["id"], "input": [answer],
    });
    let second = serving.ask("POST", "/v1/responses", &more.to_string()).json();
    assert_eq!(second["output"][0]["content"][0]["text"], "Done.");
    let asked = model.asked().pop().unwrap().body["messages"].clone();
    let answered =
        asked.as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
    assert_eq!(answered, 2, "{asked}");
}

#[test]
fn work_in_the_background_goes_on_alone_and_can_be_stopped() {
    let slow = |text: &str| {
        ScriptedTurn::Waits(Duration::from_millis(500), Box::new(ScriptedTurn::says(text)))
    };
    let model = ScriptedModel::of([slow("Late."), slow("Never.")]).unwrap();
    let serving = serving(&model, ALL);
    let body = json!({ "model": "assistant", "input": "Work.", "background": true });
    let begun = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    assert_eq!(begun["status"], "in_progress");
    let path = format!("/v1/responses/{}", begun["id"].as_str().unwrap());
    assert!(eventually(|| serving.ask("GET", &path, "").json()["status"] == "completed"));
    assert_eq!(serving.ask("GET", &path, "").json()["output"][0]["content"][0]["text"], "Late.");
    let begun = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    let path = format!("/v1/responses/{}/cancel", begun["id"].as_str().unwrap());
    assert_eq!(serving.ask("POST", &path, "{}").json()["status"], "cancelled");
}

#[test]
fn what_is_wrong_is_told_as_clients_of_this_api_read_it() {
    let no_key = ScriptedTurn::Refuses(401, Vec::new(), "{}".to_owned());
    let model = ScriptedModel::of([no_key]).unwrap();
    let serving = serving(&model, ALL);
    let cases = [
        ("/v1/responses", json!({ "input": "x" }), 400, "invalid_request"),
        ("/v1/responses", json!({ "model": "nobody", "input": "x" }), 404, "model_not_found"),
        ("/v1/responses", json!({ "model": "assistant", "input": 7 }), 400, "invalid_request"),
        (
            "/v1/responses",
            json!({ "model": "assistant", "input": [{ "type": "item_reference", "id": "msg_1" }] }),
            404,
            "item_not_found",
        ),
        (
            "/v1/responses",
            json!({
                "model": "assistant", "input": "x",
                "tools": [{ "type": "function", "name": "text_count" }],
            }),
            400,
            "invalid_request",
        ),
        (
            "/v1/responses",
            json!({ "model": "assistant", "input": "x", "background": true, "store": false }),
            400,
            "invalid_request",
        ),
        ("/v1/chat/completions", json!({ "model": "assistant" }), 400, "invalid_request"),
        (
            "/v1/chat/completions",
            json!({ "model": "assistant", "messages": [{ "role": "wizard" }] }),
            400,
            "invalid_request",
        ),
        (
            "/v1/chat/completions",
            json!({ "model": "assistant", "messages": [{ "role": "user", "content": "x" }] }),
            502,
            "unauthorized",
        ),
    ];
    for (path, body, status, code) in cases {
        let answer = serving.ask("POST", path, &body.to_string());
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status, &error["code"]), (status, &json!(code)), "{body}: {error}");
        assert!(error["message"].as_str().unwrap().len() > 20, "{error}");
    }
    assert_eq!(serving.ask("GET", "/v1/responses/resp_1", "").status, 404);
}

#[test]
fn an_agent_has_the_tools_of_its_profile_and_other_tokens_do_not_see_its_answers() {
    let model = ScriptedModel::of([ScriptedTurn::says("Hello.")]).unwrap();
    let more = "allow = [\"*\"]\n[profile.texts]\nallow = [\"category:text\"]\n\
                [agent.writer]\nprofile = \"texts\"\ninstructions = \"Write well.\"";
    let serving = serving(&model, more);
    let body = json!({ "model": "writer", "input": "Hello" });
    let done = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    assert_eq!(done["status"], "completed", "{done}");
    let asked = model.asked().remove(0).body;
    assert!(asked["messages"][0]["content"].as_str().unwrap().starts_with("Write well."));
    let tools: Vec<_> = asked["tools"].as_array().unwrap().iter().collect();
    let has = |name: &str| tools.iter().any(|tool| tool["function"]["name"] == name);
    assert!(has("text_count") && !has("calculate"), "{tools:?}");
    let other = serving.token_of("other");
    let path = format!("/v1/responses/{}", done["id"].as_str().unwrap());
    assert_eq!(serving.ask_as(&other, "GET", &path, "").status, 404);
}

/// A key that may not use the profile of a run hears nothing of it, although it is its caller's.
#[test]
fn a_key_goes_on_from_no_answer_of_a_profile_that_it_may_not_use() {
    let model = ScriptedModel::of([ScriptedTurn::says("A secret.")]).unwrap();
    let folder = Folder::new();
    let wide = ["ann", "--tenant", "acme", "--scope", "profile:texts", "--scope", "profile:open"];
    let narrow = ["ann-2", "--subject", "ann", "--tenant", "acme", "--scope", "profile:open"];
    let ((wide, first), (narrow, second)) = (make(&folder, &wide), make(&folder, &narrow));
    let agents = "allow = [\"*\"]\n[profile.texts]\n[profile.open]\n\
                  [agent.writer]\nprofile = \"texts\"\n[agent.reader]\nprofile = \"open\"\n";
    let url = model.url();
    let text = format!("{agents}[model]\nurl = \"{url}\"\nname = \"m\"\n{BASICS}{first}{second}");
    folder.write("crib.toml", &text);
    let serving = Serving::start_in(folder, &[]);
    let body = json!({ "model": "writer", "input": "Hello", "conversation": "talk" });
    let done = serving.ask_as(&wide, "POST", "/v1/responses", &body.to_string()).json();
    assert_eq!(done["status"], "completed", "{done}");
    let listed = |key: &str| serving.ask_as(key, "GET", "/v1/runs", "").json()["runs"].clone();
    assert_eq!((listed(&wide)[0]["thread"].as_str(), listed(&narrow)), (Some("talk"), json!([])));
    let item = &done["output"][0]["id"];
    for (named, status) in [
        (json!({ "previous_response_id": done["id"] }), 404),
        (json!({ "conversation": "talk" }), 404),
        (json!({ "input": [{ "type": "item_reference", "id": item }] }), 404),
    ] {
        let mut body = json!({ "model": "reader", "input": "And?" });
        body.as_object_mut().unwrap().extend(named.as_object().unwrap().clone());
        let refused = serving.ask_as(&narrow, "POST", "/v1/responses", &body.to_string());
        assert_eq!(refused.status, status, "{named}: {refused:?}");
    }
    assert_eq!(serving.ask_as(&narrow, "GET", "/v1/threads/talk", "").status, 404);
    assert_eq!(serving.ask_as(&wide, "GET", "/v1/threads/talk", "").status, 200);
    assert_eq!(model.asked().len(), 1);
}

/// A model that counts and asks for the weather as it is told, and repeats what it is answered.
pub(super) fn talking() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let last = messages.last().cloned().unwrap_or_default();
        let said = last["content"].to_string();
        match last["role"].as_str() {
            Some("user") if said.contains("weather") => {
                ScriptedTurn::call("get_weather", json!({ "city": "Paris" }))
            }
            Some("user") if said.contains("Count") => {
                ScriptedTurn::call("text_count", json!({ "text": "a b" }))
            }
            _ => ScriptedTurn::Says(format!("It says {said}.")),
        }
    })
    .unwrap()
}

/// Clients of agents that others wrote, each by the ways that it has.
#[test]
fn clients_that_others_wrote_hold_a_conversation() {
    let Some(python) = crate::peers::python_clients() else { return };
    let model = talking();
    let serving = serving(&model, ALL);
    let url = format!("http://{}/v1", serving.address);
    #[expect(clippy::disallowed_methods, reason = "the clients are a program")]
    let mut clients = std::process::Command::new(python);
    clients.args(["-c", CLIENTS, &url, &serving.token]).current_dir(serving.folder.path());
    let run = clients.output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    let seen: Value = serde_json::from_str(told.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| unreachable!("{told}\n{}", String::from_utf8_lossy(&run.stderr)));
    let ways = seen.as_object().unwrap();
    assert_eq!(ways.len(), 24, "{seen:#}");
    for (way, answer) in ways {
        let wanted = if way.contains("weather") { "11 degrees" } else { "words" };
        assert!(answer.as_str().is_some_and(|text| text.contains(wanted)), "{way}: {answer}");
    }
}

const CLIENTS: &str = include_str!("sdks/agents.py");

#[test]
fn an_agent_may_change_while_the_server_runs() {
    let model = ScriptedModel::of([]).unwrap();
    let serving = serving(&model, ALL);
    let text =
        format!("{ALL}\n[model]\nurl = \"{}\"\nname = \"m\"\n[agent.other]\n{BASICS}", model.url());
    serving.folder.write("crib.toml", &text);
    let is_there = || serving.ask("GET", "/v1/models", "").json()["data"][0]["id"] == "other";
    assert!(eventually(is_there));
}
