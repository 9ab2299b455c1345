//! One view of the tools.

use schemars::JsonSchema;
use serde::Deserialize;

/// A view of the tools: which sources, under which rules and limits.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Profile {
    /// The sources that are seen; all of them if not set.
    pub(crate) sources: Option<Vec<String>>,
    /// Patterns of the tools that may run, as at the top of the file.
    pub(crate) allow: Vec<String>,
    /// Patterns of the tools before which a person is asked.
    pub(crate) ask: Vec<String>,
    /// Patterns of the tools that never run.
    pub(crate) deny: Vec<String>,
    /// How tools are shown to a model.
    pub(crate) discovery: Option<Discovery>,
    /// Calls of one batch that run; the rest is answered "not run".
    pub(crate) max_calls: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Discovery {
    Direct,
}
