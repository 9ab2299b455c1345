//! `toolcrib toolsets`: which tools are meant together, and what that costs.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail};
use serde_json::json;
use toolcrib_agent::model::ModelClient;
use toolcrib_config::SourceFactory as _;
use toolcrib_core::MembershipReason;
use toolcrib_engine::toolsets::{ListedTool, ListedToolset, ToolsetListing, maker, toolsets};

use crate::cli::CommandExit;
use crate::cli::args::ToolsetsArgs;
use crate::cli::context::CommandContext;
use crate::cli::output::Output;
use crate::gateway::follow::toolset_splits;

/// Toolsets that a note names.
const MOST_NAMED: usize = 5;

/// All of them, or the tools of one.
pub(crate) fn list(
    context: &CommandContext,
    output: &Output,
    words: &ToolsetsArgs,
) -> Result<CommandExit> {
    if words.ask {
        ask(context, output)?;
    }
    let plan = context.plain_plan()?;
    let listing = toolsets(&plan);
    if let Some(id) = &words.id {
        return one(output, &listing, id);
    }
    if output.json {
        output.value(&json!(listing))?;
        return Ok(CommandExit::Done);
    }
    if listing.toolsets.is_empty() {
        output.note("there is no toolset: write `toolsets` at a source, or `[toolset.NAME]`");
        return Ok(CommandExit::Done);
    }
    let row = |set: &ListedToolset| {
        let (tools, tokens) = (set.tools.len().to_string(), set.tokens.to_string());
        [set.toolset.id.clone(), tools, tokens, maker(set.toolset.made).to_owned(), about(set)]
    };
    let rows = listing.toolsets.iter().map(row);
    output.table(["TOOLSET", "TOOLS", "TOKENS", "MADE BY", "ABOUT"], rows)?;
    note(output, &listing);
    match listing.in_none.len() {
        0 => {}
        1 => output.note("1 tool is in no toolset"),
        count => output.note(&format!("{count} tools are in no toolset")),
    }
    Ok(CommandExit::Done)
}

/// What whoever runs the crib should know, each thing once.
fn note(output: &Output, listing: &ToolsetListing) {
    let mut notes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for set in &listing.toolsets {
        let whole = set.toolset.part_of.as_ref().unwrap_or(&set.toolset.id);
        let ids = set.toolset.note.as_deref().map(|note| notes.entry(note).or_default());
        if let Some(ids) = ids.filter(|ids| !ids.contains(&whole.as_str())) {
            ids.push(whole);
        }
    }
    for (note, ids) in notes {
        let named: Vec<_> = ids.iter().take(MOST_NAMED).map(|id| format!("`{id}`")).collect();
        let more = ids.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        output.note(&format!("{}{more}: {note}", named.join(", ")));
    }
}

/// Asks the model of the file what it has not answered, and has the sources follow.
fn ask(context: &CommandContext, output: &Output) -> Result<()> {
    let file = context.file.as_ref();
    let wanted = file.and_then(|file| toolset_splits::wanted(file, &output.notices()));
    let (Some(settings), Some(splits)) = (wanted, context.sources.splits()) else {
        bail!("no source has its toolsets split by a model: write `split = \"model\"` there");
    };
    let client = ModelClient::new(settings).map_err(|fault| anyhow!("{}", fault.message))?;
    context.runtime.block_on(async {
        if splits.forget_useless() > 0 {
            reload(context).await;
        }
        let waiting = splits.waiting();
        if waiting.is_empty() {
            output.note("the model has answered everything already");
            return Ok(());
        }
        for question in waiting {
            let title = &question.title;
            let asked = toolset_splits::ask(&client, &question).await;
            let outcome = asked.map_err(|fault| anyhow!("`{title}`: {}", fault.message))?;
            splits.tell(question.fingerprint, outcome);
            toolset_splits::keep(&splits, &context.place)?;
        }
        reload(context).await;
        Ok(())
    })
}

async fn reload(context: &CommandContext) {
    for state in context.crib.sources() {
        context.crib.reload(&state.id).await;
    }
}

fn about(set: &ListedToolset) -> String {
    if set.summary.is_empty() { set.toolset.title.clone() } else { set.summary.clone() }
}

fn one(output: &Output, listing: &ToolsetListing, id: &str) -> Result<CommandExit> {
    let Some(set) = listing.toolsets.iter().find(|set| set.toolset.id == id) else {
        let known: Vec<_> = listing.toolsets.iter().map(|set| set.toolset.id.as_str()).collect();
        let near = toolcrib_engine::rules::instead(id, &known);
        let cure = if near.starts_with("did you mean") {
            format!("; {near}")
        } else {
            ": `toolcrib toolsets` lists what is there".to_owned()
        };
        bail!("there is no toolset `{id}` for this caller{cure}");
    };
    if output.json {
        output.value(&json!(set))?;
        return Ok(CommandExit::Done);
    }
    let row = |tool: &ListedTool| {
        let (effect, tokens) = (tool.effect.as_str().to_owned(), tool.tokens.to_string());
        [tool.name.to_string(), effect, tokens, why(&tool.because)]
    };
    output.table(["NAME", "EFFECT", "TOKENS", "BECAUSE OF"], set.tools.iter().map(row))?;
    for overlap in &set.overlaps {
        let be = if overlap.tools == 1 { "tool is" } else { "tools are" };
        output.note(&format!("{} {be} in `{}` too", overlap.tools, overlap.with));
    }
    Ok(CommandExit::Done)
}

fn why(because: &MembershipReason) -> String {
    match because {
        MembershipReason::Pattern(pattern) => format!("the pattern `{pattern}`"),
        MembershipReason::Tag(tag) => format!("the tag `{tag}`"),
        MembershipReason::Untagged => "no tag".to_owned(),
        MembershipReason::All => "its source".to_owned(),
        MembershipReason::Path(path) => format!("the path `{path}`"),
        MembershipReason::Resource(resource) => format!("`{resource}`, which it is about"),
        MembershipReason::Cluster => "what it has in common with the others".to_owned(),
        MembershipReason::Model => "a model".to_owned(),
        MembershipReason::Leftover => "nothing else has it".to_owned(),
    }
}
