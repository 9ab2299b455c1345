//! One remote agent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::raw::scalar::{PauseText, SecretText, SizeText};

/// A remote agent that speaks A2A, the protocol between agents, 1.0 or 0.3.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "A2a")]
pub(crate) struct A2aTable {
    /// The address of its card; without a path, the card is at the well-known place there.
    pub(crate) card: String,
    /// Where the agent is spoken to, in place of what its card says. Beside `auth` or `headers` a
    /// card may name only its own origin.
    pub(crate) url: Option<String>,
    /// The only way that is used: the first of the card that is spoken here if not set.
    pub(crate) transport: Option<TransportWord>,
    /// The version that is spoken, whatever the card says.
    pub(crate) version: Option<A2aVersionWord>,
    /// Public keys (JWK), one of which must have signed the card.
    pub(crate) keys: Option<Vec<Map<String, Value>>>,
    /// Who we are there.
    pub(crate) auth: Option<A2aAuthTable>,
    /// Headers that go with each request.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, SecretText>,
    /// Private addresses that may be reached besides those named here: `10.0.0.0/8`,
    /// `127.0.0.1:8080`.
    #[serde(default)]
    pub(crate) private: Vec<String>,
    /// What becomes a tool: the `agent` as one, `ask`, or each `skill` of its card. `agent` if not
    /// set.
    pub(crate) by: Option<A2aByWord>,
    /// Whether the calls of one session are one conversation, one after the other. `false` if not
    /// set: each begins anew.
    #[serde(default)]
    pub(crate) reuse: bool,
    /// What a model reads of the argument `message`.
    pub(crate) message: Option<String>,
    /// The tools that the agent has to call, by their names there. Agents of toolcrib follow it.
    #[serde(default)]
    pub(crate) force: Vec<String>,
    /// JSON Schema of the arguments in place of `message`; the agent gets them as data, and as JSON
    /// in words.
    pub(crate) input_schema: Option<Map<String, Value>>,
    /// How long one call may take, without the time in which a person is asked. `10m` if not set.
    pub(crate) timeout: Option<PauseText>,
    /// How often a task is asked about that has no stream. `2s` if not set.
    pub(crate) poll: Option<PauseText>,
    /// The address of this server as the agent reaches it, `https://crib.example`: an agent that
    /// does not stream, and whose card says that it pushes, tells there when a task has moved on.
    pub(crate) push: Option<String>,
    /// Whether requests carry `traceparent`, the place of the call in a trace, where traces are kept.
    #[serde(default)]
    pub(crate) trace_context: bool,
    /// What is read of it at the most.
    #[serde(default)]
    pub(crate) limits: A2aLimitsTable,
}

/// Exactly one way to say who we are.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "A2aAuth")]
pub(crate) struct A2aAuthTable {
    /// A token of the `Authorization` header.
    pub(crate) bearer: Option<SecretText>,
    /// A user and a password.
    pub(crate) basic: Option<A2aBasicTable>,
    /// A key, in the header that the card names for one.
    pub(crate) key: Option<SecretText>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "A2aBasic")]
pub(crate) struct A2aBasicTable {
    /// The name of the user.
    pub(crate) user: String,
    /// The password of the user.
    pub(crate) password: SecretText,
}

/// What is read of an agent.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "A2aLimits")]
pub(crate) struct A2aLimitsTable {
    /// Largest answer or event, and all artifacts of a call together. `8MiB` if not set.
    pub(crate) answer: Option<SizeText>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "A2aTransport")]
pub(crate) enum TransportWord {
    #[serde(rename = "jsonrpc")]
    JsonRpc,
    #[serde(rename = "http+json")]
    HttpJson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "A2aVersion")]
pub(crate) enum A2aVersionWord {
    #[serde(rename = "1.0")]
    V1,
    #[serde(rename = "0.3")]
    V03,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "A2aBy")]
pub(crate) enum A2aByWord {
    Agent,
    Skill,
}
