//! The command line over a configuration: import, check, doctor, and calls of what it names.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::process::{Folder, run_in};

/// A server that speaks MCP in a few lines, for where no package is installed.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, answer = asked["method"], {}
    if method == "initialize":
        version = asked["params"]["protocolVersion"]
        answer = {"protocolVersion": version, "capabilities": {"tools": {}},
                  "serverInfo": {"name": "small", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "greet", "description": "Greets.",
                             "annotations": {"readOnlyHint": True},
                             "inputSchema": {"type": "object", "properties": {"who": {"type": "string"}}}}]}
    elif method == "tools/call":
        who = asked["params"]["arguments"].get("who", "you")
        answer = {"content": [{"type": "text", "text": "hello " + who}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"],
                          "error": {"code": -32601, "message": "unknown method"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"#;

const DOCUMENT: &str = r#"{
  "openapi": "3.1.0", "info": {"title": "Notes", "version": "3"},
  "paths": {"/notes/{id}": {"get": {"operationId": "readNote", "summary": "Reads a note.",
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "security": [{"key": []}],
    "responses": {"200": {"description": "a note"}}}}},
  "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
}"#;

/// Answers one request after the other, and gives what it was asked first.
fn serve(answer: &'static str) -> (u16, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            asked.extend(byte);
        }
        let length = answer.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
        String::from_utf8(asked).unwrap()
    });
    (port, serving)
}

fn furnished(configuration: &str) -> Folder {
    let folder = Folder::new();
    folder.write("server.py", SERVER);
    folder.write("notes.json", DOCUMENT);
    folder.write("broken.yaml", "openapi: 3.0.0\npaths: 7\n");
    folder.write("crib.toml", configuration);
    folder
}

const SMALL: &str = r#"
[[source]]
id = "small"
mcp = { command = ["python3", "server.py"], cwd = "." }
"#;

#[test]
fn one_dead_one_slow_one_broken_and_one_without_secret_cost_themselves_alone() {
    let configuration = format!(
        r#"{SMALL}
[[source]]
id = "dead"
mcp = {{ command = ["no-such-program-anywhere"] }}

[[source]]
id = "slow"
mcp = {{ command = ["python3", "-c", "import time; time.sleep(60)"], connect_timeout = "1s" }}

[[source]]
id = "broken"
openapi = {{ document = "broken.yaml", base_url = "http://127.0.0.1:9" }}

[[source]]
id = "bare"
openapi = {{ document = "notes.json", base_url = "http://127.0.0.1:9", auth = {{ bearer = "${{env:NOTES_TOKEN_OF_A_TEST}}" }} }}

[[source]]
id = "clock"
basics = ["time_now"]
"#
    );
    let folder = furnished(&configuration);
    let ran = folder.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let found = ran.json();
    let told = |source: &Value| {
        let error = source["error"].as_str().unwrap_or_default();
        (source["id"].as_str().unwrap().to_owned(), source["tools"].clone(), error.to_owned())
    };
    let told: Vec<_> = found["sources"].as_array().unwrap().iter().map(told).collect();
    let expected = [
        ("small", 1, ""),
        ("dead", 0, "cannot find `no-such-program-anywhere`"),
        ("slow", 0, "connect"),
        ("broken", 0, "paths"),
        ("bare", 0, "`${env:NOTES_TOKEN_OF_A_TEST}` is not set"),
        ("clock", 1, ""),
    ];
    for ((id, tools, error), (wanted, count, part)) in told.iter().zip(expected) {
        assert_eq!((id.as_str(), tools), (wanted, &json!(count)), "{told:?}");
        assert!(error.contains(part) && error.is_empty() == part.is_empty(), "{id}: {error}");
    }
    // The others work all the same.
    let greeted = folder.run(&["call", "small__greet", r#"{"who": "Ann"}"#]);
    assert_eq!((greeted.code, greeted.out.as_str()), (0, "hello Ann\n"), "{greeted:?}");
    let shown = folder.run(&["doctor"]);
    assert!(shown.out.contains("FAILED") && !shown.out.contains("--json"), "{shown:?}");
}

#[test]
fn an_operation_is_called_with_the_secret_of_its_reference_and_tells_none_of_it() {
    let (port, serving) = serve(r#"{"id":"7","text":"milk"}"#);
    let configuration = format!(
        "[[source]]\nid = \"notes\"\n[source.openapi]\ndocument = \"notes.json\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\nauth = {{ bearer = \"${{env:NOTES_TOKEN}}\" }}\n"
    );
    let folder = furnished(&configuration);
    let words = ["call", "notes__readNote", r#"{"id": "a/b"}"#];
    let ran = run_in(&folder, &words, &[("NOTES_TOKEN", "a-secret-of-a-test")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("milk"), "{ran:?}");
    let asked = serving.join().unwrap();
    assert!(asked.starts_with("GET /v1/notes/a%2Fb HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("authorization: Bearer a-secret-of-a-test\r\n"), "{asked}");
    assert!(!format!("{ran:?}").contains("a-secret-of-a-test"), "{ran:?}");
}

#[test]
fn check_tells_all_problems_with_their_places_and_starts_nothing() {
    let folder = furnished(
        "[[source]]\nid = \"a\"\nmcp = { comand = [\"touch\", \"started\"] }\n\n\
         [[source]]\nid = \"b\"\nmcp = { command = [\"touch\", \"started\"], cwd = \".\" }\n\
         [tool.x]\ntimeout = \"soon\"\n",
    );
    let ran = folder.run(&["check"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("crib.toml:3:9: source[0].mcp.comand: "), "{ran:?}");
    assert!(ran.out.contains("did you mean `command`"), "{ran:?}");
    assert!(ran.out.contains("tool.x.timeout"), "{ran:?}");
    let problems = folder.run(&["check", "--json"]).json();
    assert!(problems["problems"].as_array().unwrap().len() >= 2, "{problems}");
    // No other command takes such a file either.
    let refused = folder.run(&["tools"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
    assert!(!folder.path().join("started").exists());
    let schema = folder.run(&["check", "--schema"]).json();
    assert!(schema["properties"]["source"].is_object(), "{schema}");
}

#[test]
fn what_another_program_lists_is_imported_checked_and_called() {
    let folder = furnished("");
    let listed = json!({"mcpServers": {"small server": {
        "command": "python3",
        "args": [folder.path().join("server.py")],
        "env": {"API_KEY": "sk-abcdefghijklmnopqrstuvwxyz012345"},
    }}});
    folder.write("list.json", &listed.to_string());
    let ran = folder.run(&["import", "list.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!format!("{ran:?}").contains("sk-abc"), "{ran:?}");
    assert!(ran.err.contains("API_KEY"), "{ran:?}");
    folder.write("crib.toml", &ran.out);
    let unset = folder.run(&["check"]);
    assert!(unset.code == 1 && unset.out.contains("API_KEY"), "{unset:?}");
    let set = [("API_KEY", "x")];
    assert_eq!(run_in(&folder, &["check"], &set).code, 0);
    let tools = run_in(&folder, &["tools", "--json"], &set).json();
    let name = tools[0]["name"].as_str().unwrap();
    let called = run_in(&folder, &["call", name, "{}"], &set);
    assert_eq!((called.code, called.out.as_str()), (0, "hello you\n"), "{called:?}");
}

#[test]
fn a_call_starts_only_the_source_that_has_the_tool() {
    let configuration = format!(
        "{SMALL}\n[[source]]\nid = \"other\"\nmcp = {{ command = [\"touch\", \"started\"], cwd = \".\" }}\n"
    );
    let folder = furnished(&configuration);
    let ran = folder.run(&["call", "small__greet"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "hello you\n", ""), "{ran:?}");
    assert!(!folder.path().join("started").exists());
}

#[test]
fn a_profile_decides_what_is_seen_and_a_wrong_one_is_told() {
    let configuration = format!(
        "{SMALL}\n[[source]]\nid = \"clock\"\nbasics = [\"time_now\"]\nprefix = \"\"\n\n\
         [profile.quiet]\nsources = [\"clock\"]\nallow = [\"*\"]\n"
    );
    let folder = furnished(&configuration);
    let tools = folder.run(&["tools", "--profile", "quiet", "--json"]).json();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, [&json!("time_now")]);
    let wrong = folder.run(&["tools", "--profile", "quite"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("there is no profile `quite`") && wrong.err.contains("quiet"));
}

#[test]
fn rules_of_the_command_line_hold_beside_those_of_the_file() {
    let configuration = format!("deny = [\"small__greet\"]\nallow = [\"*\"]\n{SMALL}");
    let folder = furnished(&configuration);
    folder.write("rules.toml", "allow = [\"*\"]\n");
    let listed = folder.run(&["--policy", "rules.toml", "tools", "--json"]);
    assert_eq!(listed.json(), json!([]), "{listed:?}");
    let explained = folder.run(&["policy", "explain", "rules.toml", "small__greet"]);
    assert_eq!((explained.code, explained.err.as_str()), (0, ""), "{explained:?}");
    assert!(explained.out.starts_with("`small__greet` is allowed"), "{explained:?}");
}

#[test]
fn pins_of_a_source_that_is_away_are_not_lost() {
    let folder = furnished(SMALL);
    assert_eq!(folder.run(&["lock"]).code, 0);
    let pinned = std::fs::read_to_string(folder.path().join("crib.lock")).unwrap();
    std::fs::rename(folder.path().join("server.py"), folder.path().join("gone.py")).unwrap();
    let refused = folder.run(&["lock"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
    assert!(refused.err.contains("`small`"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("crib.lock")).unwrap(), pinned);
}

#[test]
fn what_the_file_says_of_tools_that_are_not_there_is_told() {
    let folder = furnished(&format!("{SMALL}\n[tool.small__gret]\nenabled = false\n"));
    let told = folder.run(&["doctor"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.err.contains("small__gret") && told.err.contains("small__greet"), "{told:?}");
}

#[test]
fn a_tool_that_cannot_be_used_is_told_with_its_reason_and_counted_as_it_is() {
    let schema =
        r##""inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/gone"}}}}]}"##;
    let list = format!("                            {{\"name\": \"bad\", {schema}");
    let server = SERVER.replace(
        r#""inputSchema": {"type": "object", "properties": {"who": {"type": "string"}}}}]}"#,
        &format!(
            r#""inputSchema": {{"type": "object", "properties": {{"who": {{"type": "string"}}}}}}}},
{list}"#
        ),
    );
    let folder = furnished(
        "[[source]]\nid = \"r\"\nprefix = \"\"\nmcp = { command = [\"python3\", \"bad.py\"], cwd = \".\" }\n",
    );
    folder.write("bad.py", &server);
    let reason = "its schema cannot be used";
    for is_locked in [false, true] {
        let tools = folder.run(&["tools"]);
        assert!(tools.err.contains(&format!("`bad` is kept out: {reason}")), "{tools:?}");
        assert!(!tools.err.contains("lock"), "{tools:?}");
        let why = folder.run(&["why", "bad"]);
        assert!(why.out.contains(reason), "{is_locked}: {why:?}");
        let doctor = folder.run(&["doctor"]);
        assert!(doctor.out.contains(reason), "{is_locked}: {doctor:?}");
        let lock = folder.run(&["lock"]);
        assert!(lock.err.contains("1 tool is accepted in"), "{is_locked}: {lock:?}");
        assert!(lock.err.contains(&format!("`bad` is not accepted: {reason}")), "{lock:?}");
        let check = folder.run(&["lock", "--check"]);
        assert_eq!((check.code, check.err.as_str()), (0, "nothing changed\n"), "{check:?}");
    }
    let pins = std::fs::read_to_string(folder.path().join("crib.lock")).unwrap();
    assert!(pins.contains("greet") && !pins.contains("bad"), "{pins}");
}
