//! What many trajectories at once take: beside the slowest of them, beside a loop in which all wait
//! for the slowest of each turn, and with a tool that is a hundred times slower than the others.

mod barrier;
mod service;
pub(crate) mod settings;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::figures::{count, median, precise, round};
use crate::test_bed::{MeasuredPrograms, TestBed};
use crate::{LoadError, MeasuredProgram};
use service::{DrawnWork, RolloutService};
use settings::RolloutSettings;

/// One trajectory in so many meets the tool that is slower.
const SLOW_ONE_IN: usize = 50;
/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Measures all of it, in a folder below this one.
pub async fn rollouts(
    programs: &MeasuredPrograms,
    below: &Path,
    much: RolloutSettings,
) -> Result<Value, LoadError> {
    let work = DrawnWork { settings: much, slow_one_in: None };
    let service = RolloutService::start(work)?;
    let whole = rolled(programs, below, &service, much.trajectories).await?;
    let few = rolled(programs, below, &service, much.trajectories.div_ceil(10)).await?;
    let barrier = barrier::all_wait_for_the_slowest(&service, much).await?;
    drop(service);
    let slowed = RolloutService::start(DrawnWork { slow_one_in: Some(SLOW_ONE_IN), ..work })?;
    let with_slow = rolled(programs, below, &slowed, much.trajectories).await?;
    let barrier_with_slow = barrier::all_wait_for_the_slowest(&slowed, much).await?;
    let chain = work.slowest(much.trajectories).as_secs_f64();
    // Of those that meet no slow tool, in both.
    let others = |rolled: &RolloutFigures| {
        let own = rolled.took.iter().filter(|(number, _)| !number.is_multiple_of(SLOW_ONE_IN));
        median(own.map(|(_, took)| *took).collect())
    };
    let more = precise(whole.rss.saturating_sub(few.rss)) / 1024.0;
    let apart = count(much.trajectories - much.trajectories.div_ceil(10));
    Ok(json!({
        "trajectories": much.trajectories,
        "turns": much.turns,
        "slowest_chain_s": hundredths(chain),
        "ours_s": hundredths(whole.seconds),
        "ours_of_chain": hundredths(chain / whole.seconds.max(1e-9)),
        "barrier_s": hundredths(barrier.as_secs_f64()),
        "barrier_of_chain": hundredths(chain / barrier.as_secs_f64().max(1e-9)),
        "barrier_beside_slow_s": hundredths(barrier_with_slow.as_secs_f64()),
        "median_ms": round(others(&whole)),
        "median_beside_slow_ms": round(others(&with_slow)),
        "kib_each": round(more / apart.max(1.0)),
    }))
}

/// What one rollout came to.
struct RolloutFigures {
    seconds: f64,
    /// Milliseconds of each, by its number.
    took: BTreeMap<usize, f64>,
    /// In the middle of it, in bytes.
    rss: u64,
}

async fn rolled(
    programs: &MeasuredPrograms,
    below: &Path,
    service: &RolloutService,
    trajectories: usize,
) -> Result<RolloutFigures, LoadError> {
    let place = TestBed::new(programs, below)?;
    let folder = place.folder();
    fs::write(folder.join("crib.toml"), service.configuration(trajectories))?;
    fs::write(folder.join("service.json"), service::DOCUMENT)?;
    let mut tasks = String::new();
    for number in 0..trajectories {
        // A string takes whatever is written.
        let _ = writeln!(tasks, "{{\"id\":\"{number}\",\"prompt\":\"task:{number};\"}}");
    }
    fs::write(folder.join("tasks.jsonl"), tasks)?;
    let most = trajectories.to_string();
    let words = [
        "rollout",
        "--config",
        "crib.toml",
        "--tasks",
        "tasks.jsonl",
        "--json",
        "--concurrency",
        &most,
    ];
    let mut program = MeasuredProgram::start(&programs.server, &words, folder)?;
    let mut sizes = Vec::new();
    while !program.is_over()? {
        sizes.push(precise(program.rss()));
        tokio::time::sleep(LOOK).await;
    }
    let mut told = String::new();
    while let Ok(line) = program.line() {
        told.push_str(&line);
    }
    let told: Value = serde_json::from_str(&told)?;
    let done = told.pointer("/stops/done").and_then(Value::as_u64);
    if done != Some(u64::try_from(trajectories)?) {
        return Err(format!("not all of {trajectories} trajectories were done: {told}").into());
    }
    let seconds = told.get("seconds").and_then(Value::as_f64).ok_or("it tells no time")?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it was whole before"
    )]
    let rss = median(sizes) as u64;
    Ok(RolloutFigures { seconds, took: took(&folder.join("trajectories.jsonl"))?, rss })
}

/// Milliseconds of each trajectory.
fn took(path: &Path) -> Result<BTreeMap<usize, f64>, LoadError> {
    let mut took = BTreeMap::new();
    for line in fs::read_to_string(path)?.lines() {
        let one: Value = serde_json::from_str(line)?;
        let number = one.pointer("/task/id").and_then(Value::as_str).ok_or("no id")?.parse()?;
        let millis = one.get("took_ms").and_then(Value::as_f64).ok_or("no time")?;
        took.insert(number, millis);
    }
    Ok(took)
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
