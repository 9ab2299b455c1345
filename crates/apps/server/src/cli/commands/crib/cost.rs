//! `toolcrib cost`: what the tools take in the prompt of a model, as each API is given them.

use anyhow::Result;
use serde_json::{Value, json};
use toolcrib::dialect::{Dialect, NAMES, dialect};
use toolcrib::{Discovery, Exposure, Plan, PlanRequest};

use crate::cli::CommandExit;
use crate::cli::context::CommandContext;
use crate::cli::output::Output;

/// What one way of showing costs.
struct PromptCost {
    dialect: &'static str,
    /// What was asked for.
    mode: Discovery,
    /// How the tools are shown then.
    shown: String,
    tokens: usize,
    /// Definitions that the model sees at first.
    listed: usize,
    because: String,
}

const MODES: [Discovery; 3] = [Discovery::Direct, Discovery::Lazy, Discovery::Auto];

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
    let mut costs = Vec::new();
    for name in NAMES {
        let Some(wire) = dialect(name) else { continue };
        for mode in MODES {
            let request = PlanRequest { disabled: left_out.clone(), ..PlanRequest::default() };
            let request = request.show(mode).api_defers(wire.defers()).told_in(name);
            let plan = context.crib.plan(&context.caller, request)?;
            costs.push(costed(name, &*wire, mode, &plan));
        }
    }
    let direct = |of: &PromptCost| {
        let same =
            |cost: &&PromptCost| cost.dialect == of.dialect && cost.mode == Discovery::Direct;
        costs.iter().find(same).map_or(0, |cost| cost.tokens)
    };
    if output.json {
        let rows: Vec<_> = costs.iter().map(|cost| told(cost, direct(cost))).collect();
        output.value(&json!({ "tools": count, "costs": rows }))?;
        return Ok(CommandExit::Done);
    }
    output.heading(&format!("{count} tools, in tokens of a prompt"))?;
    let rows = costs.iter().map(|cost| {
        let saved = saved(cost.tokens, direct(cost));
        [
            cost.dialect.to_owned(),
            cost.mode.as_str().to_owned(),
            cost.shown.clone(),
            cost.listed.to_string(),
            cost.tokens.to_string(),
            if saved == 0 { String::new() } else { format!("{saved} %") },
        ]
    });
    output.table(["API", "MODE", "SHOWN", "DEFINITIONS", "TOKENS", "SAVED"], rows)?;
    if let Some(auto) = costs.iter().find(|cost| cost.mode == Discovery::Auto) {
        output.note(&format!("auto: {}", auto.because));
    }
    Ok(CommandExit::Done)
}

fn costed(name: &'static str, wire: &dyn Dialect, mode: Discovery, plan: &Plan) -> PromptCost {
    let rendering = wire.rendering(plan);
    let upfront = wire.upfront(&rendering);
    // No tools are no text.
    let listed = plan.tools().filter(|tool| tool.exposure == Exposure::Listed).count();
    let is_empty = upfront.as_array().is_some_and(Vec::is_empty);
    let tokens = if is_empty { 0 } else { toolcrib_tokens::count(&upfront.to_string()) };
    let shown = match plan.shown().rest {
        Exposure::Listed => "in full",
        Exposure::Deferred => "held back by the API",
        Exposure::Hidden if plan.meta_tools().relay.is_none() => "in full",
        Exposure::Hidden => "found by tools",
    };
    let because = plan.shown().because.to_string();
    PromptCost { dialect: name, mode, shown: shown.to_owned(), tokens, listed, because }
}

fn saved(tokens: usize, direct: usize) -> usize {
    100 * direct.saturating_sub(tokens) / direct.max(1)
}

fn told(cost: &PromptCost, direct: usize) -> Value {
    json!({
        "dialect": cost.dialect,
        "mode": cost.mode,
        "shown": cost.shown,
        "definitions": cost.listed,
        "tokens": cost.tokens,
        "saved_percent": saved(cost.tokens, direct),
        "because": cost.because,
    })
}
