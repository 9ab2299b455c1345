//! What waits at a `toolcrib mcp`, decided beside a client that can ask nobody.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::script::{says, server, tool};
use super::support::Serving;
use crate::process::{Folder, Piped, Ran, run_in};

/// Writes down each of its runs.
const CALL: &str = r#"
with open("ran", "a") as ran:
    print(asked["params"]["arguments"]["n"], file=ran)
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    let tools = format!("[{}]", tool("wipe", "\"destructiveHint\": True"));
    let call = format!("{CALL}{}", says("'wiped ' + str(asked['params']['arguments']['n'])"));
    folder.write("s.py", &server("", &tools, &call));
    folder.write(
        "crib.toml",
        "[server]\nlisten = \"127.0.0.1:9\"\n[[source]]\nid = \"s\"\n\
         mcp = { command = [\"python3\", \"./s.py\"], cwd = \".\" }\n",
    );
    folder
}

/// A client without forms at the pipes of a `toolcrib mcp`.
struct Client(Piped);

impl Client {
    fn start(folder: &Folder) -> Self {
        let mut pipe = Piped::open(folder, &["mcp", "crib.toml"]);
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" } });
        pipe.ask(&message(0, "initialize", &params));
        pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        Self(pipe)
    }

    fn wipe(&mut self, n: u32) -> Value {
        let params = json!({ "name": "s__wipe", "arguments": { "n": n } });
        let answer: Value =
            serde_json::from_str(&self.0.ask(&message(1, "tools/call", &params))).unwrap();
        answer["result"].clone()
    }

    /// The ticket of a call that waits.
    fn parked(&mut self, n: u32) -> String {
        let waiting = self.wipe(n);
        let ticket = waiting["_meta"]["toolcrib/ticket"].as_str();
        ticket.unwrap_or_else(|| unreachable!("{waiting}")).to_owned()
    }
}

fn message(id: u32, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn state(folder: &Folder) -> String {
    folder.path().join("state").display().to_string()
}

fn toolcrib(folder: &Folder, words: &[&str]) -> Ran {
    run_in(folder, words, &[("XDG_STATE_HOME", &state(folder))])
}

fn ran(folder: &Folder) -> String {
    std::fs::read_to_string(folder.path().join("ran")).unwrap_or_default()
}

/// The files by which processes are found.
fn named(folder: &Folder) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.path().join("state/toolcrib/mcp")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_person_decides_what_a_client_at_a_pipe_can_ask_nobody() {
    let folder = folder();
    let mut client = Client::start(&folder);
    let waiting = client.wipe(7);
    let ticket = client.parked(7);
    let told =
        format!("by `toolcrib tickets approve {ticket}` or `toolcrib tickets deny {ticket}`");
    assert!(text(&waiting).contains(&told), "{waiting}");
    let listed = toolcrib(&folder, &["tickets"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(listed.out.contains(&ticket) && listed.out.contains("{\"n\":7}"), "{listed:?}");
    assert!(listed.out.contains("at `toolcrib mcp`, process "), "{listed:?}");
    let rows = toolcrib(&folder, &["tickets", "--json"]).json();
    let row = &rows["tickets"][0];
    assert_eq!((&row["ticket"], rows["tickets"].as_array().unwrap().len()), (&json!(ticket), 1));
    assert!(
        row["process"].is_u64() && row["at"].as_str().unwrap().starts_with("http://127.0.0.1:")
    );
    let approved = toolcrib(&folder, &["tickets", "approve", &ticket]);
    assert_eq!((approved.code, approved.out.as_str()), (0, "wiped 7\n"), "{approved:?}");
    assert_eq!(text(&client.wipe(7)), "wiped 7");
    assert_eq!(ran(&folder), "7\n");
    let again = toolcrib(&folder, &["tickets", "approve", &ticket]);
    assert_eq!((again.code, again.out.as_str()), (0, "wiped 7\n"), "{again:?}");
    assert!(again.err.contains("was used already"), "{again:?}");
    assert_eq!(ran(&folder), "7\n");
    let late = toolcrib(&folder, &["tickets", "deny", &ticket]);
    assert_eq!((late.code, late.out.as_str()), (1, "wiped 7\n"), "{late:?}");
    let shown = toolcrib(&folder, &["tickets", "approve", &ticket, "--json"]);
    assert_eq!((shown.code, &shown.json()["recorded"]["text"]), (0, &json!("wiped 7")));
    let ticket = client.parked(8);
    let denied = toolcrib(&folder, &["tickets", "deny", &ticket, "--reason", "not that one"]);
    assert_eq!(denied.code, 0, "{denied:?}");
    let late = toolcrib(&folder, &["tickets", "approve", &ticket]);
    assert!(late.code == 3 && late.out.contains("not that one"), "{late:?}");
    let told = client.wipe(8);
    assert!(told["isError"] == true && text(&told).contains("not that one"), "{told}");
    assert_eq!(ran(&folder), "7\n");
    let calls = toolcrib(&folder, &["calls", "--json"]).json();
    let outcomes: Vec<_> = calls["calls"].as_array().unwrap().iter().collect();
    let outcomes: Vec<_> = outcomes.iter().map(|call| call["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["pending", "done", "pending", "denied"], "{calls}");
    // With its client the process is gone, and with that its file.
    assert_eq!(client.0.hang_up(), (Some(0), vec![]));
    assert_eq!(named(&folder), Vec::<PathBuf>::new());
    let nobody = toolcrib(&folder, &["tickets"]);
    assert!(nobody.code == 2 && nobody.err.contains("`toolcrib serve` makes one"), "{nobody:?}");
}

#[test]
fn what_a_killed_process_left_is_taken_away_by_whoever_finds_it() {
    let folder = folder();
    let mut client = Client::start(&folder);
    let lost = client.parked(1);
    assert_eq!(named(&folder).len(), 1);
    client.0.kill();
    assert_eq!(named(&folder).len(), 1);
    let mut other = Client::start(&folder);
    let ticket = other.parked(2);
    let listed = toolcrib(&folder, &["tickets", "--json"]);
    let rows = listed.json();
    let listed: Vec<_> = rows["tickets"].as_array().unwrap().iter().collect();
    assert_eq!(listed.len(), 1, "{rows}");
    assert_eq!(listed[0]["ticket"], json!(ticket));
    assert_eq!(named(&folder).len(), 1);
    let gone = toolcrib(&folder, &["tickets", "approve", &lost]);
    assert!(gone.code == 2 && gone.err.contains("no call waits under this ticket"), "{gone:?}");
    assert_eq!(ran(&folder), "");
}

#[test]
fn tickets_of_a_server_and_of_two_processes_are_one_list() {
    let serving = Serving::start_in(folder(), &[]);
    serving.hears("`s`: 1 tools");
    let folder = &serving.folder;
    let config = std::fs::read_to_string(folder.path().join("crib.toml")).unwrap();
    folder.write("near.toml", &config.replace("127.0.0.1:9", &serving.address));
    let ask = |words: &[&str]| toolcrib(folder, &[words, &["--config", "near.toml"]].concat());
    let body = json!({ "calls": [{ "name": "s__wipe", "arguments": { "n": 1 } }] });
    let at_server = serving.call(&body)["tickets"][0]["ticket"].as_str().unwrap().to_owned();
    let (mut first, mut second) = (Client::start(folder), Client::start(folder));
    let (of_first, of_second) = (first.parked(2), second.parked(3));
    let rows = ask(&["tickets", "--json"]).json();
    let mut found: Vec<_> = rows["tickets"].as_array().unwrap().iter().collect();
    found.sort_by_key(|row| row["arguments"]["n"].as_u64());
    let tickets: Vec<_> = found.iter().map(|row| row["ticket"].as_str().unwrap()).collect();
    assert_eq!(tickets, [&at_server, &of_first, &of_second], "{rows}");
    assert_eq!(found[0]["at"], json!(format!("http://{}", serving.address)));
    assert!(found[0]["process"].is_null() && found[1]["process"] != found[2]["process"], "{rows}");
    for (ticket, n) in [(&of_second, 3), (&at_server, 1), (&of_first, 2)] {
        let done = ask(&["tickets", "approve", ticket]);
        assert_eq!((done.code, done.out), (0, format!("wiped {n}\n")), "{}", done.err);
    }
    assert_eq!(ran(folder), "3\n1\n2\n");
    assert_eq!((text(&first.wipe(2)), text(&second.wipe(3))), ("wiped 2", "wiped 3"));
    let outcomes = ask(&["calls", "--json"]).json()["calls"].as_array().unwrap().len();
    assert_eq!(outcomes, 6);
    // A server that is named is asked alone.
    let waits = first.parked(4);
    let url = format!("http://{}", serving.address);
    let named = ask(&["tickets", "--json", "--url", &url]);
    assert_eq!(named.json(), json!({ "tickets": [] }));
    let other = ask(&["tickets", "approve", &waits, "--url", &url]);
    let told = "error: There is no such ticket: list the open ones, or make the call again\n";
    assert_eq!((other.code, other.err.as_str()), (2, told));
}

#[cfg(unix)]
#[test]
fn only_its_own_user_finds_a_process_and_only_its_token_opens_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let mut client = Client::start(&folder);
    let ticket = client.parked(5);
    let files = named(&folder);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&files[0]), mode(files[0].parent().unwrap())), (0o600, 0o700));
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(&files[0]).unwrap()).unwrap();
    let url = format!("http://127.0.0.1:{}", written["port"]);
    // The token of this machine's server opens it as little as none.
    toolcrib(&folder, &["token"]);
    let other = toolcrib(&folder, &["tickets", "approve", &ticket, "--url", &url]);
    assert!(other.code == 2 && other.err.contains("does not take this token"), "{other:?}");
    folder.write("own.token", written["token"].as_str().unwrap());
    let words = ["tickets", "approve", &ticket, "--url", &url, "--token-file", "own.token"];
    let own = toolcrib(&folder, &words);
    assert_eq!((own.code, own.out.as_str()), (0, "wiped 5\n"), "{own:?}");
    // What anybody may read of is no process to ask.
    std::fs::set_permissions(&files[0], std::fs::Permissions::from_mode(0o644)).unwrap();
    let none = toolcrib(&folder, &["tickets"]);
    assert_eq!(none.code, 2, "{none:?}");
}

#[test]
fn a_client_is_served_where_nothing_can_be_written() {
    let folder = folder();
    // No folder can be made in a file.
    folder.write("state", "");
    let mut client = Client::start(&folder);
    let waiting = client.wipe(6);
    assert!(text(&waiting).starts_with("Waiting for approval"), "{waiting}");
    assert!(!text(&waiting).contains("toolcrib tickets"), "{waiting}");
    assert_eq!(client.0.hang_up(), (Some(0), vec![]));
}
