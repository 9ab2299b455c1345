//! The end of a server that has much to do: what runs is answered, and nothing is left.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::script::{says, server, tool};
use super::support::{Serving, bearer, eventually, head, state};
use super::wire::{message, modern, taking};
use crate::process::{Folder, run_in};

/// A server whose tool takes so many seconds and writes down that it ran.
pub(super) fn worker(seconds: &str) -> String {
    let tools = format!("[{}]", tool("work", "\"destructiveHint\": False"));
    let work = "with open('worked', 'a') as worked:\n    print('x', file=worked)";
    server("", &tools, &[&format!("time.sleep({seconds})"), work, &says("'worked'")].join("\n"))
}

/// Callers at the same time.
const CALLERS: usize = 16;

/// What came back; empty if the server took no request any more.
pub(super) fn ask(address: &str, request: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    Some(answer)
}

#[test]
fn under_load_every_call_that_ran_is_answered_and_recorded() {
    let folder = Folder::new();
    folder.write("worker.py", &worker("0.02"));
    folder.write(
        "crib.toml",
        "[audit]\nfile = \"audit.jsonl\"\n[[source]]\nid = \"w\"\n\
         mcp = { command = [\"python3\", \"./worker.py\"], cwd = \".\" }\n",
    );
    let mut serving = Serving::start_in(folder, &[]);
    serving.hears("`w`: 1 tools");
    let lines = [bearer(&serving.token), "Content-Type: application/json".to_owned()];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let body = json!({ "calls": [{ "name": "w__work" }] }).to_string();
    let head = head("POST", "/v1/calls", &serving, &lines);
    let request =
        format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    let (request, address) = (request.as_str(), serving.address.clone());
    let answers: Vec<String> = std::thread::scope(|scope| {
        let caller = || {
            let mut answers = Vec::new();
            while let Some(answer) = ask(&address, request).filter(|answer| !answer.is_empty()) {
                answers.push(answer);
            }
            answers
        };
        let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(caller)).collect();
        let worked = serving.folder.path().join("worked");
        let is_busy = || std::fs::metadata(&worked).is_ok_and(|file| file.len() > 60);
        assert!(eventually(is_busy));
        serving.signal("TERM");
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let done = answers.iter().filter(|answer| answer.contains("\"outcome\":\"done\"")).count();
    assert_eq!(done, answers.len(), "{answers:?}");
    let worked = std::fs::read_to_string(serving.folder.path().join("worked")).unwrap();
    assert_eq!(done, worked.lines().count());
    let record = std::fs::read_to_string(serving.folder.path().join("audit.jsonl")).unwrap();
    let records: Vec<Value> =
        record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| records.iter().filter(|record| record["record"] == kind).count();
    assert_eq!((of("decision"), of("outcome"), of("stop")), (done, done, 1));
    let environment = state(&serving.folder);
    let ran =
        run_in(&serving.folder, &["audit", "verify"], &[("XDG_STATE_HOME", environment.as_str())]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(TcpStream::connect(&serving.address).is_err());
}

#[test]
fn a_call_that_became_a_task_runs_to_its_end_as_well() {
    let folder = Folder::new();
    folder.write("worker.py", &worker("3"));
    folder.write(
        "crib.toml",
        "[server.limits]\ntask_after = \"100ms\"\n[audit]\nfile = \"audit.jsonl\"\n\
         [[source]]\nid = \"w\"\nmcp = { command = [\"python3\", \"./worker.py\"], cwd = \".\" }\n",
    );
    let mut serving = Serving::start_in(folder, &[]);
    serving.hears("`w`: 1 tools");
    let params = json!({ "name": "w__work", "arguments": {}, "_meta": taking() });
    let answer = modern(&serving, &serving.token, "/mcp", ("tools/call", params));
    assert_eq!(message(&answer)["result"]["resultType"], "task", "{answer:?}");
    let worked = serving.folder.path().join("worked");
    assert!(!worked.exists());
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_to_string(worked).unwrap(), "x\n");
    let record = std::fs::read_to_string(serving.folder.path().join("audit.jsonl")).unwrap();
    let records = record.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ends: Vec<_> = records.filter(|record| record["record"] == "outcome").collect();
    assert!(matches!(&ends[..], [end] if end["outcome"] == "done"), "{ends:?}");
}

/// Stops a server whose tool works for long; the code of its end, what it told, and what the next
/// one says of the call.
fn cut(limits: &str, twice: bool) -> (Option<i32>, String, Value) {
    let folder = Folder::new();
    folder.write("worker.py", &worker("25"));
    let source = "[[source]]\nid = \"w\"\n\
                  mcp = { command = [\"python3\", \"./worker.py\"], cwd = \".\" }\n";
    folder.write("crib.toml", &format!("{limits}{source}"));
    let mut serving = Serving::start_in(folder, &[]);
    serving.hears("`w`: 1 tools");
    let (address, token) = (serving.address.clone(), serving.token.clone());
    let lines = [bearer(&token), "Content-Type: application/json".to_owned()];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let body = json!({ "calls": [{ "name": "w__work" }] }).to_string();
    let head = head("POST", "/v1/calls", &serving, &lines);
    let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    let calling = std::thread::spawn(move || ask(&address, &request));
    let runs = || serving.ask("GET", "/v1/activity", "").json()["running"][0].is_object();
    assert!(eventually(runs));
    serving.signal("TERM");
    serving.hears("stopping: what runs may end; again to stop at once");
    if twice {
        serving.signal("TERM");
    }
    let code = serving.child.wait().unwrap().code();
    let answered = calling.join().unwrap().unwrap_or_default();
    assert!(!answered.contains("\"done\""), "{answered}");
    let told = serving.told.lock().unwrap().clone();
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    assert!(!folder.path().join("worked").exists());
    let again = Serving::start_in(folder, &[]);
    let record = again.ask("GET", "/v1/record", "").json();
    let [call] = &record["calls"].as_array().unwrap()[..] else { unreachable!("{record}") };
    assert!(!again.folder.path().join("worked").exists());
    (code, told, json!([call["tool"], call["state"]]))
}

#[test]
fn a_call_that_is_cut_when_the_server_stops_is_told_truthfully_afterwards() {
    let (code, told, call) = cut("[server.limits]\ndrain = \"1s\"\n", false);
    assert_eq!((code, &call), (Some(0), &json!(["w__work", "outcome_unknown"])), "{told}");
    assert!(told.contains("some answers were not done in time"), "{told}");
    let (code, told, call) = cut("", true);
    assert_eq!((code, &call), (Some(0), &json!(["w__work", "outcome_unknown"])), "{told}");
}

#[test]
fn a_server_that_lingers_takes_what_comes_and_says_that_it_stops() {
    let lingering = |linger: &str| {
        let folder = Folder::new();
        let limits = format!("[server.limits]\nlinger = \"{linger}\"\n");
        folder.write("crib.toml", &format!("{limits}[[source]]\nid = \"b\"\nbasics = true\n"));
        Serving::start_in(folder, &[])
    };
    let readiness = |serving: &Serving| {
        let head = head("GET", "/readyz", serving, &["Connection: close"]);
        ask(&serving.address, &format!("{head}\r\n"))
    };
    let serving = lingering("20s");
    let mut open = TcpStream::connect(&serving.address).unwrap();
    serving.signal("TERM");
    let says = |told: &Option<String>| {
        told.as_ref().is_some_and(|told| {
            told.starts_with("HTTP/1.1 503") && told.ends_with("{\"status\":\"stopping\"}")
        })
    };
    assert!(eventually(|| says(&readiness(&serving))));
    // One that is open already, and one that comes now.
    let mut late = TcpStream::connect(&serving.address).unwrap();
    for stream in [&mut open, &mut late] {
        let body =
            json!({ "calls": [{ "name": "b__calculate", "arguments": { "expression": "1+1" } }] });
        let (body, token) = (body.to_string(), bearer(&serving.token));
        let lines = [token.as_str(), "Content-Type: application/json"];
        let head = head("POST", "/v1/calls", &serving, &lines);
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        // It ends although nobody asked for that.
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
        assert!(answer.contains("\"outcome\":\"done\""), "{answer}");
    }
    // Again stops at once.
    let mut serving = serving;
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let mut serving = lingering("1s");
    serving.signal("TERM");
    assert!(eventually(|| readiness(&serving).is_none()));
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
}
