//! Broken lines, full disks, engines that die, and tools that never answer.

use std::time::{Duration, Instant};

use serde_json::json;
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::{by_task, file, rollout, step, stepper, tasks, trajectories};
use crate::process::{Folder, shell};

#[test]
fn a_broken_line_is_told_with_its_number_and_the_rest_runs() {
    let model = stepper();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model.url(), ""));
    let lines = [
        &tasks(&[("a", "steps:1")]),
        "{\"prompt\": ",
        "",
        "{\"id\": \"a\", \"prompt\": \"again\"}",
        "{\"id\": \"c\"}",
        &tasks(&[("b", "steps:0")]),
    ];
    folder.write("tasks.jsonl", &lines.join("\n"));
    let ran = rollout(&folder, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for told in ["line 2 of", "line 4 of", "the id `a` stands at a task before", "line 5 of"] {
        assert!(ran.err.contains(told), "{told}: {ran:?}");
    }
    let done: Vec<_> = by_task(&folder).into_keys().collect();
    assert_eq!(done, ["a", "b"]);
}

#[test]
fn half_a_last_line_is_cut_off_and_its_trajectory_done_again() {
    let model = stepper();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model.url(), ""));
    folder.write("tasks.jsonl", &tasks(&[("a", "x"), ("b", "y")]));
    assert_eq!(rollout(&folder, &["--concurrency", "1"]).code, 0);
    let out = folder.path().join("trajectories.jsonl");
    let whole = std::fs::read_to_string(&out).unwrap();
    let cut = whole.len() - 20;
    std::fs::write(&out, &whole[..cut]).unwrap();
    let ran = rollout(&folder, &["--resume"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("is not whole"), "{ran:?}");
    let ids = |folder: &Folder| -> Vec<_> {
        trajectories(folder).iter().map(|one| one["id"].clone()).collect()
    };
    let before: Vec<serde_json::Value> = whole
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids(&folder), before);
}

#[test]
fn a_full_disk_is_told_and_what_is_left_is_done_once_there_is_room() {
    let model = stepper();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model.url(), ""));
    let own: Vec<_> = (0..40).map(|number| format!("t{number}")).collect();
    let all: Vec<_> = own.iter().map(|id| (id.as_str(), "steps:1")).collect();
    folder.write("tasks.jsonl", &tasks(&all));
    // 16 KiB at the most; the signal is what a full disk does not send.
    let line = "trap '' XFSZ; ulimit -f 32; toolcrib rollout --config crib.toml --tasks tasks.jsonl \
                --concurrency 4 --json";
    let full = shell(&folder, line);
    assert_eq!(full.code, 1, "{full:?}");
    assert!(full.err.contains("make room, and go on with `--resume`"), "{full:?}");
    let before = trajectories(&folder).len();
    assert!((1..40).contains(&before), "{before}");
    let ran = rollout(&folder, &["--resume"]);
    assert_eq!(
        (ran.code, by_task(&folder).len(), trajectories(&folder).len()),
        (0, 40, 40),
        "{ran:?}"
    );
    // A device that is always full.
    let device = rollout(&folder, &["--out", "/dev/full"]);
    assert_eq!(device.code, 1, "{device:?}");
    assert!(device.err.contains("make room"), "{device:?}");
}

#[test]
fn an_engine_that_dies_ends_each_with_the_reason_and_they_are_done_again_later() {
    let dies = ScriptedModel::by(|number, body| {
        if number < 6 {
            return step(body);
        }
        ScriptedTurn::BreaksOff(Box::new(ScriptedTurn::says("It is")), 3)
    })
    .unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&dies.url(), ""));
    let own: Vec<_> = (0..6).map(|number| format!("t{number}")).collect();
    let all: Vec<_> = own.iter().map(|id| (id.as_str(), "steps:1")).collect();
    folder.write("tasks.jsonl", &tasks(&all));
    let ran = rollout(&folder, &["--concurrency", "3"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let faulty: Vec<_> =
        trajectories(&folder).into_iter().filter(|one| one["stop"] == "fault").collect();
    assert!(!faulty.is_empty() && trajectories(&folder).len() == 6, "{ran:?}");
    for one in &faulty {
        assert_eq!(one["fault"]["kind"], "broken", "{one}");
    }
    // It is gone altogether: after a few, the rest is not tried, and stays to be done.
    drop(dies);
    let gone = Folder::new();
    gone.write("crib.toml", &file("http://127.0.0.1:9/v1", ""));
    gone.write("tasks.jsonl", &tasks(&all));
    let ran = rollout(&gone, &["--concurrency", "2", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("goes on once it answers"), "{ran:?}");
    assert!(ran.json()["left"].as_u64() > Some(0), "{ran:?}");
    // It is back.
    let back = stepper();
    folder.write("crib.toml", &file(&back.url(), ""));
    let ran = rollout(&folder, &["--resume"]);
    assert_eq!((ran.code, trajectories(&folder).len()), (0, 6), "{ran:?}");
    assert!(ran.err.contains("because their model failed: they are done again"), "{ran:?}");
    assert!(trajectories(&folder).iter().all(|one| one["stop"] == "done"));
}

#[test]
fn a_patient_rollout_waits_for_an_engine_that_is_overloaded() {
    let model = ScriptedModel::by(|number, body| {
        if number < 4 {
            return ScriptedTurn::Refuses(503, Vec::new(), "{}".to_owned());
        }
        step(body)
    })
    .unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model.url(), ""));
    folder.write("tasks.jsonl", &tasks(&[("a", "x")]));
    let ran = rollout(&folder, &["--patience", "30", "--concurrency", "1"]);
    assert_eq!((ran.code, trajectories(&folder)[0]["stop"].as_str()), (0, Some("done")), "{ran:?}");
}

#[test]
fn one_that_hangs_ends_by_its_deadline_and_shifts_no_other() {
    // A prompt that is stuck, and a tool that never answers.
    let model = ScriptedModel::by(|_, body| {
        let text = body["messages"].to_string();
        if text.contains("stuck") {
            return ScriptedTurn::Waits(
                Duration::from_secs(20),
                Box::new(ScriptedTurn::says("late")),
            );
        }
        if text.contains("slow") && !text.contains("\"tool\"") {
            return ScriptedTurn::call("web__act", json!({ "how": "hang", "nonce": "n" }));
        }
        if text.contains("\"tool\"") || !text.contains("quick") {
            return ScriptedTurn::says("done");
        }
        ScriptedTurn::call("web__see", json!({ "how": "slow-20", "nonce": "n" }))
    })
    .unwrap();
    let upstream = crate::keep::upstream::Upstream::start();
    let folder = upstream.furnish_web(&format!(
        "allow = [\"*\"]\n[model]\nurl = \"{}\"\nname = \"m\"\nretries = 0\n",
        model.url()
    ));
    let mut all = vec![("stuck".to_owned(), "stuck"), ("slow".to_owned(), "slow")];
    all.extend((0..30).map(|number| (format!("q{number}"), "quick")));
    let all: Vec<_> = all.iter().map(|(id, prompt)| (id.as_str(), *prompt)).collect();
    folder.write("tasks.jsonl", &tasks(&all));
    let begun = Instant::now();
    let ran = rollout(&folder, &["--deadline", "4", "--concurrency", "8"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(begun.elapsed() < Duration::from_secs(15), "it hung: {:?}", begun.elapsed());
    let own = by_task(&folder);
    assert_eq!(
        (&own["stuck"]["stop"], &own["slow"]["stop"]),
        (&json!("deadline"), &json!("deadline"))
    );
    // Whoever waits holds one place, and nobody waits for it.
    let last = trajectories(&folder);
    let late: Vec<_> = last.iter().rev().take(2).map(|one| one["stop"].clone()).collect();
    assert_eq!(late, ["deadline", "deadline"]);
    for (id, one) in own.iter().filter(|(id, _)| id.starts_with('q')) {
        assert_eq!(one["stop"], "done", "{id}");
        assert!(one["took_ms"].as_u64() < Some(3_000), "{id}: {}", one["took_ms"]);
    }
}

#[test]
fn two_rollouts_do_not_write_into_one_file() {
    let model = stepper();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model.url(), ""));
    folder.write("tasks.jsonl", &tasks(&[("a", "x")]));
    let out = std::fs::File::create(folder.path().join("trajectories.jsonl")).unwrap();
    out.lock().unwrap();
    let ran = rollout(&folder, &["--resume"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("another rollout writes to"), "{ran:?}");
}
