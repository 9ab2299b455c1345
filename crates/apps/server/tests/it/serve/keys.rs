//! API keys: what opens what, for whom, and how long.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::support::{Answer, Serving, bearer, eventually, head, state};
use crate::process::{Folder, run_in};

const CRIB: &str = "allow = [\"*\"]\n[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\
                    [tool.hash_text]\neffect = \"write\"\n\
                    [profile.small]\nallow = [\"calculate\", \"hash_text\"]\n";

/// Makes a key as a person does: the key, and the lines for the file.
pub(crate) fn make(folder: &Folder, words: &[&str]) -> (String, String) {
    let words = [&["token"], words, &["--key", "--json"]].concat();
    let ran = run_in(folder, &words, &[("XDG_STATE_HOME", &state(folder))]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let made = ran.json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("key"), text("entry"))
}

/// A server of these keys, each with its words.
fn serving(keys: &[&[&str]]) -> (Serving, Vec<String>) {
    let folder = Folder::new();
    let (made, entries): (Vec<_>, Vec<_>) = keys.iter().map(|words| make(&folder, words)).unzip();
    folder.write("crib.toml", &(CRIB.to_owned() + &entries.concat()));
    (Serving::start_in(folder, &[]), made)
}

fn mcp(serving: &Serving, key: &str, path: &str, method: &str, mut params: Value) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut lines = vec![
        bearer(key),
        "Content-Type: application/json".to_owned(),
        "Accept: application/json, text/event-stream".to_owned(),
        "MCP-Protocol-Version: 2026-07-28".to_owned(),
        format!("Mcp-Method: {method}"),
    ];
    lines.extend(params["name"].as_str().map(|name| format!("Mcp-Name: {name}")));
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    serving.send(&head("POST", path, serving, &lines), &body.to_string())
}

/// The scope that a refusal asks for.
pub(crate) fn asked_for(answer: &Answer) -> String {
    assert_eq!(answer.problem(), "403 insufficient-scope", "{answer:?}");
    let challenge = answer.head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("www-authenticate").then_some(value)
    });
    let (kind, scope) = challenge.unwrap().split_once("scope=\"").unwrap();
    assert!(kind.contains("error=\"insufficient_scope\""), "{answer:?}");
    scope.split('"').next().unwrap().to_owned()
}

#[test]
fn a_key_is_shown_once_and_its_lines_are_ready_for_the_file() {
    let folder = Folder::new();
    let state = state(&folder);
    let words = [
        "token",
        "ci",
        "--key",
        "--tenant",
        "acme",
        "--scope",
        "tools:read",
        "--expires",
        "2999-01-01",
    ];
    let ran = run_in(&folder, &words, &[("XDG_STATE_HOME", &state)]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let key = ran.err.split_whitespace().find(|word| word.starts_with("tck_ci.")).unwrap();
    assert!(!ran.out.contains(&key[7..]), "{ran:?}");
    folder.write("crib.toml", &(CRIB.to_owned() + &ran.out));
    let serving = Serving::start_in(folder, &[]);
    let listed = serving.ask_as(key, "GET", "/v1/tools", "").json();
    assert!(listed["total"].as_u64().unwrap() > 5, "{listed}");
    for (words, wrong) in [
        (&["token", "local", "--key"][..], "a token of its own"),
        (&["token", "a b", "--key"], "this cannot name a key"),
        (&["token", "ci", "--key", "--tenant", "local"], "`local` is the tenant"),
        (&["token", "ci", "--key", "--expires", "soon"], "this is no moment"),
    ] {
        let ran = run_in(&serving.folder, words, &[("XDG_STATE_HOME", &state)]);
        assert!(ran.code == 2 && ran.err.contains(wrong) && ran.out.is_empty(), "{ran:?}");
    }
}

#[test]
fn scopes_open_what_they_say_at_every_door() {
    let (serving, keys) = serving(&[
        &["all", "--scope", "tools"],
        &["reads", "--scope", "tools:read"],
        &["small", "--scope", "profile:small"],
        &["boss", "--scope", "operator"],
        &["none", "--scope", "something-else"],
    ]);
    let [all, reads, small, boss, none] = keys.try_into().unwrap();
    let rest = |key: &str, path: &str| serving.ask_as(key, "GET", path, "");
    let total = |key: &str, path: &str| rest(key, path).json()["total"].as_u64();
    let every = total(&all, "/v1/tools");
    assert_eq!(total(&reads, "/v1/tools"), every.map(|every| every - 1));
    assert_eq!(total(&all, "/v1/tools?profile=small"), Some(2));
    assert_eq!(total(&reads, "/v1/tools?profile=small"), Some(1));
    assert_eq!(total(&small, "/v1/tools?profile=small"), Some(2));
    for (key, path, scope) in [
        (&small, "/v1/tools", "tools"),
        (&small, "/v1/tools?profile=other", "profile:other"),
        (&small, "/v1/sources", "operator"),
        (&all, "/v1/sources", "operator"),
        (&boss, "/v1/tools", "tools"),
        (&none, "/v1/calls", "tools"),
        (&none, "/v1/tools?profile=small", "tools"),
    ] {
        assert_eq!(asked_for(&rest(key, path)), scope, "{path}");
    }
    assert_eq!(rest(&boss, "/v1/sources").status, 200);
    assert_eq!(rest(&all, "/v1/tools?profile=other").problem(), "404 unknown-profile");
    let body = json!({ "profile": "small", "calls": [] }).to_string();
    assert_eq!(serving.ask_as(&small, "POST", "/v1/calls", &body).status, 200);
    let whole = serving.ask_as(&small, "POST", "/v1/calls", r#"{"calls": []}"#);
    assert_eq!(asked_for(&whole), "tools");
    let list = |key: &str, path: &str| mcp(&serving, key, path, "tools/list", json!({}));
    assert_eq!(asked_for(&list(&small, "/mcp")), "tools");
    assert_eq!(asked_for(&list(&small, "/mcp/other")), "profile:other");
    assert_eq!(asked_for(&list(&none, "/mcp/small")), "profile:small");
    assert!(list(&small, "/mcp/small").body.contains("hash_text"));
    let read = list(&reads, "/mcp/small");
    assert!(read.body.contains("calculate") && !read.body.contains("hash_text"), "{read:?}");
    assert_eq!(list(&all, "/mcp/other").status, 404);
}

#[test]
fn what_only_reads_may_be_used_does_not_exist_otherwise() {
    let (serving, keys) = serving(&[&["reads", "--scope", "tools:read"]]);
    let key = &keys[0];
    let problem = |path: &str| serving.ask_as(key, "GET", path, "").problem();
    assert_eq!(problem("/v1/tools/hash_text"), "404 unknown-tool");
    assert_eq!(problem("/v1/why/hash_text"), "404 unknown-tool");
    let call = |name: &str| {
        let body = json!({ "calls": [{ "id": "1", "name": name, "arguments": {} }] }).to_string();
        let answer = serving.ask_as(key, "POST", "/v1/calls", &body).json();
        let told = answer["responses"][0].to_string().replace(name, "NAME");
        // What is near to a word differs from word to word.
        let (before, after) = told.split_once("Call one of").unwrap();
        let before = before.split("Did you mean").next().unwrap().trim_end();
        format!("{before} Call one of{after}")
    };
    let (hidden, absent) = (call("hash_text"), call("something_else"));
    assert_eq!(hidden, absent);
    assert!(!hidden.contains("hash_text"), "{hidden}");
}

#[test]
fn two_tenants_share_nothing_under_one_name() {
    let key = |id: &'static str, tenant: &'static str| {
        [id, "--subject", "ann", "--tenant", tenant, "--scope", "tools"]
    };
    let (one, two) = (key("one", "acme"), key("two", "umbrella"));
    let (serving, keys) = serving(&[&one, &two]);
    let ask = |key: &str, method, path: &str, body: &str| serving.ask_as(key, method, path, body);
    let plan = ask(&keys[0], "POST", "/v1/plan", "{}").json();
    let body = json!({ "plan": plan["plan"], "calls": [{ "name": "uuid_new" }] }).to_string();
    assert_eq!(ask(&keys[0], "POST", "/v1/calls", &body).status, 200);
    assert_eq!(ask(&keys[1], "POST", "/v1/calls", &body).problem(), "404 unknown-plan");
    let recorded = |key: &str| ask(key, "GET", "/v1/calls", "").body;
    assert!(!recorded(&keys[1]).contains("uuid_new"), "{}", recorded(&keys[1]));
    let keyed = |key: &str| {
        let lines = [
            bearer(key),
            "Content-Type: application/json".to_owned(),
            "Idempotency-Key: 1".to_owned(),
        ];
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let body = json!({ "calls": [{ "name": "uuid_new" }] }).to_string();
        serving.send(&head("POST", "/v1/calls", &serving, &lines), &body).json()["id"].clone()
    };
    let (first, second) = (keyed(&keys[0]), keyed(&keys[1]));
    assert_ne!(first, second);
    assert_eq!((keyed(&keys[0]), keyed(&keys[1])), (first, second));
}

#[test]
fn a_key_ends_when_it_expires_or_is_taken_out() {
    let (serving, keys) = serving(&[
        &["old", "--subject", "ci"],
        &["new", "--subject", "ci"],
        &["over", "--expires", "2020-01-01"],
    ]);
    let status = |key: &str| serving.ask_as(key, "GET", "/v1/tools", "").status;
    assert_eq!(keys.iter().map(|key| status(key)).collect::<Vec<_>>(), [200, 200, 401]);
    let file = serving.folder.path().join("crib.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let (kept, rest) = text.split_once("[[server.key]]").unwrap();
    let mut without = kept.to_owned();
    write!(without, "[[server.key]]{}", rest.split_once("[[server.key]]").unwrap().1).unwrap();
    std::fs::write(&file, without).unwrap();
    assert!(eventually(|| status(&keys[0]) == 401));
    assert_eq!(status(&keys[1]), 200);
    let wrong = keys[1].replace("tck_new", "tck_old");
    let cut = &keys[1][..keys[1].len() - 1];
    for key in [wrong.as_str(), cut, "tck_new.", "tck_.", "tck_", "tck_new"] {
        assert_eq!(status(key), 401, "{key}");
    }
}

#[test]
fn others_are_let_in_by_a_key_under_a_name_that_is_told() {
    let folder = Folder::new();
    let (key, entry) = make(&folder, &["ci"]);
    let server = "[server]\nhosts = [\"crib.example\"]\nbehind_proxy = [\"192.0.2.1\"]\n";
    folder.write("crib.toml", &(CRIB.to_owned() + server + &entry));
    let serving = Serving::starting_at(folder, &["--listen", "0.0.0.0:0"]);
    let ask = |host: &str| {
        let head = format!("GET /v1/tools HTTP/1.1\r\nHost: {host}\r\n{}\r\n", bearer(&key));
        serving.send(&head, "").problem()
    };
    assert_eq!(ask("crib.example"), "200");
    assert_eq!(ask(&serving.address), "403 bad-host");
}
