//! The record of decisions: one for each call and one for its end, before the effect, and none
//! that can be changed without a trace.

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

pub(super) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("oracle.py", &oracle());
    folder.write("crib.toml", FILE);
    folder
}

pub(super) fn records(folder: &Folder) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(super) fn verify(folder: &Folder) -> Ran {
    run_in(folder, &["audit", "verify", "--json"], &[("XDG_STATE_HOME", &state(folder))])
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
fn the_record_tells_under_which_rules_each_call_was_decided() {
    let folder = folder();
    let environment = state(&folder);
    let looks = |file: &str, profile: &[&str]| {
        folder.write("crib.toml", file);
        let words = [&["call", "o__look"], profile].concat();
        let ran = run_in(&folder, &words, &[("XDG_STATE_HOME", environment.as_str())]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let records = records(&folder);
        let decided = records.iter().rfind(|record| record["record"] == "decision").unwrap();
        decided["policy"].as_str().unwrap().to_owned()
    };
    let rules = format!("allow = [\"*\"]\n{FILE}");
    let first = looks(&rules, &[]);
    // What says nothing of what may be called changes no version.
    let beside = format!("# Of today.\n{rules}\n[server.limits]\ndrain = \"9s\"\n");
    assert_eq!(looks(&beside, &[]), first);
    let stricter = rules.replacen("allow = [\"*\"]", "allow = [\"*\"]\ndeny = [\"o__wipe\"]", 1);
    let (second, profile) = (looks(&stricter, &[]), looks(&rules, &["--profile", "closed"]));
    assert!(first != second && first != profile && second != profile);
    assert_eq!(looks(&rules, &[]), first);
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
