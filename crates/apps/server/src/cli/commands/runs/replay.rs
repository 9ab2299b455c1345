//! A run that is played again, alone or beside the tools of now.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use toolcrib_agent::model::ModelClient;
use toolcrib_agent::{
    CallDrift, Cassette, LiveTools, Replay, ReplayDifference, ReplayError, ReplayPlace,
};
use toolcrib_core::PlanRequest;

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, ReplayArgs};
use crate::cli::context::{CommandContext, CommandPurpose, RequiredSources, found};
use crate::cli::output::Output;
use crate::config;
use crate::http::agents::runs::events::numbered;

pub(super) fn replay(
    global: &GlobalArgs,
    output: &Output,
    words: &ReplayArgs,
    cassette: &Cassette,
) -> Result<CommandExit> {
    let played = if words.live_tools {
        let Some(played) = live(global, output, words.with_effects, cassette)? else {
            return Ok(CommandExit::Interrupted);
        };
        played
    } else {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(cassette.replay())
    };
    match played {
        Ok(replay) if words.live_tools => compared(output, &replay),
        Ok(replay) => {
            let mut text = String::new();
            for (number, event) in replay.events.iter().enumerate() {
                let _ = writeln!(text, "{}", numbered(&cassette.head().id, number, event));
            }
            output.file(&text)?;
            if output.is_watched() {
                let count = replay.events.len();
                output.note(&format!("all {count} events are those on record"));
            }
            Ok(CommandExit::Done)
        }
        Err(ReplayError::Cassette(error)) => Err(error.into()),
        Err(error @ (ReplayError::Differs(_) | ReplayError::Damaged { .. })) => {
            if output.json {
                output.value(&difference(&error))?;
            } else {
                output.text(&error.to_string())?;
            }
            Ok(CommandExit::Failed)
        }
    }
}

/// What differs, as JSON.
fn difference(error: &ReplayError) -> Value {
    let ReplayError::Differs(difference) = error else {
        return json!({ "same": false, "what": error.to_string() });
    };
    let ReplayDifference { place, recorded, replayed } = &**difference;
    let side = |side: &Option<String>| {
        side.as_ref().map(|side| serde_json::from_str::<Value>(side).unwrap_or_default())
    };
    let (kind, number) = match place {
        ReplayPlace::Event(number) => ("event", number),
        ReplayPlace::Item(number) => ("item", number),
    };
    json!({
        "same": false, kind: number, "recorded": side(recorded), "replayed": side(replayed),
    })
}

/// `None`: a person interrupted the start of the tools.
fn live(
    global: &GlobalArgs,
    output: &Output,
    with_effects: bool,
    cassette: &Cassette,
) -> Result<Option<Result<Replay, ReplayError>>> {
    let (read, name) = (found(global, output)?, &cassette.head().agent);
    // Its model is not asked, so that a key which is missing is no hindrance.
    let agents = read.checked.agents(&config::ProcessLookup).unwrap_or_default();
    let agent = agents.into_iter().find(|agent| agent.name == *name);
    if agent.is_none() {
        output.warn(&[format!(
            "`{}` has no agent `{name}` that can be asked: the tools are shown as they are without",
            read.path.display()
        )]);
    }
    let profile = global.profile.clone();
    let profile = profile.or_else(|| cassette.head().profile.clone());
    let profile = profile.or_else(|| agent.as_ref().and_then(|agent| agent.profile.clone()));
    let global = GlobalArgs { profile, ..global.clone() };
    let need = (RequiredSources::All, CommandPurpose::Call);
    let Some(context) = CommandContext::of_config(read, &global, output, need, None)? else {
        return Ok(None);
    };
    context.note_failed(output);
    // What its provider runs, and what stands in the place of that, depends on the model.
    let (choices, model) = agent.map(|agent| (agent.force, agent.model)).unzip();
    let model = model.map(ModelClient::new).transpose()?.map(Arc::new);
    let choices = choices.unwrap_or_default();
    let tools = LiveTools {
        crib: context.crib.clone(),
        caller: Arc::new(context.caller.clone()),
        wishes: PlanRequest { choices, ..PlanRequest::default() },
        model,
        with_effects,
    };
    let played = context.runtime.block_on(cassette.replay_with(&tools));
    drop(tools);
    context.close();
    Ok(Some(played))
}

/// What has changed since.
fn compared(output: &Output, replay: &Replay) -> Result<CommandExit> {
    let has_changed = replay.drift.iter().any(|call| call.drift.is_change());
    if output.json {
        let calls: Vec<_> = replay.drift.iter().map(call).collect();
        output.value(&json!({ "same": !has_changed, "calls": calls }))?;
    } else if replay.drift.is_empty() {
        output.note("the run called nothing");
    } else {
        let rows = replay.drift.iter().map(|call| {
            let CallDrift { turn, tool, arguments, drift, .. } = call;
            let now = drift.as_str().replace('_', " ");
            [turn.to_string(), tool.clone(), arguments.clone(), now, drift.told().to_owned()]
        });
        output.table(["TURN", "TOOL", "ARGUMENTS", "NOW", "WHAT"], rows)?;
    }
    Ok(if has_changed { CommandExit::Failed } else { CommandExit::Done })
}

fn call(call: &CallDrift) -> Value {
    let CallDrift { turn, id, tool, arguments, drift } = call;
    let mut told = json!({
        "turn": turn, "id": id, "tool": tool, "arguments": arguments, "now": drift.as_str(),
    });
    if let (Value::Object(fields), false) = (&mut told, drift.told().is_empty()) {
        fields.insert("what".to_owned(), drift.told().into());
    }
    told
}
