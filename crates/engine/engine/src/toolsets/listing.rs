//! The toolsets that a plan shows: what is in them, what that costs, and where they overlap.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use toolcrib_core::{
    CatalogTool, Effect, MembershipReason, Plan, SourceId, ToolName, ToolsetInfo, ToolsetMaker,
};

use super::facts::ToolFacts;
use super::wording;
use crate::discovery::prompt_tokens;

/// What one caller may know of toolsets.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolsetListing {
    /// By id.
    pub toolsets: Vec<ListedToolset>,
    /// Tools that are in none.
    pub in_none: Vec<ToolName>,
}

/// A toolset with those of its tools that the caller sees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedToolset {
    #[serde(flatten)]
    pub toolset: Arc<ToolsetInfo>,
    /// What its tools do: as somebody wrote it, else by what these tools say.
    pub summary: String,
    /// Where its tools come from, each once.
    pub sources: Vec<SourceId>,
    /// In the order of the catalog.
    pub tools: Vec<ListedTool>,
    /// What their definitions take in a prompt.
    pub tokens: usize,
    /// Other toolsets with some of the same tools.
    pub overlaps: Vec<ToolsetOverlap>,
}

/// A tool of a toolset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedTool {
    pub name: ToolName,
    pub effect: Effect,
    pub tokens: usize,
    pub because: MembershipReason,
}

/// That two toolsets have tools in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolsetOverlap {
    pub with: String,
    pub tools: usize,
}

/// The toolsets of a plan. A set in whose place parts stand is not among them.
pub fn toolsets(plan: &Plan) -> ToolsetListing {
    let mut found: BTreeMap<&str, ListedToolset> = BTreeMap::new();
    let mut overlaps: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut in_none = Vec::new();
    let shown = plan.catalog().loaded().iter().enumerate();
    for (_, tool) in shown.filter(|(place, _)| plan.shows_place(*place)) {
        let own = tool.spec.toolsets.iter().filter(|own| !own.toolset.is_split);
        let own: Vec<_> = own.collect();
        if own.is_empty() {
            in_none.push(tool.spec.name.clone());
        }
        for membership in &own {
            let id = membership.toolset.id.as_str();
            let listed = found.entry(id).or_insert_with(|| empty(&membership.toolset));
            add(listed, tool, &membership.because);
            let others = own.iter().map(|other| other.toolset.id.as_str());
            for other in others.filter(|other| *other != id) {
                *overlaps.entry((id, other)).or_default() += 1;
            }
        }
    }
    for ((id, with), tools) in overlaps {
        if let Some(listed) = found.get_mut(id) {
            listed.overlaps.push(ToolsetOverlap { with: with.to_owned(), tools });
        }
    }
    let toolsets = found.into_values().map(|listed| summed_up(listed, plan)).collect();
    ToolsetListing { toolsets, in_none }
}

/// Nothing is told of tools that the caller does not see, not even by a model that did.
fn summed_up(mut listed: ListedToolset, plan: &Plan) -> ListedToolset {
    let info = &listed.toolset;
    let catalog = plan.catalog();
    let is_whole = || {
        let members = catalog.loaded().iter().filter(|tool| tool.spec.is_in(&info.id));
        members.count() == listed.tools.len()
    };
    let is_told = match info.made {
        ToolsetMaker::Configuration => true,
        ToolsetMaker::Source | ToolsetMaker::Model => is_whole(),
    };
    listed.summary = if is_told && !info.summary.is_empty() {
        info.summary.clone()
    } else {
        let specs = listed.tools.iter().filter_map(|tool| catalog.get(tool.name.as_str()));
        let facts: Vec<_> = specs.map(|tool| ToolFacts::of(&tool.spec)).collect();
        wording::summary(&facts)
    };
    listed
}

fn empty(toolset: &Arc<ToolsetInfo>) -> ListedToolset {
    ListedToolset {
        toolset: Arc::clone(toolset),
        summary: String::new(),
        sources: Vec::new(),
        tools: Vec::new(),
        tokens: 0,
        overlaps: Vec::new(),
    }
}

fn add(listed: &mut ListedToolset, tool: &CatalogTool, because: &MembershipReason) {
    let (spec, tokens) = (&tool.spec, prompt_tokens(tool));
    let source = &spec.origin.source;
    if !listed.sources.contains(source) {
        listed.sources.push(source.clone());
    }
    listed.tokens += tokens;
    let (name, effect, because) = (spec.name.clone(), spec.effect, because.clone());
    listed.tools.push(ListedTool { name, effect, tokens, because });
}

/// Who made a toolset, in a word.
pub fn maker(made: ToolsetMaker) -> &'static str {
    match made {
        ToolsetMaker::Configuration => "configuration",
        ToolsetMaker::Source => "source",
        ToolsetMaker::Model => "model",
    }
}
