//! Scheme, host and port: what rules are about.

use std::fmt;

use url::{Host, Url};

/// Where a URL leads. Its text has no name, password, path or query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) scheme: Scheme,
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn read(scheme: &str) -> Option<Self> {
        match scheme {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Origin {
    /// None if the scheme is none of ours.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let scheme = Scheme::read(url.scheme())?;
        let host = url.host()?.to_owned();
        Some(Self { scheme, host, port: url.port().unwrap_or(scheme.port()) })
    }

    /// The same of what the HTTP library hands to a connector.
    pub(crate) fn of_uri(uri: &http::Uri) -> Option<Self> {
        let scheme = Scheme::read(uri.scheme_str()?)?;
        let host = Host::parse(uri.host()?).ok()?;
        Some(Self { scheme, host, port: uri.port_u16().unwrap_or(scheme.port()) })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port == self.scheme.port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}
