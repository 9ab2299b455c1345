//! A process that is killed while it writes runs: a step is whole or not there, and one that was
//! confirmed is there.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use toolcrib_core::{NewRun, RunLedger as _, RunStep};
use toolcrib_store::Store;
use toolcrib_testkit::SeededRandom;

use crate::killed_child;
use crate::runs::{ann, new_run, run_step};
use crate::scratch::{self, Scratch};

const KILLS: u64 = 12;
const WRITERS: u64 = 4;

/// How the child test is called, and what it does if nobody wrote it a line: nothing.
const CHILD: &str = "killed_runs::child_of_the_kill_test_of_runs";

/// The step with this number, which replaces the last item of the one before and adds two.
fn step(number: u64) -> RunStep {
    let text = |place: u64| format!("{number}.{place}:{}", "x".repeat(3_000));
    RunStep {
        items_from: usize::try_from(number).unwrap(),
        items: vec![text(0), text(1)],
        events: (0..3).map(|place| format!("{number}.{place}")).collect(),
        state: number.to_string(),
        ..run_step(number)
    }
}

/// Does something only in the process that the kill test starts.
#[test]
fn child_of_the_kill_test_of_runs() {
    let Some(told) = killed_child::told() else { return };
    let [store, confirmed, round] = &told[..] else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = scratch::open_at(store).unwrap();
        let writers = (0..WRITERS).map(|writer| {
            let (store, run) = (store.clone(), format!("{round}-{writer}"));
            let confirmed = confirmed.clone();
            tokio::spawn(async move { write(&store, &run, Path::new(&confirmed)).await })
        });
        futures_util::future::join_all(writers).await;
    });
}

/// Goes on until it is killed.
async fn write(store: &Store, run: &str, confirmed: &Path) {
    let mut confirmed = OpenOptions::new().create(true).append(true).open(confirmed).unwrap();
    let begun = NewRun { caller: ann(), ..new_run(run, run) };
    store.create(begun, step(0)).await.unwrap();
    for number in 1.. {
        // A line is written at once, so that none is cut off but the last.
        confirmed.write_all(format!("{run} {number}\n").as_bytes()).unwrap();
        store.advance(run, step(number)).await.unwrap();
    }
}

fn one_round(store: &str, confirmed: &Path, round: u64, random: &mut SeededRandom) {
    let before = length(confirmed);
    let lines = [store.to_owned(), confirmed.display().to_string(), round.to_string()];
    killed_child::kill(CHILD, &lines, || length(confirmed) > before, random);
}

fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |file| file.len())
}

/// How many steps were confirmed of each run.
fn confirmed_steps(confirmed: &Path) -> HashMap<String, u64> {
    let lines = fs::read_to_string(confirmed).unwrap_or_default();
    let steps = lines.lines().filter_map(|line| line.split_once(' '));
    // In their order, so that the last of each run stays.
    steps.map(|(run, count)| (run.to_owned(), count.parse().unwrap())).collect()
}

#[tokio::test]
async fn a_step_is_whole_or_not_there_whenever_the_process_is_killed() {
    let mut random = SeededRandom::new(u64::from(std::process::id()) | 1);
    let scratch = Scratch::new();
    let confirmed = scratch.path().join("confirmed");
    for round in 0..KILLS {
        one_round(&scratch.place(), &confirmed, round, &mut random);
    }
    let store = scratch::open_at(&scratch.place()).unwrap();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    let (confirmed, unfinished) = (confirmed_steps(&confirmed), store.unfinished().await.unwrap());
    let mut all_steps = 0;
    for (run, steps) in &confirmed {
        let stored = store.load(run).await.unwrap().unwrap();
        assert!([*steps, steps + 1].contains(&stored.steps), "{run}: {} {steps}", stored.steps);
        all_steps += steps;
    }
    for run in &unfinished {
        let stored = store.load(&run.id).await.unwrap().unwrap();
        let steps: Vec<_> = (0..stored.steps).map(step).collect();
        let last = steps.last().unwrap();
        let firsts = steps.iter().map(|step| step.items[0].clone());
        let items: Vec<_> = firsts.chain([last.items[1].clone()]).collect();
        assert_eq!((stored.items, stored.state), (items, last.state.clone()));
        let events: Vec<_> = steps.iter().flat_map(|step| step.events.clone()).collect();
        assert_eq!(store.events(&run.id, 0, usize::MAX).await.unwrap(), events);
        assert_eq!(stored.events, events.len() as u64);
    }
    let (kept, told) = (unfinished.len(), confirmed.len());
    writeln!(std::io::stdout(), "{KILLS} kills, {kept} runs, {all_steps} confirmed steps").unwrap();
    assert!(kept >= told && all_steps > 50, "it did something");
}
