//! `toolcrib rollout`: many samples of many tasks, each a run of one agent, written down for
//! training.
//!
//! Read in this order: `tasks` (what is to be done), `solver` (an agent made ready for one sample),
//! `crew` (many of them at once), `judge` (what each is worth), `out_file` (where it is written).

mod convert;
mod crew;
mod judge;
mod out_file;
mod program;
mod progress;
mod solver;
mod tasks;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use serde_json::Value;
use toolcrib_config::{AgentSettings, Config};
use toolcrib_core::Ledger;
use toolcrib_engine::ledger::MemoryLedger;

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, RolloutArgs, RolloutCommand};
use crate::cli::commands::chat::chosen;
use crate::cli::context::{CommandContext, CommandPurpose, RequiredSources, found};
use crate::cli::output::Output;
use crate::config::record::store_of;
use crew::{Crew, CrewEnd};
use judge::{Judge, JudgeCrib, JudgeKind};
use out_file::{FinishedSamples, OutFile};
use progress::Progress;
use solver::{SampleState, SampleWishes, Solver};
use tasks::TaskFile;

/// Broken lines that are told one by one.
const MOST_TOLD: usize = 20;
/// Connections of a server beside those of the samples: whoever judges has one.
const BESIDE: usize = 8;
/// Calls of one sample whose keys are kept at a time, where its budget does not say.
const USUAL_CALLS: usize = 100;

pub(crate) fn rollout(
    global: &GlobalArgs,
    output: &Output,
    words: &RolloutArgs,
) -> Result<CommandExit> {
    if let Some(RolloutCommand::Convert { file, to, save }) = &words.command {
        return convert::convert(output, file, *to, save.as_deref());
    }
    let Some(path) = &words.tasks else { bail!("name the tasks: `--tasks tasks.jsonl`") };
    let file = TaskFile::read(path)?;
    tell_broken(&file, path, output);
    if file.tasks.is_empty() {
        bail!("there is no task in `{}`", path.display());
    }
    let read = found(global, output)?;
    let settings = chosen(&read, words.agent.as_deref())?;
    let global = GlobalArgs {
        profile: global.profile.clone().or_else(|| settings.profile.clone()),
        ..global.clone()
    };
    let places = usize::try_from(words.concurrency)?;
    let store = store_of(&read.path, &read.checked)?;
    let calls = settings.budget.calls.map_or(Ok(USUAL_CALLS), usize::try_from)?;
    let memory = store.is_none().then(|| {
        let ledger = MemoryLedger::within(read.checked.limits.tickets);
        Arc::new(ledger.with_keys(places.saturating_mul(calls)))
    });
    let kept = store.clone().map(|store| Arc::new(store) as Arc<dyn Ledger>);
    let ledger = kept.or_else(|| memory.clone().map(|memory| memory as Arc<dyn Ledger>));
    let (mut out, before) = opened(words, output)?;
    let mut samples = file.samples(&settings.name, words);
    let all = samples.len();
    samples.retain(|sample| !before.ids.contains(&sample.id));
    let need = (RequiredSources::All, CommandPurpose::Rollout(places));
    let checked = read.checked.clone();
    let Some(context) = CommandContext::of_config(read, &global, output, need, ledger)? else {
        return Ok(CommandExit::Interrupted);
    };
    context.note_failed(output);
    let mut progress = Progress::new(all, all - samples.len(), output);
    let judged = judge(words, &context);
    let ready = judged
        .and_then(|judge| Ok((judge, worker(settings, &checked, (words, &context), memory)?)));
    let worked = ready.and_then(|(judge, solver)| {
        let crew = Crew { solver: Arc::new(solver), judge, output, places };
        context.runtime.block_on(crew.work(samples, &mut out, &mut progress))
    });
    if let Some(store) = &store {
        context.runtime.block_on(async { _ = store.flush().await });
    }
    context.close();
    let exit = told(&progress.summary(), &worked?, (output, words))?;
    // The rest ran; what did not run is told by the exit code.
    let is_short = !file.broken.is_empty() || progress.faults() > 0;
    Ok(if exit == CommandExit::Done && is_short { CommandExit::Failed } else { exit })
}

fn tell_broken(file: &TaskFile, path: &Path, output: &Output) {
    let shown = path.display();
    let told = file.broken.iter().take(MOST_TOLD);
    let mut told: Vec<_> = told
        .map(|(number, why)| format!("line {number} of `{shown}` is left out: {why}"))
        .collect();
    let more = file.broken.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        told.push(format!("{more} more lines of `{shown}` are left out"));
    }
    output.warn(&told);
}

fn opened(words: &RolloutArgs, output: &Output) -> Result<(OutFile, FinishedSamples)> {
    if !words.resume {
        return Ok((OutFile::create(&words.out)?, FinishedSamples::default()));
    }
    let (out, before) = OutFile::resume(&words.out)?;
    before.notes.iter().for_each(|note| output.note(note));
    Ok((out, before))
}

fn worker(
    settings: AgentSettings,
    file: &Config,
    (words, context): (&RolloutArgs, &CommandContext),
    memory: Option<Arc<MemoryLedger>>,
) -> Result<Solver> {
    let wishes = SampleWishes {
        requests: usize::try_from(words.requests.unwrap_or(words.concurrency))?,
        deadline: words.deadline,
        patience: words.patience.unwrap_or(Duration::ZERO),
        result_tokens: words.max_result_tokens.map(usize::try_from).transpose()?,
    };
    let (servers, places) = (context.sources.mcp_servers(), usize::try_from(words.concurrency)?);
    for server in &servers {
        server.expect_sessions(places + BESIDE);
    }
    let over = (context.crib.clone(), context.caller.clone());
    Solver::new(settings, file, over, wishes, SampleState { memory, servers })
}

fn judge(words: &RolloutArgs, context: &CommandContext) -> Result<Option<Arc<Judge>>> {
    let kind = match (&words.reward, &words.reward_tool) {
        (None, None) => return Ok(None),
        (Some(line), _) => JudgeKind::Program(judge::words(line).map_err(|why| anyhow!(why))?),
        (None, Some(name)) => {
            if context.plain_plan()?.get(name).is_none() {
                bail!("there is no tool `{name}` to judge with: `toolcrib tools` lists them");
            }
            let (crib, caller) = (context.crib.clone(), Arc::new(context.caller.clone()));
            JudgeKind::Tool(name.clone(), Box::new(JudgeCrib { crib, caller }))
        }
    };
    Ok(Some(Arc::new(Judge::new(kind, words.reward_timeout))))
}

/// What it came to, for a person or a program.
fn told(
    summary: &Value,
    end: &CrewEnd,
    (output, words): (&Output, &RolloutArgs),
) -> Result<CommandExit> {
    if let CrewEnd::Stopped(error) = end {
        output.warn(&[format!("{error:#}")]);
    }
    if output.json {
        output.value(summary)?;
    } else {
        let number = |key: &str| summary.get(key).and_then(Value::as_u64).unwrap_or(0);
        let stops = summary.get("stops").and_then(Value::as_object);
        let stops: Vec<_> =
            stops.into_iter().flatten().map(|(stop, count)| format!("{stop} {count}")).collect();
        let mut lines = vec![format!(
            "{} of {} trajectories stand in `{}`",
            number("done") + number("done_before"),
            number("samples"),
            words.out.display()
        )];
        if !stops.is_empty() {
            lines.push(format!("ended now: {}", stops.join(", ")));
        }
        if let Some(mean) = summary.get("mean_reward").and_then(Value::as_f64) {
            lines.push(format!("mean reward of {}: {mean:.4}", number("judged")));
        }
        for (key, what) in [
            ("unjudged", "have no reward: `reward_fault` says why"),
            ("drifted", "drifted: some prompt did not go on with what was sampled"),
            ("left", "are left: `--resume` does them"),
        ] {
            if number(key) > 0 {
                lines.push(format!("{} {what}", number(key)));
            }
        }
        output.text(&lines.join("\n"))?;
    }
    Ok(match end {
        CrewEnd::Done => CommandExit::Done,
        CrewEnd::Interrupted => CommandExit::Interrupted,
        CrewEnd::Stopped(_) => CommandExit::Failed,
    })
}
