//! A rollout that is killed, and stopped, and goes on.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::trajectories;
use crate::keep::upstream::Upstream;
use crate::process::{Folder, started};

const TASKS: usize = 2_000;

/// One that does what it is asked for once, and then says that it has.
fn doer() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let last = body["messages"].as_array().and_then(|all| all.last()).cloned();
        let last = last.unwrap_or_default();
        if last["role"] == "user" {
            let nonce = last["content"].as_str().unwrap_or_default();
            return ScriptedTurn::call("web__act", json!({ "how": "ok", "nonce": nonce }));
        }
        ScriptedTurn::says("It is over.")
    })
    .unwrap()
}

fn whole_lines(path: &Path) -> usize {
    let read = std::fs::read(path).unwrap_or_default();
    read.split(|byte| *byte == b'\n').count().saturating_sub(1)
}

/// Begins, or goes on, and ends it by this signal once so many stand in the file. The code of its
/// end, and what it told.
fn ended_at(
    folder: &Folder,
    lines: usize,
    signal: rustix::process::Signal,
) -> (Option<i32>, String) {
    let words = [
        "rollout",
        "--config",
        "crib.toml",
        "--tasks",
        "tasks.jsonl",
        "--concurrency",
        "64",
        "--resume",
    ];
    let mut child = started(folder, &words);
    let out = folder.path().join("trajectories.jsonl");
    let until = Instant::now() + Duration::from_mins(3);
    while whole_lines(&out) < lines && Instant::now() < until {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before");
        std::thread::sleep(Duration::from_millis(5));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn two_thousand_that_are_killed_and_stopped_lose_none_and_do_nothing_twice() {
    let (model, upstream) = (doer(), Upstream::start());
    let file = format!(
        "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n[model]\nurl = \"{}\"\nname = \"m\"\n",
        model.url()
    );
    let folder = upstream.furnish_web(&file);
    let task =
        |number: usize| json!({ "id": format!("t{number}"), "prompt": format!("n{number}") });
    let tasks: Vec<_> = (0..TASKS).map(|number| task(number).to_string()).collect();
    folder.write("tasks.jsonl", &tasks.join("\n"));
    let (code, _) = ended_at(&folder, TASKS / 4, rustix::process::Signal::KILL);
    assert_eq!(code, None);
    let (code, told) = ended_at(&folder, TASKS / 2, rustix::process::Signal::INT);
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("begin anew with `--resume`"), "{told}");
    let before = trajectories(&folder).len();
    assert!(before < TASKS, "it was over before it was stopped");
    let words = ["rollout", "--tasks", "tasks.jsonl", "--concurrency", "64", "--resume", "--json"];
    let ran = folder.run(&words);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        (&ran.json()["done_before"], &ran.json()["left"]),
        (&json!(before), &json!(0)),
        "{ran:?}"
    );
    let all = trajectories(&folder);
    let tasks: BTreeSet<String> = all.iter().map(|one| one["task"]["id"].to_string()).collect();
    assert_eq!((all.len(), tasks.len()), (TASKS, TASKS), "one was lost or doubled");
    let counts = upstream.oracle.all();
    assert!(counts.values().all(|count| *count == 1), "something was done twice");
    for one in &all {
        assert_eq!(one["stop"], "done", "{one}");
        let nonce = one["task"]["data"]["prompt"].as_str().unwrap();
        let result =
            &one["nodes"].as_array().unwrap().iter().find(|node| node["role"] == "tool").unwrap();
        // What is told as done is done; where nobody knows, that is told.
        if result["is_error"] == json!(true) {
            assert!(result["content"].as_str().unwrap().contains("may"), "{result}");
        } else {
            assert_eq!(counts.get(nonce), Some(&1), "{result}");
        }
    }
    let replayed = |one: &Value| one.to_string().contains("\"replayed\":true");
    assert!(
        all.iter().any(replayed),
        "no call of a killed trajectory was answered from the record"
    );
}
