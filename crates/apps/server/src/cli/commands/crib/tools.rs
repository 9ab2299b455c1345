//! `toolcrib tools` and `toolcrib show`.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use toolcrib_core::{CatalogTool, Plan, ToolSpec};
use toolcrib_json::schema::signature;

use crate::cli::CommandExit;
use crate::cli::args::{EffectName, ToolFilterArgs};
use crate::cli::context::CommandContext;
use crate::cli::output::Output;

pub(crate) fn list(
    context: &CommandContext,
    output: &Output,
    filter: &ToolFilterArgs,
) -> Result<CommandExit> {
    let plan = context.plain_plan()?;
    let shown = plan.known().map(|tool| tool.listed).chain(hosted(&plan));
    let shown: Vec<_> = shown.filter(|tool| wanted(&tool.spec, filter)).collect();
    if output.json {
        output.value(&shown.into_iter().map(brief).collect())?;
    } else if shown.is_empty() {
        output.note("no tool fits: `toolcrib plan` tells of every tool why it is in or out");
    } else {
        let row = |tool: &CatalogTool| {
            let spec = &tool.spec;
            [
                spec.name.to_string(),
                spec.effect.as_str().to_owned(),
                spec.category.clone().unwrap_or_default(),
                match run_by(spec) {
                    None => spec.summary.clone(),
                    Some(dialects) => format!("{} (run by the provider: {dialects})", spec.summary),
                },
            ]
        };
        output.table(["NAME", "EFFECT", "CATEGORY", "SUMMARY"], shown.into_iter().map(row))?;
    }
    note_kept_out(&plan, output);
    Ok(CommandExit::Done)
}

/// The tools that are there for models alone, whose provider runs them.
fn hosted(plan: &Plan) -> impl Iterator<Item = &CatalogTool> {
    let own = plan.catalog().tools().iter().filter(|tool| tool.spec.hosted.is_some());
    own.filter(|tool| plan.why(tool.spec.name.as_str()).is_some_and(|why| why.rule == "no_model"))
}

/// The model APIs that have a tool which only their providers run.
fn run_by(spec: &ToolSpec) -> Option<String> {
    spec.hosted.as_ref()?;
    Some(spec.builtin.keys().map(String::as_str).collect::<Vec<_>>().join(", "))
}

fn wanted(spec: &ToolSpec, filter: &ToolFilterArgs) -> bool {
    let effect = effect(filter);
    let is = |wish: Option<&str>, value: &str| wish.is_none_or(|wish| wish == value);
    is(filter.source.as_deref(), spec.origin.source.as_str())
        && is(filter.category.as_deref(), spec.category.as_deref().unwrap_or_default())
        && is(effect, spec.effect.as_str())
}

/// The effect that is wanted, as a word.
pub(crate) fn effect(filter: &ToolFilterArgs) -> Option<&'static str> {
    filter.effect.map(|effect| match effect {
        EffectName::Read => "read",
        EffectName::Write => "write",
        EffectName::Destroy => "destroy",
    })
}

fn brief(tool: &CatalogTool) -> Value {
    let spec = &tool.spec;
    let mut brief = json!({
        "name": spec.name,
        "summary": spec.summary,
        "category": spec.category,
        "actions": spec.actions,
        "effect": spec.effect,
        "source": spec.origin.source,
        "signature": signature(spec.name.as_str(), &spec.input.value()),
    });
    if let (Value::Object(fields), true) = (&mut brief, spec.hosted.is_some()) {
        fields.insert("dialects".to_owned(), spec.builtin.keys().cloned().collect());
    }
    brief
}

fn note_kept_out(plan: &Plan, output: &Output) {
    let all = plan.catalog().quarantined();
    let (waiting, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|tool| tool.reason.is_for_acceptance());
    let be = |count: usize| if count == 1 { "tool is" } else { "tools are" };
    if !waiting.is_empty() {
        let (count, be) = (waiting.len(), be(waiting.len()));
        output.note(&format!(
            "{count} {be} kept out: `toolcrib lock --check` tells what changed, `toolcrib lock` \
             accepts it"
        ));
    }
    for tool in others.iter().take(MOST_TOLD) {
        output.note(&format!("`{}` is kept out: {}", tool.spec.name, tool.reason));
    }
    let more = others.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        let be = be(more);
        output.note(&format!("{more} more {be} kept out: `toolcrib doctor` tells why"));
    }
}

/// Tools that are kept out and told one by one.
const MOST_TOLD: usize = 10;

/// `; did you mean ..?`, if a name is near, else a colon.
pub(crate) fn near(plan: &Plan, name: &str) -> String {
    let near = plan.nearest(name).into_iter().next();
    near.map_or_else(|| ":".to_owned(), |near| format!("; did you mean `{near}`?"))
}

fn effect_of(spec: &ToolSpec) -> String {
    let effect = spec.effect.as_str();
    if !spec.origin.undeclared {
        return effect.to_owned();
    }
    let source = &spec.origin.source;
    format!("{effect} (assumed: it declares nothing; `toolcrib effects {source}` proposes)")
}

pub(crate) fn show(context: &CommandContext, output: &Output, name: &str) -> Result<CommandExit> {
    let plan = context.plain_plan()?;
    let known = plan.get(name).map(|tool| tool.listed);
    let mut own = hosted(&plan).filter(|tool| tool.spec.name.as_str() == name);
    let Some(listed) = known.or_else(|| own.next()) else {
        let near = near(&plan, name);
        bail!(
            "there is no tool `{name}` for this caller{near} `toolcrib tools` lists what is there"
        );
    };
    let spec = &listed.spec;
    let signature = signature(spec.name.as_str(), &spec.input.value());
    if output.json {
        let mut value = spec.to_json();
        if let Value::Object(fields) = &mut value {
            fields.insert("signature".to_owned(), signature.into());
            fields.insert("fingerprint".to_owned(), json!(listed.fingerprint));
        }
        output.value(&value)?;
        return Ok(CommandExit::Done);
    }
    output.heading(&signature)?;
    output.text(&spec.description)?;
    let facts = [
        ("effect", effect_of(spec)),
        ("repeatable", spec.harmless_to_repeat().to_string()),
        ("category", spec.category.clone().unwrap_or_default()),
        ("actions", spec.actions.join(", ")),
        ("source", spec.origin.source.to_string()),
        ("run by", run_by(spec).map(|by| format!("the provider: {by}")).unwrap_or_default()),
        ("fingerprint", listed.fingerprint.to_string()),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    output.text("")?;
    for (fact, value) in facts {
        output.text(&format!("{fact:<12} {value}"))?;
    }
    output.text("")?;
    output.heading("Arguments")?;
    output.value(&spec.input.value())?;
    Ok(CommandExit::Done)
}
