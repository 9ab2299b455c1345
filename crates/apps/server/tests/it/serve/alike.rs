//! Two servers of one program with different data, each of them whole at a door of its own.

use serde_json::{Value, json};

use super::mcp::{ask_able, post};
use super::support::{Answer, Serving, state};
use crate::process::{Folder, run_in};

/// A server that calls itself by its first word, has something of each kind, and writes down what
/// it paid.
const PROGRAM: &str = r#"
import json, sys
who = sys.argv[1]
def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "instructions": f"I am {who}.",
                "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
                "serverInfo": {"name": who, "version": "1"}}
    if method == "tools/list":
        named = lambda name, reads: {
            "name": name, "description": f"Of {who}.", "annotations": {"readOnlyHint": reads},
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
        return {"tools": [named("search", True), named("pay", False)]}
    if method == "tools/call":
        if params["name"] == "pay":
            open(f"{who}.log", "a").write("paid\n")
        return {"content": [{"type": "text", "text": f"{params['name']} at {who}"}]}
    if method == "prompts/list":
        return {"prompts": [{"name": "greet", "description": f"Of {who}."}]}
    if method == "prompts/get":
        text = {"type": "text", "text": f"greetings of {who}"}
        return {"messages": [{"role": "user", "content": text}]}
    if method == "resources/list":
        return {"resources": [{"uri": "note://one", "name": who}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "note://{id}", "name": who}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": f"a note of {who}"}]}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        said = answer(asked["method"], asked.get("params") or {})
        said = {"result": said} if said else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"#;

/// Both without a prefix, each alone in a profile and both in a third.
fn furnished(order: [&str; 2]) -> Folder {
    let folder = Folder::new();
    folder.write("alike.py", PROGRAM);
    let source = |id: &str| {
        format!(
            "[[source]]\nid = \"{id}\"\nprefix = \"\"\n\
             mcp = {{ command = [\"python3\", \"alike.py\", \"{id}\"], cwd = \".\" }}\n\
             [profile.{id}]\nsources = [\"{id}\"]\nallow = [\"*\"]\nask = [\"pay\"]\n"
        )
    };
    let begin = "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n";
    let both = "[profile.both]\nsources = [\"a\", \"b\"]\nallow = [\"*\"]\n";
    let text = [begin, &source(order[0]), &source(order[1]), both].concat();
    folder.write("crib.toml", &text);
    folder
}

fn paid(serving: &Serving, who: &str) -> usize {
    let log = std::fs::read_to_string(serving.folder.path().join(format!("{who}.log")));
    log.unwrap_or_default().lines().count()
}

/// What is asked of a door, and what of the answer names the server.
fn questions(who: &str) -> [(&'static str, Value, String); 8] {
    let named = |name: &str| json!({ "name": name });
    let call = json!({ "name": "search", "arguments": { "text": "x" } });
    [
        ("tools/list", json!({}), format!("Of {who}.")),
        ("tools/call", call, format!("search at {who}")),
        ("prompts/list", json!({}), format!("Of {who}.")),
        ("prompts/get", named("greet"), format!("greetings of {who}")),
        ("resources/list", json!({}), format!("\"name\":\"{who}\"")),
        ("resources/templates/list", json!({}), format!("\"name\":\"{who}\"")),
        ("resources/read", json!({ "uri": "note://one" }), format!("a note of {who}")),
        ("resources/read", json!({ "uri": "note://two" }), format!("a note of {who}")),
    ]
}

/// A client of an older revision, and what the server said of itself.
fn greeted(serving: &Serving, path: &str) -> (String, String) {
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let greeted = post(serving, path, &[], &hello);
    let mut lines = greeted.head.lines();
    let session = lines.find(|line| line.to_lowercase().starts_with("mcp-session"));
    let session = session.unwrap_or_default().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(serving, path, &[&session, OLDER], &ready).status, 202);
    (session, greeted.body)
}

const OLDER: &str = "MCP-Protocol-Version: 2025-06-18";

#[test]
fn each_of_two_alike_servers_is_whole_at_its_own_door() {
    for order in [["a", "b"], ["b", "a"]] {
        let serving = Serving::start_in(furnished(order), &[]);
        for who in ["a", "b"] {
            let other = if who == "a" { "Of b." } else { "Of a." };
            let path = format!("/mcp/{who}");
            let (session, greeting) = greeted(&serving, &path);
            assert!(greeting.contains(&format!("I am {who}.")), "{greeting}");
            for (method, params, said) in questions(who) {
                let modern = ask_able(&serving, (&path, method), params.clone(), &json!({}));
                let body = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
                let older = post(&serving, &path, &[&session, OLDER], &body);
                for answer in [modern, older] {
                    let is_own = answer.body.contains(&said) && !answer.body.contains(other);
                    assert!(is_own, "{method} at {who}: {answer:?}");
                }
            }
            let calls = json!([{ "name": "search", "arguments": { "text": "x" } }]);
            let called = serving.call(&json!({ "profile": who, "calls": calls }));
            let said = called["responses"][0].to_string();
            assert!(said.contains(&format!("search at {who}")), "{called}");
            let listed = serving.ask("GET", &format!("/v1/tools?profile={who}"), "").body;
            assert!(listed.contains(&format!("Of {who}.")) && !listed.contains(other), "{listed}");
            let words = ["call", "search", "{\"text\":\"x\"}", "--profile", who];
            let state = state(&serving.folder);
            let run = run_in(&serving.folder, &words, &[("XDG_STATE_HOME", &state)]);
            assert!(run.out.contains(&format!("search at {who}")), "{run:?}");
        }
        // Where both are shown, the names are the first one's, and the operator is told.
        let [first, second] = order;
        for path in ["/v1/tools", "/v1/tools?profile=both"] {
            let listed = serving.ask("GET", path, "").body;
            assert!(listed.contains(&format!("Of {first}.")), "{listed}");
            assert!(!listed.contains(&format!("Of {second}.")), "{listed}");
        }
        serving.hears(&format!(
            "only the profile `{second}` shows `search`, `pay` of `{second}`: elsewhere tools of \
             `{first}` have the same names"
        ));
    }
}

fn decide(serving: &Serving, profile: &str, ticket: &str) -> Answer {
    let body = json!({ "decision": "approve", "profile": profile }).to_string();
    serving.ask("POST", &format!("/v1/tickets/{ticket}"), &body)
}

#[test]
fn a_ticket_of_one_of_two_alike_servers_runs_at_no_other_and_outlives_a_restart() {
    let serving = Serving::start_in(furnished(["a", "b"]), &[]);
    let calls = json!([{ "name": "pay", "arguments": { "text": "x" } }]);
    let asked = serving.call(&json!({ "profile": "b", "calls": calls }));
    let ticket = asked["tickets"][0]["ticket"].as_str().unwrap().to_owned();
    let serving = restarted(serving);
    let waiting = serving.ask("GET", &format!("/v1/tickets/{ticket}"), "").json();
    assert_eq!(waiting["source"], "b", "{waiting}");
    for profile in ["a", "both"] {
        let refused = decide(&serving, profile, &ticket);
        assert!(refused.status >= 400, "{refused:?}");
    }
    assert_eq!((paid(&serving, "a"), paid(&serving, "b")), (0, 0));
    let approved = decide(&serving, "b", &ticket);
    assert_eq!(approved.json()["response"]["outcome"], "done", "{approved:?}");
    assert_eq!((paid(&serving, "a"), paid(&serving, "b")), (0, 1));
    let calls = serving.ask("GET", "/v1/calls", "").json()["calls"].clone();
    assert_eq!((&calls[0]["tool"], &calls[0]["source"]), (&json!("pay"), &json!("b")), "{calls}");
}

/// The same folder under a new process, after the old one was killed.
fn restarted(mut serving: Serving) -> Serving {
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    drop(serving);
    Serving::start_in(folder, &[])
}

#[test]
fn tools_of_two_alike_servers_are_pinned_side_by_side() {
    let folder = furnished(["a", "b"]);
    let state = state(&folder);
    let run = |words: &[&str]| run_in(&folder, words, &[("XDG_STATE_HOME", &state)]);
    let accepted = run(&["lock"]);
    assert!(accepted.code == 0 && accepted.err.contains("4 tools are accepted"), "{accepted:?}");
    let checked = run(&["lock", "--check"]);
    assert!(checked.code == 0 && checked.err.contains("nothing changed"), "{checked:?}");
    let serving = Serving::start_in(folder, &[]);
    for who in ["a", "b"] {
        let listed = serving.ask("GET", &format!("/v1/tools?profile={who}"), "").json();
        assert_eq!(listed["tools"].as_array().map(Vec::len), Some(2), "{listed}");
    }
}
