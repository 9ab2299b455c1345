//! What the page shows of calls beside their record, and what only an operator does: other people's
//! batches and sessions, and the record as a file.

use serde_json::{Value, json};

use super::page_rights::{asks, serving, sign_in};
use super::support::{Serving, bearer, eventually, head};
use crate::keep::upstream::Upstream;
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\nask = [\"uuid_new\"]\n\n\
    [store]\nurl = \"sqlite://crib.db\"\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
    [[source]]\nid = \"s\"\nmcp = { command = [\"python3\", \"./s.py\"], cwd = \".\", env = { API_KEY = \"${file:key.txt}\" } }\n";

/// A server that answers with what it was called with, and one tool of which never does.
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
        read = {"readOnlyHint": True}
        reply["result"] = {"tools": [
            {"name": "echo", "inputSchema": {"type": "object"}, "annotations": read},
            {"name": "never", "inputSchema": {"type": "object"}, "annotations": read}]}
    elif method == "tools/call":
        if asked["params"]["name"] == "never":
            continue
        text = json.dumps(asked["params"]["arguments"])
        reply["result"] = {"content": [{"type": "text", "text": text}]}
    print(json.dumps(reply), flush=True)
"#;

fn started(file: &str) -> Serving {
    let folder = Folder::new();
    folder.write("s.py", SERVER);
    folder.write("key.txt", "hunter2-hunter2");
    folder.write("crib.toml", file);
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 2 tools");
    serving
}

fn call(serving: &Serving, name: &str, arguments: &Value) -> Value {
    let calls = json!({ "calls": [{ "name": name, "arguments": arguments }] });
    serving.call(&calls)["responses"][0].clone()
}

/// The newest call of this tool on record.
fn recorded(serving: &Serving, tool: &str) -> Value {
    let record = serving.ask("GET", &format!("/v1/record?tool={tool}"), "").json();
    record["calls"][0].clone()
}

fn whole(serving: &Serving, call: &Value) -> Value {
    let path = format!("/v1/record/{}", call["key"].as_str().unwrap());
    serving.ask("GET", &path, "").json()
}

#[test]
fn what_a_call_was_about_is_kept_from_the_first_sign_in_on_and_without_secrets() {
    let serving = started(FILE);
    assert_eq!(serving.ask("GET", "/v1/session", "").json()["features"]["keep"], true);
    call(&serving, "s__echo", &json!({ "early": true }));
    assert_eq!(whole(&serving, &recorded(&serving, "s__echo"))["kept"], Value::Null);
    sign_in(&serving, &serving.token);
    let given = json!({ "text": "key hunter2-hunter2 here", "long": "x".repeat(100_000) });
    call(&serving, "s__echo", &given);
    let kept = whole(&serving, &recorded(&serving, "s__echo"))["kept"].clone();
    let [arguments, result] = ["arguments", "result"].map(|name| kept[name].as_str().unwrap());
    for text in [arguments, result] {
        assert!(text.contains("key [secret] here"), "{}", &text[..100]);
        assert!(!text.contains("hunter2") && text.len() < 66_000, "{}", text.len());
    }
    assert_eq!(kept["outcome"], "done");
    assert!(
        (1..=900).contains(&kept["seconds_left"].as_u64().unwrap()),
        "{}",
        kept["seconds_left"]
    );
    let none = serving.ask("GET", "/v1/record/none", "");
    assert_eq!(none.problem(), "404 unknown-call");
    // It is the operator's, and in no list.
    let other = serving.token_of("other");
    let path = format!("/v1/record/{}", recorded(&serving, "s__echo")["key"].as_str().unwrap());
    assert_eq!(serving.ask_as(&other, "GET", &path, "").problem(), "403 forbidden");
    assert!(recorded(&serving, "s__echo").get("kept").is_none());
}

#[test]
fn nothing_is_kept_where_the_file_says_so_or_others_may_come_in() {
    let off = started(&format!("{FILE}\n[page]\nkeep = 0\n"));
    let (shared, _) = serving(FILE.split("[[source]]\nid = \"s\"").next().unwrap(), &[&["tools"]]);
    for serving in [off, shared] {
        assert_eq!(serving.ask("GET", "/v1/session", "").json()["features"]["keep"], false);
        sign_in(&serving, &serving.token);
        call(&serving, "calculate", &json!({ "expression": "1+1" }));
        let whole = whole(&serving, &recorded(&serving, "calculate"));
        assert_eq!((&whole["kept"], &whole["state"]), (&Value::Null, &json!("succeeded")));
    }
}

#[test]
fn a_call_tells_how_long_it_waited_for_a_person_and_what_it_tried() {
    let serving = started(FILE);
    sign_in(&serving, &serving.token);
    let waits = serving.call(&json!({ "calls": [{ "name": "uuid_new" }] }));
    let ticket = format!("/v1/tickets/{}", waits["tickets"][0]["ticket"].as_str().unwrap());
    let decided = serving.ask("POST", &ticket, r#"{"decision":"approve"}"#);
    assert_eq!(decided.status, 200, "{decided:?}");
    let phases = recorded(&serving, "uuid_new")["phases"].clone();
    let kinds: Vec<_> = phases.as_array().unwrap().iter().map(|phase| &phase["kind"]).collect();
    assert_eq!(kinds, ["asked", "try"], "{phases}");
    let end = |phase: &Value| phase["at_ms"].as_u64().unwrap() + phase["took_ms"].as_u64().unwrap();
    assert!(end(&phases[0]) <= phases[1]["at_ms"].as_u64().unwrap() + 1, "{phases}");
    assert_eq!((&phases[1]["try"], &phases[1]["ended"]), (&json!(1), &json!("done")));
    let own = serving.ask("GET", "/v1/calls?tool=uuid_new", "").json();
    assert_eq!(own["calls"][0]["phases"], phases);
}

#[test]
fn a_call_tells_when_it_was_looked_up_and_what_that_found() {
    const VERIFIED: &str = "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n\
        [tool.web__act.verify]\ntool = \"web__see\"\n\
        arguments = { how = \"count\", nonce = \"{nonce}\" }\nat = \"/times\"\nis = 1\n";
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(VERIFIED), &[]);
    serving.hears("`web`: ");
    sign_in(&serving, &serving.token);
    call(&serving, "web__act", &json!({ "how": "reset", "nonce": "n" }));
    assert!(eventually(|| recorded(&serving, "web__act")["state"] == "succeeded"));
    let phases = recorded(&serving, "web__act")["phases"].clone();
    let shown = phases.as_array().unwrap().iter().map(|phase| {
        (phase["kind"].as_str().unwrap().to_owned(), phase["ended"].as_str().map(ToOwned::to_owned))
    });
    let shown: Vec<_> = shown.collect();
    let [.., (try_, Some(_)), (verify, Some(found))] = &shown[..] else { unreachable!("{phases}") };
    assert_eq!((&**try_, &**verify, &**found), ("try", "verify", "succeeded"), "{phases}");
    let (tried, looked) = (&phases[shown.len() - 2], &phases[shown.len() - 1]);
    assert!(looked["at_ms"].as_u64() > tried["at_ms"].as_u64(), "{phases}");
}

#[test]
fn an_operator_cancels_what_somebody_else_lets_run() {
    let serving = started(FILE);
    let other = serving.token_of("other");
    let never = json!({ "calls": [{ "name": "s__never" }] }).to_string();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| serving.ask_as(&other, "POST", "/v1/calls", &never));
        let running = || serving.ask("GET", "/v1/running", "").json()["running"].clone();
        assert!(eventually(|| running()[0]["caller"] == "other"));
        let batch = format!("/v1/running/{}", running()[0]["id"].as_str().unwrap());
        assert_eq!(serving.ask_as(&other, "DELETE", &batch, "").problem(), "403 forbidden");
        let stopped = serving.ask("DELETE", &batch, "").json();
        assert_eq!((&stopped["cancelled"], &stopped["tenant"]), (&json!(true), &json!("local")));
        let ended = waits.join().unwrap().json();
        assert_eq!(ended["responses"][0]["kind"], "cancelled", "{ended}");
        assert!(eventually(|| running() == json!([])));
        assert_eq!(serving.ask("DELETE", &batch, "").problem(), "404 unknown-call");
    });
}

#[test]
fn the_record_is_a_file_of_lines_or_a_table_that_works_nothing_out() {
    let serving = started(FILE);
    for id in ["=1+1", "plain"] {
        let sum = json!({ "expression": "1+1", "id": id });
        let calls = json!({ "calls": [{ "id": id, "name": "s__echo", "arguments": sum }] });
        serving.call(&calls);
    }
    let file = |query: &str| serving.ask("GET", &format!("/v1/record/export{query}"), "");
    let lines = file("");
    assert!(lines.head.contains("content-type: application/x-ndjson\r\n"), "{}", lines.head);
    assert!(lines.head.contains("content-disposition: attachment; filename=\"calls.jsonl\""));
    let rows: Vec<Value> =
        lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let record = serving.ask("GET", "/v1/record", "").json();
    let keys = |rows: &[Value]| rows.iter().map(|row| row["key"].clone()).collect::<Vec<_>>();
    assert_eq!(keys(&rows), keys(record["calls"].as_array().unwrap()));
    let table = file("?form=csv&source=s");
    assert!(table.head.contains("content-type: text/csv; charset=utf-8\r\n"), "{}", table.head);
    let cells: Vec<Vec<&str>> = table.body.lines().map(|line| line.split(',').collect()).collect();
    let place = cells[0].iter().position(|name| *name == "id").unwrap();
    assert_eq!([cells[1][place], cells[2][place]], ["plain", "'=1+1"]);
    assert_eq!(file("?form=xml").problem(), "400 invalid-query");
    let other = serving.token_of("other");
    let refused = serving.ask_as(&other, "GET", "/v1/record/export", "");
    assert_eq!(refused.problem(), "403 forbidden");
}

#[test]
fn whoever_is_signed_in_is_listed_and_ended_by_itself_or_an_operator() {
    let (serving, keys) =
        serving(FILE.split("[store]").next().unwrap(), &[&["tools", "page:view"]]);
    let (ann, local) = (sign_in(&serving, &keys[0]), sign_in(&serving, &serving.token));
    let rows = |answer: Value| -> Vec<(Value, Value)> {
        let rows = answer["sessions"].as_array().unwrap().clone();
        rows.into_iter().map(|row| (row["subject"].clone(), row["own"].clone())).collect()
    };
    let list = |session| asks(&serving, session, ("GET", "/v1/sessions"), "").json();
    assert_eq!(rows(list(&ann)), [(json!("ann0"), json!(true))]);
    let all = list(&local);
    let both = [(json!("local"), json!(true)), (json!("ann0"), json!(false))];
    assert_eq!(rows(all.clone()), both);
    let path = |at: usize| format!("/v1/sessions/{}", all["sessions"][at]["id"].as_str().unwrap());
    // Another one's session is to her as one that is not there.
    let refused = asks(&serving, &ann, ("DELETE", &path(0)), "");
    assert_eq!(refused.problem(), "404 unknown-session");
    assert_eq!(asks(&serving, &local, ("DELETE", &path(1)), "").json()["ended"], 1);
    assert_eq!(asks(&serving, &ann, ("GET", "/v1/session"), "").problem(), "401 unauthenticated");
    let half = serving.send(&head("GET", "/v1/sessions", &serving, &[&bearer(&keys[0])]), "");
    assert_eq!(rows(half.json()), []);
}
