//! `toolcrib plan` and `toolcrib why`.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use toolcrib_core::{CatalogTool, Exposure, Plan, ToolExplanation};
use toolcrib_dialect::Rendering;
use toolcrib_json::schema::Schema;

use super::tools::near;
use crate::cli::CommandExit;
use crate::cli::args::{DialectName, RequestArgs};
use crate::cli::context::{CommandContext, dialect};
use crate::cli::output::Output;

pub(crate) fn plan(
    context: &CommandContext,
    output: &Output,
    words: &RequestArgs,
    wire: Option<(DialectName, bool)>,
) -> Result<CommandExit> {
    let wire = wire.map(|(name, strict)| dialect(name, strict));
    let plan = context.plan(words, wire.as_deref())?;
    if output.json {
        let mut value = json!({
            "visible": plan.tools().map(|tool| &tool.listed.spec.name).collect::<Vec<_>>(),
            "forced": plan.forced().map(|tool| &tool.listed.spec.name).collect::<Vec<_>>(),
            "warnings": warnings(&plan),
            "discovery": { "mode": plan.shown().mode, "because": plan.shown().because },
            "guidance": plan.guidance(),
            "why": plan.reasons(),
        });
        if let (Value::Object(fields), Some(wire)) = (&mut value, wire) {
            let rendering = wire.rendering(&plan);
            fields.insert("dialect".to_owned(), wire.name().into());
            fields.insert("tools".to_owned(), rendering.tools.clone());
            fields.insert("tool_choice".to_owned(), json!(rendering.tool_choice));
            fields.insert("losses".to_owned(), json!(rendering.losses));
            fields.insert("refused".to_owned(), json!(rendering.refused));
        }
        output.value(&value)?;
        return Ok(CommandExit::Done);
    }
    output.warn(plan.warnings());
    output.table(["NAME", "SHOWN", "BECAUSE"], plan.reasons().iter().map(row))?;
    let guidance = plan.guidance();
    let reminders = guidance.reminders.join("\n");
    let texts = [
        ("For the system prompt", &guidance.system),
        ("For the user prompt", &guidance.user),
        ("With every turn", &reminders),
    ];
    for (heading, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        section(output, heading)?;
        output.indented(text)?;
    }
    if let Some(wire) = wire {
        show_wire(output, &wire.rendering(&plan))?;
    }
    Ok(CommandExit::Done)
}

/// What the model API is given, and what it cannot be told.
fn show_wire(output: &Output, rendering: &Rendering) -> Result<()> {
    section(output, "Fields of the request")?;
    output.value(&Value::Object(rendering.request()))?;
    let losses = rendering.losses.iter().map(ToString::to_string);
    let unsaid: Vec<_> = losses.chain(rendering.refused.iter().map(ToString::to_string)).collect();
    if !unsaid.is_empty() {
        section(output, "What the model API is not told")?;
        output.indented(&unsaid.join("\n"))?;
    }
    Ok(())
}

fn section(output: &Output, heading: &str) -> Result<()> {
    output.text("")?;
    output.heading(heading)
}

fn warnings(plan: &Plan) -> Vec<String> {
    plan.warnings().iter().map(ToString::to_string).collect()
}

fn row(why: &ToolExplanation) -> [String; 3] {
    let shown = match (why.exposure, why.forced) {
        (Some(_), true) => "forced",
        (Some(Exposure::Listed), false) => "yes",
        (Some(Exposure::Deferred), false) => "later",
        (Some(Exposure::Hidden), false) => "hidden",
        (None, _) => "no",
    };
    [why.tool.to_string(), shown.to_owned(), why.because.clone()]
}

pub(crate) fn why(
    context: &CommandContext,
    output: &Output,
    words: &RequestArgs,
    name: &str,
    wire: Option<DialectName>,
) -> Result<CommandExit> {
    let wire = wire.map(|wire| dialect(wire, false));
    let plan = context.plan(words, wire.as_deref())?;
    let Some(why) = plan.why(name) else {
        let near = near(&plan, name);
        bail!("there is no tool `{name}` in the catalog{near} `toolcrib plan` lists what is there");
    };
    if output.json {
        output.value(&json!(why))?;
    } else {
        let shown = if why.visible { "is visible" } else { "is not visible" };
        output.text(&format!("`{}` {shown}: {} ({})", why.tool, why.because, why.rule))?;
        let schema = plan.catalog().get(name).and_then(CatalogTool::schema);
        for left in schema.map(Schema::left).unwrap_or_default() {
            output.indented(&left.to_string())?;
        }
    }
    Ok(CommandExit::Done)
}
