//! One source: which tools, from where, under which names.

pub(crate) mod a2a;
pub(crate) mod desk;
pub(crate) mod mcp;
pub(crate) mod openapi;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use self::a2a::A2aTable;
use self::desk::DeskTable;
use self::mcp::McpTable;
use self::openapi::OpenApiTable;
use super::scalar::PauseText;
use super::tool::ValidationWord;

/// An owner of tools: exactly one of `mcp`, `openapi`, `a2a`, `basics`, `desk` and `builtin`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Source")]
pub(crate) struct SourceTable {
    /// The name of the source: letters, digits, `_` and `-`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,64}$"))]
    pub(crate) id: String,
    /// `false` leaves the source out without forgetting it.
    pub(crate) enabled: Option<bool>,
    /// What stands with `__` before the names of its tools: the `id` if not set, `""` for none.
    pub(crate) prefix: Option<String>,
    /// Takes these tools only: patterns with `*` and `?` over the names that the source gives.
    #[serde(default)]
    pub(crate) include: Vec<String>,
    /// Leaves these tools out, also if they are included.
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
    /// How arguments meet the schemas of its tools: refused, put right where that is plain, or
    /// neither looked at nor changed. `coerce` if not set; `off` for MCP clients of a source that
    /// stands alone without a prefix.
    pub(crate) validate: Option<ValidationWord>,
    /// How long the source may take to list its tools, and a server of MCP to list anything. `30s`
    /// if not set.
    pub(crate) timeout: Option<PauseText>,
    /// A server of the Model Context Protocol.
    pub(crate) mcp: Option<McpTable>,
    /// An API with an `OpenAPI` document.
    pub(crate) openapi: Option<OpenApiTable>,
    /// A remote agent.
    pub(crate) a2a: Option<A2aTable>,
    /// Tools that are built in: `true` for all of them, or their names.
    pub(crate) basics: Option<BasicsValue>,
    /// Calendar, tasks and mail.
    pub(crate) desk: Option<DeskTable>,
    /// Tools that the provider of a model runs, as far as its API has them.
    pub(crate) builtin: Option<Vec<BuiltinValue>>,
    /// How its tools are grouped: each is in one toolset of it, `ID_TAG` or `ID_TAG_PART`.
    pub(crate) toolsets: Option<ToolsetsTable>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Basics")]
pub(crate) enum BasicsValue {
    All(bool),
    Named(Vec<String>),
}

/// A tool that the provider of a model runs: its name, or a table with more.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "BuiltinTool")]
pub(crate) enum BuiltinValue {
    Named(String),
    Table(BuiltinTable),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BuiltinToolTable")]
pub(crate) struct BuiltinTable {
    /// `web_search`, `web_fetch`, `code_interpreter`, `file_search`, `image_generation` or
    /// `google_maps`.
    pub(crate) name: String,
    /// What the API is told beside the name, in its own words. What only one API knows stands in a
    /// table of its name: `{ anthropic = { max_uses = 3 } }`.
    #[serde(default)]
    pub(crate) settings: Map<String, Value>,
    /// The full name of a tool of another source, which stands in its place where the API of the
    /// model has no such tool, and only there.
    pub(crate) local: Option<String>,
    /// The model is shown a function in its place until it calls that. `false` if not set.
    #[serde(default)]
    pub(crate) on_demand: bool,
}

impl BuiltinValue {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Table(table) => &table.name,
        }
    }
}

/// How the tools of a source are grouped.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Toolsets")]
pub(crate) struct ToolsetsTable {
    /// What the tools of one group have in common: `tag` is the first tag of each, or its category;
    /// `all` has one group; `path` goes by the first word of the path of an operation, else by what a
    /// tool is about; `cluster` by all that is said of the tools. `none` makes no groups, and the
    /// operations of an API have no category.
    pub(crate) by: GroupingWord,
    /// Tools of one group; a larger one is split. 10 if not set.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_tools: Option<u32>,
    /// How it is split: `cluster` goes by paths, by what tools are about, and last by all that is
    /// said of them; `model` asks the first `[model]`, which is given names and summaries of the
    /// tools, and goes as `cluster` until there is an answer; `none` leaves it whole. `cluster` if
    /// not set.
    pub(crate) split: Option<SplitWord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "By")]
pub(crate) enum GroupingWord {
    Tag,
    All,
    Path,
    Cluster,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Split")]
pub(crate) enum SplitWord {
    Cluster,
    Model,
    None,
}
