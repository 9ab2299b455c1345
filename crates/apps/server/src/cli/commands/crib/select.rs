//! `toolcrib select`: the tools for a task, or for each of several agents.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use serde_json::json;
use toolcrib_core::Plan;
use toolcrib_engine::selection::{
    AgentWish, Overlap, PartitionRequest, SelectedTool, SelectionFallback, SelectionReason,
    SelectionRequest, ToolPartition, partition, select as select_tools,
};

use crate::cli::CommandExit;
use crate::cli::args::SelectArgs;
use crate::cli::context::{CommandContext, listed};
use crate::cli::output::Output;

/// What is said of a task that no tool serves.
const NOTHING_FITS: &str = "nothing fits: say the task in other words, or see `toolcrib tools`";

/// Largest file of roles, in bytes.
const LARGEST: u64 = 1 << 20;

pub(crate) fn select(
    context: &CommandContext,
    output: &Output,
    words: &SelectArgs,
) -> Result<CommandExit> {
    let plan = context.plain_plan()?;
    let agents = agents(context, &plan, words)?;
    if let Some(file) = context.file.as_ref().filter(|_| !agents.is_empty()) {
        output.warn(&file.unknown_assigned(&context.crib.catalog()));
    }
    let task = words.words.join(" ");
    let request = SelectionRequest {
        limit: usize::from(words.limit) * agents.len().max(1),
        tokens: words.tokens,
        always: words.always.clone(),
        task: task.clone(),
        min_confidence: words.min_confidence,
        fallback: if words.or_all { SelectionFallback::All } else { SelectionFallback::Nothing },
    };
    if agents.is_empty() {
        let found = select_tools(&plan, &request)?;
        if output.json {
            output.value(&json!(found))?;
            return Ok(CommandExit::Done);
        }
        for name in &found.too_large {
            output.note(&format!("`{name}` has no room: raise `--tokens`"));
        }
        if found.tools.is_empty() {
            output.note(NOTHING_FITS);
            return Ok(CommandExit::Done);
        }
        let row = |tool: &SelectedTool| {
            let effect = tool.effect.as_str().to_owned();
            [tool.name.to_string(), effect, tool.tokens.to_string(), why(&tool.because)]
        };
        output.table(["NAME", "EFFECT", "TOKENS", "BECAUSE OF"], found.tools.iter().map(row))?;
        return Ok(CommandExit::Done);
    }
    let request = PartitionRequest {
        task: (!task.trim().is_empty()).then_some(request),
        agents,
        capacity: words.capacity,
        overlap: if words.overlap { Overlap::Bridges } else { Overlap::None },
        shares_writers: false,
    };
    let found = partition(&plan, &request)?;
    tell(output, &found)
}

fn why(because: &SelectionReason) -> String {
    match because {
        SelectionReason::Always => "asked for".to_owned(),
        SelectionReason::Task { words, .. } => words.clone(),
        SelectionReason::Needed { argument, by } => format!("yields `{argument}` of {by}"),
        SelectionReason::Fallback => "all that there is".to_owned(),
    }
}

fn tell(output: &Output, found: &ToolPartition) -> Result<CommandExit> {
    if output.json {
        output.value(&json!(found))?;
        return Ok(CommandExit::Done);
    }
    let rows = found.agents.iter().flat_map(|agent| {
        agent.tools.iter().map(|tool| {
            let affinity = format!("{:.2}", tool.affinity);
            let because = tool.because.as_str().to_owned();
            let effect = tool.effect.as_str().to_owned();
            [agent.name.clone(), tool.name.to_string(), effect, because, affinity]
        })
    });
    output.table(["AGENT", "TOOL", "EFFECT", "BECAUSE OF", "AFFINITY"], rows)?;
    if found.fallback.is_some() {
        output.note(NOTHING_FITS);
    }
    for told in &found.warnings {
        output.note(told);
    }
    if !found.unplaced.is_empty() {
        let names: Vec<_> = found.unplaced.iter().map(|name| format!("`{name}`")).collect();
        output.note(&format!("no agent has {}", listed(&names)));
    }
    Ok(CommandExit::Done)
}

/// The agents that are asked about; none: the tools are for one.
fn agents(context: &CommandContext, plan: &Plan, words: &SelectArgs) -> Result<Vec<AgentWish>> {
    let assigned = context.file.as_ref().map(|file| file.assign.clone()).unwrap_or_default();
    if let Some(path) = &words.roles {
        let roles = roles(path)?;
        return Ok(roles.iter().map(|(name, role)| assigned.wish(plan, name, role)).collect());
    }
    let Some(count) = words.agents.map(usize::from) else { return Ok(Vec::new()) };
    let names = assigned.names(count).into_iter();
    Ok(names.map(|name| assigned.wish(plan, &name, "")).collect())
}

/// The names of agents with what each is for.
fn roles(path: &Path) -> Result<BTreeMap<String, String>> {
    let shown = path.display();
    let size = std::fs::metadata(path).with_context(|| format!("cannot read `{shown}`"))?.len();
    if size > LARGEST {
        return Err(anyhow!("`{shown}` is larger than 1 MiB"));
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{shown}`"))?;
    let roles: BTreeMap<String, String> = serde_json::from_str(&text).with_context(|| {
        format!("`{shown}` has no roles: write {{\"NAME\": \"what it is for\", ..}} as JSON")
    })?;
    if roles.is_empty() {
        return Err(anyhow!("`{shown}` names no agent"));
    }
    Ok(roles)
}
