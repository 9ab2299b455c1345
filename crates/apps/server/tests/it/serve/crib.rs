//! A crib as a source of another crib.

use serde_json::json;

use super::support::{Serving, eventually, state};
use crate::process::{Folder, Ran, run_in};

fn client(serving: &Serving, words: &[&str]) -> Ran {
    let folder = Folder::new();
    let url = format!("http://{}", serving.address);
    folder.write(
        "crib.toml",
        &format!(
            "[[source]]\nid = \"far\"\nopenapi = {{ document = \"{url}/v1/openapi.json\", \
             base_url = \"{url}\", auth = {{ bearer = \"${{env:FAR_TOKEN}}\" }} }}\n"
        ),
    );
    let state = state(&folder);
    run_in(&folder, words, &[("XDG_STATE_HOME", &state), ("FAR_TOKEN", &serving.token)])
}

#[test]
fn a_crib_lists_and_calls_through_another_one() {
    let serving = Serving::start(&[]);
    let listed = client(&serving, &["tools", "--json"]);
    let tools = listed.json();
    let tools = tools.as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["far__list_tools", "far__make_plan", "far__run_calls", "far__decide_ticket"] {
        assert!(names.contains(&name), "{name} in {names:?}: {listed:?}");
    }
    let shown = client(&serving, &["call", "far__list_tools", r#"{"q": "arithmetic"}"#, "--json"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("calculate"), "{shown:?}");
    let calls = json!([{ "name": "calculate", "arguments": { "expression": "6*7" } }]);
    let arguments = json!({ "calls": calls }).to_string();
    let called = client(&serving, &["call", "far__run_calls", &arguments, "--json", "--yes"]);
    assert_eq!(called.code, 0, "{called:?}");
    assert!(
        called.out.contains(r#"\"result\":\"42\""#) || called.out.contains("\"42\""),
        "{called:?}"
    );
    assert!(!called.out.contains(&serving.token[3..]), "{called:?}");
    let unknown = client(&serving, &["call", "far__show_tool", r#"{"name": "nothing"}"#, "--json"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert!(unknown.out.contains("urn:toolcrib:problem:unknown-tool"), "{unknown:?}");
}

/// A server with another one as its only source, after these rules.
fn before(far: &Serving, rules: &str) -> Serving {
    let folder = Folder::new();
    let url = format!("http://{}", far.address);
    folder.write("token", &far.token);
    folder.write(
        "crib.toml",
        &format!(
            "{rules}\n[[source]]\nid = \"far\"\nopenapi = {{ document = \
             \"{url}/v1/openapi.json\", base_url = \"{url}\", auth = {{ bearer = \
             \"${{file:{}/token}}\" }} }}\n",
            folder.path().display()
        ),
    );
    Serving::start_in(folder, &[])
}

#[test]
fn what_waits_at_a_crib_is_approved_by_a_person_and_not_by_the_model_of_another() {
    let far = Serving::start(&[]);
    let near = before(&far, "");
    near.hears("`far`: ");
    let at_far = |name: &str, arguments: serde_json::Value| {
        let call = json!({ "calls": [{ "name": name, "arguments": arguments }] });
        far.call(&call)["responses"][0]["structured"]["data"].clone()
    };
    let task = at_far("create_task", json!({ "title": "Water the plants" }))["id"].clone();
    let left = || at_far("list_tasks", json!({})).as_array().unwrap().len();
    let asked = |name: &str, arguments: serde_json::Value| {
        let call = json!({ "calls": [{ "name": name, "arguments": arguments }] });
        let answer = near.call(&call);
        assert_eq!(answer["responses"][0]["outcome"], "pending", "{answer}");
        answer["tickets"][0]["ticket"].as_str().unwrap().to_owned()
    };
    let by_a_person = |ticket: &str| {
        let path = format!("/v1/tickets/{ticket}");
        let decided = near.ask("POST", &path, r#"{"decision": "approve"}"#).json();
        decided["response"]["structured"].clone()
    };
    let delete = json!([{ "name": "delete_task", "arguments": { "task_id": task } }]);
    let parked = by_a_person(&asked("far__run_calls", json!({ "calls": delete })));
    let ticket = parked["tickets"][0]["ticket"].clone();
    let waits = asked("far__decide_ticket", json!({ "id": ticket, "decision": "approve" }));
    let waiting = far.ask("GET", "/v1/tickets", "").json();
    assert!(waiting.to_string().contains(ticket.as_str().unwrap()), "{waiting}");
    assert_eq!(left(), 1, "nobody approved it");
    let decided = by_a_person(&waits);
    assert_eq!((&decided["response"]["outcome"], left()), (&json!("done"), 0), "{decided}");
}

#[test]
fn a_crib_that_serves_lists_and_calls_through_another_that_serves() {
    let far = Serving::start(&[]);
    let near = before(&far, "allow = [\"*\"]\n");
    // Every operation of the document is a tool, and a model API takes each of them.
    let document = far.send(&super::support::head("GET", "/v1/openapi.json", &far, &[]), "").json();
    let paths = document["paths"].as_object().unwrap();
    let operations: usize = paths.values().map(|path| path.as_object().unwrap().len()).sum();
    let total = || near.ask("GET", "/v1/tools", "").json()["total"].as_u64();
    assert!(eventually(|| total() == Some(operations as u64)), "{:?}", total());
    for dialect in ["openai-chat", "openai-responses", "anthropic", "gemini"] {
        let plan = json!({ "dialect": dialect }).to_string();
        let plan = near.ask("POST", "/v1/plan", &plan).json();
        assert_eq!(plan["refused"], json!([]), "{dialect}");
    }
    let run = |name: &str, arguments: serde_json::Value| {
        let call = json!({ "calls": [{ "name": name, "arguments": arguments }] });
        near.call(&call)["responses"][0].clone()
    };
    let found = run("far__list_tools", json!({ "q": "arithmetic" }));
    assert_eq!(found["structured"]["tools"][0]["name"], "calculate", "{found}");
    let inner = json!([{ "name": "calculate", "arguments": { "expression": "6*7" } }]);
    let called = run("far__run_calls", json!({ "calls": inner }));
    assert_eq!(called["structured"]["responses"][0]["structured"]["result"], "42", "{called}");
    let unknown = run("far__show_tool", json!({ "name": "nothing" }));
    assert_eq!(unknown["error"], true, "{unknown}");
    assert!(unknown["text"].as_str().unwrap().contains("unknown-tool"), "{unknown}");
    // Nor does what the far one is told ever come from the client of the near one.
    let told = near.told.lock().unwrap().clone() + &far.told.lock().unwrap();
    assert!(!told.contains(&far.token[3..]) && !called.to_string().contains(&far.token[3..]));
}
