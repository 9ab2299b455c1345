//! The few tools that serve a task together.

use serde::Serialize;
use toolcrib_core::{Effect, ErrorKind, Plan, ToolError, ToolName, ToolSpec};

use crate::discovery::{SetTool, prompt_tokens, search_set};

/// What is to be selected.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionRequest {
    /// The task in plain words; it may be of several parts.
    pub task: String,
    /// Tools at the most, those of `always` counted; for the task a thousand at the most.
    pub limit: usize,
    /// Tokens of their definitions in a prompt at the most; `None`: no bound.
    pub tokens: Option<usize>,
    /// Tools that are among them in any case.
    pub always: Vec<String>,
}

impl Default for SelectionRequest {
    fn default() -> Self {
        Self { task: String::new(), limit: 5, tokens: None, always: Vec::new() }
    }
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
}

/// Selects the tools that serve a task together: each adds to what those before it answer, and
/// what a tool needs of another one is there with it. Nothing is selected that shares too little
/// with the task.
///
/// # Errors
/// One of `always` is not there, or there are more of them than the limit.
pub fn select(plan: &Plan, request: &SelectionRequest) -> Result<Selection, ToolError> {
    let mut chosen: Vec<(usize, SelectionReason)> = Vec::new();
    for name in &request.always {
        let place = place(plan, name)?;
        if !chosen.iter().any(|(known, _)| *known == place) {
            chosen.push((place, SelectionReason::Always));
        }
    }
    if chosen.len() > request.limit {
        let message = format!(
            "{} tools are asked for in any case, and the limit is {}: raise the limit, or name fewer",
            chosen.len(),
            request.limit
        );
        return Err(ToolError::new(ErrorKind::InvalidArguments, message));
    }
    let loaded = plan.catalog().loaded();
    let (tools, confidence) = search_set(plan, &request.task, request.limit);
    for tool in tools {
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

/// The place of a visible tool of a source.
pub(super) fn place(plan: &Plan, name: &str) -> Result<usize, ToolError> {
    let loaded = plan.catalog().loaded();
    let found = loaded.iter().position(|tool| tool.spec.name.as_str() == name);
    if let Some(place) = found.filter(|place| plan.shows_place(*place)) {
        return Ok(place);
    }
    let near = plan.nearest(name);
    let near = near.first().map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
    Err(ToolError::new(ErrorKind::UnknownTool, format!("there is no tool `{name}`{near}")))
}
