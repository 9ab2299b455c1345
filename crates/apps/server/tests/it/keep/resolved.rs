//! A person says how a call ended of whose outcome nobody knew.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use super::doors::{Door, act};
use super::keys::{STORE, killed};
use super::upstream::Upstream;
use crate::process::{Folder, Ran, run_in};
use crate::serve::keys::make;
use crate::serve::support::{Answer, Serving, eventually, state};

const AUDIT: &str = "[audit]\nfile = \"audit.jsonl\"\n";

/// The newest call of the record of all callers.
fn newest(serving: &Serving) -> Value {
    serving.ask("GET", "/v1/record?limit=1", "").json()["calls"][0].clone()
}

/// A call of whose outcome nobody knows, as the record has it.
fn unknown(serving: &Serving, nonce: &str) -> Value {
    let told = Door::Rest.call(serving, &act("web__act", "reset", nonce).under(nonce));
    assert_eq!(told.status, "outcome_unknown", "{told:?}");
    newest(serving)
}

fn path(row: &Value) -> String {
    format!("/v1/record/{}", row["key"].as_str().unwrap())
}

fn say(serving: &Serving, row: &Value, ending: &str) -> Answer {
    let body = json!({ "ending": ending }).to_string();
    serving.ask("POST", &path(row), &body)
}

fn resolve(serving: &Serving, words: &[&str]) -> Ran {
    let url = format!("http://{}", serving.address);
    let words = [&["calls", "resolve"], words, &["--url", &url]].concat();
    run_in(&serving.folder, &words, &[("XDG_STATE_HOME", &state(&serving.folder))])
}

/// The row as it must be once the person at the machine has said this of it, and when that was
/// said is as `resolved` has it.
fn resolved(row: &Value, ending: &str, resolved: &Value) -> Value {
    assert!(resolved.is_string(), "{resolved}");
    let mut row = row.clone();
    row["ending"] = match ending {
        "failed" => json!({ "ending": "failed", "kind": "tool" }),
        _ => json!({ "ending": ending }),
    };
    row["state"] = json!(ending);
    row["resolved"] = resolved.clone();
    row["resolved_by"] = json!({ "tenant": "local", "subject": "local" });
    row
}

/// What the record of decisions says of this, without its chain.
fn resolutions(folder: &Folder) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let records = records.filter(|record| record["record"] == "resolution");
    let bare = |mut record: Value| {
        for key in ["n", "time", "prev", "hash"] {
            assert!(record.as_object_mut().unwrap().remove(key).is_some(), "{record}");
        }
        record
    };
    records.map(bare).collect()
}

/// How what was said stands in the record of decisions.
fn recorded(row: &Value, stage: &str, ending: &str) -> Value {
    json!({
        "record": "resolution", "call": row["key"], "tenant": "local", "subject": "local",
        "tool": "web__act", "source": "web", "stage": stage, "ending": ending,
        "resolved_by": { "tenant": "local", "subject": "local" },
    })
}

#[test]
fn what_a_person_says_is_the_end_of_the_call_and_calls_like_it_run_again() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(&format!("{STORE}{AUDIT}")), &[]);
    let mut expected = Vec::new();
    for ending in ["succeeded", "failed", "not_executed"] {
        let row = unknown(&serving, ending);
        assert_eq!((&row["state"], &row["resolved_by"]), (&json!("outcome_unknown"), &Value::Null));
        let again = || Door::Rest.call(&serving, &act("web__act", "reset", ending));
        assert_eq!(again().status, "duplicate_of_unknown");
        let answer = say(&serving, &row, ending);
        let said = answer.json();
        assert_eq!((answer.status, &said), (200, &resolved(&row, ending, &said["resolved"])));
        let shown = serving.ask("GET", &format!("/v1/record?state={ending}&limit=1"), "").json();
        assert_eq!(shown["calls"], json!([said]));
        // The caller of the call sees the end, and not who runs the crib.
        let key = row["key"].as_str().unwrap();
        let own = serving.ask("GET", &format!("/v1/calls/{key}"), "").json();
        assert_eq!((&own["state"], own.get("resolved_by")), (&json!(ending), None));
        // It is tried anew, and not held back.
        assert_eq!(again().status, "outcome_unknown");
        assert_eq!(upstream.oracle.count(ending), 2);
        // The key that it came with has its answer and never runs it again.
        let keyed = Door::Rest.call(&serving, &act("web__act", "reset", ending).under(ending));
        assert_eq!((keyed.status.as_str(), upstream.oracle.count(ending)), ("outcome_unknown", 2));
        expected.push(recorded(&row, "given", ending));
    }
    assert_eq!(resolutions(&serving.folder), expected);
}

/// Calls that a killed server left without an end, as the next one has them.
fn interrupted(upstream: &Upstream, nonce: &str) -> (Serving, Value) {
    let serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    let wanted = act("web__act", "late", nonce);
    let (head, body) =
        (Door::Rest.head(&serving, &serving.token, &wanted), Door::Rest.body(&wanted));
    let serving = std::thread::scope(|scope| {
        let mut stream = serving.connect();
        scope.spawn(move || {
            let length = body.len();
            write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}").unwrap();
            let _ = stream.read(&mut [0]);
        });
        assert!(eventually(|| upstream.oracle.count(nonce) == 1));
        let row = newest(&serving);
        assert_eq!(row["state"], "running");
        // What still runs has no end that a person could know.
        assert_eq!(say(&serving, &row, "succeeded").problem(), "409 end-known");
        assert_eq!(newest(&serving), row);
        killed(serving)
    });
    let row = newest(&serving);
    assert_eq!(row["state"], "interrupted");
    (serving, row)
}

#[test]
fn the_command_line_resolves_what_a_kill_left_and_that_outlives_the_server() {
    let upstream = Upstream::start();
    let (serving, row) = interrupted(&upstream, "cut");
    let key = row["key"].as_str().unwrap();
    let shown = run_in(
        &serving.folder,
        &["calls", "--state", "interrupted", "--url", &format!("http://{}", serving.address)],
        &[("XDG_STATE_HOME", &state(&serving.folder))],
    );
    let began = row["planned"].as_str().unwrap().split('.').next().unwrap();
    let table = ["KEY", "BEGAN", "TOOL", key, began, "web__act"];
    let (_, below) = shown.out.split_once("\n\n").unwrap();
    assert_eq!(below.split_whitespace().collect::<Vec<_>>(), table, "{shown:?}");
    let how = "`toolcrib calls resolve KEY succeeded|failed|not_executed`";
    assert!(shown.err.contains(how), "{shown:?}");

    let said = resolve(&serving, &[key, "succeeded", "--json"]);
    let now = said.json();
    assert_eq!((said.code, &now), (0, &resolved(&row, "succeeded", &now["resolved"])), "{said:?}");
    // The same once more is told as it is; another end is refused.
    let again = resolve(&serving, &[key, "succeeded"]);
    let words: Vec<_> = again.out.lines().nth(1).unwrap().split_whitespace().skip(1).collect();
    let expected =
        ["web__act", "web", "local/local", "succeeded,", "resolved", "by", "local/local"];
    assert_eq!((again.code, words.as_slice()), (0, expected.as_slice()));
    let other = resolve(&serving, &[key, "failed"]);
    assert_eq!((other.code, other.out.as_str()), (2, ""), "{other:?}");
    let why = "The call takes no such end: it ended as `succeeded`, which is known and stays so";
    assert!(other.err.contains(why), "{other:?}");
    let none = resolve(&serving, &["0-0", "failed"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""), "{none:?}");
    assert!(none.err.contains("the record has no call of this key"), "{none:?}");
    let lost = resolve(&serving, &[key, "lost"]);
    assert_eq!((lost.code, lost.out.as_str()), (2, ""), "{lost:?}");
    assert!(lost.err.contains("succeeded, failed, not_executed"), "{lost:?}");

    let serving = killed(serving);
    assert_eq!(newest(&serving), now);
    assert!(!serving.told.lock().unwrap().contains("had no end"));
    upstream.oracle.let_go("cut");
    let told = Door::Rest.call(&serving, &act("web__act", "late", "cut"));
    assert_eq!((told.error, upstream.oracle.count("cut")), (false, 2), "{told:?}");
}

#[test]
fn what_is_known_stays_and_only_the_operator_is_asked() {
    let upstream = Upstream::start();
    let folder = upstream.furnish_web(STORE);
    let file = std::fs::read_to_string(folder.path().join("crib.toml")).unwrap();
    let words = ["boss", "--tenant", "acme", "--scope", "operator", "--scope", "tools:read"];
    let (reader, first) = make(&folder, &words);
    let (ann, second) = make(&folder, &["ann", "--tenant", "acme", "--scope", "tools"]);
    folder.write("crib.toml", &format!("{file}{first}{second}"));
    let serving = Serving::start_in(folder, &[]);
    Door::Rest.call(&serving, &act("web__act", "ok", "done"));
    let done = newest(&serving);
    assert_eq!(say(&serving, &done, "succeeded").json(), done);
    let refused = say(&serving, &done, "failed");
    assert_eq!((refused.problem().as_str(), &refused.json()["recorded"]), ("409 end-known", &done));
    let row = unknown(&serving, "open");
    let other = serving.token_of("other");
    let body = json!({ "ending": "succeeded" }).to_string();
    for (token, problem) in [
        (&other, "403 forbidden"),
        (&ann, "403 insufficient-scope"),
        // Who may not make such calls does not let them run either.
        (&reader, "403 insufficient-scope"),
    ] {
        let answer = serving.ask_as(token, "POST", &path(&row), &body);
        assert_eq!(answer.problem(), problem);
        assert_eq!(serving.ask_as(token, "POST", "/v1/record/0-0", &body).problem(), problem);
    }
    assert_eq!(serving.ask("POST", "/v1/record/0-0", &body).problem(), "404 unknown-call");
    for (body, problem) in [
        ("{}", "422 invalid-body"),
        (r#"{"ending": "unknown"}"#, "422 invalid-body"),
        (r#"{"ending": "running"}"#, "422 invalid-body"),
        (r#"{"ending": null}"#, "422 invalid-body"),
        (r#"{"ending": "failed", "kind": "tool"}"#, "422 invalid-body"),
        (r#"["failed"]"#, "422 invalid-body"),
        (r#"{"ending": "failed""#, "400 bad-request"),
    ] {
        assert_eq!(serving.ask("POST", &path(&row), body).problem(), problem, "{body}");
    }
    assert_eq!(newest(&serving), row);
    let said = say(&serving, &row, "not_executed").json();
    assert_eq!(say(&serving, &row, "not_executed").json(), said);
    let refused = say(&serving, &row, "succeeded");
    assert_eq!((refused.problem().as_str(), &refused.json()["recorded"]), ("409 end-known", &said));
    assert_eq!(newest(&serving), said);
}

#[test]
fn of_many_who_contradict_each_other_at_once_one_is_right() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(&format!("{STORE}{AUDIT}")), &[]);
    for round in 0..5 {
        let row = unknown(&serving, &format!("round-{round}"));
        let before = resolutions(&serving.folder).len();
        let endings = ["succeeded", "failed", "not_executed"].into_iter().cycle().take(12);
        let answers: Vec<_> = std::thread::scope(|scope| {
            let asking =
                endings.map(|ending| (ending, scope.spawn(|| say(&serving, &row, ending))));
            let asking: Vec<_> = asking.collect();
            asking.into_iter().map(|(ending, asked)| (ending, asked.join().unwrap())).collect()
        });
        let now = newest(&serving);
        let won = now["state"].as_str().unwrap().to_owned();
        assert_eq!(now, resolved(&row, &won, &now["resolved"]));
        for (ending, answer) in answers {
            if ending == won {
                assert_eq!((answer.status, answer.json()), (200, now.clone()));
            } else {
                assert_eq!(
                    (answer.problem().as_str(), &answer.json()["recorded"]),
                    ("409 end-known", &now)
                );
            }
        }
        // Whatever was said before the winner was on record is void there.
        let said = || resolutions(&serving.folder).split_off(before);
        let count = |stage: &str, ending: &str| {
            let record = recorded(&row, stage, ending);
            said().iter().filter(|said| **said == record).count()
        };
        assert!(count("given", &won) > 0, "{:?}", said());
        for ending in ["succeeded", "failed", "not_executed"] {
            let voids = || if ending == won { 0 } else { count("given", ending) };
            assert!(eventually(|| count("void", ending) == voids()), "{ending}: {:?}", said());
        }
    }
}

#[test]
fn an_answer_that_comes_after_a_person_has_spoken_changes_nothing_in_the_record() {
    let upstream = Upstream::start();
    let limit = "[tool.web__act]\ntimeout = \"2s\"\n";
    let serving = Serving::start_in(upstream.furnish_web(&format!("{STORE}{limit}")), &[]);
    let wanted = act("web__act", "late", "n").under("n");
    assert_eq!(Door::Mcp.call(&serving, &wanted).status, "outcome_unknown");
    let said = say(&serving, &newest(&serving), "failed").json();
    assert_eq!(said["state"], "failed");
    upstream.oracle.let_go("n");
    // Its key has the answer that came, as it was given.
    assert!(eventually(|| !Door::Mcp.call(&serving, &wanted).error));
    assert_eq!((newest(&serving), upstream.oracle.count("n")), (said, 1));
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_resolved_that_cannot_be_put_into_the_record_of_decisions() {
    let upstream = Upstream::start();
    let mut serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    let row = unknown(&serving, "unaudited");
    let file = std::fs::read_to_string(serving.folder.path().join("crib.toml")).unwrap();
    // A file on a disk that is always full.
    for (more, is_required) in [("", true), ("required = false\n", false)] {
        let audit = format!("[audit]\nfile = \"/dev/full\"\n{more}[[source]]");
        serving.folder.write("crib.toml", &file.replace("[[source]]", &audit));
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
        let folder = std::mem::replace(&mut serving.folder, Folder::new());
        serving = Serving::starting_in(folder, &[]);
        let answer = say(&serving, &row, "succeeded");
        if is_required {
            assert_eq!(answer.problem(), "503 unavailable");
            let why = "nothing was changed, as the record `/dev/full` cannot be written: ";
            assert!(answer.json()["detail"].as_str().unwrap().starts_with(why), "{answer:?}");
            assert_eq!(newest(&serving), row);
        } else {
            let said = answer.json();
            assert_eq!(said, resolved(&row, "succeeded", &said["resolved"]));
        }
    }
}
