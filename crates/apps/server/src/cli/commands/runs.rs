//! `toolcrib runs`: what agents did, shown and played again.

mod place;
mod replay;
mod row;
mod show;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, RunCommand, RunsArgs};
use crate::cli::output::Output;
use place::RunPlaces;

pub(crate) fn runs(global: &GlobalArgs, output: &Output, words: &RunsArgs) -> Result<CommandExit> {
    match &words.command {
        None => list(&RunPlaces::open(global, &words.remote, output)?, output, words),
        Some(RunCommand::Show { run }) => {
            show::show(output, &place::cassette(global, &words.remote, output, run)?)
        }
        Some(RunCommand::Replay(replay)) => {
            let cassette = place::cassette(global, &words.remote, output, &replay.run)?;
            replay::replay(global, output, replay, &cassette)
        }
        Some(RunCommand::Export { run, save }) => {
            let text = RunPlaces::open(global, &words.remote, output)?.find(run)?.to_json();
            let Some(path) = save else {
                output.file(&text)?;
                return Ok(CommandExit::Done);
            };
            let shown = path.display();
            std::fs::write(path, text).with_context(|| format!("cannot write `{shown}`"))?;
            output.note(&format!("`toolcrib runs replay {shown}` plays it"));
            Ok(CommandExit::Done)
        }
    }
}

fn list(places: &RunPlaces, output: &Output, words: &RunsArgs) -> Result<CommandExit> {
    let wanted = |run: &Value| {
        let is = |key: &str, word: &Option<String>| {
            word.as_ref().is_none_or(|word| run.get(key).is_some_and(|said| said == word.as_str()))
        };
        is("state", &words.state) && is("agent", &words.agent)
    };
    let runs = places.list(usize::from(words.limit), &wanted)?;
    if output.json {
        output.value(&json!({ "runs": runs }))?;
        return Ok(CommandExit::Done);
    }
    if runs.is_empty() {
        output.note("no run is on record: `toolcrib chat` begins one, or `POST /v1/runs`");
        return Ok(CommandExit::Done);
    }
    output.table(
        ["RUN", "AGENT", "STATE", "BEGUN", "TURNS", "TOKENS", "STOP"],
        runs.iter().map(|run| {
            let text = |key: &str| match run.get(key) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => "-".to_owned(),
            };
            let created = run.get("created_at").and_then(Value::as_i64);
            let begun = created.and_then(|created| Timestamp::from_second(created).ok());
            [
                text("id"),
                text("agent"),
                text("state"),
                begun.map_or_else(|| "-".to_owned(), |begun| begun.to_string()),
                text("turns"),
                text("tokens"),
                text("stop"),
            ]
        }),
    )?;
    Ok(CommandExit::Done)
}
