//! What needs a person, and the record with its filters, as the page asks for them.

use serde_json::{Value, json};

use super::support::{Serving, eventually};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\nask = [\"uuid_new\"]\n\n\
    [store]\nurl = \"sqlite://crib.db\"\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
    [[source]]\nid = \"s\"\nmcp = { command = [\"python3\", \"./s.py\"], cwd = \".\" }\n\n\
    [[source]]\nid = \"gone\"\nmcp = { command = [\"./not-there\"], cwd = \".\" }\n";

/// A server whose tool ends it before it answers.
const SERVER: &str = r#"
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": "pay", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        os._exit(1)
    print(json.dumps(reply), flush=True)
"#;

fn serving() -> Serving {
    let folder = Folder::new();
    folder.write("s.py", SERVER);
    folder.write("crib.toml", FILE);
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 1 tools");
    serving
}

fn run(serving: &Serving, token: &str, calls: &Value) -> Value {
    let answer = serving.ask_as(token, "POST", "/v1/calls", &json!({ "calls": calls }).to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn sum(n: u32) -> Value {
    json!({ "name": "calculate", "arguments": { "expression": format!("{n}+1") } })
}

/// A field of each row.
fn column(list: &Value, name: &str) -> Vec<Value> {
    let rows = list.as_array().unwrap_or_else(|| unreachable!("{list}"));
    rows.iter().map(|row| row[name].clone()).collect()
}

#[test]
fn what_needs_a_person_is_told_to_whoever_may_know_it() {
    let serving = serving();
    let other = serving.token_of("other");
    let now = |token: &str| serving.ask_as(token, "GET", "/v1/now", "").json();
    let quiet = now(&other);
    assert_eq!(quiet["tickets"], json!({ "rows": [], "more": false }));
    assert_eq!(quiet["unknown"], json!({ "rows": [], "more": false }));
    run(&serving, &serving.token, &json!([{ "name": "uuid_new" }, sum(1)]));
    let lost = run(&serving, &other, &json!([{ "name": "s__pay" }]));
    assert_eq!(lost["responses"][0]["kind"], "unknown_outcome", "{lost}");
    run(&serving, &other, &json!([{ "name": "uuid_new" }]));
    let all = now(&serving.token);
    assert_eq!(column(&all["tickets"]["rows"], "caller"), ["local", "other"]);
    assert_eq!(column(&all["tickets"]["rows"], "tool"), ["uuid_new", "uuid_new"]);
    let unknown = &all["unknown"]["rows"][0];
    let [tool, state, caller] = ["tool", "state", "caller"].map(|name| &unknown[name]);
    assert_eq!([tool, state, caller], ["s__pay", "outcome_unknown", "other"]);
    assert_eq!(column(&all["sources"]["rows"], "id"), ["gone"]);
    assert_eq!(all["sources"]["well"], 2);
    assert_eq!(all["drift"], json!({ "rows": [], "more": false }));
    let ended = |name: &str| {
        let minutes = column(&all["minutes"], name);
        minutes.iter().filter_map(Value::as_u64).sum::<u64>()
    };
    assert_eq!((ended("calls"), ended("failed")), (4, 1));
    assert_eq!(all["ready"], json!({ "status": "ready" }));
    let own = now(&other);
    assert_eq!(column(&own["tickets"]["rows"], "caller"), ["other"]);
    assert_eq!(column(&own["unknown"]["rows"], "key"), [unknown["key"].clone()]);
    for hidden in ["sources", "drift", "problems", "minutes"] {
        assert_eq!(own[hidden], Value::Null, "{hidden}");
    }
    // Somebody has looked, and says so.
    let path = format!("/v1/record/{}", unknown["key"].as_str().unwrap());
    assert_eq!(serving.ask("POST", &path, r#"{"ending":"succeeded"}"#).status, 200);
    assert_eq!(now(&serving.token)["unknown"]["rows"], json!([]));
}

#[test]
fn what_is_frozen_and_changed_over_the_file_is_told_newest_first() {
    let serving = serving();
    let now = || serving.ask("GET", "/v1/now", "").json();
    let quiet = now();
    assert_eq!(quiet["frozen"], json!({ "rows": [], "more": false, "unreadable": null }));
    assert_eq!(quiet["overlay"], json!({ "n": 0, "latest": [] }));
    for body in [json!({ "scope": "all" }), json!({ "scope": "source", "name": "basics" })] {
        assert_eq!(serving.ask("POST", "/v1/freeze", &body.to_string()).status, 200);
    }
    for (version, field) in
        ["title", "summary", "category", "timeout", "title", "approval"].into_iter().enumerate()
    {
        let value = if field == "timeout" { "9s" } else { "x" };
        let path = format!("tool.calculate.{field}");
        let body = json!({ "expect": version, "changes": [{ "path": path, "value": value }] });
        let answer = serving.ask("POST", "/v1/overlay", &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let told = now();
    assert_eq!(column(&told["frozen"]["rows"], "scope"), ["source", "all"]);
    let paths = ["approval", "title", "timeout", "category", "summary"]
        .map(|field| format!("tool.calculate.{field}"));
    assert_eq!(column(&told["overlay"]["latest"], "path"), paths);
    assert_eq!(
        (&told["overlay"]["n"], &told["overlay"]["latest"][0]["id"]),
        (&json!(5), &json!(6))
    );
    let theirs = serving.ask_as(&serving.token_of("other"), "GET", "/v1/now", "").json();
    assert_eq!(theirs["overlay"], Value::Null);
    assert_eq!(column(&theirs["frozen"]["rows"], "scope"), ["source", "all"]);
}

#[test]
fn a_file_that_is_not_in_force_is_told_until_it_is_put_right() {
    let serving = serving();
    let problems = || serving.ask("GET", "/v1/now", "").json()["problems"].to_string();
    assert!(!problems().contains("crib.toml"));
    let mut told = super::page_events::Follower::of(&serving, &serving.token);
    serving.folder.write("crib.toml", &format!("{FILE}\nalow = []\n"));
    assert!(eventually(|| problems().contains("alow")), "{}", problems());
    let refused = |name: &str, data: &Value| name == "config" && data.to_string().contains("alow");
    told.until(refused);
    serving.folder.write("crib.toml", FILE);
    assert!(eventually(|| !problems().contains("crib.toml")), "{}", problems());
    told.until(|name, data| name == "config" && data["problems"] == json!([]));
}

#[test]
fn the_record_is_asked_for_a_time_a_caller_and_a_batch() {
    let serving = serving();
    let other = serving.token_of("other");
    run(&serving, &serving.token, &json!([sum(1), sum(2)]));
    run(&serving, &other, &json!([sum(3)]));
    let keys = |query: &str| {
        let page = serving.ask("GET", &format!("/v1/record?{query}"), "").json();
        column(&page["calls"], "key")
    };
    let all = keys("");
    assert_eq!(all.len(), 3);
    assert_eq!(keys("caller=other"), all[..1]);
    assert_eq!(keys("caller=nobody"), Vec::<Value>::new());
    let (batch, _) = all[2].as_str().unwrap().rsplit_once('-').unwrap();
    assert_eq!(keys(&format!("batch={batch}")), all[1..]);
    assert_eq!(keys(&format!("batch={batch}&caller=other")), Vec::<Value>::new());
    assert_eq!(keys("since=2020-01-01T00:00:00Z"), all);
    assert_eq!(keys("since=2120-01-01T00:00:00%2B02:00"), Vec::<Value>::new());
    let refused = serving.ask("GET", "/v1/record?since=yesterday", "");
    assert_eq!(refused.problem(), "400 invalid-query");
    // A caller asks so for its own, and for nobody else's.
    let own = serving.ask_as(&other, "GET", &format!("/v1/calls?batch={batch}"), "").json();
    assert_eq!(own["calls"], json!([]));
    assert_eq!(serving.ask("GET", "/v1/calls?caller=other", "").problem(), "400 invalid-query");
}
