//! `toolcrib effects`: the tools that do not say what a call does, and what a person says for them.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;
use toolcrib_config::Config;
use toolcrib_config::effects::{UndeclaredTool, undeclared, write};
use toolcrib_core::{Effect, SourceId, ToolName};
use toolcrib_engine::pins::PinFile;

use crate::cli::CommandExit;
use crate::cli::args::EffectsArgs;
use crate::cli::context::CommandContext;
use crate::cli::output::Output;
use crate::config;

/// A tool and what is said of it from now on.
type AcceptedEffect = (ToolName, Effect);

pub(crate) fn effects(
    context: &CommandContext,
    output: &Output,
    words: &EffectsArgs,
) -> Result<CommandExit> {
    let found = found(context);
    if !output.json {
        show(output, &found)?;
    }
    let accepted = if words.write { accepted(output, &found, words.yes)? } else { Vec::new() };
    if !accepted.is_empty() {
        put(context, &accepted)?;
    }
    if output.json {
        let written: Vec<_> = accepted.iter().map(|(tool, _)| tool).collect();
        let file = context.place.display().to_string();
        output.value(&json!({ "file": file, "tools": found, "written": written }))?;
        return Ok(CommandExit::Done);
    }
    let open = found.iter().filter(|tool| tool.proposal.is_some()).count();
    if words.write {
        output.note(&written(context, accepted.len()));
    } else if open > 0 {
        output.note(
            "Look at each: what is said to read runs without a question. `--write` asks which of \
             them to put into the configuration",
        );
    }
    Ok(CommandExit::Done)
}

fn found(context: &CommandContext) -> Vec<UndeclaredTool> {
    let well = context.crib.sources().into_iter().filter(|source| source.error.is_none());
    let looked_at: Vec<SourceId> = well.map(|source| source.id).collect();
    let owners = |name: &str| {
        let owners = context.file.as_ref().map(|file| file.owners_of(name)).unwrap_or_default();
        owners.into_iter().cloned().collect()
    };
    undeclared(&context.crib.catalog(), &looked_at, owners)
}

fn show(output: &Output, found: &[UndeclaredTool]) -> Result<()> {
    if found.is_empty() {
        output.note("every tool says what a call of it does");
        return Ok(());
    }
    let row = |tool: &UndeclaredTool| {
        let proposal = tool.proposal.map_or("-", Effect::as_str);
        [tool.tool.to_string(), proposal.to_owned(), tool.because.clone()]
    };
    output.table(["TOOL", "PROPOSAL", "BECAUSE"], found.iter().map(row))
}

/// Those of the proposals that are accepted.
fn accepted(output: &Output, found: &[UndeclaredTool], yes: bool) -> Result<Vec<AcceptedEffect>> {
    let proposed = found.iter().filter_map(|tool| Some((tool, tool.proposal?)));
    let proposed: Vec<_> = proposed.collect();
    let all = || proposed.iter().map(|(tool, effect)| (tool.tool.clone(), *effect)).collect();
    if yes || proposed.is_empty() {
        return Ok(all());
    }
    if !config::person_is_there() {
        bail!(
            "nobody is there to accept the proposals: look at what `toolcrib effects` lists, and \
             then `--yes` accepts all of them"
        );
    }
    config::forget_typed();
    let count = proposed.len();
    output.prompt(&format!("Accept all {count} proposals? [y/N, o: one by one]"));
    match answer(output)?.as_str() {
        "y" | "yes" => return Ok(all()),
        "o" | "one" => {}
        _ => return Ok(Vec::new()),
    }
    let mut accepted = Vec::new();
    for (tool, effect) in proposed {
        let (name, because) = (&tool.tool, &tool.because);
        output
            .prompt(&format!("`{name}`: {}, since {because}? [y/N, q: no more]", effect.as_str()));
        match answer(output)?.as_str() {
            "y" | "yes" => accepted.push((name.clone(), effect)),
            "q" | "quit" => break,
            _ => {}
        }
    }
    Ok(accepted)
}

fn answer(output: &Output) -> Result<String> {
    let line = config::line();
    output.answered();
    Ok(line?.trim().to_lowercase())
}

/// Writes what was accepted into the file, and into the pins, where there are some.
fn put(context: &CommandContext, accepted: &[AcceptedEffect]) -> Result<()> {
    let path = &context.place;
    let shown = path.display().to_string();
    if context.file.is_none() {
        bail!("there is no `{shown}` to write to: write one, or name it with `--config`");
    }
    let before = config::file(path)?;
    let after = write(&before, accepted).with_context(|| format!("`{shown}` stays as it is"))?;
    if let Some(problem) = Config::read(&after, &shown).problems.first() {
        return Err(anyhow!("{problem}").context(format!("`{shown}` stays as it is")));
    }
    let pins = pinned(context, accepted)?;
    config::replace(path, &before, &after)?;
    match pins {
        Some(pins) => config::write(&context.lock, &pins),
        None => Ok(()),
    }
}

/// The pin file in which the tools that changed by this alone are accepted as they are now; `None`:
/// there is none.
fn pinned(context: &CommandContext, accepted: &[AcceptedEffect]) -> Result<Option<String>> {
    let Some(text) = config::file_if_any(&context.lock)? else { return Ok(None) };
    let cannot = || format!("cannot use `{}`", context.lock.display());
    let mut lock = PinFile::parse(&text).with_context(cannot)?;
    let catalog = context.crib.catalog();
    for (tool, effect) in accepted {
        // What is listed passed its pin.
        if let Some(listed) = catalog.get(tool.as_str()) {
            let mut spec = listed.spec.as_ref().clone();
            spec.effect = *effect;
            lock.accept(&spec);
        }
    }
    Ok(Some(lock.to_text()))
}

fn written(context: &CommandContext, count: usize) -> String {
    let path: &Path = &context.place;
    if count == 0 {
        return format!("nothing was written to `{}`", path.display());
    }
    let tools = if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
    let pins = if context.lock.exists() {
        format!(
            ", and `{}` accepts them so; a server that runs has to be started anew",
            context.lock.display()
        )
    } else {
        String::new()
    };
    format!("the effect of {tools} stands in `{}`{pins}", path.display())
}
