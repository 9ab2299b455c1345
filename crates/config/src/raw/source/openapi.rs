//! One API.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::raw::scalar::{PauseText, SecretText, SizeText};
use crate::raw::tool::EffectWord;

/// An API with an `OpenAPI` document, each operation of which is a tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OpenApi")]
pub(crate) struct OpenApiTable {
    /// The document: a file beside this one, or an address.
    pub(crate) document: String,
    /// The only host that is called; if not set, the first server of the document. Beside `auth` or
    /// `headers` a document from an address may name only its own origin.
    pub(crate) base_url: Option<String>,
    /// Who we are there.
    pub(crate) auth: Option<AuthTable>,
    /// Headers that go with each request.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, SecretText>,
    /// Private addresses that may be reached: `10.0.0.0/8`, `127.0.0.1:8080`.
    #[serde(default)]
    pub(crate) private: Vec<String>,
    /// Whether documents that the document refers to may be fetched from other hosts.
    #[serde(default)]
    pub(crate) remote_references: bool,
    /// Adds a tool that makes any request of this API.
    #[serde(default)]
    pub(crate) generic_request: bool,
    /// The header that takes an idempotency key, where the API has one.
    pub(crate) idempotency_header: Option<String>,
    /// Operations, by their ids or as `METHOD /path`, that know a repetition by that header, or `*`
    /// for all: a call that changes something is sent again there, under its key, when its line
    /// breaks. Name none that takes no notice of the header: it would do things twice.
    #[serde(default)]
    pub(crate) resend: Vec<String>,
    /// Whether requests carry `traceparent`, the place of the call in a trace, where traces are kept.
    #[serde(default)]
    pub(crate) trace_context: bool,
    /// What an operation does, by its id or as `METHOD /path`, where the method does not tell.
    #[serde(default)]
    pub(crate) effects: BTreeMap<String, EffectWord>,
    /// How long one request may take. `1m` if not set.
    pub(crate) timeout: Option<PauseText>,
    /// Largest response that is read. `8MiB` if not set.
    pub(crate) max_response: Option<SizeText>,
    /// What else is read of it at the most.
    #[serde(default)]
    pub(crate) limits: ApiLimitsTable,
}

/// What is read of an API besides its responses, and what may unpack of all that comes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ApiLimits")]
pub(crate) struct ApiLimitsTable {
    /// Largest document together with those that it refers to, `256MiB` at the most. `128MiB` if not
    /// set.
    pub(crate) document: Option<SizeText>,
}

/// Exactly one way to say who we are.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Auth")]
pub(crate) struct AuthTable {
    /// A token of the `Authorization` header.
    pub(crate) bearer: Option<SecretText>,
    /// A user and a password.
    pub(crate) basic: Option<BasicAuthTable>,
    /// A key, which goes where the document says.
    pub(crate) key: Option<SecretText>,
    /// A token that is asked for with a client's own secret (OAuth 2).
    pub(crate) client_credentials: Option<ClientCredentialsTable>,
    /// One for each security scheme of the document, by its name there.
    pub(crate) schemes: BTreeMap<String, AuthTable>,
    /// By caller: `tenant/subject`, or `subject` of the tenant `local`. Who has none is refused.
    pub(crate) per_caller: BTreeMap<String, AuthTable>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Basic")]
pub(crate) struct BasicAuthTable {
    /// The name of the user, or the key where it stands in that place.
    pub(crate) user: SecretText,
    /// The password of the user; `""` for none.
    pub(crate) password: SecretText,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Grant")]
pub(crate) struct ClientCredentialsTable {
    /// Where tokens are given; if not set, as the document says. A document from an address may name
    /// only its own origin and that of the API.
    pub(crate) token_url: Option<String>,
    /// The name of the client.
    pub(crate) client_id: String,
    /// The secret of the client.
    pub(crate) client_secret: SecretText,
    /// The scopes that are asked for.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
}
