//! Clients that others wrote, over HTTP and under a token, with servers that others wrote behind.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::support::Serving;
use crate::peers::{Peers, source};
use crate::process::Folder;

const TYPESCRIPT: &str = include_str!("sdks/typescript.mjs");
const PYTHON: &str = include_str!("sdks/python.py");
const FASTMCP: &str = include_str!("sdks/fastmcp.py");

/// Two servers, of which one may write a file if a person says so.
fn serving(peers: &Peers) -> Serving {
    let folder = Folder::new();
    let node = peers.modules.join(".bin/node");
    let server = |name: &str| {
        let script = peers.modules.join(format!("@modelcontextprotocol/{name}/dist/index.js"));
        script.display().to_string()
    };
    let everything = source("everything", &node, &[&server("server-everything"), "stdio"], "");
    let files = source("files", &node, &[&server("server-filesystem"), "."], "cwd = \".\"");
    let rules = "allow = [\"*\"]\nask = [\"files__write_file\"]\n";
    folder.write("crib.toml", &format!("{rules}{everything}{files}"));
    Serving::start_in(folder, &[])
}

fn run(program: &Path, folder: &Folder, words: &[&str]) -> Output {
    #[expect(clippy::disallowed_methods, reason = "the client is a program")]
    let mut command = Command::new(program);
    command.args(words).current_dir(folder.path()).output().unwrap()
}

/// What every client must have seen in an era; a call of the second era is the same call.
fn expected(folder: &Folder, era: &str, version: &str) -> Value {
    let missing = folder.path().canonicalize().unwrap().join("nowhere.txt");
    let missing = format!("ENOENT: no such file or directory, open '{}'", missing.display());
    let asked = |name: &str| {
        let given = format!(r#"{{"path":"{name}","content":"written"}}"#);
        format!("May `files__write_file` run? the rules ask for consent. Arguments: {given}")
    };
    json!({
        "version": version,
        "tools": 31,
        "structured": { "temperature": 33, "conditions": "Cloudy", "humidity": 82 },
        "image": ["image/png", "PNG"],
        "steps": [1, 2, 3],
        "failed": [true, missing],
        "asked": [asked(&format!("{era}.txt")), asked(&format!("{era}-2.txt"))],
        "written": [false, format!("Successfully wrote to {era}.txt")],
        "kept": [true, "Denied: the user refused it. The call did not run. Do not repeat it, and \
                        look for no way around it: go on without it, or tell the user"],
    })
}

/// A whole number is the same number in every language.
fn told(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stdout);
    let read: Option<Value> = said.lines().last().and_then(|line| serde_json::from_str(line).ok());
    let mut read = read.unwrap_or_else(|| unreachable!("{output:?}"));
    for step in read["steps"].as_array_mut().unwrap() {
        *step = json!(step.as_f64().map(|step| format!("{step:.0}").parse::<u64>().unwrap()));
    }
    // What a client complains of is not in what it saw.
    let complaints = String::from_utf8_lossy(&output.stderr).to_lowercase();
    assert!(!complaints.contains("fail") && !complaints.contains("error"), "{complaints}");
    read
}

/// Runs one client in one era and holds what it saw, and what it wrote, against what is due.
fn hold(serving: &Serving, (program, words): (&Path, &[&str]), (era, version): (&str, &str)) {
    let url = format!("http://{}/mcp", serving.address);
    let words = [words, &[&url, &serving.token, era]].concat();
    let mut seen = told(&run(program, &serving.folder, &words));
    // Not every client calls it: it takes seconds.
    if let Some(research) = seen.as_object_mut().unwrap().shift_remove("research") {
        let asked = "The research query \"python\" could have multiple interpretations. Please \
                     clarify what you're looking for:";
        let found = "# Research Report: python (User declined - using default interpretation)";
        assert_eq!(research, json!([[asked], found]), "{words:?}");
    }
    assert_eq!(seen, expected(&serving.folder, era, version), "{words:?}");
    let written = |name: String| std::fs::read_to_string(serving.folder.path().join(name)).ok();
    assert_eq!(written(format!("{era}.txt")).as_deref(), Some("written"));
    assert_eq!(written(format!("{era}-2.txt")), None);
    std::fs::remove_file(serving.folder.path().join(format!("{era}.txt"))).unwrap();
}

const OLD: (&str, &str) = ("legacy", "2025-11-25");
const NEW: (&str, &str) = ("auto", "2026-07-28");

#[test]
fn the_clients_of_typescript_do_all_they_can() {
    let Some(peers) = Peers::find() else { return };
    let serving = serving(&peers);
    serving.folder.write("client.mjs", TYPESCRIPT);
    let found = serving.folder.path().join("node_modules");
    std::os::unix::fs::symlink(&peers.modules, found).unwrap();
    let node = peers.modules.join(".bin/node");
    for era in [OLD, NEW, ("first", "2025-11-25")] {
        hold(&serving, (&node, &["client.mjs"]), era);
    }
}

#[test]
fn the_clients_of_python_do_all_they_can() {
    let Some(peers) = Peers::find() else { return };
    let serving = serving(&peers);
    for (name, text) in [("sdk_client.py", PYTHON), ("fastmcp_client.py", FASTMCP)] {
        serving.folder.write(name, text);
        for era in [OLD, NEW] {
            hold(&serving, (&peers.python, &["-W", "ignore", name]), era);
        }
    }
}

/// How a command of the inspector ended, what it gave and what it complained of.
fn inspected(peers: &Peers, serving: &Serving, words: &[&str]) -> (Option<i32>, Value, String) {
    let node = peers.modules.join(".bin/node");
    let program = peers.modules.join(".bin/mcp-inspector").display().to_string();
    let url = format!("http://{}/mcp", serving.address);
    let token = format!("Authorization: Bearer {}", serving.token);
    let common = [program.as_str(), "--cli", &url, "--transport", "http", "--header", &token];
    let output = run(&node, &serving.folder, &[&common, words].concat());
    let said = serde_json::from_slice::<Value>(&output.stdout);
    let said = said.unwrap_or_else(|_| unreachable!("{output:?}"));
    (output.status.code(), said, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_inspector_finds_no_fault_in_the_tools_that_need_no_configuration() {
    let Some(peers) = Peers::find() else { return };
    let serving = Serving::start(&[]);
    let (code, listed, complaints) =
        inspected(&peers, &serving, &["--method", "tools/list", "--strict"]);
    // It warns of what some providers do not take, as of a field that may be null.
    let faults: Vec<_> = complaints.lines().filter(|line| line.starts_with("Error")).collect();
    assert_eq!((code, faults), (Some(0), vec![]), "{complaints}");
    assert!(listed.to_string().contains("json_query"), "{listed}");
}

#[test]
fn the_inspector_finds_nothing_that_a_provider_would_refuse() {
    let Some(peers) = Peers::find() else { return };
    let serving = serving(&peers);
    let inspect = |words: &[&str]| inspected(&peers, &serving, words);
    let (code, listed, complaints) = inspect(&["--method", "tools/list", "--strict"]);
    assert_eq!((code, complaints.as_str()), (Some(0), ""));
    assert_eq!(listed["tools"].as_array().unwrap().len(), 31);
    let call = |name: &str, given: &[&str]| {
        let words = [&["--method", "tools/call", "--tool-name", name][..], given].concat();
        let (code, said, _) = inspect(&words);
        (code, said)
    };
    let (code, sum) = call("everything__get-sum", &["--tool-arg", "a=2", "b=40"]);
    assert_eq!((code, &sum["content"][0]["text"]), (Some(0), &json!("The sum of 2 and 40 is 42.")));
    let (code, picture) = call("everything__get-tiny-image", &[]);
    assert_eq!((code, &picture["content"][1]["mimeType"]), (Some(0), &json!("image/png")));
    let city = ["--tool-arg", "location=New York"];
    let (code, weather) = call("everything__get-structured-content", &city);
    assert_eq!((code, &weather["structuredContent"]["humidity"]), (Some(0), &json!(82)));
    let (code, failed) = call("files__read_text_file", &["--tool-arg", "path=nowhere.txt"]);
    assert_eq!((code, &failed["isError"]), (Some(5), &json!(true)));
    // It cannot be asked, so the call waits for a person under a ticket.
    let (code, waits) = call("files__write_file", &["--tool-arg", "path=i.txt", "content=x"]);
    assert_eq!((code, &waits["isError"]), (Some(5), &json!(true)));
    let ticket = waits["_meta"]["toolcrib/ticket"].as_str().unwrap();
    let path = format!("/v1/tickets/{ticket}");
    let approved = serving.ask("POST", &path, r#"{"decision": "approve"}"#).json();
    assert_eq!(approved["response"]["outcome"], "done", "{approved}");
    assert!(serving.folder.path().join("i.txt").exists());
}
