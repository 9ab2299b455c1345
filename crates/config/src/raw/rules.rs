//! Rules as the schema shows them; the engine reads them out of the file itself.
#![expect(dead_code, reason = "the fields are the schema; nobody reads their values here")]

use schemars::JsonSchema;
use serde::Deserialize;

use super::EffectWord;

/// A rule: which tools, for which callers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(crate) struct Rule {
    /// For people.
    name: Option<String>,
    /// What the caller must be like.
    when: When,
    /// Patterns of the tools that may run.
    allow: Vec<String>,
    /// Patterns of the tools before which a person is asked.
    ask: Vec<String>,
    /// Patterns of the tools that never run.
    deny: Vec<String>,
    /// What the caller and the model are told.
    reason: Option<String>,
}

/// Patterns over the caller; all must match.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct When {
    /// One of the caller's scopes.
    scope: Option<String>,
    /// The caller's tenant.
    tenant: Option<String>,
    /// The caller's name.
    subject: Option<String>,
}

/// What the rules must say of one tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Test {
    /// The name of a tool, or what it is like.
    tool: Like,
    /// Who calls; the local caller if not set.
    #[serde(default)]
    caller: Who,
    /// The verdict.
    expect: Expected,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Like {
    Named(String),
    Described(Described),
}

/// A tool that is only described.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Described {
    /// Its full name.
    name: Option<String>,
    /// The source that it comes from.
    source: Option<String>,
    /// Its category.
    category: Option<String>,
    /// Its actions.
    actions: Vec<String>,
    /// What it does; `destroy` if not set.
    effect: Option<EffectWord>,
    /// Its tags.
    tags: Vec<String>,
}

/// Who calls.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Who {
    /// The organisation.
    tenant: Option<String>,
    /// The person or program.
    subject: Option<String>,
    /// What it may do in general.
    scopes: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Allow,
    Ask,
    Deny,
}
