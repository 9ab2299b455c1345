//! The names that a request may be addressed to.

use http::HeaderMap;
use http::header::HOST;
use http::uri::Authority;

/// Each with a port or for all ports.
pub(super) struct Hosts(Vec<(String, Option<u16>)>);

impl Hosts {
    pub(super) fn new(names: &[String]) -> Self {
        let read = |name: &String| match name.trim().parse::<Authority>() {
            Ok(authority) => (bare(authority.host()), authority.port_u16()),
            Err(_) => (bare(name.trim()), None),
        };
        Self(names.iter().map(read).collect())
    }

    pub(super) fn admit(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
        let Some(host) = host else { return false };
        let (name, port) = (bare(host.host()), host.port_u16());
        self.0.iter().any(|(known, at)| *known == name && (at.is_none() || *at == port))
    }
}

fn bare(host: &str) -> String {
    host.trim_matches(['[', ']']).to_ascii_lowercase()
}
