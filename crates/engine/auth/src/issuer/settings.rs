//! What the configuration says of an issuer.

use toolcrib_egress::Network;
use url::Url;

/// Whose tokens are accepted, and what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerSettings {
    /// As it stands in `iss`, letter by letter.
    pub name: String,
    /// Where it says of itself what it has.
    pub url: Url,
    /// Where its keys are; `None`: as it says of itself.
    pub jwks: Option<Url>,
    /// Private addresses that it may name.
    pub network: Network,
    /// Whom its callers belong to. No two issuers have the same.
    pub tenant: String,
    /// The claim whose value stands with `/` after the tenant.
    pub tenant_claim: Option<String>,
    pub subject_claim: String,
    pub scope_claim: String,
    /// What every caller of this issuer has besides.
    pub scopes: Vec<String>,
    /// Whether its tokens may do without a `typ`.
    pub untyped: bool,
    /// Longest document of it, in bytes: what it says of itself, and its keys.
    pub document: u64,
}

impl IssuerSettings {
    /// Room for a hundred keys with their certificates.
    pub const DOCUMENT: u64 = 256 * 1024;
}
