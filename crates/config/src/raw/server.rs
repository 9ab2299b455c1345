//! The door of the process: where it listens, under which names, and for whom.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::PauseText;
use super::server_limits::ServerLimitsTable;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Server")]
pub(crate) struct ServerTable {
    /// Address and port to listen on: `127.0.0.1:7411`.
    pub(crate) listen: Option<String>,
    /// How others reach this server: `https://crib.example.com`. Tokens of issuers are made out
    /// to it, and requests may call the server by its host.
    pub(crate) url: Option<String>,
    /// Further names that requests may call this server by: `crib.internal`, with a port or
    /// without.
    pub(crate) hosts: Vec<String>,
    /// The addresses of the proxies that end TLS before this server: `10.0.0.5`, `10.0.0.0/8`.
    /// Nobody else may connect but programs of this machine.
    pub(crate) behind_proxy: Vec<String>,
    /// Private addresses at which callers may be notified of their tasks (push notifications of
    /// A2A): `10.0.0.0/8`, `127.0.0.1:8080`. Public addresses are open to them.
    pub(crate) push_private: Vec<String>,
    /// TLS of our own, where no proxy ends it.
    pub(crate) tls: Option<TlsTable>,
    /// A file with a private key in PEM, which is read at the start: the cards of the agents of A2A
    /// are signed with it.
    pub(crate) card_key: Option<String>,
    /// Keys of programs; `toolcrib token NAME --key` makes one.
    pub(crate) key: Vec<ApiKeyTable>,
    pub(crate) limits: ServerLimitsTable,
    /// Whose signed tokens are accepted (OAuth 2.1, `OpenID` Connect).
    pub(crate) issuer: Vec<IssuerTable>,
}

/// Files in PEM, which are read at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tls")]
pub(crate) struct TlsTable {
    /// The certificate, and after it those that lead to one that clients know.
    pub(crate) certificate: String,
    /// Its private key.
    pub(crate) key: String,
}

/// An issuer of signed tokens (JWT), which must be made out to the `url` of this server, or to
/// `/mcp` or `/mcp/PROFILE` beneath it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Issuer")]
pub(crate) struct IssuerTable {
    /// The issuer as its tokens name it, letter by letter: `https://id.example.com`.
    pub(crate) url: String,
    /// Where its keys are, if they are not where it says.
    pub(crate) jwks: Option<String>,
    /// Private addresses at which it may say that its keys are: `10.0.0.0/8`, `127.0.0.1:8080`.
    #[serde(default)]
    pub(crate) private: Vec<String>,
    /// Whom its callers belong to; `default` if not set. Two issuers cannot share one.
    pub(crate) tenant: Option<String>,
    /// The claim that names a tenant within this one: `org_id`. Its value stands with `/` after
    /// it.
    pub(crate) tenant_claim: Option<String>,
    /// The claim that names the caller; `sub` if not set.
    pub(crate) subject_claim: Option<String>,
    /// The claim that holds the scopes, as a list or as words; `scope` if not set.
    pub(crate) scope_claim: Option<String>,
    /// Scopes that all its callers have besides.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// Whether tokens are taken that say in no `typ` what they are for, as those of some issuers.
    /// No if not set. With it, give this server an audience of its own, which no client has.
    pub(crate) untyped: Option<bool>,
}

/// Whose key it is, and what it opens. The key itself stands nowhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Key")]
pub(crate) struct ApiKeyTable {
    /// The part of the key before its dot: letters, digits, `_` and `-`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,64}$"))]
    pub(crate) id: String,
    /// The SHA-256 of the whole key, in hexadecimal digits.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub(crate) sha256: String,
    /// Who comes with it; the `id` if not set. Two keys may be one's, so that one can take the
    /// place of the other.
    pub(crate) subject: Option<String>,
    /// Whom the caller belongs to: records, approvals and results of others are not there for it.
    /// `default` if not set.
    pub(crate) tenant: Option<String>,
    /// What it opens: `tools`, `tools:read`, `profile:NAME`, `operator`, and words of the rules.
    pub(crate) scopes: Vec<String>,
    /// When it ends: `2027-01-31`, or `2027-01-31T12:00:00Z`.
    pub(crate) expires: Option<String>,
}

/// The web page of `toolcrib serve`. Where the server listens for this machine alone, it has one;
/// elsewhere only by this table.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Page")]
pub(crate) struct PageTable {
    /// Address and port of its own, so that the doors of programs have none: `127.0.0.1:7412`.
    pub(crate) listen: Option<String>,
    /// Whether it is served at the address of the server when others than this machine reach that. No
    /// if not set.
    pub(crate) public: Option<bool>,
    /// How long the arguments and the result of a call are kept in memory for the operator to look
    /// at on the page, a day at the most; `0` for not at all. They are kept from the first sign-in on,
    /// without secrets, and are in no file. `15m` if not set where the server listens for this machine
    /// alone and has neither keys nor issuers, and not at all elsewhere.
    pub(crate) keep: Option<PauseText>,
}
