//! What OAuth calls us (RFC 9728): one resource for the whole, and one for each way in by MCP.

use percent_encoding::utf8_percent_encode;
use serde_json::{Value, json};
use url::Url;

use crate::scope::{OPERATOR, PLAIN, READ, TOOLS, of_profile};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtectedResource<'a> {
    /// The crib, by whatever way.
    Whole,
    Mcp,
    Profile(&'a str),
}

impl ProtectedResource<'_> {
    fn path(self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::Mcp => "/mcp".to_owned(),
            Self::Profile(name) => format!("/mcp/{}", utf8_percent_encode(name, PLAIN)),
        }
    }

    /// The least that opens it.
    pub(crate) fn scope(self) -> String {
        match self {
            Self::Whole | Self::Mcp => TOOLS.to_owned(),
            Self::Profile(name) => of_profile(name),
        }
    }

    /// The name of the resource.
    fn name(self, url: &Url) -> String {
        url.origin().ascii_serialization() + &self.path()
    }

    /// What tokens for it bear as `aud`: the whole crib, or this way in.
    pub(crate) fn names(self, url: &Url) -> [String; 2] {
        [Self::Whole.name(url), self.name(url)]
    }

    /// Where its metadata stands.
    pub(crate) fn place(self, url: &Url) -> String {
        format!("{}{WELL_KNOWN}{}", url.origin().ascii_serialization(), self.path())
    }

    /// Protected resource metadata. A profile that is not there has some too: who does not come in
    /// is not told which there are.
    pub(crate) fn metadata(self, url: &Url, issuers: &[&str]) -> Value {
        let scopes = match self {
            Self::Whole => vec![TOOLS.to_owned(), READ.to_owned(), OPERATOR.to_owned()],
            Self::Mcp => vec![TOOLS.to_owned(), READ.to_owned()],
            Self::Profile(name) => vec![of_profile(name)],
        };
        json!({
            "resource": self.name(url),
            "authorization_servers": issuers,
            "scopes_supported": scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": "toolcrib",
        })
    }
}
