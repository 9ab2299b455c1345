//! `toolcrib select`: the tools for a task, or for each of several agents.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use serde_json::json;
use toolcrib::selection::{
    AgentWish, Overlap, PartitionRequest, SelectedTool, SelectionReason, SelectionRequest,
    ToolPartition, partition, select as select_tools,
};

use crate::cli::CommandExit;
use crate::cli::args::SelectArgs;
use crate::cli::context::CommandContext;
use crate::cli::output::Output;

/// Largest file of roles, in bytes.
const LARGEST: u64 = 1 << 20;

pub(crate) fn select(
    context: &CommandContext,
    output: &Output,
    words: &SelectArgs,
) -> Result<CommandExit> {
    let plan = context.plain_plan()?;
    let agents = agents(context, words)?;
    let task = words.words.join(" ");
    let request = SelectionRequest {
        limit: usize::from(words.limit) * agents.len().max(1),
        tokens: words.tokens,
        always: words.always.clone(),
        task: task.clone(),
    };
    if agents.is_empty() {
        let found = select_tools(&plan, &request).map_err(|error| anyhow!("{}", error.message))?;
        if output.json {
            output.value(&json!(found))?;
            return Ok(CommandExit::Done);
        }
        for name in &found.too_large {
            output.note(&format!("`{name}` has no room: raise `--tokens`"));
        }
        if found.tools.is_empty() {
            output.note("nothing fits: say the task in other words, or see `toolcrib tools`");
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
    let found = partition(&plan, &request).map_err(|error| anyhow!("{}", error.message))?;
    tell(output, &found)
}

fn why(because: &SelectionReason) -> String {
    match because {
        SelectionReason::Always => "asked for".to_owned(),
        SelectionReason::Task { words, .. } => words.clone(),
        SelectionReason::Needed { argument, by } => format!("yields `{argument}` of {by}"),
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
    for agent in found.agents.iter().filter(|agent| agent.tools.is_empty()) {
        output.note(&format!("nothing is for `{}`", agent.name));
    }
    Ok(CommandExit::Done)
}

/// The agents that are asked about; none: the tools are for one.
fn agents(context: &CommandContext, words: &SelectArgs) -> Result<Vec<AgentWish>> {
    let assigned = context.file.as_ref().map(|file| &file.assign);
    let tools = |name: &str| -> Vec<String> {
        let own = assigned.and_then(|assigned| assigned.get(name)).into_iter().flatten();
        own.map(ToString::to_string).collect()
    };
    if let Some(path) = &words.roles {
        let roles = roles(path)?;
        let wish = |(name, role): (String, String)| AgentWish { tools: tools(&name), name, role };
        return Ok(roles.into_iter().map(wish).collect());
    }
    let Some(count) = words.agents.map(usize::from) else { return Ok(Vec::new()) };
    // Those that the file knows by name come first.
    let named = assigned.into_iter().flat_map(BTreeMap::keys).cloned();
    let numbered = (1..).map(|number| format!("agent_{number}"));
    let wish = |name: String| AgentWish { tools: tools(&name), name, role: String::new() };
    Ok(named.chain(numbered).take(count).map(wish).collect())
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
