//! What is changed of one tool.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::scalar::{PauseText, SizeText};

/// What is changed of a tool; what is left out stays as its source says it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Tool")]
pub(crate) struct ToolTable {
    /// `false` takes the tool away from everybody.
    pub(crate) enabled: Option<bool>,
    /// If it is chosen, it alone is shown, with capabilities and its companions.
    pub(crate) exclusive: Option<bool>,
    /// Shown whenever it is enabled, whatever was chosen.
    pub(crate) capability: Option<bool>,
    /// Its answer is the answer: it ends the turn and must be called alone.
    pub(crate) takes_control: Option<bool>,
    /// Tools that stay beside this one when it is the chosen exclusive tool.
    pub(crate) companions: Option<Vec<String>>,
    /// What a call does to the world.
    pub(crate) effect: Option<EffectWord>,
    /// Repeating a call is harmless.
    pub(crate) idempotent: Option<bool>,
    /// How long one call may run, all attempts together.
    pub(crate) timeout: Option<PauseText>,
    /// Largest result that a model is shown.
    pub(crate) max_result: Option<SizeText>,
    /// How often a call that is harmless to repeat is tried again.
    pub(crate) retries: Option<u32>,
    /// The name for people.
    pub(crate) title: Option<String>,
    /// One line, shown while the tool is not loaded.
    pub(crate) summary: Option<String>,
    /// What a model reads about the tool.
    pub(crate) description: Option<String>,
    /// The group that the tool belongs to.
    pub(crate) category: Option<String>,
    /// What the tool does, in words that rules can name.
    pub(crate) actions: Option<Vec<String>>,
    /// Words that rules and choices can name.
    pub(crate) tags: Option<Vec<String>>,
    /// Other names by which models and people look for the tool; it is called by none of them.
    pub(crate) aliases: Option<Vec<String>>,
    /// Questions that the tool serves, as people ask them: it is found by them.
    pub(crate) examples: Option<Vec<String>>,
    /// Checks that the host should run on an answer that used this tool.
    pub(crate) checks: Option<Vec<String>>,
    /// Why a person is asked before every call; `""`: nobody is, unless the rules say so.
    pub(crate) approval: Option<String>,
    /// How it is looked up whether a call took effect of which nobody knows how it ended.
    pub(crate) verify: Option<VerifyTable>,
    /// How arguments meet the schema: refused, put right where that is plain, or not looked at.
    pub(crate) validation: Option<ValidationWord>,
    /// What the tool adds to the prompts.
    pub(crate) guidance: GuidanceTable,
}

/// A lookup, 1, 10 and 60 seconds after such a call: once it finds what is looked for, the call
/// succeeded; if it does not the last time, the call was not executed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Verify")]
pub(crate) struct VerifyTable {
    /// A tool that reads and that the caller may use.
    pub(crate) tool: String,
    /// Its arguments: `"{name}"` stands for that argument of the call, `"{name/part}"` for what is
    /// in it.
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
    /// Where in the data of its answer, as a JSON pointer; without it, all of it.
    #[serde(default)]
    pub(crate) at: String,
    /// What is there if the call took effect; without it, anything but nothing.
    pub(crate) is: Option<Value>,
}

/// What a tool adds to the prompts.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Guidance")]
pub(crate) struct GuidanceTable {
    /// For the system prompt.
    pub(crate) system: Option<String>,
    /// For the user prompt.
    pub(crate) user: Option<String>,
    /// How to write about its results in the system prompt, once the tool was used.
    pub(crate) system_format: Option<String>,
    /// The same for the user prompt.
    pub(crate) user_format: Option<String>,
    /// Repeated with every turn.
    pub(crate) reminder: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EffectWord {
    Read,
    Write,
    Destroy,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ValidationWord {
    Strict,
    Coerce,
    Off,
}

/// Tools that are meant together, by patterns. `toolset:NAME` is all of them wherever patterns are
/// written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Toolset")]
pub(crate) struct ToolsetTable {
    /// Patterns of its tools: `stripe__*`, `category:invoices`, `source:github effect:read`. They
    /// may name toolsets of sources.
    pub(crate) tools: Vec<String>,
    /// What it is called where people choose; its name if not set.
    pub(crate) title: Option<String>,
    /// What its tools do, in a sentence, for whoever chooses among toolsets.
    pub(crate) summary: Option<String>,
}
