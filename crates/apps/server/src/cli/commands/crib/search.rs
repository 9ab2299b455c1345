//! `toolcrib search`: the search that models have, for people.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};
use toolcrib_engine::discovery::{DiscoveredTool, DiscoveryQuery};

use super::tools::effect;
use crate::cli::CommandExit;
use crate::cli::args::ToolFilterArgs;
use crate::cli::context::CommandContext;
use crate::cli::output::Output;
use crate::gateway::follow::embeddings;

pub(crate) fn search(
    context: &CommandContext,
    output: &Output,
    text: &str,
    (filter, action, limit): (&ToolFilterArgs, Option<String>, usize),
) -> Result<CommandExit> {
    let plan = context.plain_plan()?;
    let search = DiscoveryQuery {
        text: text.to_owned(),
        categories: filter.category.iter().cloned().collect(),
        actions: action.into_iter().collect(),
        sources: filter.source.iter().cloned().collect(),
        writes: None,
        limit,
    };
    listen(context, output);
    let found = context.runtime.block_on(context.crib.find(&plan, search));
    let mut found = found.map_err(|error| anyhow!("{}", error.message))?;
    let wanted = effect(filter);
    found.tools.retain(|tool| wanted.is_none_or(|effect| tool.effect.as_str() == effect));
    if output.json {
        let mut told = json!({ "tools": found.tools, "total": found.total });
        if let (Some(meaning), Value::Object(fields)) = (found.meaning, &mut told) {
            fields.insert("meaning".to_owned(), json!(meaning));
        }
        if let (false, Value::Object(fields)) = (found.away.is_empty(), &mut told) {
            fields.insert("away".to_owned(), json!(found.away));
        }
        output.value(&told)?;
        return Ok(CommandExit::Done);
    }
    for unknown in &found.unknown {
        let near = unknown.nearest.first();
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        output.note(&format!("nothing is called `{}`{near}", unknown.name));
    }
    if found.tools.is_empty() {
        output.note("nothing fits: try other words, or `toolcrib tools` for all that is there");
        return Ok(CommandExit::Done);
    }
    let row = |tool: &DiscoveredTool| {
        let effect = tool.effect.as_str().to_owned();
        [tool.name.to_string(), effect, tool.summary.clone(), tool.why.clone()]
    };
    output.table(["NAME", "EFFECT", "SUMMARY", "BECAUSE OF"], found.tools.iter().map(row))?;
    Ok(CommandExit::Done)
}

/// Has tools found by their meaning too if the file says so; a person waits for the vectors that
/// are not kept from before.
fn listen(context: &CommandContext, output: &Output) {
    let Some(settings) =
        context.file.as_ref().and_then(|file| embeddings::wanted(file, &output.notices()))
    else {
        return;
    };
    match embeddings::open(settings, &context.lock) {
        Ok(meaning) => {
            context.crib.set_embedder(Some(Arc::clone(&meaning)));
            context.runtime.block_on(context.crib.warm_embeddings());
            output.warn(meaning.trouble().as_slice());
        }
        Err(error) => {
            output.warn(&[format!("tools are found by their words alone: {error:#}")]);
        }
    }
}
