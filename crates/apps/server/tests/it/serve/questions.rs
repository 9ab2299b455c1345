//! What a server asks in the middle of a call, of callers who can be asked nothing: a person
//! answers it under a ticket.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::keys::make;
use super::mcp::{ask_able, post};
use super::support::{Serving, eventually, state};
use crate::process::{Folder, Piped, Ran, run_in};

/// Asks who comes in each of its calls, in the way of its revision, and writes down what it hears.
pub(super) const ASKS: &str = r#"
import json, sys
old, waiting = sys.argv[1] == "old", {}
question = {"message": "Who\u200b comes?", "requestedSchema": {"type": "object", "properties": {
    "name": {"type": "string", "title": "Name"},
    "meal": {"type": "string", "enum": ["fish", "soup"]},
    "guests": {"type": "integer", "default": 1}}, "required": ["name"]}}

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def tell(id, result):
    say({"id": id, "result": result if old else {"resultType": "complete", **result}})

def done(id, said):
    with open("heard", "a") as heard:
        print(json.dumps(said), file=heard)
    tell(id, {"content": [{"type": "text", "text": json.dumps(said)}]})

for line in sys.stdin:
    asked = json.loads(line)
    id, method, params = asked.get("id"), asked.get("method"), asked.get("params", {})
    if method is None:
        done(waiting.pop(id), asked["result"])
    elif id is None:
        pass
    elif method == "initialize" and old:
        tell(id, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "asks", "version": "1"}})
    elif method == "server/discover" and not old:
        tell(id, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0,
                  "cacheScope": "private",
                  "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "asks", "version": "1"}}})
    elif method == "tools/list":
        tell(id, {"tools": [{"name": "invite", "inputSchema": {"type": "object"}}],
                  **({} if old else {"ttlMs": 0, "cacheScope": "private"})})
    elif method == "tools/call" and old:
        waiting["q" + str(id)] = id
        say({"id": "q" + str(id), "method": "elicitation/create", "params": question})
    elif method == "tools/call" and "inputResponses" in params:
        done(id, params["inputResponses"]["who"])
    elif method == "tools/call":
        say({"id": id, "result": {"resultType": "input_required", "requestState": "s",
             "inputRequests": {"who": {"method": "elicitation/create", "params": question}}}})
    else:
        say({"id": id, "error": {"code": -32601, "message": "no"}})
"#;

const REVISIONS: [&str; 2] = ["old", "new"];

/// A source of each revision, with these words beside where it is.
fn file(words: &str) -> String {
    let source = |id: &str| {
        format!(
            "[[source]]\nid = \"{id}\"\nmcp = {{ command = [\"python3\", \"./asks.py\", \"{id}\"], \
             cwd = \".\"{words} }}\n"
        )
    };
    format!("allow = [\"*\"]\n[audit]\nfile = \"audit.jsonl\"\n{}", REVISIONS.map(source).concat())
}

fn folder(words: &str) -> Folder {
    let folder = Folder::new();
    folder.write("asks.py", ASKS);
    folder.write("crib.toml", &file(words));
    folder
}

fn read(serving: &Serving, name: &str) -> String {
    std::fs::read_to_string(serving.folder.path().join(name)).unwrap_or_default()
}

/// What the call of that source says over REST.
fn invite(serving: &Serving, token: &str, source: &str) -> Value {
    let body = json!({ "calls": [{ "name": format!("{source}__invite") }] }).to_string();
    serving.ask_as(token, "POST", "/v1/calls", &body).json()
}

fn ticket(answer: &Value) -> String {
    let ticket = answer["tickets"][0]["ticket"].as_str();
    ticket.unwrap_or_else(|| unreachable!("{answer}")).to_owned()
}

fn decide(serving: &Serving, ticket: &str, body: &Value) -> super::support::Answer {
    serving.ask("POST", &format!("/v1/tickets/{ticket}"), &body.to_string())
}

fn bob() -> Value {
    json!({ "decision": "approve", "content": { "name": "Bob", "guests": "2" } })
}

fn accepted() -> Value {
    json!({ "action": "accept", "content": { "name": "Bob", "guests": 2 } })
}

fn state_of(serving: &Serving, call: &str) -> Value {
    serving.ask("GET", &format!("/v1/calls/{call}"), "").json()
}

#[test]
fn over_rest_a_question_is_a_ticket_and_its_answer_ends_the_one_call() {
    let folder = folder("");
    let (ann, key) = make(&folder, &["ann", "--tenant", "acme", "--scope", "tools"]);
    folder.write("crib.toml", &(file("") + &key));
    let serving = Serving::start_in(folder, &[]);
    for source in REVISIONS {
        let answer = invite(&serving, &serving.token, source);
        let response = &answer["responses"][0];
        assert_eq!((&response["outcome"], &answer["turn"]), (&json!("pending"), &json!("waiting")));
        assert_eq!(response["question"]["message"], "Who\\u{200b} comes?", "{answer}");
        let ticket = ticket(&answer);
        let path = format!("/v1/tickets/{ticket}");
        let shown = serving.ask("GET", &path, "").json();
        assert_eq!(shown["question"], response["question"]);
        let listed = serving.ask("GET", "/v1/tickets", "").json();
        assert_eq!(listed["tickets"][0]["question"], response["question"], "{listed}");
        // To another tenant there is none.
        assert_eq!(serving.ask_as(&ann, "GET", &path, "").problem(), "404 unknown-ticket");
        let refused = serving.ask_as(&ann, "POST", &path, &bob().to_string());
        assert_eq!(refused.problem(), "404 unknown-ticket");
        // What does not fit uses nothing up.
        for unfit in [
            json!({ "decision": "approve" }),
            json!({ "decision": "approve", "content": { "name": 1, "meal": "cake" } }),
            json!({ "decision": "approve", "content": { "nam": "Bob" } }),
            json!({ "decision": "approve", "content": null }),
        ] {
            assert_eq!(decide(&serving, &ticket, &unfit).problem(), "422 invalid-body", "{unfit}");
        }
        let done = decide(&serving, &ticket, &bob()).json()["response"].clone();
        let said: Value = serde_json::from_str(done["text"].as_str().unwrap()).unwrap();
        assert_eq!((said, &done["debug"]["key"]), (accepted(), &response["debug"]["key"]));
        let late = decide(&serving, &ticket, &bob());
        assert_eq!(late.problem(), "409 ticket-refused");
        assert_eq!(late.json()["recorded"]["text"], done["text"], "{late:?}");
    }
    let records = read(&serving, "audit.jsonl");
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told = records.filter(|record| record["record"] == "question");
    let told: Vec<_> =
        told.map(|record| (record["stage"].clone(), record["decided_by"].clone())).collect();
    let by = json!({ "tenant": "local", "subject": "local" });
    let once = [(json!("asked"), Value::Null), (json!("answered"), by)];
    assert_eq!(told, [once.clone(), once].concat());
    // What a person answers is nobody's business.
    let logs = serving.told.lock().unwrap().clone() + &read(&serving, "audit.jsonl");
    assert!(!logs.contains("Bob") && !logs.contains("Who comes"), "{logs}");
}

#[test]
fn of_64_answers_at_once_one_reaches_the_server() {
    let serving = Serving::start_in(folder(""), &[]);
    for (n, source) in REVISIONS.into_iter().enumerate() {
        let ticket = ticket(&invite(&serving, &serving.token, source));
        let (done, used) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| match decide(&serving, &ticket, &bob()).problem().as_str() {
                    "200" => done.fetch_add(1, Ordering::Relaxed),
                    "409 ticket-refused" => used.fetch_add(1, Ordering::Relaxed),
                    other => unreachable!("{other}"),
                });
            }
        });
        assert_eq!((done.into_inner(), used.into_inner()), (1, 63));
        assert_eq!(read(&serving, "heard").lines().count(), n + 1);
    }
}

#[test]
fn a_person_declines_and_whoever_wants_no_tickets_has_questions_put_away() {
    let serving = Serving::start_in(folder(""), &[]);
    let away = Serving::start_in(folder(", questions = \"cancel\""), &[]);
    for source in REVISIONS {
        let ticket = ticket(&invite(&serving, &serving.token, source));
        let told = decide(&serving, &ticket, &json!({ "decision": "deny" })).json();
        assert_eq!(told["response"]["text"], r#"{"action": "decline"}"#, "{told}");
        let told = invite(&away, &away.token, source);
        assert_eq!(told["responses"][0]["text"], r#"{"action": "cancel"}"#, "{told}");
    }
}

/// What a client of 2026-07-28 without forms is told.
fn by_newer_client(serving: &Serving, source: &str) -> String {
    let params = json!({ "name": format!("{source}__invite"), "arguments": {} });
    ask_able(serving, ("/mcp", "tools/call"), params, &json!({})).body
}

/// The same of one of 2025-11-25.
fn by_older_client(serving: &Serving, source: &str) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    let greeted = post(serving, "/mcp", &[], &hello);
    let session = greeted.head.lines().find(|line| line.to_lowercase().starts_with("mcp-session"));
    let lines = [session.unwrap_or_default(), "MCP-Protocol-Version: 2025-11-25"];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    post(serving, "/mcp", &lines, &ready);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": format!("{source}__invite"), "arguments": {} } });
    post(serving, "/mcp", &lines, &call).body
}

#[test]
fn a_client_of_either_revision_without_forms_is_told_of_a_ticket() {
    let serving = Serving::start_in(folder(""), &[]);
    for source in REVISIONS {
        for client in [by_newer_client, by_older_client] {
            let told = client(&serving, source);
            let open = serving.ask("GET", "/v1/tickets", "").json();
            let ticket = open["tickets"][0]["ticket"].as_str().unwrap().to_owned();
            assert!(told.contains("Waiting for an answer of the user"), "{told}");
            assert!(told.contains(&ticket) && told.contains(r"Who\\u{200b} comes?"), "{told}");
            let done = decide(&serving, &ticket, &bob()).json();
            assert!(done["response"]["text"].as_str().unwrap().contains("Bob"), "{done}");
        }
    }
}

#[test]
fn a_call_that_asks_for_too_long_ends_and_takes_its_question_along() {
    let serving = Serving::start_in(folder(", longest_call = \"1s\""), &[]);
    let answer = invite(&serving, &serving.token, "old");
    let call = answer["responses"][0]["debug"]["key"].as_str().unwrap().to_owned();
    let none = || serving.ask("GET", "/v1/tickets", "").json()["tickets"] == json!([]);
    assert!(eventually(none));
    assert_eq!(decide(&serving, &ticket(&answer), &bob()).problem(), "409 ticket-refused");
    let ended = || state_of(&serving, &call)["state"] == "outcome_unknown";
    assert!(eventually(ended), "{}", state_of(&serving, &call));
}

#[test]
fn after_a_restart_the_call_has_a_truthful_end_and_there_is_no_such_ticket() {
    let mut first = Serving::start_in(folder(""), &[]);
    let answer = invite(&first, &first.token, "old");
    let call = answer["responses"][0]["debug"]["key"].as_str().unwrap().to_owned();
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let folder = std::mem::replace(&mut first.folder, Folder::new());
    let second = Serving::start_in(folder, &[]);
    assert_eq!(state_of(&second, &call)["state"], "interrupted");
    let gone = decide(&second, &ticket(&answer), &bob());
    assert_eq!(gone.problem(), "404 unknown-ticket");
}

fn toolcrib(folder: &Folder, words: &[&str]) -> Ran {
    run_in(folder, words, &[("XDG_STATE_HOME", &state(folder))])
}

#[test]
fn a_person_answers_by_a_command_what_a_client_at_a_pipe_cannot_be_asked() {
    let folder = folder("");
    let mut client = Piped::open(&folder, &["mcp", "crib.toml"]);
    let message = |id: u32, method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    };
    client.ask(&message(
        0,
        "initialize",
        json!({ "protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
    ));
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let mut invite = |source: &str| -> Value {
        let params = json!({ "name": format!("{source}__invite"), "arguments": {} });
        serde_json::from_str(&client.ask(&message(1, "tools/call", params))).unwrap()
    };
    for source in REVISIONS {
        let told = invite(source);
        let rows = toolcrib(&folder, &["tickets", "--json"]).json();
        let ticket = rows["tickets"][0]["ticket"].as_str().unwrap();
        let how = format!("toolcrib tickets answer {ticket}");
        assert!(told.to_string().contains(&how), "{told}");
        assert_eq!(invite(source)["result"], told["result"], "it runs nothing a second time");
        let listed = toolcrib(&folder, &["tickets"]).out;
        for words in [
            &format!("`{source}` asks \"Who\\u{{200b}} comes?\""),
            "- name: string; Name",
            "- meal: string; may be left out; one of fish, soup",
            "- guests: integer; may be left out; usually 1",
            &format!("answer it by `{how} name=VALUE`"),
        ] {
            assert!(listed.contains(words), "no `{words}` in {listed}");
        }
        let unfit = toolcrib(&folder, &["tickets", "answer", ticket, "meal=cake"]);
        assert!(unfit.code != 0 && unfit.err.contains("does not fit"), "{unfit:?}");
        let words = ["tickets", "answer", ticket, "name=Bob", "guests=2"];
        let answered = toolcrib(&folder, &words);
        let said: Value = serde_json::from_str(&answered.out).unwrap();
        assert_eq!((answered.code, said), (0, accepted()));
        assert!(invite(source).to_string().contains("Bob"));
        let heard = std::fs::read_to_string(folder.path().join("heard")).unwrap();
        let times = REVISIONS.iter().position(|one| *one == source).unwrap() + 1;
        assert_eq!(heard.lines().count(), times);
    }
}
