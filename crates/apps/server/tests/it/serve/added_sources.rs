//! Sources that are added over the file: from the texts of other programs and from addresses, with
//! the checks of the file, kept over a restart, and taken back at once.

use serde_json::{Value, json};

use super::page_rights::serving as with_keys;
use super::support::{Answer, Serving, bearer, eventually, head, state};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]   # for now\n\n\
    [audit]\nfile = \"audit.jsonl\"\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = [\"calculate\"]\n";

const SECRET: &str = "ghp_0123456789abcdefghij";

/// A server with the tool `works`, which writes down that it was started.
const SERVER: &str = r#"
import json, sys
open("started", "a").write("x")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": "works", "description": "Works. <b>",
            "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}
    elif method == "tools/call":
        reply["result"] = {"content": [{"type": "text", "text": "it works"}]}
    print(json.dumps(reply), flush=True)
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.py", SERVER);
    folder.write("crib.toml", FILE);
    folder
}

fn serving() -> Serving {
    Serving::start_in(folder(), &[])
}

/// The text of another program, with one server that this machine starts.
fn snippet(id: &str) -> String {
    json!({ "mcpServers": { id: { "command": "python3", "args": ["./s.py", "a\u{202e}b"], "cwd": "." } } })
        .to_string()
}

fn starts() -> Value {
    json!([["python3", "./s.py", "a\u{202e}b"]])
}

fn add(serving: &Serving, body: &Value) -> Answer {
    serving.ask("POST", "/v1/sources", &body.to_string())
}

fn overlay(serving: &Serving) -> Value {
    serving.ask("GET", "/v1/overlay", "").json()
}

fn tools(serving: &Serving) -> Vec<String> {
    let listed = serving.ask("GET", "/v1/tools", "").json();
    let names = listed["tools"].as_array().unwrap().iter();
    names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The names that a client of MCP is told.
fn of_mcp(serving: &Serving) -> Vec<String> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } } });
    let token = bearer(&serving.token);
    let lines = [
        token.as_str(),
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/list",
    ];
    let told = serving.send(&head("POST", "/mcp", serving, &lines), &body.to_string()).json();
    let names = told["result"]["tools"].as_array().unwrap_or_else(|| unreachable!("{told}")).iter();
    names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn source(serving: &Serving, id: &str) -> Value {
    let all = serving.ask("GET", "/v1/sources", "").json();
    let rows = all["sources"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).cloned().unwrap_or_default()
}

fn problems(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.problem(), "409 change-refused", "{answer:?}");
    let problems = answer.json()["problems"].as_array().unwrap().clone();
    problems.iter().map(|problem| problem["message"].as_str().unwrap().to_owned()).collect()
}

/// Whether a text stands in any file below the state or beside the configuration.
fn is_kept(serving: &Serving, text: &str) -> bool {
    let mut folders = vec![serving.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let held = std::fs::read(entry.path()).unwrap_or_default();
                if held.windows(text.len()).any(|part| part == text.as_bytes()) {
                    return true;
                }
            }
        }
    }
    false
}

#[test]
fn a_source_is_added_as_it_was_looked_at_and_gone_at_once_when_it_is_taken_back() {
    let serving = serving();
    let started = || serving.folder.path().join("started").exists();
    assert_eq!(of_mcp(&serving), ["calculate"]);
    let body = json!({ "snippet": snippet("s"), "expect": 0, "why": "to try it" });
    let unseen = problems(&add(&serving, &body));
    assert!(unseen[0].contains("it starts other programs than `starts` names"), "{unseen:?}");
    let mut wanted = body.clone();
    wanted["starts"] = starts();
    let mut trial = wanted.clone();
    trial["dry_run"] = json!(true);
    let tried = add(&serving, &trial).json();
    let relaxed = json!([{ "tool": "s",
        "what": "the server starts [\"python3\",\"./s.py\",\"a\u{202e}b\"]" }]);
    assert_eq!((&tried["effects"]["relaxed"], &tried["problems"]), (&relaxed, &json!([])));
    assert!(!started() && overlay(&serving)["version"] == 0, "{tried}");
    // Another argument is another program.
    let mut other = wanted.clone();
    other["starts"][0][2] = json!("ab");
    assert_eq!(problems(&add(&serving, &other)), unseen);
    let made = add(&serving, &wanted);
    assert_eq!(made.status, 200, "{made:?}");
    let made = made.json();
    assert_eq!((&made["in_force"], &made["made"]), (&json!(true), &json!([1])), "{made}");
    assert!(eventually(|| of_mcp(&serving) == ["calculate", "s__works"]));
    let called = serving.call(&json!({ "calls": [{ "name": "s__works" }] }));
    assert!(called.to_string().contains("it works"), "{called:?}");
    let row = &overlay(&serving)["rows"][0];
    let value = json!({ "mcp": { "command": starts()[0], "cwd": "." } });
    assert_eq!(
        row,
        &json!({ "id": 1, "path": "source.s", "value": value, "was": null, "file": null,
            "by": "local", "at": row["at"], "why": "to try it", "until": null,
            "state": "in_force" })
    );
    let change = json!({ "id": 1, "path": "source.s", "by": "local", "at": row["at"],
        "why": "to try it", "until": null });
    assert_eq!(source(&serving, "s")["change"], change);
    assert_eq!(source(&serving, "basics")["change"], Value::Null);
    // Fields of it can be changed as those of the file.
    let field = json!({ "expect": 1,
        "changes": [{ "path": "source.s.exclude", "value": ["works"] }] });
    assert_eq!(serving.ask("POST", "/v1/overlay", &field.to_string()).status, 200);
    assert!(eventually(|| of_mcp(&serving) == ["calculate"]));
    assert_eq!(overlay(&serving)["rows"][1]["state"], "in_force");
    assert_eq!(serving.ask("DELETE", "/v1/overlay/2", "").status, 200);
    assert!(eventually(|| of_mcp(&serving) == ["calculate", "s__works"]));
    let gone = serving.ask("DELETE", "/v1/overlay/1", "").json();
    assert_eq!(gone["effects"]["hidden"], json!(["s__works"]), "{gone}");
    // Whoever is answered finds it so.
    assert_eq!(of_mcp(&serving), ["calculate"]);
    assert_eq!(source(&serving, "s"), Value::Null);
    let text = std::fs::read_to_string(serving.folder.path().join("crib.toml")).unwrap();
    assert_eq!(text, FILE);
    let audit = std::fs::read_to_string(serving.folder.path().join("audit.jsonl")).unwrap();
    assert!(audit.contains("source.s") && audit.contains("taken_back"), "{audit}");
}

#[test]
fn an_added_source_outlives_a_restart_is_exported_as_words_of_the_file_and_lands_in_it() {
    let mut serving = serving();
    let body = json!({ "snippet": snippet("s"), "expect": 0, "starts": starts() });
    assert_eq!(add(&serving, &body).status, 200);
    assert!(eventually(|| tools(&serving) == ["calculate", "s__works"]));
    let _ = (serving.child.kill(), serving.child.wait());
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    let serving = Serving::start_in(folder, &[]);
    assert!(eventually(|| tools(&serving) == ["calculate", "s__works"]));
    assert_eq!(source(&serving, "s")["change"]["id"], 1);
    let export = |form: &str| {
        let told = serving.ask("GET", &format!("/v1/overlay/export?form={form}"), "").json();
        told["text"].as_str().unwrap().to_owned()
    };
    let toml = "[[source]]\nid = \"s\"\n\n[source.mcp]\n\
                command = [\"python3\", \"./s.py\", \"a\\U0000202Eb\"]\ncwd = \".\"\n";
    assert_eq!(export("toml"), toml);
    let patch = format!("+{}\n", toml.trim_end().replace('\n', "\n+"));
    assert!(export("patch").ends_with(&format!("+\n{patch}")), "{}", export("patch"));
    assert_eq!(export("file"), format!("{FILE}\n{toml}"));
    let show = serving.folder.run(&["overlay", "show"]);
    assert!(show.out.contains("starts [\"python3\",\"./s.py\",\"a\\u{202e}b\"]"), "{show:?}");
    assert_eq!(
        serving.folder.run(&["overlay", "export"]).out.trim_end(),
        export("file").trim_end()
    );
    // Somebody puts it into the file, and says more of it there: the file holds.
    serving
        .folder
        .write("crib.toml", &format!("{FILE}\n{toml}").replace("\"s\"", "\"s\"\nprefix = \"t\""));
    assert!(eventually(|| tools(&serving) == ["calculate", "t__works"]));
    assert_eq!(overlay(&serving)["rows"][0]["state"], "landed");
    assert_eq!(source(&serving, "s")["change"], Value::Null);
    let show = serving.folder.run(&["overlay", "show"]);
    assert!(show.out.contains("the file has a source of this id now"), "{show:?}");
    assert_eq!(serving.folder.run(&["overlay", "undo", "1"]).code, 0);
    assert!(eventually(|| overlay(&serving)["rows"] == json!([])));
    assert_eq!(tools(&serving), ["calculate", "t__works"]);
}

#[test]
fn a_secret_that_is_pasted_is_refused_with_the_cure_and_goes_nowhere() {
    let serving = serving();
    let local = |server: Value| json!({ "mcpServers": { "s": server } }).to_string();
    let cases = [
        (json!({ "command": "x", "env": { "API_TOKEN": SECRET } }), "paste `${API_TOKEN}`"),
        (json!({ "command": "x", "args": ["--token", SECRET] }), "looks like a secret"),
        (json!({ "command": "x", "args": [format!("--key={SECRET}")] }), "looks like a secret"),
        (
            json!({ "url": "https://x.example/mcp", "headers": { "Authorization": format!("Bearer {SECRET}") } }),
            "a secret was pasted",
        ),
        (json!({ "url": format!("https://x.example/mcp?token={SECRET}") }), "held a secret"),
        (json!({ "url": format!("https://x.example/{SECRET}/mcp") }), "looks like a secret"),
    ];
    for (server, words) in cases {
        let starts = server.get("command").map(|command| {
            let args = server["args"].as_array().cloned().unwrap_or_default();
            let words = [vec![command.clone()], args].concat();
            json!([words])
        });
        let body =
            json!({ "snippet": local(server), "expect": 0, "starts": starts.unwrap_or(json!([])) });
        let refused = add(&serving, &body);
        let told = problems(&refused);
        assert!(told.iter().any(|line| line.contains(words)), "{words}: {told:?}");
        assert!(!refused.body.contains(SECRET), "{refused:?}");
        let tried = serving.ask(
            "POST",
            "/v1/sources/dry-run",
            &json!({ "snippet": body["snippet"] }).to_string(),
        );
        assert!(!tried.body.contains(SECRET), "{tried:?}");
    }
    let address = format!("https://x.example/api.json?api_key={SECRET}");
    for kind in ["document", "card", "server"] {
        let body = json!({ kind: address, "expect": 0 });
        let refused = add(&serving, &body);
        assert!(problems(&refused)[0].contains("looks like a secret"), "{refused:?}");
        let tried =
            serving.ask("POST", "/v1/sources/dry-run", &json!({ kind: address }).to_string());
        assert!(!tried.body.contains(SECRET) && !refused.body.contains(SECRET), "{tried:?}");
    }
    // Not by way of fields either.
    for value in [
        json!({ "mcp": { "command": ["x"], "env": { "A": SECRET } } }),
        json!({ "mcp": { "url": "https://x.example/", "headers": { "X-Key": "hunter22x" } } }),
        json!({ "mcp": { "url": "https://x.example/", "bearer": format!("{SECRET}${{env:A}}") } }),
        json!({ "openapi": { "document": address } }),
    ] {
        let body = json!({ "expect": 0, "changes": [{ "path": "source.s", "value": value }] });
        let refused = serving.ask("POST", "/v1/overlay", &body.to_string());
        assert!(problems(&refused)[0].contains("looks like a secret"), "{refused:?}");
        assert!(!refused.body.contains(SECRET), "{refused:?}");
    }
    assert_eq!(overlay(&serving), json!({ "version": 0, "rows": [] }));
    assert!(!is_kept(&serving, SECRET), "{}", state(&serving.folder));
    // A reference is what is meant; one that leads to nothing keeps nothing else from coming.
    let server = json!({ "url": "https://x.example/mcp", "headers": { "Authorization": "Bearer ${NOT_SET_HERE}" } });
    let told = problems(&add(&serving, &json!({ "snippet": local(server), "expect": 0 })));
    assert!(told[0].contains("`${env:NOT_SET_HERE}` is not set; export it"), "{told:?}");
}

#[test]
fn what_uses_this_machine_needs_a_scope_of_its_own_and_an_address_the_operator() {
    let scopes: [&[&str]; 3] = [
        &["tools", "page:view", "sources:exec"],
        &["tools", "operator"],
        &["tools", "operator", "sources:exec"],
    ];
    let (serving, keys) = with_keys(FILE, &scopes);
    serving.folder.write("s.py", SERVER);
    let post =
        |key: &str, path: &str, body: &Value| serving.ask_as(key, "POST", path, &body.to_string());
    let address = json!({ "server": "https://mcp.example.com/mcp", "expect": 0 });
    assert_eq!(post(&keys[0], "/v1/sources", &address).problem(), "403 insufficient-scope");
    let program = json!({ "snippet": snippet("s"), "expect": 0, "starts": starts() });
    for body in [
        &program,
        &json!({ "snippet": snippet("s"), "expect": 0, "starts": starts(), "dry_run": true }),
    ] {
        let refused = post(&keys[1], "/v1/sources", body);
        assert_eq!(refused.problem(), "403 insufficient-scope", "{refused:?}");
        assert!(refused.body.contains("sources:exec"), "{refused:?}");
    }
    let probe = json!({ "snippet": snippet("s"), "probe": true });
    assert_eq!(post(&keys[1], "/v1/sources/dry-run", &probe).problem(), "403 insufficient-scope");
    let mut beside: Value = serde_json::from_str(&snippet("s")).unwrap();
    beside["tool_assignment"] = json!({ "a": [] });
    let probe = json!({ "snippet": beside.to_string(), "probe": true });
    assert_eq!(post(&keys[1], "/v1/sources/dry-run", &probe).problem(), "409 change-refused");
    for value in [
        json!({ "mcp": { "command": ["python3", "./s.py"], "cwd": "." } }),
        json!({ "mcp": { "url": "https://x.example/", "bearer": "${file:crib.toml}" } }),
        json!({ "mcp": { "url": "http://127.0.0.1:9/", "private": ["127.0.0.1"] } }),
        json!({ "mcp": { "url": "https://x.example/", "oauth": { "tokens": "t.json" } } }),
        json!({ "openapi": { "document": "/etc/passwd" } }),
        json!({ "desk": {} }),
        json!({ "mcp": { "url": "https://x.example/", "bearer": "${env:HOME}" } }),
        json!({ "mcp": { "url": "http://169.254.169.254/" } }),
        json!({ "mcp": { "url": "http://wiki./" } }),
        json!({ "mcp": { "url": "http://[::ffff:10.0.0.1]/" } }),
        json!({ "a2a": { "card": "http://db.internal/" } }),
        json!({ "openapi": { "document": "https://x.example/", "base_url": "http://wiki/" } }),
    ] {
        let body = json!({ "expect": 0, "changes": [{ "path": "source.s", "value": value }] });
        let refused = post(&keys[1], "/v1/overlay", &body);
        assert_eq!(refused.problem(), "403 insufficient-scope", "{value} {refused:?}");
    }
    assert!(!serving.folder.path().join("started").exists());
    let made = post(&keys[1], "/v1/sources", &address);
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(overlay(&serving)["rows"][0]["by"], "ann1 of acme");
    assert_eq!(overlay(&serving)["rows"][0]["path"], "source.example");
    let mut program = program;
    program["expect"] = json!(1);
    assert_eq!(post(&keys[2], "/v1/sources", &program).status, 200);
    assert!(eventually(|| tools(&serving) == ["calculate", "s__works"]));
    // To take it back is stricter, and needs no more than the operator.
    let gone = serving.ask_as(&keys[1], "DELETE", "/v1/overlay/2", "");
    assert_eq!(gone.status, 200, "{gone:?}");
    assert_eq!(tools(&serving), ["calculate"]);
}

#[test]
fn which_tools_a_source_would_bring_is_told_before_it_is_added() {
    let serving = serving();
    let probe = |body: Value| serving.ask("POST", "/v1/sources/dry-run", &body.to_string());
    let told = probe(json!({ "snippet": snippet("s"), "probe": true })).json();
    let tool = json!({ "name": "s__works", "description": "Works. <b>", "effect": "read" });
    let wanted = json!([{ "source": "s", "error": null, "tools": [tool], "total": 1 }]);
    assert_eq!((&told["probed"], &told["starts"]), (&wanted, &starts()));
    assert_eq!(tools(&serving), ["calculate"]);
    assert_eq!(overlay(&serving)["version"], 0);
    let silent = probe(json!({ "snippet": snippet("s") })).json();
    assert_eq!(silent["probed"], Value::Null);
    let broken = json!({ "mcpServers": { "s": { "command": "no-such-program-here" } } });
    let told = probe(json!({ "snippet": broken.to_string(), "probe": true })).json();
    assert!(told["probed"][0]["error"].is_string(), "{told}");
    // What could not be added is not started.
    let taken = probe(json!({ "snippet": snippet("basics"), "probe": true })).json();
    assert_eq!(taken["probed"], Value::Null);
    assert_eq!(
        taken["problems"],
        json!(["there is a source `basics` already: name this one `basics_2`"])
    );
    let many: serde_json::Map<_, _> =
        (0..9).map(|n| (format!("s{n}"), json!({ "command": "x" }))).collect();
    let many = json!({ "snippet": json!({ "mcpServers": many }).to_string(), "probe": true });
    assert_eq!(probe(many).problem(), "409 change-refused");
    assert_eq!(std::fs::read_to_string(serving.folder.path().join("started")).unwrap(), "x");
}

#[test]
fn what_the_file_could_not_hold_is_refused_in_its_words_and_bounded() {
    let serving = serving();
    let refused = |body: Value| problems(&add(&serving, &body));
    assert_eq!(
        refused(json!({ "snippet": snippet("basics"), "expect": 0, "starts": starts() })),
        ["there is a source `basics` already: name this one `basics_2`"]
    );
    for (body, words) in [
        (json!({ "expect": 0 }), "name one of"),
        (json!({ "expect": 0, "snippet": "{", "card": "https://x.example" }), "name one of"),
        (json!({ "expect": 0, "snippet": "{" }), "this is not JSON"),
        (json!({ "expect": 0, "server": "javascript:alert(1)" }), "an address begins with"),
        (json!({ "expect": 0, "snippet": " ".repeat(300_000) }), "longer than"),
        (
            json!({ "expect": 0, "snippet": "{\"a\": {\"url\": \"https://x.example\"}, \"tool_assignment\": {\"ann\": [\"a\"]}}" }),
            "only sources are added",
        ),
    ] {
        let told = refused(body);
        assert!(told.iter().any(|line| line.contains(words)), "{words}: {told:?}");
    }
    let stale = json!({ "server": "https://mcp.example.com/mcp", "expect": 7 });
    assert_eq!(add(&serving, &stale).problem(), "409 version-conflict");
    for wrong in [
        json!({ "server": "https://mcp.example.com/mcp" }),
        json!({ "server": "https://mcp.example.com/mcp", "expect": 0, "file": "x" }),
        json!({ "server": "https://mcp.example.com/mcp", "expect": 0, "why": "x".repeat(501) }),
        json!({ "server": "https://mcp.example.com/mcp", "expect": 0, "until": "soon" }),
        json!({ "server": "https://mcp.example.com/mcp", "expect": 0, "starts": vec![vec!["x"]; 101] }),
    ] {
        assert_eq!(add(&serving, &wrong).problem(), "422 invalid-body", "{wrong}");
    }
    let set = |value: Value| {
        let body = json!({ "expect": 0, "changes": [{ "path": "source.s", "value": value }] });
        problems(&serving.ask("POST", "/v1/overlay", &body.to_string()))
    };
    let long = json!({ "mcp": { "url": format!("https://x.example/{}", "a/".repeat(10_000)) } });
    for (value, words) in [
        (json!(5), "a source is a table"),
        (json!({ "id": "t", "basics": true }), "remove `id`"),
        (long, "more than 16 KiB"),
        (json!({ "mcp": { "comand": ["x"] } }), "did you mean `command`?"),
        (json!({ "basics": true, "mcp": { "url": "https://x.example" } }), "a source is one thing"),
    ] {
        let told = set(value);
        assert!(told.iter().any(|line| line.contains(words)), "{words}: {told:?}");
    }
    let place = set(json!({ "mcp": { "comand": ["x"] } }));
    assert!(place[0].contains("source.s.mcp.comand"), "{place:?}");
    let many = (0..101).map(|number| {
        json!({ "path": format!("source.n{number}"), "value": { "mcp": { "url": "https://x.invalid/" } } })
    });
    let many = json!({ "expect": 0, "changes": many.collect::<Vec<_>>() });
    let told = problems(&serving.ask("POST", "/v1/overlay", &many.to_string()));
    assert!(told[0].contains("more than 100 sources"), "{told:?}");
    assert_eq!(overlay(&serving), json!({ "version": 0, "rows": [] }));
}

#[test]
fn an_added_source_needs_no_new_trust_of_a_file_that_is_trusted() {
    let folder = folder();
    assert_eq!(folder.run(&["trust", "crib.toml"]).code, 0);
    let serving = Serving::starting_found(folder);
    let body = json!({ "snippet": snippet("s"), "expect": 0, "starts": starts() });
    let made = add(&serving, &body).json();
    assert_eq!(made["in_force"], true, "{made}");
    assert!(eventually(|| tools(&serving) == ["calculate", "s__works"]));
}
