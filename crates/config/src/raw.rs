//! The file as it is written. What stands here is also its JSON Schema: the comments are the
//! descriptions that an editor shows.

mod cluster;
mod models;
mod observability;
mod profile;
mod rules;
mod scalar;
mod server;
mod server_limits;
mod source;
mod tool;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use self::cluster::ClusterTable;
pub(crate) use self::models::{
    AgentModeWord, AgentTable, BudgetTable, EmbedderTable, EngineWord, ModelCallsWord,
    ModelKindWord, ModelTable, ModelsValue,
};
pub(crate) use self::profile::{ConfirmWord, DiscoveryWord, ProfileTable};
pub(crate) use self::scalar::{PauseText, SECRET, SecretText, SizeText};
pub(crate) use self::source::a2a::{
    A2aAuthTable, A2aByWord, A2aLimitsTable, A2aTable, A2aVersionWord, TransportWord,
};
pub(crate) use self::source::desk::{CalDavTable, DeskPartWord, DeskTable, GoogleTable, MailTable};
pub(crate) use self::source::mcp::{
    McpLimitsTable, McpTable, OAuthTable, QuestionsWord, RevisionWord, ShareWord,
};
pub(crate) use self::source::openapi::{
    ApiLimitsTable, AuthTable, ClientCredentialsTable, OpenApiTable,
};
pub(crate) use self::source::{
    BasicsValue, BuiltinValue, GroupingWord, SourceTable, SplitWord, ToolsetsTable,
};
pub(crate) use self::tool::{EffectWord, ToolTable, ToolsetTable, ValidationWord, VerifyTable};
pub(crate) use observability::{AuditTable, LogFormatWord, LogLevelWord, LogTable, TelemetryTable};
pub(crate) use server::{ApiKeyTable, IssuerTable, PageTable, ServerTable, TlsTable};
pub(crate) use server_limits::ServerLimitsTable;

/// What an agent has that is not listed: its share of what is selected and left over, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "UnlistedAgents")]
pub(crate) enum UnlistedWord {
    Selection,
    Nothing,
}

/// The settings of toolcrib: where tools come from, who may use which, and how much.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "crib.toml")]
pub(crate) struct ConfigFile {
    /// The doors of the process.
    pub(crate) server: ServerTable,
    /// The web page of the process.
    pub(crate) page: PageTable,
    /// Where the ledger is kept.
    pub(crate) store: Option<StoreTable>,
    /// What makes this server one of several that share a record; one alone if not set.
    pub(crate) cluster: Option<ClusterTable>,
    /// What is written to standard error.
    pub(crate) log: LogTable,
    /// What finds tools by their meaning; their words alone if not set.
    pub(crate) embedder: Option<EmbedderTable>,
    /// The models that agents ask: `[model]`, or `[[model]]` with ids.
    pub(crate) model: Option<ModelsValue>,
    /// Agents by their names. With a model and none of them there is one, `assistant`, that has all
    /// tools.
    pub(crate) agent: BTreeMap<String, AgentTable>,
    /// Where traces and figures go; nowhere if not set.
    pub(crate) telemetry: Option<TelemetryTable>,
    /// Where decisions and ends of calls are recorded; nowhere if not set.
    pub(crate) audit: Option<AuditTable>,
    /// Where tools come from. The order decides between tools of one name.
    pub(crate) source: Vec<SourceTable>,
    /// What is changed of a tool, under its full name: with the prefix of its source.
    pub(crate) tool: BTreeMap<String, ToolTable>,
    /// Tools that are meant together, under a name: patterns have them all as `toolset:NAME`.
    pub(crate) toolset: BTreeMap<String, ToolsetTable>,
    /// Views of the tools: each with its own sources, rules and limits.
    pub(crate) profile: BTreeMap<String, ProfileTable>,
    /// The bounds of the whole process.
    pub(crate) limits: LimitsTable,
    /// Which tools an agent has, by the name of the agent: these and no others, as far as the rules
    /// permit them. `/mcp/agent:NAME` and the profile `agent:NAME` show them.
    pub(crate) assign: BTreeMap<String, Vec<String>>,
    /// What agents have that `assign` does not list, where it lists any: `selection` if not set.
    pub(crate) unlisted_agents: Option<UnlistedWord>,
    /// Patterns of the tools that may run: `github__*`, `effect:read`, `source:github tag:pets`.
    pub(crate) allow: Vec<String>,
    /// Patterns of the tools before which a person is asked.
    pub(crate) ask: Vec<String>,
    /// Patterns of the tools that never run. Of all that matches, the strictest wins.
    pub(crate) deny: Vec<String>,
    /// How tools are shown to a model: `direct` if not set.
    pub(crate) discovery: Option<DiscoveryWord>,
    /// Patterns of the tools that are shown in full in any case.
    pub(crate) eager: Vec<String>,
    /// Who says yes to a call that is to be asked about: `person` if not set.
    pub(crate) confirm: Option<ConfirmWord>,
    /// More rules, each with conditions on the caller.
    pub(crate) rule: Vec<rules::RuleTable>,
    /// What the rules must say; otherwise the file is not used.
    pub(crate) tests: Vec<rules::RuleTestTable>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Store")]
pub(crate) struct StoreTable {
    /// The address of the database: `sqlite://crib.db`, or
    /// `postgres://USER:${env:PASSWORD}@HOST/DATABASE`.
    pub(crate) url: SecretText,
    /// How long a call that ended can be looked up. `30d` if not set.
    #[serde(default)]
    pub(crate) calls_for: Option<PauseText>,
    /// Calls that are kept at the most; the oldest that ended go first. 5,000,000 if not set.
    #[serde(default)]
    pub(crate) most_calls: Option<u64>,
    /// How long the whole of a result that was cut can be read. `1d` if not set.
    #[serde(default)]
    pub(crate) results_for: Option<PauseText>,
    /// What one tenant keeps of such results; its oldest go first. `256MiB` if not set.
    #[serde(default)]
    pub(crate) results_per_tenant: Option<SizeText>,
    /// How long a key answers for the call that was made under it. `1d` if not set.
    #[serde(default)]
    pub(crate) keys_for: Option<PauseText>,
    /// Largest size of the file, besides its log; as large as the disk if not set. A database of
    /// Postgres has none.
    #[serde(default)]
    pub(crate) max_size: Option<SizeText>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Limits")]
pub(crate) struct LimitsTable {
    /// Calls of one batch that run; the rest is answered "not run". 64 if not set.
    pub(crate) max_calls: Option<u32>,
    /// Calls of one source that run at the same time. 128 if not set.
    pub(crate) per_source: Option<u32>,
    /// Calls of one tenant that run at the same time. 256 if not set.
    pub(crate) per_tenant: Option<u32>,
    /// How long a call waits for a free place before it is answered "busy". `1m` if not set.
    pub(crate) queue: Option<PauseText>,
    /// How long a call may run, all attempts together, unless its tool says otherwise. `1m` if
    /// not set.
    pub(crate) timeout: Option<PauseText>,
    /// How long after a call whose outcome nobody knows the same call is held back, unless a
    /// person lets it run. `10m` if not set, `0s`: never.
    pub(crate) guard: Option<PauseText>,
    /// How often a call that is harmless to repeat is tried again. 2 if not set.
    pub(crate) retries: Option<u32>,
    /// Largest result that a model is shown. `256KiB` if not set.
    pub(crate) max_result: Option<SizeText>,
    /// Images, files and data of one result that an MCP client is given, and largest answer of a
    /// prompt or a resource. `16MiB` if not set.
    pub(crate) max_data: Option<SizeText>,
    /// How long an approval may be waited for. `10m` if not set.
    pub(crate) ticket_lifetime: Option<PauseText>,
    /// Calls of one tenant that wait for approval at the same time; read at the start. 1000 if not
    /// set.
    pub(crate) tickets_per_tenant: Option<u32>,
    /// Tools of all sources together; read at the start. 20000 if not set.
    pub(crate) tools: Option<u32>,
}
