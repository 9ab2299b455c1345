//! One view of the tools.

use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::ValidationWord;

/// A view of the tools: which sources, under which rules and limits.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Profile")]
pub(crate) struct ProfileTable {
    /// The sources that are seen; all of them if not set.
    pub(crate) sources: Option<Vec<String>>,
    /// Patterns of the tools that may run, as at the top of the file.
    pub(crate) allow: Vec<String>,
    /// Patterns of the tools before which a person is asked.
    pub(crate) ask: Vec<String>,
    /// Patterns of the tools that never run.
    pub(crate) deny: Vec<String>,
    /// How tools are shown to a model, as at the top of the file.
    pub(crate) discovery: Option<DiscoveryWord>,
    /// Patterns of the tools that are shown in full in any case.
    pub(crate) eager: Vec<String>,
    /// Who says yes to a call that is to be asked about.
    pub(crate) confirm: Option<ConfirmWord>,
    /// How arguments meet the schemas of its tools, in place of what a source says.
    pub(crate) validate: Option<ValidationWord>,
    /// Calls of one batch that run; the rest is answered "not run".
    pub(crate) max_calls: Option<u32>,
}

/// How tools are shown to a model: all of them in full, or a core in full and the others by a
/// search, or whichever of these costs less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Mode")]
pub(crate) enum DiscoveryWord {
    Direct,
    Lazy,
    Auto,
}

/// Who says yes to a call that is to be asked about: a person, by a door that the model has no hand
/// on; or the model, which is trusted to pass on what a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Confirm")]
pub(crate) enum ConfirmWord {
    Person,
    Model,
}
