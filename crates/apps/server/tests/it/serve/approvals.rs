//! `mcp` tools of a request: they choose among the tools of the agent, and have calls put to whoever
//! asks.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, events, serving};
use super::stopping::worker;
use super::support::{Serving, bearer, head};
use crate::keep::killed;
use crate::process::Folder;

const DESK: &str = "[[source]]\nid = \"desk\"\nprefix = \"\"\ndesk = {}\n";
const STORE: &str = "[store]\nurl = \"sqlite://crib.db\"\n";

fn makes_a_task() -> ScriptedTurn {
    ScriptedTurn::call("create_task", json!({ "title": "Water the plants" }))
}

fn tasks(serving: &Serving) -> usize {
    let listed = serving.call(&json!({ "calls": [{ "name": "list_tasks", "arguments": {} }] }));
    listed["responses"][0]["text"].as_str().unwrap().matches("Water the plants").count()
}

/// The desk, of whose calls the client wants to hear before they change something.
fn desk() -> Value {
    json!([{
        "type": "mcp", "server_label": "desk", "server_url": "https://desk.example/mcp",
        "authorization": "tok-7f3a", "require_approval": { "never": { "read_only": true } },
    }])
}

fn respond(serving: &Serving, body: &Value) -> Value {
    let answer = serving.ask("POST", "/v1/responses", &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn kinds(response: &Value) -> Vec<&str> {
    let items = response["output"].as_array().unwrap().iter();
    items.map(|item| item["type"].as_str().unwrap()).collect()
}

#[test]
fn a_client_that_can_be_asked_is_and_the_call_runs_once_after_a_kill() {
    let reads = ScriptedTurn::call("list_tasks", json!({}));
    let turns =
        [reads, makes_a_task(), ScriptedTurn::says("It is there."), ScriptedTurn::says("!")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{STORE}{DESK}"));
    let body = json!({ "model": "assistant", "input": "Water the plants.", "tools": desk() });
    let first = respond(&serving, &body);
    assert_eq!(
        (kinds(&first), &first["status"]),
        (vec!["mcp_call", "mcp_approval_request"], &json!("completed"))
    );
    let asked = &first["output"][1];
    assert_eq!(
        (&asked["server_label"], &asked["name"], &asked["arguments"]),
        (&json!("desk"), &json!("create_task"), &json!("{\"title\":\"Water the plants\"}"))
    );
    assert_eq!(tasks(&serving), 0);
    // What a client says to servers is not shown to whoever reads the answer.
    assert!(!first.to_string().contains("tok-7f3a"), "{first}");

    let serving = killed(serving);
    let yes = json!({
        "type": "mcp_approval_response", "approval_request_id": asked["id"], "approve": true,
    });
    let body = json!({
        "model": "assistant", "input": [yes], "previous_response_id": first["id"], "tools": desk(),
    });
    let second = respond(&serving, &body);
    assert_eq!(kinds(&second), ["mcp_call", "message"]);
    let call = &second["output"][0];
    assert_eq!(
        (&call["approval_request_id"], &call["status"], &call["name"]),
        (&asked["id"], &json!("completed"), &json!("create_task"))
    );
    assert_eq!(tasks(&serving), 1);
    let told = &model.asked()[2].body["messages"];
    let roles: Vec<_> = told.as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "tool"]);
    assert_eq!(told[4]["content"], call["output"]);
    let path = format!("/v1/responses/{}", second["id"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &path, "").json(), second);

    // Whoever says it once more is told what came of it.
    let third = respond(&serving, &body);
    assert_eq!((kinds(&third), tasks(&serving)), (vec!["mcp_call", "message"], 1));
    assert_eq!(third["output"][0]["output"], call["output"]);
}

#[test]
fn a_client_that_keeps_its_history_itself_says_no() {
    let turns = [makes_a_task(), ScriptedTurn::says("Then not."), ScriptedTurn::says("Fine.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{DESK}"));
    let mut input = vec![json!({ "role": "user", "content": "Water the plants." })];
    let body = |input: &[Value]| json!({ "model": "assistant", "input": input, "store": false, "tools": desk() });
    let first = respond(&serving, &body(&input));
    assert_eq!(kinds(&first), ["mcp_approval_request"]);
    input.extend(first["output"].as_array().unwrap().iter().cloned());
    input.push(json!({
        "type": "mcp_approval_response", "approval_request_id": first["output"][0]["id"],
        "approve": false, "reason": "not on a Friday",
    }));
    let second = respond(&serving, &body(&input));
    assert_eq!(kinds(&second), ["message"]);
    let told = model.asked()[1].body["messages"].clone();
    assert_eq!(told[1]["tool_calls"][0]["function"]["name"], "create_task");
    assert!(told[2]["content"].as_str().unwrap().contains("not on a Friday"), "{told}");
    assert_eq!(tasks(&serving), 0);
    // The same history once more decides nothing anew.
    input.extend(second["output"].as_array().unwrap().iter().cloned());
    input.push(json!({ "role": "user", "content": "Fine." }));
    assert_eq!((kinds(&respond(&serving, &body(&input))), tasks(&serving)), (vec!["message"], 0));
}

#[test]
fn a_stream_asks_in_the_events_that_clients_know() {
    let model = ScriptedModel::of([makes_a_task()]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{DESK}"));
    let body = json!({
        "model": "assistant", "input": "Water the plants.", "tools": desk(), "stream": true,
    });
    let told = events(&serving.ask("POST", "/v1/responses", &body.to_string()));
    let kinds: Vec<_> = told.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert_eq!(told[3]["item"], told[4]["response"]["output"][0]);
    assert_eq!(told[3]["item"]["type"], "mcp_approval_request");
}

#[test]
fn a_request_narrows_the_tools_of_its_agent_and_never_widens_them() {
    let turns = [makes_a_task(), ScriptedTurn::says("I may not.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{DESK}"));
    let tools = json!([{
        "type": "mcp", "server_label": "desk", "allowed_tools": ["list_tasks"],
        "require_approval": "never",
    }]);
    let body = json!({ "model": "assistant", "input": "Water the plants.", "tools": tools });
    let done = respond(&serving, &body);
    assert_eq!((kinds(&done), tasks(&serving)), (vec!["mcp_call", "message"], 0));
    assert_eq!(done["output"][0]["status"], "failed");
    let shown = model.asked()[0].body["tools"].clone();
    let mut names: Vec<_> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["list_tasks"]);
}

#[test]
fn every_call_is_put_to_a_client_that_does_not_say_otherwise() {
    let call = || ScriptedTurn::call("list_tasks", json!({}));
    let says = || ScriptedTurn::says("None.");
    let turns = [call(), call(), call(), call(), says(), call(), says()];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{DESK}"));
    for (label, asks, shown) in [
        ("desk", json!("always"), "mcp_approval_request"),
        ("toolcrib", Value::Null, "mcp_approval_request"),
        (
            "assistant",
            json!({ "always": { "tool_names": ["list_tasks"] } }),
            "mcp_approval_request",
        ),
        ("desk", json!({ "never": ["list_tasks"] }), "mcp_call"),
        ("desk", json!("never"), "mcp_call"),
    ] {
        let tools = json!([{ "type": "mcp", "server_label": label, "require_approval": asks }]);
        let body = json!({ "model": "assistant", "input": "Which?", "tools": tools });
        let done = respond(&serving, &body);
        assert_eq!(kinds(&done)[0], shown, "{label} {asks}: {done}");
        if shown == "mcp_approval_request" {
            assert_eq!(done["output"][0]["server_label"], label);
        }
    }
}

#[test]
fn where_nobody_can_be_asked_the_model_is_told_of_the_ticket() {
    let turns = [makes_a_task(), ScriptedTurn::says("It waits.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ALL}\nask = [\"create_task\"]\n{DESK}"));
    let tools = json!([{ "type": "mcp", "server_label": "desk", "require_approval": "never" }]);
    let body = json!({ "model": "assistant", "input": "Water the plants.", "tools": tools });
    assert_eq!(kinds(&respond(&serving, &body)), ["mcp_call", "message"]);
    assert_eq!(tasks(&serving), 0);
}

#[test]
fn what_a_request_says_wrong_about_servers_and_approvals_is_told_and_decides_nothing() {
    let model = ScriptedModel::of([makes_a_task()]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{DESK}"));
    let first = respond(
        &serving,
        &json!({ "model": "assistant", "input": "Water the plants.", "tools": desk() }),
    );
    let id = &first["output"][0]["id"];
    let yes = |id: &Value| json!({ "type": "mcp_approval_response", "approval_request_id": id, "approve": true });
    let mcp = |more: Value| {
        let mut tool = json!({ "type": "mcp", "server_label": "desk" });
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([tool])
    };
    let strange = json!("mcpr_0123456789abcdef0123456789abcdef");
    for (input, tools, status, word) in [
        (json!([yes(id)]), mcp(json!({ "server_label": "nowhere" })), 400, "`nowhere`"),
        (json!([yes(id)]), mcp(json!({ "server_label": "" })), 400, "server_label"),
        (json!([yes(id)]), mcp(json!({ "allowed_tools": ["fly"] })), 400, "`fly`"),
        (json!([yes(id)]), mcp(json!({ "allowed_tools": "fly" })), 400, "allowed_tools"),
        (json!([yes(id)]), mcp(json!({ "require_approval": "often" })), 400, "often"),
        (json!([yes(id), yes(id)]), desk(), 400, "second time"),
        (json!([yes(&json!("x"))]), desk(), 400, "input[0]"),
        (
            json!([{ "type": "mcp_approval_response", "approval_request_id": id }]),
            desk(),
            400,
            "approve",
        ),
        (json!([yes(&strange)]), desk(), 404, "mcpr_"),
    ] {
        let body = json!({
            "model": "assistant", "input": input, "tools": tools,
            "previous_response_id": first["id"],
        });
        let answer = serving.ask("POST", "/v1/responses", &body.to_string());
        let message = answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(answer.status, status, "{input} {tools}: {answer:?}");
        let word = if word == "often" { "require_approval" } else { word };
        assert!(message.contains(word), "{message}");
    }
    assert_eq!(tasks(&serving), 0);
}

const CLIENT: &str = include_str!("sdks/approvals.py");

/// The client for agents of `OpenAI` in Python, which keeps a run as text while its user thinks.
#[test]
fn a_client_that_others_wrote_asks_its_user_and_goes_on() {
    let Some(python) = crate::peers::python_clients() else { return };
    let model = ScriptedModel::by(|_, body| {
        let last = body["messages"].as_array().and_then(|all| all.last()).cloned();
        match last {
            Some(last) if last["role"] == "tool" => {
                ScriptedTurn::Says(format!("It says {}.", last["content"]))
            }
            _ => makes_a_task(),
        }
    })
    .unwrap();
    let serving = serving(&model, &format!("{ALL}\n{DESK}"));
    let url = format!("http://{}/v1", serving.address);
    for (word, made) in [("no", 0), ("yes", 2)] {
        #[expect(clippy::disallowed_methods, reason = "the client is a program")]
        let mut client = std::process::Command::new(&python);
        client.args(["-c", CLIENT, &url, &serving.token, word]);
        let run = client.current_dir(serving.folder.path()).output().unwrap();
        let told = String::from_utf8_lossy(&run.stdout);
        let seen: Value = serde_json::from_str(told.lines().last().unwrap_or_default())
            .unwrap_or_else(|_| unreachable!("{told}\n{}", String::from_utf8_lossy(&run.stderr)));
        for (way, answer) in seen.as_object().unwrap() {
            assert_eq!(answer[0], "create_task", "{way}: {answer}");
            let wanted = if word == "yes" { "Water the plants" } else { "not" };
            assert!(answer[1].as_str().unwrap().contains(wanted), "{way}: {answer}");
        }
        assert_eq!(tasks(&serving), made, "{seen}");
    }
}

/// What comes until an answer is in progress.
fn begun(stream: &mut TcpStream) -> String {
    let (mut told, mut piece) = (String::new(), [0; 4_096]);
    while !told.contains("response.in_progress") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{told}");
        told.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    told
}

#[test]
fn a_stream_begins_before_the_call_has_run_that_its_request_approves() {
    let turns = [ScriptedTurn::call("w__work", json!({})), ScriptedTurn::says("It worked.")];
    let model = ScriptedModel::of(turns).unwrap();
    let folder = Folder::new();
    folder.write("worker.py", &worker("1.5"));
    let url = model.url();
    let source = "mcp = { command = [\"python3\", \"./worker.py\"], cwd = \".\" }";
    folder.write(
        "crib.toml",
        &format!(
            "{ALL}\n[model]\nurl = \"{url}\"\nname = \"m\"\n[[source]]\nid = \"w\"\n{source}\n"
        ),
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`w`: 1 tools");
    let tools = json!([{ "type": "mcp", "server_label": "w" }]);
    let body = json!({ "model": "assistant", "input": "Work.", "tools": tools });
    let first = respond(&serving, &body);
    let yes = |id: &Value| {
        json!({
            "model": "assistant", "previous_response_id": first["id"], "tools": tools,
            "stream": true, "input": [{
                "type": "mcp_approval_response", "approval_request_id": id, "approve": true,
            }],
        })
    };
    let path = "/v1/responses";
    // What is wrong with a decision is told by a status.
    let wrong = serving.ask("POST", path, &yes(&json!("mcpr_nothing")).to_string());
    let told = (wrong.status, wrong.json()["error"]["code"].clone());
    assert_eq!(told, (404, json!("approval_request_not_found")));
    let body = yes(&first["output"][0]["id"]).to_string();
    let lines = [bearer(&serving.token), "Content-Type: application/json".to_owned()];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let head = head("POST", path, &serving, &lines);
    let head = format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let mut stream = serving.connect();
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut told = begun(&mut stream);
    // Its call has not ended.
    assert!(!serving.folder.path().join("worked").exists());
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    told.push_str(&String::from_utf8_lossy(&rest));
    let data = told.lines().filter_map(|line| line.strip_prefix("data: {"));
    let all: Vec<Value> =
        data.map(|line| serde_json::from_str(&format!("{{{line}")).unwrap()).collect();
    let numbers: Vec<_> = all.iter().map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..all.len() as u64).map(Some).collect::<Vec<_>>());
    let kinds: Vec<_> = all.iter().map(|event| event["type"].as_str().unwrap()).take(3).collect();
    let begins = ["response.created", "response.in_progress", "response.output_item.added"];
    assert_eq!(kinds, begins);
    let whole = &all.last().unwrap()["response"];
    assert_eq!(self::kinds(whole), ["mcp_call", "message"]);
    for key in ["id", "created_at", "previous_response_id"] {
        assert_eq!(whole[key], all[0]["response"][key], "{key}");
    }
    let stored = format!("{path}/{}", whole["id"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &stored, "").json(), *whole);
}
