//! Runs of a server, listed, shown and played again by the command line.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::serving;
use super::support::{Serving, state};
use crate::keep::killed;
use crate::process::{Folder, Ran, run_in};

const DESK: &str = "[[source]]\nid = \"desk\"\nprefix = \"\"\ndesk = {}\n";
const STORE: &str = "[store]\nurl = \"sqlite://crib.db\"\n";
const ASKS: &str = "allow = [\"*\"]\nask = [\"create_task\"]\n";

fn tool(folder: &Folder, words: &[&str]) -> Ran {
    run_in(folder, words, &[("XDG_STATE_HOME", &state(folder))])
}

/// The events of a run as the server tells them.
fn told(serving: &Serving, id: &str) -> String {
    let told = serving.ask("GET", &format!("/v1/runs/{id}/events"), "");
    let data = told.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.flat_map(|line| [line, "\n"]).collect()
}

/// A run that counts words, makes a task that a person lets it make, and says so.
fn ran(serving: &Serving) -> String {
    let body = json!({ "input": "Water the plants.", "wait": true }).to_string();
    let begun = serving.ask("POST", "/v1/runs", &body).json();
    let id = begun["id"].as_str().unwrap().to_owned();
    let ticket = begun["tickets"][0].as_str().unwrap();
    let decision = json!({ "decision": "approve" }).to_string();
    assert_eq!(serving.ask("POST", &format!("/v1/tickets/{ticket}"), &decision).status, 200);
    let ended = || {
        let shown = serving.ask("GET", &format!("/v1/runs/{id}"), "").json();
        shown["state"] == "ended"
    };
    assert!(super::support::eventually(ended));
    id
}

fn model() -> ScriptedModel {
    let calls = [
        ("text_count".to_owned(), json!({ "text": "a b" })),
        ("create_task".to_owned(), json!({ "title": "Water the plants" })),
    ];
    ScriptedModel::of([
        ScriptedTurn::Calls("I see to it.".to_owned(), calls.to_vec()),
        ScriptedTurn::says("The task is there."),
    ])
    .unwrap()
}

#[test]
fn a_run_of_a_server_gives_the_same_bytes_without_its_model() {
    let model = model();
    let serving = serving(&model, &format!("{ASKS}{STORE}{DESK}"));
    let id = ran(&serving);
    let recorded = told(&serving, &id);
    assert_eq!(recorded.lines().count(), 17, "{recorded}");

    // While the server has the store open, and when it is gone.
    let replayed = tool(&serving.folder, &["runs", "replay", &id]);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded), "{replayed:?}");
    let base = format!("http://{}", serving.address);
    let export = tool(&serving.folder, &["runs", "export", &id[..8], "--url", &base]);
    let serving = killed(serving);
    assert_eq!(told(&serving, &id), recorded);
    let saved = tool(&serving.folder, &["runs", "export", &id[..8], "--save", "run.json"]);
    assert_eq!(saved.code, 0, "{saved:?}");
    let file = std::fs::read_to_string(serving.folder.path().join("run.json")).unwrap();
    let same = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(same(&export.out), same(&file), "{export:?}");
    let asked = model.asked().len();
    drop(model);
    let replayed = tool(&serving.folder, &["runs", "replay", "run.json"]);
    assert_eq!((replayed.code, &replayed.out, asked), (0, &recorded, 2), "{replayed:?}");

    let changed = file.replace("{\"text_pieces\":[\"The \"", "{\"text_pieces\":[\"No \"");
    serving.folder.write("run.json", &changed);
    let replayed = tool(&serving.folder, &["runs", "replay", "run.json"]);
    assert_eq!(replayed.code, 1, "{replayed:?}");
    assert!(replayed.out.starts_with("event 11 differs\n"), "{replayed:?}");
}

#[test]
fn runs_are_listed_and_shown() {
    let model = model();
    let serving = serving(&model, &format!("{ASKS}{STORE}{DESK}"));
    let id = ran(&serving);
    let base = format!("http://{}", serving.address);
    for remote in [&[][..], &["--url", &base]] {
        let words = [&["runs", "--json"], remote].concat();
        let listed = tool(&serving.folder, &words).json();
        let run = &listed["runs"][0];
        let row = json!([run["id"], run["agent"], run["state"], run["turns"], run["stop"]]);
        assert_eq!(row, json!([id, "assistant", "ended", 2, "done"]), "{listed}");
        assert_eq!((&run["tokens"], listed["runs"].as_array().unwrap().len()), (&json!(220), 1));
        let words = [&["runs", "--state", "waiting", "--json"], remote].concat();
        assert_eq!(tool(&serving.folder, &words).json(), json!({ "runs": [] }));
    }
    let table = tool(&serving.folder, &["runs", "--agent", "assistant"]);
    assert!(table.out.starts_with("RUN "), "{table:?}");
    assert!(table.out.contains(&id), "{table:?}");
    let shown = tool(&serving.folder, &["runs", "show", &id]);
    assert!(shown.out.contains("calls create_task {\"title\":\"Water the plants\"}"), "{shown:?}");
    assert!(shown.out.contains("2 turns, 220 tokens, 17 events, 1 calls that waited"), "{shown:?}");
    let shown = tool(&serving.folder, &["runs", "show", &id, "--json"]).json();
    assert_eq!(
        (shown["items"].as_array().unwrap().len(), &shown["events"][16]["type"]),
        (4, &json!("ended"))
    );
    let absent = tool(&serving.folder, &["runs", "show", "nothing"]);
    assert_eq!(absent.code, 2, "{absent:?}");
    assert!(
        absent.err.contains("no run is called `nothing`: `toolcrib runs` lists them"),
        "{absent:?}"
    );
}

#[test]
fn live_tools_tell_what_has_changed() {
    let model = model();
    let serving = serving(&model, &format!("{ASKS}{STORE}{DESK}"));
    let id = ran(&serving);
    let same = tool(&serving.folder, &["runs", "replay", &id, "--live-tools", "--json"]);
    let now = |ran: &Ran| {
        let calls = ran.json()["calls"].clone();
        let calls = calls.as_array().unwrap().iter();
        calls.map(|call| call["now"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (same.code, now(&same)),
        (0, vec!["same".to_owned(), "not_run".to_owned()]),
        "{same:?}"
    );

    // Without the source of the first call.
    let url = model.url();
    let text = format!("{ASKS}{STORE}{DESK}[model]\nurl = \"{url}\"\nname = \"m\"\n");
    serving.folder.write("crib.toml", &text);
    let other = tool(&serving.folder, &["runs", "replay", &id, "--live-tools"]);
    assert_eq!(other.code, 1, "{other:?}");
    assert!(other.out.contains("missing"), "{other:?}");
    assert!(other.out.contains("it may change something"), "{other:?}");
}

/// A server of tools that knows a key, says it, and is another one once `changed` is there.
const PROGRAM: &str = r#"
import json, os, sys
key, changed = os.environ["API_KEY"], os.path.exists("changed")
needs = {"type": "object", "required": ["to"] if changed else []}
def tool(name, schema={"type": "object"}):
    return {"name": name, "description": "Tells.", "annotations": {"readOnlyHint": True},
            "inputSchema": schema}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "n", "version": "1"}}
    elif method == "tools/list":
        tools = [tool("price"), tool("stock"), tool("route", needs)]
        reply["result"] = {"tools": tools[:1] + tools[2:] if changed else tools}
    elif method == "tools/call":
        told = {"name": asked["params"]["name"], "euro": 8 if changed else 7, "key": key}
        reply["result"] = {"content": [{"type": "text", "text": json.dumps(told)}],
                           "structuredContent": told}
    else:
        reply["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(reply), flush=True)
"#;

/// An API that has one operation.
fn document(path: &str) -> String {
    let operation = json!({ "operationId": "weather", "responses": {} });
    let info = json!({ "title": "a", "version": "1" });
    json!({ "openapi": "3.1.0", "info": info, "paths": { path: { "get": operation } } }).to_string()
}

#[test]
fn drift_of_servers_is_told_and_their_secrets_stand_in_no_record() {
    const SECRET: &str = "canary-9-8f6c0d4e5b3a29188f6c8f6c0d4e";
    let calls = ["price", "stock", "route", "weather"];
    let calls = calls.map(|name| (name.to_owned(), json!({})));
    let model = ScriptedModel::of([
        ScriptedTurn::Calls(String::new(), calls.to_vec()),
        ScriptedTurn::says("Seven euros."),
    ])
    .unwrap();
    let api = super::listener::Listener::start(|heard| {
        (
            200,
            "Content-Type: application/json\r\n".to_owned(),
            json!({ "at": heard.path }).to_string(),
        )
    });
    let folder = Folder::new();
    folder.write("shop.py", PROGRAM);
    folder.write("key.txt", SECRET);
    folder.write("api.json", &document("/v1"));
    let (url, base) = (model.url(), &api.url);
    let text = format!(
        "allow = [\"*\"]\n{STORE}[model]\nurl = \"{url}\"\nname = \"m\"\n\
         [[source]]\nid = \"shop\"\nprefix = \"\"\nmcp = {{ command = [\"python3\", \"./shop.py\"], \
         cwd = \".\", env = {{ API_KEY = \"${{file:key.txt}}\" }} }}\n\
         [[source]]\nid = \"sky\"\nprefix = \"\"\n\
         openapi = {{ document = \"api.json\", base_url = \"{base}\", \
         private = [\"127.0.0.1\"] }}\n"
    );
    folder.write("crib.toml", &text);
    let serving = Serving::start_in(folder, &[]);
    let body = json!({ "input": "What does it cost?", "wait": true }).to_string();
    let run = serving.ask("POST", "/v1/runs", &body).json();
    assert_eq!(run["text"], "Seven euros.", "{run}");
    let id = run["id"].as_str().unwrap();
    let exported = tool(&serving.folder, &["runs", "export", id]);
    assert!(exported.out.contains("euro") && !exported.out.contains(SECRET), "{exported:?}");

    let replay = ["runs", "replay", id, "--live-tools", "--json"];
    let now = |ran: &Ran| {
        let calls = ran.json()["calls"].as_array().unwrap().clone();
        let now = calls.iter().map(|call| format!("{}: {}", call["tool"], call["now"]));
        now.collect::<Vec<_>>().join(", ").replace('"', "")
    };
    let same = tool(&serving.folder, &replay);
    let told = "price: same, stock: same, route: same, weather: same";
    assert_eq!((same.code, now(&same).as_str()), (0, told), "{same:?}");
    serving.folder.write("changed", "");
    serving.folder.write("api.json", &document("/v2"));
    let other = tool(&serving.folder, &replay);
    let told = "price: differs, stock: missing, route: invalid_arguments, weather: differs";
    assert_eq!((other.code, now(&other).as_str()), (1, told), "{other:?}");
    let calls = other.json()["calls"].clone();
    assert_eq!(calls[0]["what"], "/euro: 7 -> 8");
    assert_eq!(calls[3]["what"], "/at: \"/v1\" -> \"/v2\"");
}
