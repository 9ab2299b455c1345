//! The record of decisions: one for each call and one for its end, before the effect, and none
//! that can be changed without a trace.

use std::collections::HashMap;
use std::io::Write as _;

use serde_json::{Value, json};

use super::script::{server, tool};
use super::support::{Serving, eventually, state};
use crate::process::{Folder, Ran, run_in};

/// A server whose tools write down that they ran, and how many permissions the record held then.
fn oracle() -> String {
    let before = r#"
def count():
    with open("audit.jsonl") as record:
        return sum('"ruling":"allow"' in line for line in record)
"#;
    let tools = [
        tool("look", "\"readOnlyHint\": True"),
        tool("write", "\"readOnlyHint\": False, \"destructiveHint\": False"),
        tool("wipe", "\"destructiveHint\": True"),
    ];
    let call = r#"
with open("oracle.jsonl", "a") as oracle:
    print(json.dumps({"tool": asked["params"]["name"], "allowed": count()}), file=oracle)
failed = bool(asked["params"]["arguments"].get("fail"))
answer = {"content": [{"type": "text", "text": "done"}], "isError": failed}"#;
    server(before, &format!("[{}]", tools.join(", ")), call)
}

const FILE: &str = "[audit]\nfile = \"audit.jsonl\"\n\
                    [[source]]\nid = \"o\"\nmcp = { command = [\"python3\", \"./oracle.py\"], cwd = \".\" }\n\
                    [profile.closed]\ndeny = [\"o__write\"]\nallow = [\"*\"]\n";

const SECRET: &str = "an argument that is nobody's business";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("oracle.py", &oracle());
    folder.write("crib.toml", FILE);
    folder
}

fn records(folder: &Folder) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn verify(folder: &Folder) -> Ran {
    run_in(folder, &["audit", "verify", "--json"], &[("XDG_STATE_HOME", &state(folder))])
}

/// Numbers that look random; the seed is printed where a test uses them.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Does one of the things that callers do; tells the outcomes that the record must have.
fn act(serving: &Serving, dice: &mut Dice) -> Vec<&'static str> {
    let arguments = json!({ "note": SECRET, "n": dice.roll(1000) });
    let call = |name: &str, profile: Option<&str>, arguments: &Value| {
        let calls = json!([{ "name": name, "arguments": arguments }]);
        serving.call(&json!({ "profile": profile, "calls": calls }))
    };
    match dice.roll(7) {
        0 => {
            call("o__look", None, &arguments);
            vec!["done"]
        }
        1 => {
            call("o__write", None, &arguments);
            vec!["done"]
        }
        2 => {
            call("o__write", None, &json!({ "note": SECRET, "fail": true, "n": dice.roll(1000) }));
            vec!["failed"]
        }
        3 => {
            call("no_such_tool", None, &arguments);
            vec!["failed"]
        }
        // Where policy hides it, it does not exist.
        4 => {
            call("o__write", Some("closed"), &arguments);
            vec!["failed"]
        }
        kind => {
            let waiting = call("o__wipe", None, &arguments);
            let ticket = waiting["tickets"][0]["ticket"].as_str().unwrap().to_owned();
            let word = if kind == 5 { "approve" } else { "deny" };
            let body = json!({ "decision": word }).to_string();
            let path = format!("/v1/tickets/{ticket}");
            assert_eq!(serving.ask("POST", &path, &body).status, 200);
            vec!["pending", if kind == 5 { "done" } else { "denied" }]
        }
    }
}

#[test]
fn every_operation_has_one_decision_and_one_end_before_its_effect() {
    let seed = u64::from(std::process::id());
    writeln!(std::io::stdout(), "seed {seed}").unwrap();
    let mut dice = Dice(seed);
    let mut serving = Serving::start_in(folder(), &[]);
    serving.hears("`o`: 3 tools");
    let mut expected: HashMap<&str, usize> = HashMap::new();
    for _ in 0..60 {
        for outcome in act(&serving, &mut dice) {
            *expected.entry(outcome).or_default() += 1;
        }
    }
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let records = records(&serving.folder);
    let of = |kind: &str| -> Vec<&Value> {
        records.iter().filter(|record| record["record"] == kind).collect()
    };
    let (decisions, outcomes) = (of("decision"), of("outcome"));
    let total: usize = expected.values().sum();
    assert_eq!((decisions.len(), outcomes.len()), (total, total));
    for (outcome, count) in expected {
        let found = outcomes.iter().filter(|record| record["outcome"] == outcome).count();
        assert_eq!(found, count, "{outcome}");
    }
    for (place, decision) in decisions.iter().enumerate() {
        let call = &decision["call"];
        let again = decisions.iter().filter(|other| &other["call"] == call).count();
        let ends = outcomes.iter().filter(|other| &other["call"] == call).count();
        assert_eq!((again, ends), (1, 1), "{place}: {decision}");
        assert_eq!((&decision["tenant"], &decision["subject"]), (&json!("local"), &json!("local")));
        let is_refused = decision["ruling"] == "refuse";
        for field in ["fingerprint", "arguments"] {
            assert_eq!(decision[field].is_string(), !is_refused, "{decision}");
        }
        let has_ticket = decision["tool"] == "o__wipe";
        assert_eq!(decision["ticket"].is_string(), has_ticket, "{decision}");
    }
    // What ran is what was permitted, and the permission was written before.
    let oracle = std::fs::read_to_string(serving.folder.path().join("oracle.jsonl")).unwrap();
    let ran: Vec<Value> = oracle.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let allowed = decisions.iter().filter(|decision| decision["ruling"] == "allow").count();
    assert_eq!(ran.len(), allowed);
    for (place, run) in ran.iter().enumerate() {
        if run["tool"] != "look" {
            assert!(run["allowed"].as_u64().unwrap() > place as u64, "{place}: {run}");
        }
    }
    let text = serde_json::to_string(&records).unwrap();
    assert!(!text.contains(SECRET) && !text.contains(&serving.token), "{text}");
    the_changes_are_found(&serving.folder, records.len());
}

/// A record that was changed, taken out or put elsewhere is named, wherever it stands.
fn the_changes_are_found(folder: &Folder, count: usize) {
    let ran = verify(folder);
    assert_eq!((ran.code, ran.json()["records"].clone()), (0, json!(count)), "{ran:?}");
    let path = folder.path().join("audit.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    for at in [0, 1, count / 2, count - 2, count - 1] {
        let mut changed: Vec<String> = lines.iter().map(ToString::to_string).collect();
        changed[at] = changed[at].replacen("\"time\":\"2", "\"time\":\"3", 1);
        folder.write("audit.jsonl", &(changed.join("\n") + "\n"));
        let ran = verify(folder);
        assert_eq!((ran.code, ran.json()["record"].clone()), (1, json!(at + 1)), "{ran:?}");
        let mut fewer = lines.clone();
        fewer.remove(at);
        folder.write("audit.jsonl", &(fewer.join("\n") + "\n"));
        let ran = verify(folder);
        assert_eq!((ran.code, ran.json()["record"].clone()), (1, json!(at + 1)), "{ran:?}");
    }
    // A server goes on after what is whole alone.
    let mut fewer = lines.clone();
    fewer.pop();
    folder.write("audit.jsonl", &(fewer.join("\n") + "\n"));
    let environment = [("XDG_STATE_HOME", state(folder))];
    let environment = [(environment[0].0, environment[0].1.as_str())];
    let ran = run_in(folder, &["serve", "--listen", "127.0.0.1:0"], &environment);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("ends before the record that was written last"), "{ran:?}");
    // Without the name of the last record nobody can tell that this one was.
    let named = folder.path().join("audit.jsonl.head");
    let head = std::fs::read_to_string(&named).unwrap();
    for left in ["", "{"] {
        std::fs::remove_file(&named).unwrap();
        if !left.is_empty() {
            std::fs::write(&named, left).unwrap();
        }
        let ran = verify(folder);
        assert_eq!((ran.code, ran.json()["whole"].clone()), (1, json!(false)), "{ran:?}");
        assert!(ran.out.contains("whether records were taken out of the end, nobody can tell"));
        std::fs::write(&named, &head).unwrap();
    }
    folder.write("audit.jsonl", &whole);
    assert_eq!(verify(folder).code, 0);
}

#[test]
fn a_record_goes_on_after_a_restart_and_after_a_piece_of_a_line() {
    let mut first = Serving::start_in(folder(), &[]);
    first.call(&json!({ "calls": [{ "name": "nothing" }] }));
    let taken = {
        let environment = state(&first.folder);
        run_in(
            &first.folder,
            &["serve", "--listen", "127.0.0.1:0"],
            &[("XDG_STATE_HOME", environment.as_str())],
        )
    };
    assert!(taken.code == 2 && taken.err.contains("another process writes"), "{taken:?}");
    assert!(eventually(|| records(&first.folder).len() == 3));
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let folder = std::mem::replace(&mut first.folder, Folder::new());
    let path = folder.path().join("audit.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"n\":4,\"time\":").unwrap();
    drop(file);
    let mut second = Serving::start_in(folder, &[]);
    second.call(&json!({ "calls": [{ "name": "nothing" }] }));
    second.signal("TERM");
    assert_eq!(second.child.wait().unwrap().code(), Some(0));
    let ran = verify(&second.folder);
    assert_eq!((ran.code, ran.json()["records"].clone()), (0, json!(7)), "{ran:?}");
}

#[test]
fn a_call_by_hand_is_recorded_as_well() {
    let folder = folder();
    let environment = state(&folder);
    let run = |words: &[&str]| run_in(&folder, words, &[("XDG_STATE_HOME", environment.as_str())]);
    assert_eq!(run(&["call", "o__look"]).code, 0);
    assert_eq!(run(&["call", "o__wipe", "--yes"]).code, 0);
    // To look at the tools is no call.
    assert_eq!(run(&["tools"]).code, 0);
    let records = records(&folder);
    let told = |record: &Value| {
        let word = record["ruling"].as_str().or(record["outcome"].as_str());
        word.or(record["record"].as_str()).unwrap().to_owned()
    };
    let told: Vec<_> = records.iter().map(told).collect();
    let expected =
        ["start", "allow", "done", "stop", "start", "ask", "pending", "allow", "done", "stop"];
    assert_eq!(told, expected);
    assert_eq!(verify(&folder).code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_record_nothing_that_may_change_something_runs() {
    // A file on a disk that is always full.
    for (more, outcome) in [("", "failed"), ("required = false", "done")] {
        let folder = folder();
        let full = FILE.replace("\"audit.jsonl\"", &format!("\"/dev/full\"\n{more}"));
        folder.write("crib.toml", &full);
        folder.write("oracle.py", &oracle().replace("count()}", "0}"));
        let serving = Serving::starting_in(folder, &[]);
        serving.hears("`o`: 3 tools");
        serving.hears("the record `/dev/full` cannot be written");
        // Where the record is wished for and not required, calls can be taken.
        let word = if more.is_empty() { "unaudited" } else { "ready" };
        assert!(eventually(|| serving.ask("GET", "/readyz", "").json()["status"] == word));
        let call = |name: &str| serving.call(&json!({ "calls": [{ "name": name }] }));
        let write = call("o__write");
        assert_eq!(write["responses"][0]["outcome"], outcome, "{write}");
        let wipe = call("o__wipe");
        let waits = if outcome == "done" { "pending" } else { "failed" };
        assert_eq!(wipe["responses"][0]["outcome"], waits, "{wipe}");
        assert_eq!(call("o__look")["responses"][0]["outcome"], "done");
        let oracle = std::fs::read_to_string(serving.folder.path().join("oracle.jsonl")).unwrap();
        assert_eq!(oracle.contains("write"), outcome == "done", "{oracle}");
        let figures = serving.ask("GET", "/metrics", "").body;
        assert!(figures.contains("toolcrib_audit_records_total 0"), "{figures}");
        assert!(!figures.contains("toolcrib_audit_owed 0"), "{figures}");
    }
}

/// The files of a record, the oldest first, as `audit.jsonl.NUMBER`.
fn closed(folder: &Folder) -> Vec<String> {
    let mut numbers: Vec<u64> = std::fs::read_dir(folder.path())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_prefix("audit.jsonl.")?.parse().ok()
        })
        .collect();
    numbers.sort_unstable();
    numbers.iter().map(|number| format!("audit.jsonl.{number}")).collect()
}

#[test]
fn a_record_goes_on_in_another_file_and_the_chain_goes_through_all() {
    let folder = folder();
    let file = FILE.replace("\"audit.jsonl\"\n", "\"audit.jsonl\"\nrotate = \"4KiB\"\n");
    folder.write("crib.toml", &file);
    let mut first = Serving::start_in(folder, &[]);
    let mut calls = 0;
    // What comes while a file is closed stands together at the beginning of the next.
    assert!(eventually(|| {
        first.call(&json!({ "calls": [{ "name": "nothing" }] }));
        calls += 1;
        closed(&first.folder).len() >= 3
    }));
    first.signal("TERM");
    assert_eq!(first.child.wait().unwrap().code(), Some(0));
    let folder = std::mem::replace(&mut first.folder, Folder::new());
    let files = closed(&folder);
    for file in &files {
        let found = std::fs::metadata(folder.path().join(file)).unwrap();
        assert!(found.len() >= 4096, "{file}: {found:?}");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777, 0o600);
    }
    let begins = &records(&folder)[0];
    assert_eq!((&begins["record"], &begins["file"]), (&json!("continues"), &json!(files.last())));
    // Two for each call, one for each start and stop, and one for each further file.
    let records = 2 * calls + 2 + files.len();
    let whole = verify(&folder).json();
    let counts = (&whole["whole"], &whole["records"], &whole["files"]);
    assert_eq!(counts, (&json!(true), &json!(records), &json!(files.len() + 1)), "{whole}");

    // A process that was killed while it closed the file leaves it under two names.
    let path = folder.path().join("audit.jsonl");
    let last = whole["records"].as_u64().unwrap();
    std::fs::hard_link(&path, folder.path().join(format!("audit.jsonl.{last}"))).unwrap();
    assert_eq!(verify(&folder).code, 0);
    let mut second = Serving::start_in(folder, &[]);
    second.signal("TERM");
    assert_eq!(second.child.wait().unwrap().code(), Some(0));
    let folder = std::mem::replace(&mut second.folder, Folder::new());
    let ran = verify(&folder);
    assert_eq!((ran.code, ran.json()["whole"].clone()), (0, json!(true)), "{ran:?}");
    the_closed_files_are_part_of_it(&folder);
}

/// A closed file that is changed or gone is missed, unless its last hash is named.
fn the_closed_files_are_part_of_it(folder: &Folder) {
    let files = closed(folder);
    let (oldest, middle) = (folder.path().join(&files[0]), folder.path().join(&files[1]));
    let text = std::fs::read_to_string(&middle).unwrap();
    std::fs::write(&middle, text.replacen("\"time\":\"2", "\"time\":\"3", 1)).unwrap();
    let ran = verify(folder);
    let changed = serde_json::from_str::<Value>(text.lines().next().unwrap()).unwrap();
    assert_eq!((ran.code, &ran.json()["record"]), (1, &changed["n"]), "{ran:?}");
    assert_eq!(ran.json()["file"], middle.display().to_string(), "{ran:?}");
    std::fs::write(&middle, &text).unwrap();
    std::fs::remove_file(&middle).unwrap();
    assert_eq!(verify(folder).json()["record"], changed["n"]);
    std::fs::write(&middle, &text).unwrap();

    let old = std::fs::read_to_string(&oldest).unwrap();
    std::fs::remove_file(&oldest).unwrap();
    let ran = verify(folder);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out.contains(&format!("it stands in `{}`, which is not here", files[0])),
        "{ran:?}"
    );
    let last: Value = serde_json::from_str(old.lines().last().unwrap()).unwrap();
    let after = |hash: &str| {
        let environment = state(folder);
        let words = ["audit", "verify", "--json", "--after", hash];
        run_in(folder, &words, &[("XDG_STATE_HOME", environment.as_str())])
    };
    assert_eq!(after(last["hash"].as_str().unwrap()).code, 0);
    assert_eq!(after(changed["hash"].as_str().unwrap()).code, 1);
}
