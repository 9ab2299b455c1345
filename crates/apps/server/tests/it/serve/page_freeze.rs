//! Calls that somebody has stopped: by no door, over restarts, in plain words, until they are let.

use serde_json::{Value, json};

use super::keys::{asked_for, make};
use super::mcp::ask_able;
use super::page_events::Follower;
use super::support::{Answer, Serving, eventually, state};
use crate::keep::upstream::Upstream;
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\nask = [\"uuid_new\"]\n\n\
    [audit]\nfile = \"audit.jsonl\"\nrequired = true\n\n\
    [store]\nurl = \"sqlite://crib.db\"\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
    [tool.hash_text]\neffect = \"write\"\n\n[tool.uuid_new]\neffect = \"destroy\"\n\n\
    [profile.small]\nallow = [\"*\"]\n";

const AUDIT: &str = "[audit]\nfile = \"audit.jsonl\"\nrequired = true\n\n";

const HOSTILE: &str = "\"><img src=x onerror=alert(1)> \u{202e}gnp.exe {{7*7}}";

fn serving() -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    Serving::start_in(folder, &[])
}

fn freeze(serving: &Serving, body: &Value) -> Value {
    let answer = serving.ask("POST", "/v1/freeze", &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn hash() -> Value {
    json!({ "name": "hash_text", "arguments": { "text": "x" } })
}

fn sum() -> Value {
    json!({ "name": "calculate", "arguments": { "expression": "1+1" } })
}

/// How a call ends, and in which words.
fn outcome(serving: &Serving, token: &str, call: &Value) -> (String, String) {
    let body = json!({ "calls": [call] }).to_string();
    let answer = serving.ask_as(token, "POST", "/v1/calls", &body).json();
    let text = |name: &str| answer["responses"][0][name].as_str().unwrap().to_owned();
    (text("outcome"), text("text"))
}

fn ends(serving: &Serving, call: &Value) -> String {
    outcome(serving, &serving.token, call).0
}

fn of_mcp(answer: &Answer) -> String {
    answer.json()["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

fn ids(list: &Value) -> Vec<u64> {
    list["freezes"].as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect()
}

#[test]
fn what_is_frozen_runs_by_no_door_over_a_restart_until_it_is_lifted() {
    let serving = serving();
    assert_eq!(ends(&serving, &hash()), "done");
    let waits = serving.call(&json!({ "calls": [{ "name": "uuid_new" }] }));
    let ticket = waits["tickets"][0]["ticket"].as_str().unwrap().to_owned();
    let mut told = Follower::of(&serving, &serving.token);
    let set = freeze(&serving, &json!({ "scope": "all", "why": HOSTILE }));
    let row = &set["freeze"];
    let wanted = json!({ "id": 1, "scope": "all", "name": null, "tenant": null,
        "effects": ["write", "destroy"], "by": "local", "at": row["at"], "why": HOSTILE,
        "until": null, "kept": true });
    assert_eq!((row, &set["tools"]), (&wanted, &json!(2)));
    // From the answer on nothing of it runs.
    let (how, words) = outcome(&serving, &serving.token, &hash());
    assert_eq!(how, "denied");
    assert!(words.contains("frozen: a person has stopped calls that write or destroy"), "{words}");
    let advice = "it is no fault of the call. The call did not run. Do not repeat it, and look for no \
                  way around it: go on without it, or tell the user";
    assert!(words.ends_with(advice) && !words.contains('\u{202e}'), "{words}");
    // What only reads does, and what is frozen is still listed.
    assert_eq!(ends(&serving, &sum()), "done");
    assert_eq!(serving.ask("GET", "/v1/tools/hash_text", "").status, 200);
    for path in ["/mcp", "/mcp/small"] {
        let called = ask_able(&serving, (path, "tools/call"), hash(), &json!({}));
        assert!(of_mcp(&called).contains("frozen: a person"), "{called:?}");
    }
    let approved =
        serving.ask("POST", &format!("/v1/tickets/{ticket}"), r#"{"decision":"approve"}"#);
    assert_eq!(approved.json()["response"]["outcome"], "denied", "{approved:?}");
    told.until(|name, _| name == "freeze");
    let serving = crate::keep::killed(serving);
    assert_eq!(ends(&serving, &hash()), "denied");
    assert_eq!(ids(&serving.ask("GET", "/v1/freeze", "").json()), [1]);
    let lifted = serving.ask("DELETE", "/v1/freeze/1", "").json();
    assert_eq!((&lifted["freeze"]["id"], &lifted["freezes"]), (&json!(1), &json!([])));
    assert_eq!(ends(&serving, &hash()), "done");
    assert_eq!(serving.ask("DELETE", "/v1/freeze/1", "").problem(), "404 unknown-freeze");
    assert_eq!(serving.ask("DELETE", "/v1/freeze/x", "").problem(), "404 unknown-freeze");
    let audit = std::fs::read_to_string(serving.folder.path().join("audit.jsonl")).unwrap();
    assert!(audit.contains("\"act\":\"set\"") && audit.contains("\"act\":\"lifted\""), "{audit}");
}

#[test]
fn a_freeze_is_of_a_source_a_tool_a_caller_a_tenant_or_an_effect_and_of_nothing_else() {
    let serving = serving();
    let other = serving.token_of("other");
    let both = |call: &Value| {
        [&serving.token, &other].map(|token| outcome(&serving, token, call).0 == "denied")
    };
    let cases = [
        (json!({ "scope": "source", "name": "basics" }), [true, true], [false, false]),
        (json!({ "scope": "source", "name": "else" }), [false, false], [false, false]),
        (
            json!({ "scope": "tool", "name": "calculate", "effects": ["read"] }),
            [false, false],
            [true, true],
        ),
        (
            json!({ "scope": "caller", "name": "other", "effects": ["read", "write"] }),
            [false, true],
            [false, true],
        ),
        (json!({ "scope": "tenant", "name": "local" }), [true, true], [false, false]),
        (json!({ "scope": "all", "tenant": "acme" }), [false, false], [false, false]),
        (json!({ "scope": "all", "effects": ["destroy"] }), [false, false], [false, false]),
    ];
    for (body, writes, reads) in cases {
        let id = freeze(&serving, &body)["freeze"]["id"].clone();
        assert_eq!((both(&hash()), both(&sum())), (writes, reads), "{body}");
        assert_eq!(serving.ask("DELETE", &format!("/v1/freeze/{id}"), "").status, 200);
    }
    assert_eq!((both(&hash()), both(&sum())), ([false, false], [false, false]));
    let bad = [
        json!({ "scope": "tool", "name": "" }),
        json!({ "scope": "tool", "name": "x".repeat(257) }),
        json!({ "scope": "all", "effects": [] }),
        json!({ "scope": "all", "effects": ["run"] }),
        json!({ "scope": "all", "why": "x".repeat(501) }),
        json!({ "scope": "all", "until": "soon" }),
        json!({ "scope": "moon" }),
        json!({ "scope": "all", "more": 1 }),
    ];
    for body in bad {
        let answer = serving.ask("POST", "/v1/freeze", &body.to_string());
        assert_eq!(answer.problem(), "422 invalid-body", "{body}: {answer:?}");
    }
    // What is said alone may be, and not together, or not any more.
    for body in [
        json!({ "scope": "all", "name": "x" }),
        json!({ "scope": "tool" }),
        json!({ "scope": "all", "until": "2020-01-01T00:00:00Z" }),
    ] {
        let answer = serving.ask("POST", "/v1/freeze", &body.to_string());
        assert_eq!(answer.problem(), "409 change-refused", "{body}: {answer:?}");
    }
    assert_eq!(serving.ask("GET", "/v1/freeze", "").json()["freezes"], json!([]));
}

#[test]
fn whoever_may_approve_freezes_its_own_organisation_and_only_the_operator_lifts() {
    let folder = Folder::new();
    let key = |name: &str, scopes: &[&str]| {
        let scopes = scopes.iter().flat_map(|scope| ["--scope", scope]);
        make(&folder, &[&[name, "--tenant", "acme"][..], &scopes.collect::<Vec<_>>()].concat())
    };
    let (approver, first) = key("ann", &["tools", "page:approve"]);
    let (viewer, second) = key("bob", &["tools", "page:view"]);
    folder.write("crib.toml", &format!("{FILE}{first}{second}"));
    let serving = Serving::start_in(folder, &[]);
    let all = json!({ "scope": "all" }).to_string();
    let refused = serving.ask_as(&viewer, "POST", "/v1/freeze", &all);
    assert_eq!(asked_for(&refused), "page:approve");
    let set = serving.ask_as(&approver, "POST", "/v1/freeze", &all).json();
    let told = (&set["freeze"]["tenant"], &set["freeze"]["by"]);
    assert_eq!(told, (&json!("acme"), &json!("ann of acme")));
    // Another organisation goes on, whatever it was asked for.
    let theirs = json!({ "scope": "all", "tenant": "local" }).to_string();
    let set = serving.ask_as(&approver, "POST", "/v1/freeze", &theirs).json();
    assert_eq!(set["freeze"]["tenant"], "acme");
    assert_eq!(outcome(&serving, &viewer, &hash()).0, "denied");
    assert_eq!(ends(&serving, &hash()), "done");
    let lifting = |token: &str| serving.ask_as(token, "DELETE", "/v1/freeze/1", "");
    assert_eq!(asked_for(&lifting(&approver)), "operator");
    // Of the freezes of others a caller is told none.
    freeze(&serving, &json!({ "scope": "caller", "name": "local" }));
    freeze(&serving, &json!({ "scope": "all", "tenant": "local" }));
    freeze(&serving, &json!({ "scope": "tool", "name": "no_such" }));
    assert_eq!(ids(&serving.ask_as(&viewer, "GET", "/v1/freeze", "").json()), [1, 2]);
    assert_eq!(ids(&serving.ask("GET", "/v1/freeze", "").json()), [1, 2, 3, 4, 5]);
    assert_eq!(lifting(&serving.token).status, 200);
}

#[test]
fn the_command_freezes_a_server_that_runs_and_a_freeze_ends_with_its_time() {
    let folder = Folder::new();
    folder.write("crib.toml", &FILE.replace(AUDIT, ""));
    let serving = Serving::start_in(folder, &[]);
    let run = |words: &[&str]| {
        let ran = serving.folder.run(&[&["freeze"], words].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    };
    assert!(run(&[]).err.contains("nothing is frozen"));
    let set = run(&["set", "tool", "hash_text", "--why", "we look into it", "--for", "1h"]);
    assert!(set.err.contains("`toolcrib freeze lift 1` lets them run again"), "{set:?}");
    assert!(eventually(|| ends(&serving, &hash()) == "denied"));
    // So it is for every other process of this configuration.
    let by_command = serving.folder.run(&["call", "hash_text", "{\"text\": \"x\"}"]);
    let words = format!("{}{}", by_command.out, by_command.err);
    assert!(by_command.code != 0 && words.contains("frozen: a person"), "{by_command:?}");
    serving.hears("frozen by local: calls of `hash_text` that write or destroy");
    let listed = run(&["list", "--json"]).json();
    assert_eq!(listed["rows"][0]["why"], "we look into it");
    assert!(run(&["list"]).out.contains("we look into it"));
    run(&["lift", "1"]);
    assert!(eventually(|| ends(&serving, &hash()) == "done"));
    let gone = serving.folder.run(&["freeze", "lift", "1"]);
    assert!(gone.code == 2 && gone.err.contains("there is no freeze 1"), "{gone:?}");
    assert_eq!(serving.folder.run(&["freeze", "set", "all", "x"]).code, 2);
    assert_eq!(serving.folder.run(&["freeze", "set", "tool"]).code, 2);
    run(&["set", "all", "--for", "3s"]);
    assert!(eventually(|| ends(&serving, &hash()) == "denied"));
    assert!(eventually(|| ends(&serving, &hash()) == "done"), "it never ends");
}

#[test]
fn where_nobody_can_say_what_is_frozen_nothing_runs() {
    let serving = serving();
    freeze(&serving, &json!({ "scope": "tool", "name": "hash_text" }));
    let kept = std::fs::read_dir(format!("{}/toolcrib/freezes", state(&serving.folder))).unwrap();
    let mut kept = kept.map(|file| file.unwrap().path());
    let file = kept.find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let good = std::fs::read_to_string(&file).unwrap();
    for broken in ["{", "", "[]", "{\"version\": 1, \"rows\": [{}]}"] {
        std::fs::write(&file, broken).unwrap();
        assert!(eventually(|| ends(&serving, &sum()) == "denied"), "{broken}");
        let words = outcome(&serving, &serving.token, &sum()).1;
        assert!(words.contains("nobody can say what is frozen"), "{words}");
        let told = serving.ask("GET", "/v1/freeze", "").json();
        assert!(told["unreadable"].as_str().unwrap().contains("what is frozen cannot be read"));
        let all = json!({ "scope": "all" }).to_string();
        assert_eq!(serving.ask("POST", "/v1/freeze", &all).problem(), "503 unavailable");
        std::fs::write(&file, &good).unwrap();
        assert!(eventually(|| ends(&serving, &sum()) == "done"), "{broken}");
    }
    assert_eq!(ends(&serving, &hash()), "denied");
}

#[test]
fn a_call_that_waits_for_its_turn_does_not_begin_once_it_is_frozen() {
    let upstream = Upstream::start();
    let file = "[limits]\nper_source = 1\n\n[store]\nurl = \"sqlite://crib.db\"\n\n";
    let serving = Serving::start_in(upstream.furnish_web(file), &[]);
    let act = |how: &str, nonce: &str| json!({ "name": "web__act", "arguments": { "how": how, "nonce": nonce } });
    let ends = std::thread::scope(|scope| {
        let first = scope.spawn(|| outcome(&serving, &serving.token, &act("late", "a")));
        assert!(eventually(|| upstream.oracle.count("a") == 1));
        let second = scope.spawn(|| outcome(&serving, &serving.token, &act("ok", "b")));
        let waits = || {
            let calls = serving.ask("GET", "/v1/calls?state=running", "").json();
            calls["calls"].as_array().unwrap().len() == 2
        };
        assert!(eventually(waits));
        freeze(&serving, &json!({ "scope": "source", "name": "web" }));
        upstream.oracle.let_go("a");
        [first.join().unwrap(), second.join().unwrap()]
    });
    assert_eq!(ends[1].0, "denied", "{ends:?}");
    assert_ne!(ends[0].0, "denied", "{ends:?}");
    assert_eq!(upstream.oracle.count("b"), 0);
    let recorded = serving.ask("GET", "/v1/calls?state=not_executed", "").json();
    assert_eq!(recorded["calls"].as_array().unwrap().len(), 1, "{recorded}");
}
