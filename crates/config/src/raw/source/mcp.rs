//! One MCP server.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::raw::scalar::{PauseText, SecretText, SizeText};

/// A server of the Model Context Protocol: `command` for one that is started, `url` for one that
/// is reached.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Mcp")]
pub(crate) struct McpTable {
    /// The program and its arguments, which no shell sees.
    pub(crate) command: Option<Vec<String>>,
    /// The address of the server.
    pub(crate) url: Option<String>,
    /// Variables of the program; it gets these and a few harmless ones, and nothing else.
    pub(crate) env: BTreeMap<String, SecretText>,
    /// The folder that the program runs in; if not set, an empty one of its own.
    pub(crate) cwd: Option<String>,
    /// Headers that go with each request.
    pub(crate) headers: BTreeMap<String, SecretText>,
    /// The token of the `Authorization` header.
    pub(crate) bearer: Option<SecretText>,
    /// Signs in by OAuth 2.1, as the protocol demands it.
    pub(crate) oauth: Option<OAuthTable>,
    /// Private addresses that may be reached besides `url`: `10.0.0.0/8`, `127.0.0.1:9000`.
    pub(crate) private: Vec<String>,
    /// Who shares one connection: all callers, one conversation, or one caller.
    pub(crate) share: Option<ShareWord>,
    /// How a server is spoken to that knows both ways: with the handshake that revisions up to
    /// `2025-11-25` have, or as `2026-07-28` has it. If not set, as its caller speaks: a program is
    /// started once more for that. Over HTTP the handshake is for clients that can be asked.
    pub(crate) revision: Option<RevisionWord>,
    /// How long start, connection and handshake may take. `30s` if not set.
    pub(crate) connect_timeout: Option<PauseText>,
    /// How long a call may take without a report of progress. `1m` if not set.
    pub(crate) call_timeout: Option<PauseText>,
    /// How long a call may take in all. `15m` if not set.
    pub(crate) longest_call: Option<PauseText>,
    /// What the server may say and use at the most.
    pub(crate) limits: McpLimitsTable,
    /// How often the list is asked for where the server does not say that it changes.
    pub(crate) poll: Option<PauseText>,
    /// Stops a server that was idle for this long; the next call starts it again.
    pub(crate) idle_stop: Option<PauseText>,
    /// What becomes of a form that the server asks for while a call runs, where whoever made the call
    /// cannot be asked: a `ticket` waits for a person, or the server is told `cancel`. `ticket` if
    /// not set.
    pub(crate) questions: Option<QuestionsWord>,
    /// Whether what the server says about itself goes into the system prompt. `true` if not set.
    pub(crate) instructions: Option<bool>,
}

/// What one server may say and use at the most.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "McpLimits")]
pub(crate) struct McpLimitsTable {
    /// Longest line, event or answer. `8MiB` if not set.
    pub(crate) message: Option<SizeText>,
    /// Entries of one list: tools, prompts, resources. 5000 if not set.
    pub(crate) entries: Option<u32>,
    /// Files and sockets that a program may have open at the same time. 1024 if not set.
    pub(crate) open_files: Option<u32>,
    /// Largest file that a program may write. `1GiB` if not set.
    pub(crate) file_size: Option<SizeText>,
    /// Address space of a program; as much as it likes if not set. What reserves much and uses
    /// little (Node, Java) needs it so.
    pub(crate) address_space: Option<SizeText>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Share")]
pub(crate) enum ShareWord {
    Shared,
    Session,
    Caller,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Questions")]
pub(crate) enum QuestionsWord {
    Ticket,
    Cancel,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(rename = "Revision")]
pub(crate) enum RevisionWord {
    #[serde(rename = "2025-11-25")]
    Legacy,
    #[serde(rename = "2026-07-28")]
    Modern,
}

/// How we present ourselves to an authorization server.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OAuth")]
pub(crate) struct OAuthTable {
    /// A client that was registered by hand.
    pub(crate) client_id: Option<String>,
    /// The secret of that client.
    pub(crate) client_secret: Option<SecretText>,
    /// The address of our client metadata document.
    pub(crate) client_metadata: Option<String>,
    /// The scopes that are asked for.
    pub(crate) scopes: Vec<String>,
    /// The folder of the tokens.
    pub(crate) tokens: Option<String>,
    /// Signs in as the program itself, without a person.
    pub(crate) machine: bool,
}
