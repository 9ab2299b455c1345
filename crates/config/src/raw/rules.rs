//! Rules as the schema shows them; the engine reads them out of the file itself.
#![expect(dead_code, reason = "the fields are the schema; nobody reads their values here")]

use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::EffectWord;

/// A rule: which tools, for which callers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
#[schemars(rename = "Rule")]
pub(crate) struct RuleTable {
    /// For people.
    name: Option<String>,
    /// What the caller must be like.
    when: WhenTable,
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
#[schemars(rename = "When")]
pub(crate) struct WhenTable {
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
#[schemars(rename = "Test")]
pub(crate) struct RuleTestTable {
    /// The name of a tool, or what it is like.
    tool: TestToolValue,
    /// Who calls; the local caller if not set.
    #[serde(default)]
    caller: TestCallerTable,
    /// The verdict.
    expect: VerdictWord,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Like")]
enum TestToolValue {
    Named(String),
    Described(TestToolTable),
}

/// A tool that is only described.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Described")]
struct TestToolTable {
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
    /// The toolsets of its source that it is in; those that are written by hand it has anyway.
    toolsets: Vec<String>,
}

/// Who calls.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Who")]
struct TestCallerTable {
    /// The organisation.
    tenant: Option<String>,
    /// The person or program.
    subject: Option<String>,
    /// What it may do in general.
    scopes: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Expected")]
enum VerdictWord {
    Allow,
    Ask,
    Deny,
}
