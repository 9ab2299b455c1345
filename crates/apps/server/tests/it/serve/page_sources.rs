//! Sources as the page asks for them: how they are doing, what their programs say, what changed of
//! their tools, and what another one would be.

use serde_json::{Value, json};

use super::support::{Answer, Serving, eventually};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\n\n\
    [audit]\nfile = \"audit.jsonl\"\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = [\"calculate\"]\n\n\
    [[source]]\nid = \"s\"\nmcp = { command = [\"python3\", \"./s.py\", \"--token=hunter22x\"], cwd = \".\", env = { KEY = \"${file:key}\" } }\n\n\
    [[source]]\nid = \"gone\"\nmcp = { command = [\"python3\", \"./broken.py\"], cwd = \".\" }\n\n\
    [[source]]\nid = \"off\"\nenabled = false\nopenapi = { document = \"https://example.com/api.json?key=hunter22x\" }\n\n\
    [profile.small]\nsources = [\"basics\"]\nallow = [\"*\"]\n\n\
    [profile.all]\nallow = [\"*\"]\n";

const KEY: &str = "a-key-of-many-letters-0123456789";

/// A server that lists what a file says, and talks to its standard error.
const SERVER: &str = r#"
import json, os, sys
print("it has " + os.environ["KEY"], file=sys.stderr, flush=True)
print("\x1b[2J<b>bold</b>", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": json.load(open("tools.json"))}
    elif method == "tools/call":
        print("called", file=sys.stderr, flush=True)
        failed = asked["params"]["name"] == "fails"
        reply["result"] = {"content": [{"type": "text", "text": "x"}], "isError": failed}
    print(json.dumps(reply), flush=True)
"#;

const BROKEN: &str =
    "import sys\nprint('no such setting', file=sys.stderr, flush=True)\nsys.exit(3)\n";

fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": { "id": { "type": "string" } } },
        "annotations": { "readOnlyHint": true },
    })
}

fn folder(tools: &Value) -> Folder {
    let folder = Folder::new();
    folder.write("key", KEY);
    folder.write("s.py", SERVER);
    folder.write("broken.py", BROKEN);
    folder.write("tools.json", &tools.to_string());
    folder.write("crib.toml", FILE);
    folder
}

fn serving() -> Serving {
    let tools = json!([tool("works", "Works."), tool("fails", "Fails.")]);
    let serving = Serving::start_in(folder(&tools), &[]);
    serving.hears("`s`: 2 tools");
    serving.hears("the source `gone` gives no tools");
    serving
}

fn row(serving: &Serving, id: &str) -> Value {
    let all = serving.ask("GET", "/v1/sources", "").json();
    let rows = all["sources"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).cloned().unwrap_or_default()
}

fn picked(row: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), row[*name].clone())).collect()
}

#[test]
fn how_a_source_is_doing_is_told_with_what_it_is_and_without_its_secrets() {
    let serving = serving();
    for name in ["s__works", "s__fails", "s__works"] {
        serving.call(&json!({ "calls": [{ "name": name }] }));
    }
    let names = ["state", "kind", "command", "address", "needs", "used_by", "running", "drift"];
    assert_eq!(
        picked(&row(&serving, "s"), &names),
        json!({
            "state": "ready",
            "kind": "mcp",
            "command": ["python3", "./s.py", "--token=[secret]"],
            "address": null,
            "needs": ["${file:key}"],
            "used_by": ["all"],
            "running": 0,
            "drift": 0,
        })
    );
    let own = row(&serving, "s");
    assert_eq!((&own["recent"]["calls"], &own["recent"]["failed"]), (&json!(3), &json!(1)));
    assert!(own["recent"]["p95_us"].as_u64() >= own["recent"]["p50_us"].as_u64(), "{own}");
    assert_eq!(own["server"]["name"], "s");
    let gone = row(&serving, "gone");
    assert_eq!(picked(&gone, &["state", "tools"]), json!({ "state": "failed", "tools": 0 }));
    assert!(gone["failing_seconds"].is_u64(), "{gone}");
    assert!(eventually(|| row(&serving, "gone")["next_try_seconds"].is_u64()));
    let basics = row(&serving, "basics");
    let names = ["state", "kind", "used_by", "server"];
    let expected =
        json!({ "state": "ready", "kind": "basics", "used_by": ["all", "small"], "server": null });
    assert_eq!(picked(&basics, &names), expected);
    let whole = serving.ask("GET", "/v1/sources", "");
    let off = &whole.json()["off"];
    assert_eq!((&off[0]["id"], &off[0]["kind"]), (&json!("off"), &json!("openapi")));
    assert!(!whole.body.contains("hunter22x"), "{}", whole.body);
}

#[test]
fn what_a_program_wrote_is_told_line_by_line_behind_the_last_and_without_secrets() {
    let serving = serving();
    let heard = |id: &str, after: &str| {
        let path = format!("/v1/sources/{id}/stderr{after}");
        let answer = serving.ask("GET", &path, "");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let texts = |heard: &Value| -> Vec<String> {
        let lines = heard["lines"].as_array().unwrap().iter();
        lines.map(|line| line["text"].as_str().unwrap().to_owned()).collect()
    };
    assert!(eventually(|| texts(&heard("s", "")).len() == 2));
    let first = heard("s", "");
    let lines = texts(&first);
    assert_eq!(lines[1], "\\u{1b}[2J<b>bold</b>");
    assert!(lines[0].starts_with("it has ") && !lines[0].contains(KEY), "{lines:?}");
    assert!(first["lines"][0]["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{first}");
    let after = format!("?after={}", first["next"].as_str().unwrap());
    assert_eq!(texts(&heard("s", &after)), Vec::<String>::new());
    serving.call(&json!({ "calls": [{ "name": "s__works" }] }));
    assert!(eventually(|| texts(&heard("s", &after)) == ["called"]));
    // Of another program all is told, and a place that is none is the beginning.
    for other in ["?after=0.2", "?after=x", "?after=99999999999999999999.1"] {
        assert_eq!(texts(&heard("s", other)).len(), 3, "{other}");
    }
    assert!(eventually(|| texts(&heard("gone", "")).contains(&"no such setting".to_owned())));
    assert_eq!(heard("basics", ""), json!({ "program": null, "lines": [], "next": null }));
    assert_eq!(serving.ask("GET", "/v1/sources/none/stderr", "").problem(), "404 unknown-source");
}

#[test]
fn a_secret_of_several_lines_is_masked_wherever_it_was_cut() {
    let folder = folder(&json!([tool("works", "Works.")]));
    // Its last line is too short to be a secret by itself.
    folder.write("key", &format!("{KEY}\n{KEY}-2\nshort-end\n"));
    folder.write(
        "s.py",
        &SERVER.replace("it has ", "before\\nit has ").replace("<b>bold</b>", "after"),
    );
    folder.write("crib.toml", &FILE.replace("id = \"gone\"\n", "id = \"gone\"\nenabled = false\n"));
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 1 tools");
    let heard = |after: &str| {
        let told = serving.ask("GET", &format!("/v1/sources/s/stderr{after}"), "").json();
        let lines = told["lines"].as_array().unwrap().iter();
        let lines = lines.map(|line| line["text"].as_str().unwrap().to_owned());
        (lines.collect::<Vec<_>>(), told["program"].to_string())
    };
    let masked = ["before", "it has [secret]", "[secret]", "[secret]", "\\u{1b}[2Jafter"];
    assert!(eventually(|| heard("").0.len() == 5));
    let (lines, program) = heard("");
    assert_eq!(lines, masked);
    // Also for whoever knows the beginning of it already.
    assert_eq!(heard(&format!("?after={program}.3")).0, masked[3..]);
}

fn drift(serving: &Serving) -> Value {
    serving.ask("GET", "/v1/drift", "").json()
}

fn decide(serving: &Serving, body: &Value) -> Answer {
    serving.ask("POST", "/v1/drift", &body.to_string())
}

fn visible(serving: &Serving) -> Vec<String> {
    let tools = serving.ask("GET", "/v1/tools?source=s", "").json();
    let tools = tools["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A server whose pins were written for its tools, and whose tools are others now.
pub(super) fn changed_source() -> Serving {
    let folder = folder(&json!([tool("one", "Says one."), tool("two", "Says two.")]));
    folder.write("crib.toml", &FILE.replace("id = \"gone\"\n", "id = \"gone\"\nenabled = false\n"));
    let locked = folder.run(&["lock"]);
    assert_eq!(locked.code, 0, "{locked:?}");
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 2 tools");
    assert_eq!(drift(&serving), json!({ "pinned": true, "tools": [], "total": 0 }));
    let mut two = tool("two", "Says two.");
    two["inputSchema"]["required"] = json!(["id"]);
    let tools = json!([tool("one", "Says One."), two, tool("three", "<b>New</b>")]);
    serving.folder.write("tools.json", &tools.to_string());
    assert_eq!(serving.ask("POST", "/v1/sources/s/reload", "{}").status, 200);
    serving
}

#[test]
fn what_changed_of_a_tool_is_told_field_by_field_with_its_kind() {
    let serving = changed_source();
    assert_eq!(visible(&serving), Vec::<String>::new());
    let told = drift(&serving);
    let tools = told["tools"].as_array().unwrap();
    let kinds: Vec<_> = tools.iter().map(|tool| (&tool["tool"], &tool["kind"])).collect();
    let expected = [("s__one", "cosmetic"), ("s__three", "added"), ("s__two", "breaking")];
    let expected: Vec<_> = expected.iter().map(|(tool, kind)| (json!(tool), json!(kind))).collect();
    assert_eq!(kinds, expected.iter().map(|(tool, kind)| (tool, kind)).collect::<Vec<_>>());
    let one = &tools[0]["fields"];
    let line = |side: &str, text: &str| json!({ "side": side, "text": text, "mark": [5, 6] });
    assert_eq!(
        one[0],
        json!({
            "field": "description",
            "kind": "cosmetic",
            "lines": [line("before", "Says one."), line("after", "Says One.")],
            "is_cut": false,
        })
    );
    let two = tools[2]["fields"].as_array().unwrap();
    let fields: Vec<_> = two.iter().map(|field| (&field["field"], &field["kind"])).collect();
    assert_eq!(fields, [(&json!("input"), &json!("breaking"))]);
    let lines = two[0]["lines"].as_array().unwrap();
    let came = lines.iter().filter(|line| line["side"] == "after");
    assert!(
        came.clone().any(|line| line["text"].as_str().unwrap().contains("required")),
        "{two:?}"
    );
    let page = serving.ask("GET", "/v1/drift?limit=1&offset=1&source=s", "").json();
    assert_eq!((&page["tools"][0]["tool"], &page["total"]), (&json!("s__three"), &json!(3)));
    let none = serving.ask("GET", "/v1/drift?source=basics", "").json();
    assert_eq!(none, json!({ "pinned": true, "tools": [], "total": 0 }));
    assert_eq!(row(&serving, "s")["drift"], 3);
    assert_eq!(row(&serving, "s")["news"], json!({ "added": ["s__three"], "removed": [] }));
}

#[test]
fn a_tool_is_accepted_as_it_was_looked_at_and_as_nothing_else() {
    let serving = changed_source();
    let pins = || std::fs::read_to_string(serving.folder.path().join("crib.lock")).unwrap();
    let of = |name: &str| {
        let told = drift(&serving);
        let tool = told["tools"].as_array().unwrap().iter().find(|tool| tool["tool"] == name);
        let tool = tool.unwrap_or_else(|| unreachable!("no `{name}` in {told}"));
        json!({ "source": tool["source"], "tool": name, "fingerprint": tool["fingerprint"] })
    };
    let (before, one, two) = (pins(), of("s__one"), of("s__two"));
    let mut bent = one.clone();
    bent["fingerprint"] = two["fingerprint"].clone();
    let refused = decide(&serving, &json!({ "accept": [two, bent] }));
    assert_eq!(refused.problem(), "409 drift-refused");
    assert_eq!(refused.json()["others"], json!([{ "source": "s", "tool": "s__one" }]));
    let gone = json!({ "source": "s", "tool": "s__none", "fingerprint": "x" });
    assert_eq!(decide(&serving, &json!({ "keep_out": [gone] })).problem(), "409 drift-refused");
    for twice in [json!({ "accept": [one, one] }), json!({ "accept": [one], "keep_out": [one] })] {
        assert_eq!(decide(&serving, &twice).problem(), "409 drift-refused", "{twice}");
    }
    for wrong in [
        json!({ "accept": [one], "why": "x".repeat(501) }),
        json!({ "accept": vec![&one; 1_001] }),
        json!({ "accept": [one], "all": true }),
    ] {
        assert_eq!(decide(&serving, &wrong).problem(), "422 invalid-body");
    }
    let nothing = json!({ "accepted": 0, "kept_out": 0 });
    assert_eq!(decide(&serving, &json!({ "accept": [] })).json(), nothing);
    assert_eq!((pins(), visible(&serving)), (before.clone(), Vec::<String>::new()));
    let accepted = decide(&serving, &json!({ "accept": [one], "why": "looked at it" }));
    assert_eq!(accepted.json(), json!({ "accepted": 1, "kept_out": 0 }));
    assert_eq!(visible(&serving), ["s__one"]);
    assert_ne!(pins(), before);
    // It is the same file that the command reads and writes.
    let check = serving.folder.run(&["lock", "--check", "--json"]).json();
    let left: Vec<_> = check["drift"].as_array().unwrap().iter().map(|row| &row["tool"]).collect();
    assert_eq!(left, [&json!("s__three"), &json!("s__two")]);
    assert_eq!(decide(&serving, &json!({ "accept": [one] })).problem(), "409 drift-refused");
    let kept = decide(&serving, &json!({ "keep_out": [two] }));
    assert_eq!(kept.json(), json!({ "accepted": 0, "kept_out": 1 }));
    // Once it is as it was, nobody has accepted that any more.
    let tools = json!([tool("one", "Says One."), tool("two", "Says two.")]);
    serving.folder.write("tools.json", &tools.to_string());
    serving.ask("POST", "/v1/sources/s/reload", "{}");
    assert_eq!(visible(&serving), ["s__one"]);
    assert_eq!(drift(&serving)["tools"][0]["kind"], "added");
    let audit = std::fs::read_to_string(serving.folder.path().join("audit.jsonl")).unwrap();
    let records: Vec<Value> =
        audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let pinned: Vec<_> = records.iter().filter(|record| record["record"] == "pins").collect();
    assert_eq!(pinned.len(), 2, "{audit}");
    let names = ["accepted", "kept_out", "reason", "decided_by"];
    assert_eq!(
        picked(pinned[0], &names),
        json!({
            "accepted": [one],
            "kept_out": [],
            "reason": "looked at it",
            "decided_by": { "tenant": "local", "subject": "local" },
        })
    );
}

#[test]
fn where_nothing_is_pinned_nothing_is_accepted() {
    let serving = serving();
    assert_eq!(drift(&serving), json!({ "pinned": false, "tools": [], "total": 0 }));
    let any = json!({ "source": "s", "tool": "s__works", "fingerprint": "x" });
    let refused = decide(&serving, &json!({ "accept": [any] }));
    assert_eq!(refused.problem(), "409 drift-refused");
    assert!(refused.body.contains("toolcrib lock"), "{refused:?}");
    assert!(!serving.folder.path().join("crib.lock").exists());
}

#[test]
fn what_a_source_would_be_is_told_and_nothing_is_started() {
    let serving = serving();
    let tried = |body: &Value| serving.ask("POST", "/v1/sources/dry-run", &body.to_string());
    let mark = serving.folder.path().join("started");
    let snippet = json!({ "mcpServers": {
        "s": { "command": "touch", "args": [mark, "\u{202e}gnp"], "env": { "API_TOKEN": "ghp_0123456789abcdefghij" } },
        "web": { "url": "https://example.com/mcp" },
    } });
    let told = tried(&json!({ "snippet": snippet.to_string() })).json();
    assert_eq!(told["starts"], json!([["touch", mark, "\u{202e}gnp"]]));
    assert_eq!(told["asks"], json!(["https://example.com/mcp"]));
    assert_eq!(told["sources"][0]["needs"], json!(["${env:API_TOKEN}"]));
    let problem = "there is a source `s` already: name this one `s_2`";
    assert_eq!(told["problems"], json!([problem]));
    assert!(!told.to_string().contains("ghp_0123456789abcdefghij"), "{told}");
    let toml = told["toml"].as_str().unwrap();
    assert!(toml.contains("\\U0000202E") && !toml.contains('\u{202e}'), "{toml}");
    let of = |key: &str, address: &str| {
        let told = tried(&json!({ key: address })).json();
        let source = &told["sources"][0];
        (
            source["id"].clone(),
            source["kind"].clone(),
            told["asks"].clone(),
            told["problems"].clone(),
        )
    };
    let address = "https://api.off.example/openapi.json";
    let expected = (json!("off_2"), json!("openapi"), json!([address]), json!([]));
    assert_eq!(of("document", "https://api.off.com/openapi.json").0, expected.0);
    assert_eq!(of("document", address).1, expected.1);
    assert_eq!(of("card", "https://agent.example").1, json!("a2a"));
    let wrong = tried(&json!({ "server": "https://ann:hunter22x@" })).json();
    assert_eq!(wrong["sources"], json!([]));
    assert!(!wrong["problems"].as_array().unwrap().is_empty(), "{wrong}");
    for (wrong, words) in [
        (json!({}), "name one of"),
        (json!({ "snippet": "{", "card": "https://x.example" }), "name one of"),
        (json!({ "snippet": "{" }), "this is not JSON"),
        (json!({ "snippet": "{}" }), "there are no servers in it"),
        (json!({ "snippet": " ".repeat(300_000) }), "longer than"),
        (json!({ "card": "" }), "must have 1 to"),
        (json!({ "card": "x".repeat(3_000) }), "must have 1 to"),
        (json!({ "server": "javascript:alert(1)" }), "an address begins with"),
        (json!({ "document": "../api.json" }), "an address begins with"),
    ] {
        let told = tried(&wrong).json();
        let problem = told["problems"][0].as_str().unwrap_or_default();
        assert!(problem.contains(words), "{words}: {told}");
        assert_eq!(picked(&told, &["sources", "toml"]), json!({ "sources": [], "toml": "" }));
    }
    assert_eq!(tried(&json!({ "file": "x" })).problem(), "422 invalid-body");
    assert!(!mark.exists());
}

#[test]
fn what_is_for_the_operator_is_refused_to_others() {
    let serving = serving();
    let other = serving.token_of("other");
    let asked =
        |method: &str, path: &str, body: &str| serving.ask_as(&other, method, path, body).problem();
    for path in
        ["/v1/sources", "/v1/sources/s/stderr", "/v1/drift", "/v1/profiles", "/v1/profiles/all"]
    {
        assert_eq!(asked("GET", path, ""), "403 forbidden", "{path}");
    }
    for path in ["/v1/sources/dry-run", "/v1/drift", "/v1/policy/test", "/v1/sources/s/reload"] {
        assert_eq!(asked("POST", path, "{}"), "403 forbidden", "{path}");
    }
    let as_local = json!({ "preview": true, "as": { "tenant": "local", "subject": "local" } });
    assert_eq!(asked("POST", "/v1/plan", &as_local.to_string()), "403 forbidden");
    let as_local = json!({ "as": { "tenant": "local", "subject": "local" } });
    assert_eq!(asked("POST", "/v1/plan/cost", &as_local.to_string()), "403 forbidden");
}
