//! Many programs of the worst kind, one after the other: nothing of them stays.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::{Talk, alone, role, shell, state};
use crate::sweep::ONE_AT_A_TIME;

/// Ignores signals, floods, prints garbage, forks, and forks twice into sessions of its own.
const WORST: &str = "trap '' TERM HUP INT; \
    (while :; do echo noise; done) >&2 & echo $!; \
    setsid sh -c 'trap \"\" TERM; sleep 1000 & echo $!; wait' & echo $!; \
    (setsid sleep 1000 & echo $!); \
    echo '}{garbage'; exec >&-; while :; do sleep 1; done";

#[tokio::test]
async fn two_hundred_of_the_worst_programs_leave_nothing() {
    if role().is_none() {
        let _turn = ONE_AT_A_TIME.lock().await;
        // In a process of its own, where nobody else opens files and starts programs.
        let mut run = alone("cycles::two_hundred_of_the_worst_programs_leave_nothing", "host")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines: Vec<String> =
            BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
        assert!(run.wait().unwrap().success(), "{}", lines.join("\n"));
        return;
    }
    let program = shell(WORST);
    let cycle = async || {
        let mut talk = Talk::with(&program).await;
        let mut ids = vec![talk.child.id()];
        // The garbage comes somewhere between the four ids.
        for _ in 0..5 {
            ids.extend(talk.line().await.parse::<u32>());
        }
        assert_eq!(ids.len(), 5);
        talk.child.kill().await;
        let left: Vec<u32> = ids.into_iter().filter(|id| state(*id).is_some()).collect();
        assert_eq!(left, Vec::<u32>::new(), "neither alive nor a zombie");
    };
    // What a runtime opens when it is first used stays open.
    cycle().await;
    let before = open_files();
    for _ in 0..200 {
        cycle().await;
    }
    let after = open_files();
    assert!(after <= before + 3, "{before} before, {after} after");
    assert_eq!(children(), Vec::<String>::new());
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The processes whose parent we are, zombies as well.
fn children() -> Vec<String> {
    let ours = std::process::id().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let is_ours = |stat: &String| {
        let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').nth(1));
        fields == Some(Some(ours.as_str()))
    };
    stats.filter(is_ours).collect()
}
