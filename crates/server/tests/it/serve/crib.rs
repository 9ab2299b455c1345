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

#[test]
fn a_crib_that_serves_lists_and_calls_through_another_that_serves() {
    let far = Serving::start(&[]);
    let folder = Folder::new();
    let url = format!("http://{}", far.address);
    folder.write("token", &far.token);
    folder.write(
        "crib.toml",
        &format!(
            "allow = [\"*\"]\n\n[[source]]\nid = \"far\"\nopenapi = {{ document = \
             \"{url}/v1/openapi.json\", base_url = \"{url}\", auth = {{ bearer = \
             \"${{file:{}/token}}\" }} }}\n",
            folder.path().display()
        ),
    );
    let near = Serving::start_in(folder, &[]);
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
