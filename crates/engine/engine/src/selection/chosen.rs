//! The few tools that serve a task together.

use std::collections::HashMap;

use serde::Serialize;
use toolcrib_core::{Effect, Plan, ToolName, ToolSpec};

use super::error::SelectionError;
use crate::discovery::{SetTool, prompt_tokens, search_set};

/// Letters of a wrong name that are told.
pub(super) const LONGEST_TOLD: usize = 80;

/// What is to be selected.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionRequest {
    /// The task in plain words; it may be of several parts.
    pub task: String,
    /// Tools at the most, those of `always` counted; for the task a thousand at the most.
    pub limit: usize,
    /// Tokens of their definitions in a prompt at the most; `None`: no bound.
    pub tokens: Option<usize>,
    /// Tools that are among them in any case, beyond `limit` and `tokens` too.
    pub always: Vec<String>,
    /// How sure it must be that the best serves the task, from 0 to 1: below, no tool does.
    pub min_confidence: f32,
    /// What is to be done where no tool serves the task.
    pub fallback: SelectionFallback,
}

impl Default for SelectionRequest {
    fn default() -> Self {
        Self {
            task: String::new(),
            limit: 5,
            tokens: None,
            always: Vec::new(),
            min_confidence: 0.0,
            fallback: SelectionFallback::Nothing,
        }
    }
}

/// What is selected for a task that no tool serves: it may be in another language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionFallback {
    #[default]
    Nothing,
    /// All that the caller sees, if limit and tokens leave room for it; else nothing.
    All,
    /// Nothing, and whoever works on the task is to look for tools by itself.
    Search,
}

/// What was selected.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Selection {
    /// In the order in which they were chosen.
    pub tools: Vec<SelectedTool>,
    /// What their definitions take in a prompt.
    pub tokens: usize,
    /// Tools that were chosen and had no room among the tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub too_large: Vec<ToolName>,
    /// From 0 to 1: how sure it is that the best serves the task.
    pub confidence: f32,
    /// What was done because no tool serves the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<SelectionFallback>,
}

/// A tool that was selected.
#[derive(Debug, Clone, Serialize)]
pub struct SelectedTool {
    pub name: ToolName,
    pub summary: String,
    pub effect: Effect,
    pub because: SelectionReason,
    pub tokens: usize,
}

/// Why a tool is among the selected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionReason {
    /// It was asked for.
    Always,
    /// Its words answer words of the task.
    Task { words: String, gain: f32 },
    /// It yields what another one takes.
    Needed { argument: String, by: ToolName },
    /// No tool serves the task, and there is room for all.
    Fallback,
}

/// Selects the tools that serve a task together: each adds to what those before it answer, and
/// what a tool needs of another one is there with it. Nothing is selected that shares too little
/// with the task, unless the fallback is all.
///
/// # Errors
/// One of `always` is not there.
pub fn select(plan: &Plan, request: &SelectionRequest) -> Result<Selection, SelectionError> {
    let mut chosen = always(plan, request)?;
    let loaded = plan.catalog().loaded();
    let (tools, confidence) = search_set(plan, &request.task, request.limit);
    let serves = !tools.is_empty() && confidence >= request.min_confidence;
    for tool in tools.into_iter().filter(|_| serves) {
        let needed = tool.needed_for.and_then(|(by, argument)| {
            let by = loaded.get(by)?.spec.name.clone();
            Some(SelectionReason::Needed { argument, by })
        });
        let SetTool { place, gain, words, .. } = tool;
        let is_new = !chosen.iter().any(|(known, _)| *known == place);
        if is_new && chosen.len() < request.limit {
            chosen.push((place, needed.unwrap_or(SelectionReason::Task { words, gain })));
        }
    }
    let mut selection = Selection { confidence, ..Selection::default() };
    if !serves {
        let all = all(plan, request, &chosen);
        selection.fallback = Some(match request.fallback {
            SelectionFallback::All if all.is_none() => SelectionFallback::Nothing,
            known @ (SelectionFallback::Nothing
            | SelectionFallback::All
            | SelectionFallback::Search) => known,
        });
        chosen.extend(all.into_iter().flatten().map(|place| (place, SelectionReason::Fallback)));
    }
    for (place, because) in chosen {
        let Some(tool) = loaded.get(place) else { continue };
        let tokens = prompt_tokens(tool);
        let spec: &ToolSpec = &tool.spec;
        let is_asked_for = because == SelectionReason::Always;
        let has_room = request.tokens.is_none_or(|most| selection.tokens + tokens <= most);
        if !has_room && !is_asked_for {
            selection.too_large.push(spec.name.clone());
            continue;
        }
        selection.tokens += tokens;
        selection.tools.push(SelectedTool {
            name: spec.name.clone(),
            summary: spec.summary.clone(),
            effect: spec.effect,
            because,
            tokens,
        });
    }
    Ok(selection)
}

/// What is there in any case.
fn always(
    plan: &Plan,
    request: &SelectionRequest,
) -> Result<Vec<(usize, SelectionReason)>, SelectionError> {
    let visible = VisibleNames::of(plan);
    let mut chosen: Vec<(usize, SelectionReason)> = Vec::new();
    for name in &request.always {
        let place = visible.place(name)?;
        if !chosen.iter().any(|(known, _)| *known == place) {
            chosen.push((place, SelectionReason::Always));
        }
    }
    Ok(chosen)
}

/// All other tools that the caller sees, if that is the fallback and there is room for them.
fn all(
    plan: &Plan,
    request: &SelectionRequest,
    chosen: &[(usize, SelectionReason)],
) -> Option<Vec<usize>> {
    if request.fallback != SelectionFallback::All {
        return None;
    }
    let loaded = plan.catalog().loaded();
    let seen = (0..loaded.len()).filter(|place| plan.shows_place(*place));
    let all: Vec<usize> = seen.take(request.limit.saturating_add(1)).collect();
    let tokens = |most: usize| {
        let tools = all.iter().filter_map(|place| loaded.get(*place));
        tools.map(prompt_tokens).sum::<usize>() <= most
    };
    let has_room = all.len() <= request.limit && request.tokens.is_none_or(tokens);
    let is_new = |place: &usize| !chosen.iter().any(|(known, _)| known == place);
    has_room.then(|| all.iter().copied().filter(is_new).collect())
}

/// The tools of sources that the caller sees, by name.
pub(super) struct VisibleNames<'p> {
    plan: &'p Plan,
    places: HashMap<&'p str, usize>,
}

impl<'p> VisibleNames<'p> {
    pub(super) fn of(plan: &'p Plan) -> Self {
        let loaded = plan.catalog().loaded().iter().enumerate();
        let seen = loaded.filter(|(place, _)| plan.shows_place(*place));
        Self { plan, places: seen.map(|(place, tool)| (tool.spec.name.as_str(), place)).collect() }
    }

    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The place of a tool among those that were loaded.
    pub(super) fn place(&self, name: &str) -> Result<usize, SelectionError> {
        self.get(name).ok_or_else(|| {
            let near = self.plan.nearest(name);
            let near =
                near.first().map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
            let name: String = name.chars().take(LONGEST_TOLD).collect();
            SelectionError::UnknownTool(format!("there is no tool `{name}`{near}"))
        })
    }
}
