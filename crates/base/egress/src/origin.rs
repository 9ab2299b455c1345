//! Scheme, host and port: what rules are about.

use std::fmt;

use url::{Host, Url};

/// Where a URL leads. Its text has no name, password, path or query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UrlOrigin {
    pub(crate) scheme: Scheme,
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
    Imap,
    Imaps,
    Smtp,
    Smtps,
}

impl Scheme {
    fn read(scheme: &str) -> Option<Self> {
        match scheme {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            "imap" => Some(Self::Imap),
            "imaps" => Some(Self::Imaps),
            "smtp" => Some(Self::Smtp),
            "smtps" => Some(Self::Smtps),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Imap => "imap",
            Self::Imaps => "imaps",
            Self::Smtp => "smtp",
            Self::Smtps => "smtps",
        }
    }

    /// The port where it is usually spoken.
    pub(crate) fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
            Self::Imap => 143,
            Self::Imaps => 993,
            // Submission (RFC 6409 and 8314): servers hand mail on over port 25, clients do not.
            Self::Smtp => 587,
            Self::Smtps => 465,
        }
    }

    /// Whether it is one of HTTP.
    pub(crate) fn is_web(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// Whether TLS begins with the connection.
    pub(crate) fn is_secure(self) -> bool {
        matches!(self, Self::Https | Self::Imaps | Self::Smtps)
    }
}

impl UrlOrigin {
    /// None if the scheme is none of ours.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let scheme = Scheme::read(url.scheme())?;
        let host = if scheme.is_web() {
            url.host()?.to_owned()
        } else {
            // Of schemes that it does not know, the library leaves the host as it was written.
            Host::parse(url.host_str()?).ok()?
        };
        Some(Self { scheme, host, port: url.port().unwrap_or(scheme.port()) })
    }

    /// The same of what the HTTP library hands to a connector.
    pub(crate) fn of_uri(uri: &http::Uri) -> Option<Self> {
        let scheme = Scheme::read(uri.scheme_str()?).filter(|scheme| scheme.is_web())?;
        let host = Host::parse(uri.host()?).ok()?;
        Some(Self { scheme, host, port: uri.port_u16().unwrap_or(scheme.port()) })
    }
}

impl fmt::Display for UrlOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port == self.scheme.port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}
