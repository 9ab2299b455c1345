//! The names that a request may be addressed to.

use http::HeaderMap;
use http::header::HOST;
use http::uri::Authority;

pub(crate) struct AllowedHosts {
    /// As they are written; a request that says one of them needs no reading.
    names: Vec<String>,
    /// Each with a port or for all ports.
    read: Vec<(String, Option<u16>)>,
}

impl AllowedHosts {
    pub(crate) fn new(names: &[String]) -> Self {
        let read = |name: &String| match name.trim().parse::<Authority>() {
            Ok(authority) => (bare(authority.host()), authority.port_u16()),
            Err(_) => (bare(name.trim()), None),
        };
        Self { names: names.to_vec(), read: names.iter().map(read).collect() }
    }

    pub(crate) fn admit(&self, headers: &HeaderMap) -> bool {
        let Some(said) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
            return false;
        };
        if self.names.iter().any(|name| name == said) {
            return true;
        }
        let Ok(host) = said.parse::<Authority>() else { return false };
        let (name, port) = (bare(host.host()), host.port_u16());
        self.read.iter().any(|(known, at)| *known == name && (at.is_none() || *at == port))
    }
}

fn bare(host: &str) -> String {
    host.trim_matches(['[', ']']).to_ascii_lowercase()
}
