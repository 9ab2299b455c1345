//! What a host should know of a plan, and why there may be none.

use crate::call::name::ToolName;

/// Something the host should know, though the plan holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum PlanWarning {
    #[error("the choice `{choice}` names no available tool{}", near(.nearest.as_ref()))]
    UnknownChoice { choice: String, nearest: Option<ToolName> },
    #[error("the choice `{choice}` has no effect: {why}")]
    LostChoice { choice: ToolName, why: String },
    #[error("no tool of the toolset `{name}` is available{}", near(.nearest.as_ref()))]
    UnknownToolset { name: String, nearest: Option<String> },
    #[error("`{name}` cannot be disabled for this request: there is no such tool")]
    UnknownDisabled { name: String },
    #[error("no tool is visible: ask why of the tools that you expected")]
    NothingVisible,
}

fn near(nearest: Option<&impl std::fmt::Display>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("none of the chosen tools is left: {}", said(.0))]
pub struct PlanError(pub Vec<PlanWarning>);

fn said(warnings: &[PlanWarning]) -> String {
    warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
