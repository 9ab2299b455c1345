//! `discover_tools`: finds tools among those that the plan lets its caller see.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_core::{
    Arguments, CallContext, Content, Effect, ErrorKind, Part, Plan, ToolError, ToolSpec,
};
use toolcrib_search::{AbstentionReason, Facet};

use super::catalog_summary;
use super::meta_tools::names::MetaToolNames;
use super::search::{DiscoveredTool, DiscoveryQuery, DiscoveryResult, aside, facets, find_by};
use super::semantic::SemanticSearch;
use super::unavailable::{self, UnavailableSource};

const DEFAULT: usize = 10;
const MOST: usize = 50;
/// Letters of a summary that are told.
const LONGEST: usize = 160;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DiscoverArguments {
    query: String,
    categories: Vec<String>,
    actions: Vec<String>,
    sources: Vec<String>,
    limit: Option<usize>,
}

pub(super) fn input() -> Value {
    let list =
        |text: &str| json!({ "type": "array", "items": { "type": "string" }, "description": text });
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "What is to be done, in plain words." },
            "categories": list("Only tools of one of these."),
            "actions": list("Only tools that do one of these."),
            "sources": list("Only tools from one of these."),
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST,
                "description": format!("How many to name; {DEFAULT} if not set."),
            },
        },
        "additionalProperties": false,
    })
}

/// Bounds what a model reads of it.
pub(super) fn bounded(spec: &mut ToolSpec) {
    spec.limits.max_result_bytes = Some(256 * 1024);
}

pub(super) async fn discover(
    names: &MetaToolNames,
    (meaning, away): (Option<Arc<SemanticSearch>>, Vec<UnavailableSource>),
    arguments: &Arguments,
    context: &CallContext,
) -> Result<Content, ToolError> {
    let plan = plan(context)?.clone();
    let wanted: DiscoverArguments = arguments.read()?;
    let is_bare = wanted.query.trim().is_empty()
        && [&wanted.categories, &wanted.actions, &wanted.sources].iter().all(|l| l.is_empty());
    if is_bare && wanted.limit.is_none() {
        return aside(move || overview(&plan, &away)).await;
    }
    let search = DiscoveryQuery {
        text: wanted.query,
        categories: wanted.categories,
        actions: wanted.actions,
        sources: wanted.sources,
        writes: None,
        limit: wanted.limit.unwrap_or(DEFAULT).clamp(1, MOST),
    };
    let found = find_by((meaning, away), plan, search.clone()).await?;
    Ok(told(&found, &search, names))
}

/// The plan that a call of a tool beside the catalog has.
pub(super) fn plan(context: &CallContext) -> Result<&Plan, ToolError> {
    let lost = || ToolError::new(ErrorKind::Internal, "the tools cannot be looked at just now");
    Plan::of_call(context).ok_or_else(lost)
}

fn overview(plan: &Plan, away: &[UnavailableSource]) -> Content {
    let facets = facets(plan);
    let kinds = [
        ("categories", &facets.categories),
        ("actions", &facets.actions),
        ("sources", &facets.sources),
    ];
    let mut text = "Nothing was asked for. This is what there is, with how many tools:".to_owned();
    let mut structured = serde_json::Map::new();
    for (kind, names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
        let _ = write!(text, "\n{kind}: {}", catalog_summary::counted(names));
        let names: serde_json::Map<_, _> =
            names.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
        structured.insert(kind.to_owned(), Value::Object(names));
    }
    if !away.is_empty() {
        structured.insert("away".to_owned(), json!(unavailable::data(away)));
        text.push_str(&unavailable::told(away));
    }
    content(text, Value::Object(structured))
}

pub(super) fn content(text: String, structured: Value) -> Content {
    Content { parts: vec![Part::text(text)], structured: Some(structured), ..Content::default() }
}

fn told(found: &DiscoveryResult, search: &DiscoveryQuery, names: &MetaToolNames) -> Content {
    let mut structured = json!({
        "tools": found.tools,
        "total": found.total,
        "abstained": found.abstained.map(word),
        "unknown": found.unknown.iter().map(|unknown| json!({
            "kind": kind(unknown.facet), "name": unknown.name, "nearest": unknown.nearest,
        })).collect::<Vec<_>>(),
    });
    if let (Some(meaning), Value::Object(fields)) = (found.meaning, &mut structured) {
        fields.insert("meaning".to_owned(), json!(meaning));
    }
    if let (false, Value::Object(fields)) = (found.away.is_empty(), &mut structured) {
        fields.insert("away".to_owned(), json!(unavailable::data(&found.away)));
    }
    let mut text = String::new();
    for unknown in &found.unknown {
        let near = match unknown.nearest.as_slice() {
            [] => String::new(),
            near => format!(" Did you mean {}?", near.join(", ")),
        };
        let _ = writeln!(text, "There is no {} `{}`.{near}", kind(unknown.facet), unknown.name);
    }
    if let (Some(abstained), true) = (found.abstained, found.tools.is_empty()) {
        text.push_str(&nothing(abstained, search, names));
        text.push_str(&unavailable::told(&found.away));
        return content(text, structured);
    }
    let _ = writeln!(text, "{} of {} tools that fit, best first:", found.tools.len(), found.total);
    for tool in &found.tools {
        text.push_str(&line(tool));
    }
    let _ = write!(
        text,
        "Call one with `{}` (name, parameters); `{}` tells all about its arguments.",
        names.invoke, names.schema
    );
    text.push_str(&unavailable::told(&found.away));
    content(text, structured)
}

fn line(tool: &DiscoveredTool) -> String {
    let summary: String = tool.summary.chars().take(LONGEST).collect();
    let effect = match tool.effect {
        Effect::Read => "reads",
        Effect::Write => "writes",
        Effect::Destroy => "may destroy",
    };
    let labels = tool.category.iter().chain(&tool.actions).map(String::as_str).chain([effect]);
    let labels = labels.collect::<Vec<_>>().join(", ");
    let mut line = format!("- {} [{labels}] {summary}", tool.signature);
    if !tool.unlike.is_empty() {
        let _ = write!(line, " (unlike the others: {})", tool.unlike.join(", "));
    }
    for need in &tool.needs {
        let _ = write!(line, " (`{}` comes from `{}`)", need.argument, need.from);
    }
    line.push('\n');
    line
}

fn nothing(abstained: AbstentionReason, search: &DiscoveryQuery, names: &MetaToolNames) -> String {
    let why = match abstained {
        AbstentionReason::NoWord => "no tool has a word of this question",
        AbstentionReason::TooLittle => "no tool says that it does this",
        AbstentionReason::Facets => "no tool is of these categories, actions and sources at once",
    };
    let asked: String = search.text.chars().take(200).collect();
    let asked = if asked.is_empty() { String::new() } else { format!(" for \"{asked}\"") };
    format!(
        "Nothing fits{asked}: {why}. Say it in other words, or call `{}` without arguments to see \
         what kinds of tools there are. If there is none for it, go on without one and say so.",
        names.discover
    )
}

fn word(abstained: AbstentionReason) -> &'static str {
    match abstained {
        AbstentionReason::NoWord => "no_word",
        AbstentionReason::TooLittle => "too_little",
        AbstentionReason::Facets => "facets",
    }
}

fn kind(facet: Facet) -> &'static str {
    match facet {
        Facet::Category => "category",
        Facet::Action => "action",
        Facet::Source => "source",
        Facet::Tag => "tag",
    }
}
