//! `toolcrib cost`: what the tools take in the prompt of a model, as each API is given them.

use anyhow::Result;
use serde_json::json;
use toolcrib_core::{Discovery, PlanRequest};

use crate::cli::CommandExit;
use crate::cli::context::CommandContext;
use crate::cli::output::Output;
use crate::http::rest::plan::cost::{PromptCost, costs};

pub(crate) fn cost(
    context: &CommandContext,
    output: &Output,
    first: Option<usize>,
) -> Result<CommandExit> {
    // Whoever asks for figures waits for them.
    context.runtime.block_on(context.crib.count_tokens());
    let all = context.plain_plan()?;
    let names: Vec<_> = all.known().map(|tool| tool.listed.spec.name.to_string()).collect();
    let left_out = names.iter().skip(first.unwrap_or(usize::MAX)).cloned().collect::<Vec<_>>();
    let count = names.len() - left_out.len();
    let request = PlanRequest { disabled: left_out, ..PlanRequest::default() };
    let costs = costs(&context.crib, &context.caller, &request)?;
    if output.json {
        let rows: Vec<_> = costs.iter().map(PromptCost::to_json).collect();
        output.value(&json!({ "tools": count, "costs": rows }))?;
        return Ok(CommandExit::Done);
    }
    output.heading(&format!("{count} tools, in tokens of a prompt"))?;
    let rows = costs.iter().map(|cost| {
        [
            cost.dialect.to_owned(),
            cost.mode.as_str().to_owned(),
            cost.shown.to_owned(),
            cost.listed.to_string(),
            cost.tokens.to_string(),
            if cost.saved == 0 { String::new() } else { format!("{} %", cost.saved) },
        ]
    });
    output.table(["API", "MODE", "SHOWN", "DEFINITIONS", "TOKENS", "SAVED"], rows)?;
    if let Some(auto) = costs.iter().find(|cost| cost.mode == Discovery::Auto) {
        output.note(&format!("auto: {}", auto.because));
    }
    Ok(CommandExit::Done)
}
