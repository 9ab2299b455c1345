//! Clients of the stateless revision that come back to a server which was killed meanwhile.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::doors::{Door, Wanted, mcp};
use super::keys::{STORE, killed};
use crate::process::Folder;
use crate::serve::support::{Answer, Serving, eventually};

/// A server that asks in the middle of every call, and writes down that it was called.
const CHILD: &str = r#"
import json, sys

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def tool(name, reads):
    return {"name": name, "description": "Does something.", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": reads, "destructiveHint": False}}

FORM = {"message": "How many?", "requestedSchema":
        {"type": "object", "properties": {"n": {"type": "integer"}}}}
call = None
for line in sys.stdin:
    heard = json.loads(line)
    method = heard.get("method")
    if method == "initialize":
        say({"id": heard["id"], "result": {
            "protocolVersion": heard["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "c", "version": "1"}}})
    elif method == "tools/list":
        say({"id": heard["id"], "result": {"tools": [tool("act", False), tool("see", True)]}})
    elif method == "tools/call":
        call = heard
        with open("called", "a") as called:
            print(call["params"]["name"], file=called)
        say({"id": 7, "method": "elicitation/create", "params": FORM})
    elif method is None and heard.get("id") == 7:
        text = str(heard["result"]["content"]["n"])
        say({"id": call["id"], "result": {"content": [{"type": "text", "text": text}]}})
"#;

fn serving() -> Serving {
    ready(Serving::start_in(furnish(STORE), &[]))
}

/// A folder with the program behind a server, and with this in its file.
pub(super) fn furnish(file: &str) -> Folder {
    let folder = Folder::new();
    folder.write("child.py", CHILD);
    let child = "[[source]]\nid = \"c\"\n\
                 mcp = { command = [\"python3\", \"child.py\"], cwd = \".\" }\n";
    folder.write("crib.toml", &format!("{file}{child}"));
    folder
}

pub(super) fn ready(serving: Serving) -> Serving {
    serving.hears("`c`: 2 tools");
    serving
}

/// How often a tool was called.
pub(super) fn called(serving: &Serving, tool: &str) -> usize {
    let called = std::fs::read_to_string(serving.folder.path().join("called")).unwrap();
    called.lines().filter(|line| *line == tool).count()
}

/// Calls a tool, or comes back with the answer to its one question.
fn ask(serving: &Serving, tool: &str, back: Option<(&Value, &Value)>) -> Value {
    mcp(&answer(serving, tool, back)).whole
}

/// The same as it is answered.
pub(super) fn answer(serving: &Serving, tool: &str, back: Option<(&Value, &Value)>) -> Answer {
    let wanted = Wanted { tool, arguments: json!({}), key: None, profile: None };
    let mut body: Value = serde_json::from_str(&Door::Mcp.body(&wanted)).unwrap();
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "elicitation": { "form": {} } });
    if let Some((before, answer)) = back {
        let questions = before["inputRequests"].as_object().unwrap();
        let answers: Value = questions.keys().map(|key| (key.clone(), answer.clone())).collect();
        body["params"]["inputResponses"] = answers;
        body["params"]["requestState"] = before["requestState"].clone();
    }
    let head = Door::Mcp.head(serving, &serving.token, &wanted);
    serving.send(&head, &body.to_string())
}

pub(super) fn message(asked: &Value) -> &str {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = asked["inputRequests"].as_object().unwrap().values().next().unwrap();
    question["params"]["message"].as_str().unwrap()
}

pub(super) fn number() -> Value {
    json!({ "action": "accept", "content": { "n": 5 } })
}

#[test]
fn a_call_that_asked_and_was_cut_off_runs_again_if_a_person_says_so() {
    let serving = serving();
    let asked = ask(&serving, "c__act", None);
    assert_eq!((message(&asked), called(&serving, "act")), ("How many?", 1));
    let serving = ready(killed(serving));
    // Its answer has nobody to go to: the person is told what may have happened.
    let again = ask(&serving, "c__act", Some((&asked, &number())));
    assert!(message(&again).contains("duplicate_of_unknown: the same call"), "{again}");
    assert_eq!(called(&serving, "act"), 1);
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let approved = ask(&serving, "c__act", Some((&again, &yes)));
    assert_eq!((message(&approved), called(&serving, "act")), ("How many?", 2));
    let done = ask(&serving, "c__act", Some((&approved, &number())));
    assert_eq!((&done["content"][0]["text"], called(&serving, "act")), (&json!("5"), 2), "{done}");
    // Who comes back once more with what is over gets nothing run.
    let over = ask(&serving, "c__act", Some((&approved, &number())));
    assert_eq!((over["error"]["code"].clone(), called(&serving, "act")), (json!(-32602), 2));
    let old = ask(&serving, "c__act", Some((&asked, &number())));
    assert!(message(&old).contains("duplicate_of_unknown: the same call"), "{old}");
    let no = json!({ "action": "accept", "content": { "approve": false } });
    let refused = ask(&serving, "c__act", Some((&old, &no)));
    assert_eq!((&refused["isError"], called(&serving, "act")), (&json!(true), 2), "{refused}");
}

#[test]
fn a_call_that_only_reads_asks_anew_when_it_was_cut_off() {
    let serving = serving();
    let asked = ask(&serving, "c__see", None);
    let serving = ready(killed(serving));
    let again = ask(&serving, "c__see", Some((&asked, &number())));
    assert_eq!(message(&again), "How many?");
    let done = ask(&serving, "c__see", Some((&again, &number())));
    assert_eq!(done["content"][0]["text"], "5", "{done}");
}

/// A run of an agent whose model calls `c__act` once, over the program that asks.
fn run_that_asks(serving: Serving, model: &ScriptedModel) -> (Serving, String, String) {
    let folder = serving.folder.path().join("crib.toml");
    let text = std::fs::read_to_string(&folder).unwrap();
    let agents = format!("\n[model]\nurl = \"{}\"\nname = \"m\"\n", model.url());
    std::fs::write(&folder, text + &agents).unwrap();
    let serving = ready(killed(serving));
    let body = json!({ "input": "Do it.", "wait": true }).to_string();
    let run = serving.ask("POST", "/v1/runs", &body).json();
    assert_eq!(run["state"], "waiting", "{run}");
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let (id, ticket) = (word(&run["id"]), word(&run["tickets"][0]));
    (serving, id, ticket)
}

fn ended(serving: &Serving, id: &str) -> Value {
    let run = || serving.ask("GET", &format!("/v1/runs/{id}"), "").json();
    assert!(eventually(|| run()["state"] == "ended"), "{}", run());
    let run = run();
    let thread = format!("/v1/threads/{}", run["thread"].as_str().unwrap());
    serving.ask("GET", &thread, "").json()["items"][2]["results"][0].clone()
}

#[test]
fn a_run_goes_on_when_what_its_call_asks_is_answered() {
    let turns = [ScriptedTurn::call("c__act", json!({})), ScriptedTurn::says("Done.")];
    let model = ScriptedModel::of(turns).unwrap();
    let (serving, id, ticket) = run_that_asks(serving(), &model);
    let answer = json!({ "decision": "approve", "content": { "n": 7 } }).to_string();
    let answered = serving.ask("POST", &format!("/v1/tickets/{ticket}"), &answer);
    assert_eq!(answered.status, 200, "{answered:?}");
    assert_eq!(ended(&serving, &id)["text"], "7");
    assert_eq!(called(&serving, "act"), 1);
}

#[test]
fn a_run_whose_call_asked_when_its_server_died_says_that_nobody_knows() {
    let turns = [ScriptedTurn::call("c__act", json!({})), ScriptedTurn::says("Then not.")];
    let model = ScriptedModel::of(turns).unwrap();
    let (serving, id, _) = run_that_asks(serving(), &model);
    let serving = ready(killed(serving));
    let result = ended(&serving, &id);
    let told = result["text"].as_str().unwrap();
    assert!(told.contains("may have taken effect") || told.contains("may or may not"), "{told}");
    assert_eq!(called(&serving, "act"), 1);
}
