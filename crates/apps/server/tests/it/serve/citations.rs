//! Answers that cite the sources of what tools found.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::events;
use super::support::Serving;
use crate::keep::killed;
use crate::process::Folder;

/// A server whose tool finds two pages, and names them as sources: `n` says which.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": "find", "inputSchema": {"type": "object",
            "properties": {"n": {"type": "integer"}}}, "annotations": {"readOnlyHint": True}}]}
    elif method == "tools/call":
        n = asked["params"]["arguments"]["n"]
        pages = [{"url": f"https://example.com/{i}", "title": f"Page {i}", "text": f"Words of {i}."}
            for i in (n, n + 1)]
        reply["result"] = {"content": [{"type": "text", "text": "found"}],
            "_meta": {"toolcrib/references": pages + [{"id": f"doc-{n}"}]}}
    print(json.dumps(reply), flush=True)
"#;

const ANSWER: &str = "Größer [2], say all 🐘[1, 3]; `x[1]` not, nor [9].";

fn find(n: u32) -> ScriptedTurn {
    ScriptedTurn::call("s__find", json!({ "n": n }))
}

fn folder(model: &ScriptedModel) -> Folder {
    let folder = Folder::new();
    folder.write("s.py", SERVER);
    let source = "mcp = { command = [\"python3\", \"./s.py\"], cwd = \".\" }";
    let text = format!(
        "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n\
         [model]\nurl = \"{}\"\nname = \"m\"\n[[source]]\nid = \"s\"\n{source}\n",
        model.url()
    );
    folder.write("crib.toml", &text);
    folder
}

fn serving(model: &ScriptedModel) -> Serving {
    let serving = Serving::start_in(folder(model), &[]);
    serving.hears("`s`: 1 tools");
    serving
}

/// Finds pages 1 and 2 and answers, each time anew.
fn cites() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let last = body["messages"].as_array().and_then(|all| all.last()).cloned();
        if last.unwrap_or_default()["role"] == "tool" {
            ScriptedTurn::says(ANSWER)
        } else {
            find(1)
        }
    })
    .unwrap()
}

fn cited(start: usize, end: usize, page: u32) -> Value {
    json!({
        "type": "url_citation", "start_index": start, "end_index": end,
        "url": format!("https://example.com/{page}"), "title": format!("Page {page}"),
    })
}

fn references() -> Value {
    let page = |n: u32| {
        json!({
            "number": n, "id": format!("https://example.com/{n}"), "title": format!("Page {n}"),
            "url": format!("https://example.com/{n}"), "cited": true,
        })
    };
    json!([page(1), page(2), { "number": 3, "id": "doc-1", "cited": true }])
}

#[test]
fn responses_have_a_citation_at_every_place_that_names_a_page() {
    let model = cites();
    let serving = serving(&model);
    let wanted = json!([cited(7, 10, 2), cited(21, 27, 1)]);
    let mut body = json!({ "model": "assistant", "input": "Which?" });
    let whole = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    let part = &whole["output"][1]["content"][0];
    assert_eq!((&part["text"], &part["annotations"]), (&json!(ANSWER), &wanted), "{whole}");
    // The places are those that a client cuts out.
    let letters: Vec<char> = ANSWER.chars().collect();
    let cut = |from: usize, to: usize| letters[from..to].iter().collect::<String>();
    assert_eq!((cut(7, 10), cut(21, 27)), ("[2]".to_owned(), "[1, 3]".to_owned()));
    // The model was shown the sources under their numbers, and how to cite them.
    let asked = model.asked()[1].body["messages"].to_string();
    assert!(asked.contains("[2] Page 2 <https://example.com/2>\\nWords of 2."), "{asked}");
    assert!(asked.contains("put its number behind the words"), "{asked}");
    assert!(!model.asked()[0].body.to_string().contains("put its number behind the words"));

    body["stream"] = true.into();
    let told = events(&serving.ask("POST", "/v1/responses", &body.to_string()));
    let added: Vec<_> = told
        .iter()
        .filter(|event| event["type"] == "response.output_text.annotation.added")
        .map(|event| event["annotation"].clone())
        .collect();
    assert_eq!(json!(added), wanted);
    let done = &told.last().unwrap()["response"]["output"][1]["content"][0];
    assert_eq!(done["annotations"], wanted);
}

#[test]
fn chats_have_the_same_citations_in_their_own_shape() {
    let model = cites();
    let serving = serving(&model);
    let wanted: Value = [cited(7, 10, 2), cited(21, 27, 1)]
        .into_iter()
        .map(|mut cited| {
            let fields = cited.as_object_mut().unwrap();
            let kind = fields.remove("type").unwrap();
            json!({ "type": kind, "url_citation": fields })
        })
        .collect();
    let asked = json!([{ "role": "user", "content": "Which?" }]);
    let mut body = json!({ "model": "assistant", "messages": asked });
    let whole = serving.ask("POST", "/v1/chat/completions", &body.to_string()).json();
    assert_eq!(whole["choices"][0]["message"]["annotations"], wanted, "{whole}");
    body["stream"] = true.into();
    let chunks = events(&serving.ask("POST", "/v1/chat/completions", &body.to_string()));
    let told: Vec<_> = chunks
        .iter()
        .map(|chunk| &chunk["choices"][0]["delta"]["annotations"])
        .filter(|told| !told.is_null())
        .collect();
    assert_eq!(told, [&wanted]);
}

#[test]
fn a_run_has_all_its_sources_and_they_keep_their_numbers_in_its_thread_over_a_kill() {
    let turns =
        [find(1), ScriptedTurn::says(ANSWER), find(2), ScriptedTurn::says("Still [1]; now [4].")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model);
    let body = json!({ "input": "Which?", "wait": true }).to_string();
    let run = serving.ask("POST", "/v1/runs", &body).json();
    assert_eq!(run["references"], references(), "{run}");
    let id = run["id"].as_str().unwrap().to_owned();
    let told = serving.ask("GET", &format!("/v1/runs/{id}/events"), "").body;
    let ended = told.lines().rfind(|line| line.starts_with("data: ")).unwrap();
    let ended: Value = serde_json::from_str(&ended[6..]).unwrap();
    assert_eq!(ended["end"]["references"], references());

    let serving = killed(serving);
    assert_eq!(
        serving.ask("GET", &format!("/v1/runs/{id}"), "").json()["references"],
        references()
    );
    serving.hears("`s`: 1 tools");
    let more = json!({ "input": "And now?", "wait": true }).to_string();
    let more = serving.ask("POST", &format!("/v1/runs/{id}/input"), &more).json();
    let numbers: Vec<_> = more["references"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| (source["number"].as_u64().unwrap(), source["cited"] == true))
        .collect();
    // Page 2 is known already; page 3 and the document are new.
    assert_eq!(numbers, [(1, true), (2, false), (3, false), (4, true), (5, false)], "{more}");
    let path = format!("/v1/responses/resp_{}", more["id"].as_str().unwrap());
    let response = serving.ask("GET", &path, "").json();
    let annotations = &response["output"][1]["content"][0]["annotations"];
    assert_eq!(*annotations, json!([cited(6, 9, 1), cited(15, 18, 3)]), "{response}");
}

#[test]
fn a_user_interface_and_a_terminal_are_told_the_sources_too() {
    let model = cites();
    let serving = serving(&model);
    let asked = json!([{ "id": "1", "role": "user", "content": "Which?" }]);
    let body = json!({
        "threadId": "t", "runId": "r", "messages": asked, "tools": [], "context": [],
        "state": null, "forwardedProps": { "agent": "assistant" },
    });
    let told = serving.ask("POST", "/v1/agui", &body.to_string()).body;
    let ended = told.lines().rfind(|line| line.starts_with("data: ")).unwrap();
    let ended: Value = serde_json::from_str(&ended[6..]).unwrap();
    assert_eq!(ended["result"], json!({ "stop": "done", "references": references() }));

    let said = folder(&model).run(&["chat", "Which?"]);
    let wanted = format!(
        "{ANSWER}\n\n[1] Page 1 <https://example.com/1>\n[2] Page 2 <https://example.com/2>\n\
         [3] doc-1\n"
    );
    assert_eq!((said.code, said.out), (0, wanted));
}

#[test]
fn an_agent_of_another_crib_is_cited_by_name_and_its_sources_have_numbers_of_their_own() {
    let model = cites();
    let first = serving(&model);
    let folder = Folder::new();
    folder.write("first.token", &first.token);
    let auth = "auth = { bearer = \"${file:first.token}\" }";
    let text = format!(
        "allow = [\"*\"]\n[[source]]\nid = \"first\"\n\
         a2a = {{ card = \"http://{}\", {auth} }}\n",
        first.address
    );
    folder.write("crib.toml", &text);
    let second = Serving::start_in(folder, &[]);
    second.hears("`first`: 1 tools");
    let call = json!({ "name": "first__ask", "arguments": { "message": "Which?" } });
    let said = second.call(&json!({ "calls": [call] }));
    let response = &said["responses"][0];
    let by_name = ANSWER.replace("[2]", "[Page 2]").replace("[1, 3]", "[Page 1; doc-1]");
    assert_eq!(response["text"].as_str().unwrap().lines().next(), Some(by_name.as_str()), "{said}");
    let sources = response["references"].as_array().unwrap().iter();
    let sources: Vec<_> = sources.map(|source| (&source["number"], &source["id"])).collect();
    let ids = ["https://example.com/1", "https://example.com/2", "doc-1"].map(|id| json!(id));
    let wanted: Vec<_> =
        ids.iter().zip([json!(1), json!(2), json!(3)]).map(|(id, n)| (n, id)).collect();
    assert_eq!(sources, wanted.iter().map(|(n, id)| (n, *id)).collect::<Vec<_>>(), "{said}");
}
